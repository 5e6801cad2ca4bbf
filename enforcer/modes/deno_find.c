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
#include "enforcer/modes/deno.h"
#include "enforcer/modes/find.h"
#include "enforcer/modes/operations.h"

/* Beneath the owner's home: Deno's installer, and npm with a prefix that a user can write. */
static const char *const in_home[] = {".deno/bin/deno", ".npm-global/bin/deno", ".local/bin/deno",
	".local/share/npm/bin/deno", NULL};
static const char *const in_system[] = {"usr/local/bin/deno", "usr/bin/deno", NULL};
/* npm's package `deno` is a script, and has the program in a package for each platform. */
#if defined(__x86_64__)
#define PLATFORM "linux-x64-glibc"
#elif defined(__aarch64__)
#define PLATFORM "linux-arm64-glibc"
#else
#define PLATFORM "none"
#endif

#define PLACES 2U

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

/* Where npm's script has its program: beside it, or in the same node_modules. false: too long. */
static bool name_of_package(const char *script, size_t i, char ret[PATH_MAX])
{
	static const char *const places[PLACES] = {
		"/../@deno/" PLATFORM "/deno", "/node_modules/@deno/" PLATFORM "/deno"};
	const char *slash = strrchr(script, '/');
	int n = snprintf(ret, PATH_MAX, "%.*s%s", (int)(slash - script), script, places[i]);
	return n > 0 && n < PATH_MAX;
}

static int of_package(const char *script, char ret[PATH_MAX])
{
	char name[PATH_MAX];
	for (size_t i = 0; i < PLACES; i++)
		if (name_of_package(script, i, name) && kind_of(name) == KIND_ELF)
			return realpath(name, ret) ? 0 : -errno;
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

/*
 * npm's script names its program by a path of its own, on which links may lie, too. -ENOTSUP: the
 * script names another program by now.
 */
static int add_way(struct ward_mode_found *f, struct ward_err *err)
{
	char script[PATH_MAX], name[PATH_MAX], real[PATH_MAX];
	const bool found = realpath(f->name, script);
	if (found && strcmp(script, f->program) == 0)
		return 0;
	for (size_t i = 0; found && i < PLACES; i++) {
		if (!name_of_package(script, i, name) || !realpath(name, real) ||
			strcmp(real, f->program) != 0)
			continue;
		f->way = strdup(name);
		return f->way ? 0 : ward_err_sys(err, -ENOMEM, "mode deno");
	}
	return ward_err_set(
		err, -ENOTSUP, "mode deno: %s changes while wardfs looks at it", f->name);
}

int ward_deno_find(
	const struct ward_mode_host *h, struct ward_mode_found *ret, struct ward_err *err)
{
	struct ward_find s;
	ward_find_begin(&s, look);
	if (!ward_find_in_path(&s, h->path, "/deno") && !ward_find_in(&s, h->home, in_home) &&
		!ward_find_in(&s, "", in_system)) {
		(void)ward_err_set(err, -ENOTSUP,
			"mode deno: no Deno was found in PATH, ~/.deno/bin, ~/.npm-global/bin, "
			"~/.local/bin or /usr/local/bin%s%s%s; fix: npm install -g deno",
			s.silent[0] ? " (" : "", s.silent, s.silent[0] ? " does not answer)" : "");
		return -ENOTSUP;
	}
	if (h->project && ward_find_lies_in(s.found.program, h->project)) {
		(void)ward_err_set(err, -ENOTSUP,
			"mode deno: %s lies in the project, where a session could replace it; "
			"fix: npm install -g deno",
			s.found.program);
		ward_mode_found_clear(&s.found);
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
	int r = add_way(&s.found, err);
	if (r < 0) {
		ward_mode_found_clear(&s.found);
		return r;
	}
	*ret = s.found;
	return 0;
}
