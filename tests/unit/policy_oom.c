/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that runs out: every single allocation of loading, stepping, showing, checking, comparing
 * and decoding fails once. Each time the answer is -ENOMEM, or right all the same; nothing crashes
 * and nothing leaks (under a sanitizer).
 */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/policy/check.h"
#include "enforcer/policy/diff.h"
#include "enforcer/policy/explain.h"
#include "enforcer/policy/load.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

/* Allocations until one fails; 0: none fails. The linker sends all calls here (--wrap). */
static unsigned long countdown, seen;

static bool fails(void)
{
	seen++;
	return countdown > 0 && --countdown == 0;
}

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t m);
void *__real_realloc(void *p, size_t n);
void *__real_reallocarray(void *p, size_t n, size_t m);
char *__real_strdup(const char *s);
char *__real_strndup(const char *s, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t m);
void *__wrap_realloc(void *p, size_t n);
void *__wrap_reallocarray(void *p, size_t n, size_t m);
char *__wrap_strdup(const char *s);
char *__wrap_strndup(const char *s, size_t n);
/* These allocate inside of libraries. */
DIR *__real_fdopendir(int fd);
char *__real_getcwd(char *buf, size_t n);
int __real_ini_parse_stream(ini_reader reader, void *stream, ini_handler handler, void *user);
DIR *__wrap_fdopendir(int fd);
char *__wrap_getcwd(char *buf, size_t n);
int __wrap_ini_parse_stream(ini_reader reader, void *stream, ini_handler handler, void *user);

DIR *__wrap_fdopendir(int fd)
{
	if (!fails())
		return __real_fdopendir(fd);
	errno = ENOMEM;
	return NULL;
}

char *__wrap_getcwd(char *buf, size_t n)
{
	if (!fails())
		return __real_getcwd(buf, n);
	errno = ENOMEM;
	return NULL;
}

int __wrap_ini_parse_stream(ini_reader reader, void *stream, ini_handler handler, void *user)
{
	/* inih's own "no memory" */
	return fails() ? -2 : __real_ini_parse_stream(reader, stream, handler, user);
}

void *__wrap_malloc(size_t n)
{
	return fails() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t m)
{
	return fails() ? NULL : __real_calloc(n, m);
}

void *__wrap_realloc(void *p, size_t n)
{
	return fails() ? NULL : __real_realloc(p, n);
}

void *__wrap_reallocarray(void *p, size_t n, size_t m)
{
	return fails() ? NULL : __real_reallocarray(p, n, m);
}

char *__wrap_strdup(const char *s)
{
	return fails() ? NULL : __real_strdup(s);
}

char *__wrap_strndup(const char *s, size_t n)
{
	return fails() ? NULL : __real_strndup(s, n);
}

static const char floor_text[] =
	"[policy]\nversion = 1\n[files]\nhide = *.x\nread = a.x\n[limits]\n"
	"wall = 1h\nmemory = 1G\n[guard]\nfold = yes\n";

/* Everything once. Returns what failed first; -EPROTO for a wrong answer (check allocates too). */
static int everything(void)
{
	struct ward_policy *p = NULL, *q = NULL;
	size_t len;
	const char *text = ward_profile_text("medium", &len);
	const struct ward_source_text s[] = {{WARD_SOURCE_BASE, "/d/medium", text, len},
		{WARD_SOURCE_FLOOR, "floor", floor_text, sizeof(floor_text) - 1}};
	int r = ward_policy_compile(s, 2, &p, NULL);
	if (r < 0)
		return r;
	static const char path[] = "/workspace/sub/.env.local/x.pem";
	const struct ward_state *st = NULL;
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	r = ward_policy_walk(p, path, sizeof(path) - 1, &st);
	if (r == 0) {
		bool right = ward_policy_secret(st) && ward_policy_rights(p, st) != 0;
		ward_policy_state_put(p, st);
		r = right ? ward_policy_encode(p, &b) : -EPROTO;
	}
	if (r == 0)
		r = ward_policy_decode(b.data, b.len, &q, NULL);
	if (r == 0 && strcmp(ward_policy_digest(p), ward_policy_digest(q)) != 0)
		r = -EPROTO;
	ward_policy_unref(p);
	ward_policy_unref(q);
	return r;
}

/* A project with a repository that names files of its own, and every kind of source. */
static int project = -1;
static char *top, config_home[512], floor_file[512];

