/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the Deno of the session's owner. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/patient.h"
#include "enforcer/modes/deno.h"
#include "enforcer/modes/operations.h"

/* Beneath the owner's home: Deno's installer, and npm with a prefix that a user can write. */
static const char *const in_home[] = {
	".deno/bin/deno", ".npm-global/bin/deno", ".local/bin/deno", ".local/share/npm/bin/deno"};
static const char *const in_system[] = {"/usr/local/bin/deno", "/usr/bin/deno"};
/* npm's package `deno` is a script, and has the program in a package for each platform. */
#if defined(__x86_64__)
#define PLATFORM "linux-x64-glibc"
#elif defined(__aarch64__)
#define PLATFORM "linux-arm64-glibc"
#else
#define PLATFORM "none"
#endif

/* All looks together. */
#define SEARCH_NS (3 * WARD_PATIENT_NS)

enum kind { KIND_NONE = 0, KIND_ELF, KIND_SCRIPT };

/* O_NONBLOCK: the name may be a pipe's. */
static enum kind kind_of(const char *path)
{
	ward_cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	char head[4];
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || !(st.st_mode & 0111) ||
		pread(fd, head, sizeof(head), 0) != sizeof(head))
		return KIND_NONE;
	return memcmp(head, "\177ELF", 4) == 0 ? KIND_ELF : KIND_SCRIPT;
}

/* The program that npm's script starts, beside it or in the same node_modules. */
static int of_package(const char *script, char ret[PATH_MAX])
{
	static const char *const places[] = {
		"/../@deno/" PLATFORM "/deno", "/node_modules/@deno/" PLATFORM "/deno"};
	char dir[PATH_MAX];
	const char *slash = strrchr(script, '/');
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		int n = snprintf(
			dir, sizeof(dir), "%.*s%s", (int)(slash - script), script, places[i]);
		if (n > 0 && (size_t)n < sizeof(dir) && kind_of(dir) == KIND_ELF)
			return realpath(dir, ret) ? 0 : -errno;
	}
	return -ENOENT;
}

/* ward_patient_fn: the program at this name. */
static int look(int at, const char *name, struct ward_patient_found *ret)
{
	char script[PATH_MAX];
	(void)at;
	const enum kind kind = realpath(name, ret->text) ? kind_of(ret->text) : KIND_NONE;
	if (kind != KIND_SCRIPT)
		return kind == KIND_ELF ? 0 : -ENOENT;
	memcpy(script, ret->text, sizeof(script));
	return of_package(script, ret->text);
}

struct search {
	uint64_t began_ns;
	struct ward_mode_found found;
	char silent[PATH_MAX]; /* a name that did not answer; "": all did */
};

/* The program at this name, if there is one. A server that went away may stand in the way. */
static bool look_at(struct search *s, const char *name)
{
	const uint64_t left = ward_clock_left_ns(s->began_ns, SEARCH_NS);
	struct ward_patient_found found = {.fd = -1};
	if (!left)
		return false;
	int r = ward_patient(
		look, AT_FDCWD, name, left < WARD_PATIENT_NS ? left : WARD_PATIENT_NS, &found);
	if (r == -ETIMEDOUT)
		snprintf(s->silent, sizeof(s->silent), "%s", name);
	if (r < 0)
		return false;
	s->found = (struct ward_mode_found){.program = strdup(found.text), .name = strdup(name)};
	if (!s->found.program || !s->found.name)
		ward_mode_found_clear(&s->found);
	return s->found.program;
}

static bool in_path(struct search *s, const char *path)
{
	char name[PATH_MAX];
	for (const char *p = path; p && *p; p += strspn(p, ":")) {
		size_t n = strcspn(p, ":");
		/* A relative part is wherever the caller stands: the project, most likely. */
		int len = *p == '/' ? snprintf(name, sizeof(name), "%.*s/deno", (int)n, p) : -1;
		if (len > 0 && (size_t)len < sizeof(name) && look_at(s, name))
			return true;
		p += n;
	}
	return false;
}

/* A path without links, and a directory as the kernel names it. */
static bool lies_in(const char *path, const char *dir)
{
	size_t n = strlen(dir);
	return strncmp(path, dir, n) == 0 && path[n] == '/';
}

static bool in_places(struct search *s, const char *home)
{
	char name[PATH_MAX];
	for (size_t i = 0; home && i < sizeof(in_home) / sizeof(in_home[0]); i++) {
		int n = snprintf(name, sizeof(name), "%s/%s", home, in_home[i]);
		if (n > 0 && (size_t)n < sizeof(name) && look_at(s, name))
			return true;
	}
	for (size_t i = 0; i < sizeof(in_system) / sizeof(in_system[0]); i++)
		if (look_at(s, in_system[i]))
			return true;
	return false;
}

int ward_deno_find(
	const struct ward_mode_host *h, struct ward_mode_found *ret, struct ward_err *err)
{
	struct search s = {.began_ns = ward_clock_mono_ns()};
	if (!in_path(&s, h->path) && !in_places(&s, h->home)) {
		(void)ward_err_set(err, -ENOTSUP,
			"mode deno: no Deno was found in PATH, ~/.deno/bin, ~/.npm-global/bin, "
			"~/.local/bin or /usr/local/bin%s%s%s; fix: npm install -g deno",
			s.silent[0] ? " (" : "", s.silent, s.silent[0] ? " does not answer)" : "");
		return -ENOTSUP;
	}
	if (h->project && lies_in(s.found.program, h->project)) {
		(void)ward_err_set(err, -ENOTSUP,
			"mode deno: %s lies in the project, where a session could replace it; "
			"fix: npm install -g deno",
			s.found.program);
		free(s.found.program);
		free(s.found.name);
		return -ENOTSUP;
	}
	if (ward_mode_emptied(s.found.program)) {
		(void)ward_err_set(err, -ENOTSUP,
			"mode deno: %s lies beneath %s, which is empty when a session starts; "
			"fix: npm install -g deno, or copy it to /usr/local/bin, and take its "
			"directory out of PATH",
			s.found.program, ward_mode_emptied(s.found.program));
		ward_mode_found_clear(&s.found);
		return -ENOTSUP;
	}
	*ret = s.found;
	return 0;
}
