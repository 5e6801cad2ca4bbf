/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that runs out: every single allocation of loading, stepping, showing and decoding fails
 * once. Each time the answer is -ENOMEM, or right all the same; nothing crashes and nothing leaks
 * (under a sanitizer).
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/policy/check.h"
#include "enforcer/policy/explain.h"
#include "enforcer/policy/load.h"

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
		bool right = ward_policy_rights(p, st) == (WARD_RIGHT_STAT | WARD_RIGHT_LIST);
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

static int load_project(void)
{
	const struct ward_load l = {.policy = "high",
		.tree_fd = -1,
		.tree_path = "/p",
		.floor = "/nonexistent",
		.run_text = "[files]\nread = /workspace/.git\n"};
	struct ward_policy *p = NULL;
	int r = ward_policy_load(&l, &p, NULL);
	ward_policy_unref(p);
	return r;
}

static void each_fails_once(int (*what)(void))
{
	countdown = 0;
	seen = 0;
	ck_assert_int_eq(what(), 0);
	unsigned long n = seen, failed = 0;
	ck_assert_uint_gt(n, 100);
	/* beyond some hundreds, each second or third, so that it ends soon under a sanitizer */
	for (unsigned long i = 1; i <= n; i += 1 + i / 400) {
		countdown = i;
		int r = what();
		countdown = 0;
		ck_assert_msg(r == 0 || r == -ENOMEM, "allocation %lu: %d", i, r);
		failed += r < 0;
	}
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
	each_fails_once(load_project);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("policy_oom");
	TCase *t = tcase_create("all");
	tcase_set_timeout(t, 280);
	tcase_add_test(t, compiling);
	tcase_add_test(t, loading);
	suite_add_tcase(s, t);
	SRunner *r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	int failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? 1 : 0;
}