static void put(const char *name, const char *text)
{
	int fd = openat(project, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

static void make_project(void)
{
	static const char *const dirs[] = {".git", ".git/objects", ".git/refs", ".git/modules",
		"sub", "sub/.git", "sub/.git/objects", "sub/.git/refs", "hooks"};
	top = scratch_make();
	snprintf(config_home, sizeof(config_home), "%s/none", top);
	snprintf(floor_file, sizeof(floor_file), "%s/floor.policy", top);
	project = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_ge(project, 0);
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
		ck_assert_int_eq(mkdirat(project, dirs[i], 0700), 0);
	put(".git/HEAD", "ref: refs/heads/main\n");
	put("sub/.git/HEAD", "ref: refs/heads/main\n");
	put(".git/config", "[core]\n\thooksPath = hooks\n[include]\n\tpath = ../more.cfg\n");
	put("more.cfg", "[alias]\n\tx = !./run-me\n");
	put("floor.policy", floor_text);
	put(".wardfs.policy",
		"[policy]\nversion = 1\n[files]\nhide = *.pem\n[limits]\nwall = 1m\n");
	put("other.policy", "[policy]\nversion = 1\n[files]\nwrite = /workspace\n");
	put("mine.policy",
		"[policy]\nversion = 1\nextends = other.policy\n[files]\n"
		"read = /workspace/doc\n[network]\nmode = allowlist\nallow = x.org:443\n");
}

static void remove_project(void)
{
	close(project);
	scratch_remove(top);
}

static int load(const char *policy, struct ward_policy **ret)
{
	const struct ward_load l = {.policy = policy,
		.config_home = config_home,
		.tree_fd = project,
		.tree_path = top,
		.floor = floor_file,
		.run_text = "[files]\nread = /workspace/.git\n"};
	return ward_policy_load(&l, ret, NULL);
}

static int load_project(void)
{
	struct ward_policy *p = NULL;
	int r = load("high", &p);
	ward_policy_unref(p);
	return r;
}

static int load_file(void)
{
	char path[512];
	struct ward_policy *p = NULL;
	snprintf(path, sizeof(path), "%s/mine.policy", top);
	int r = load(path, &p);
	if (r == 0)
		r = ward_policy_settings(p)->n_trees == 1 ? 0 : -EPROTO;
	ward_policy_unref(p);
	return r;
}

static void ignore_finding(void *user, const struct ward_finding *f)
{
	(void)user;
	(void)f;
}

static void ignore_difference(void *user, const struct ward_difference *d)
{
	(void)user;
	(void)d;
}

/* What only people ask for. */
static int tell(void)
{
	static const char other[] = "[policy]\nversion = 1\n[files]\nwrite = /workspace\n"
				    "deny = *.pem\nread = /workspace/*/x\nhide = [ab]*\n";
	struct ward_policy *p = NULL, *q = NULL;
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	const struct ward_source_text s = {WARD_SOURCE_BASE, "a", other, sizeof(other) - 1};
	const struct ward_source_text t = {
		WARD_SOURCE_BASE, "b", floor_text, sizeof(floor_text) - 1};
	enum ward_diff_reach reach = WARD_DIFF_WHOLE;
	int r = ward_policy_compile(&s, 1, &p, NULL);
	if (r == 0)
		r = ward_policy_compile(&t, 1, &q, NULL);
	if (r == 0)
		r = ward_policy_show(p, &b);
	if (r == 0)
		r = ward_policy_check(p, ignore_finding, NULL);
	if (r == 0)
		r = ward_policy_diff(p, q, ignore_difference, NULL, NULL, &reach);
	if (r == 0 && reach != WARD_DIFF_WHOLE)
		r = -EPROTO;
	ward_policy_unref(p);
	ward_policy_unref(q);
	return r;
}

static void each_fails_once(int (*what)(void))
{
	countdown = 0;
	seen = 0;
	ck_assert_int_eq(what(), 0);
	unsigned long n = seen, failed = 0;
	ck_assert_uint_gt(n, 100);
	for (unsigned long i = 1; i <= n; i++) {
		countdown = i;
		int r = what();
		countdown = 0;
		ck_assert_msg(r == 0 || r == -ENOMEM, "allocation %lu: %d", i, r);
		failed += r < 0;
	}
	printf("%lu allocations, %lu of them needed\n", n, failed);
	ck_assert_uint_gt(failed, 100);
	ck_assert_int_eq(what(), 0);
}

START_TEST(compiling)
{
	each_fails_once(everything);
}
END_TEST

START_TEST(loading)
{
	make_project();
	each_fails_once(load_project);
	each_fails_once(load_file);
	remove_project();
}
END_TEST

START_TEST(telling)
{
	each_fails_once(tell);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("policy_oom");
	TCase *t = tcase_create("all");
	tcase_set_timeout(t, 280);
	tcase_add_test(t, compiling);
	tcase_add_test(t, loading);
	tcase_add_test(t, telling);
	suite_add_tcase(s, t);
	return suite_run(s);
}
