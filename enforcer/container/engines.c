/* SPDX-License-Identifier: Apache-2.0 */
/* The table of engines, and where one lies on this host. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/container/container_internal.h"

#define WARD_ENGINE(w, ...) {.word = (w), __VA_ARGS__},
static const struct ward_engine engines[] = {
#include "enforcer/container/engines.def"
	{.word = NULL}};
#undef WARD_ENGINE

/* Where packages put programs for everybody. PATH says nothing: it may lead to anybody's. */
static const char *const dirs[] = {
	"/usr/sbin", "/usr/bin", "/sbin", "/bin", "/usr/local/sbin", "/usr/local/bin"};
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

const struct ward_engine *ward_engine_at(size_t i)
{
	return i < COUNT(engines) && engines[i].word ? &engines[i] : NULL;
}

const char *ward_engine_word(const struct ward_engine *e)
{
	return e->word;
}

const char *ward_engine_why_not(const struct ward_engine *e)
{
	return e->why;
}

const char *ward_engine_instead(const struct ward_engine *e)
{
	return e->instead;
}

bool ward_engine_manages(const struct ward_engine *e)
{
	return e->how != 0;
}

const char *const *ward_engine_lacks(const struct ward_engine *e)
{
	return e->lacks;
}

bool ward_engine_needs_root(const struct ward_engine *e)
{
	return e->how & WARD_SANDBOX_ENGINE_ZERO;
}

bool ward_engine_own_kernel(const struct ward_engine *e)
{
	return e->own_kernel;
}

const struct ward_engine *ward_engine_find(const char *named)
{
	const char *slash = strrchr(named, '/');
	const char *name = slash ? slash + 1 : named;
	for (const struct ward_engine *e = engines; e->word; e++) {
		if (!slash && strcmp(e->word, name) == 0)
			return e;
		for (size_t i = 0; slash && e->names[i]; i++)
			if (strcmp(e->names[i], name) == 0)
				return e;
	}
	return NULL;
}

const char *ward_engine_via(const char *named)
{
	const struct ward_engine *e = named ? ward_engine_find(named) : NULL;
	return e && e->own_kernel ? e->word : NULL;
}

/* In a sticky directory of root's nobody replaces what is another's. */
static bool others_change(const struct stat *st)
{
	const bool sticky = S_ISDIR(st->st_mode) && st->st_mode & S_ISVTX && st->st_uid == 0;
	return st->st_mode & (S_IWGRP | S_IWOTH) && !sticky;
}

/* Nobody but root, and uid, can change the file or put another one in its place. */
static int check_safe(const char *path, uid_t uid, struct ward_err *err)
{
	ward_cleanup_free char *part = strdup(path);
	if (!part)
		return ward_err_sys(err, -ENOMEM, "%s", path);
	for (;;) {
		struct stat st;
		const char *at = *part ? part : "/";
		if (lstat(at, &st) < 0)
			return ward_err_sys(err, -ENOTSUP, "%s", at);
		if ((st.st_uid != 0 && st.st_uid != uid) || others_change(&st))
			return ward_err_set(err, -ENOTSUP,
				"the engine %s: others than its owner can change %s; fix: chown root, "
				"chmod go-w",
				path, at);
		if (!*part)
			return 0;
		*strrchr(part, '/') = '\0';
	}
}

/* 0, -ENOENT: there is no such program; or as ward_engine_look(). */
static int take(const struct ward_engine *e, const char *path, uid_t uid,
	struct ward_engine_found *ret, struct ward_err *err)
{
	struct stat st;
	ward_cleanup_free char *real = NULL;
	ward_cleanup_fd int fd = open(path, O_PATH | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return ward_err_set(err, errno == ENOENT || errno == ENOTDIR ? -ENOENT : -ENOTSUP,
			"the engine %s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode) || !(st.st_mode & S_IXUSR))
		return ward_err_set(err, -ENOTSUP, "the engine %s is no program", path);
	int r = ward_fd_path(fd, &real);
	if (r < 0)
		return ward_err_sys(err, -ENOTSUP, "the engine %s", path);
	r = check_safe(real, uid, err);
	if (r == 0)
		*ret = (struct ward_engine_found){.engine = e,
			.program = ward_steal_ptr(&real),
			.dev = st.st_dev,
			.ino = st.st_ino};
	return r;
}

/* In the directories of the system; -ENOENT: in none. */
static int find(const struct ward_engine *e, const char *name, struct ward_engine_found *ret,
	struct ward_err *err)
{
	for (size_t i = 0; i < COUNT(dirs); i++) {
		struct ward_err why = WARD_ERR_INIT;
		char path[128];
		snprintf(path, sizeof(path), "%s/%s", dirs[i], name);
		int r = take(e, path, 0, ret, &why);
		if (r != -ENOENT)
			return r < 0 ? ward_err_set(err, r, "%s", why.text) : 0;
	}
	return -ENOENT;
}

static int check_needs(const struct ward_engine *e, struct ward_err *err)
{
	for (size_t i = 0; e->needs[i]; i++) {
		ward_cleanup(ward_engine_found_clear) struct ward_engine_found f =
			WARD_ENGINE_FOUND_INIT;
		int r = find(e, e->needs[i], &f, err);
		if (r < 0)
			return r != -ENOENT ? r
					    : ward_err_set(err, -ENOTSUP,
						      "the engine %s needs %s, and this host has "
						      "none in /usr/sbin, /usr/bin or /usr/local; "
						      "fix: apt-get install %s",
						      e->word, e->needs[i], e->package);
	}
	return 0;
}

int ward_engine_locate(
	const struct ward_engine *e, struct ward_engine_found *ret, struct ward_err *err)
{
	for (size_t k = 0; e->names[k]; k++) {
		int r = find(e, e->names[k], ret, err);
		if (r == 0 && (r = check_needs(e, err)) < 0)
			ward_engine_found_clear(ret);
		if (r != -ENOENT)
			return r;
	}
	return ward_err_set(err, -ENOENT,
		"this host has no %s in /usr/sbin, /usr/bin or /usr/local; fix: apt-get install %s",
		e->word, e->package ? e->package : e->names[0]);
}

/* *ret_err: why the last one that is here does not do. */
static int find_first(struct ward_engine_found *ret, struct ward_err *err)
{
	struct ward_err why = WARD_ERR_INIT;
	for (const struct ward_engine *e = engines; e->word; e++) {
		struct ward_err one = WARD_ERR_INIT;
		int r = e->why ? -ENOENT : ward_engine_locate(e, ret, &one);
		if (r == 0)
			return 0;
		if (r != -ENOENT)
			why = one;
	}
	return ward_err_set(err, -ENOTSUP, "%s",
		why.text[0] ? why.text
			    : "this host has no container engine that wardfs can start; fix: "
			      "apt-get install runc (or crun, runsc)");
}

int ward_engine_look(
	const char *named, uid_t uid, struct ward_engine_found *ret, struct ward_err *err)
{
	if (!named)
		return find_first(ret, err);
	const struct ward_engine *e = ward_engine_find(named);
	if (!e)
		return ward_err_set(err, -EINVAL,
			"'%s' is no container engine: write runc, crun, runsc, podman, docker, or the "
			"path of a program of one of these names",
			named);
	if (e->why)
		return ward_err_set(err, -ENOTSUP,
			"the engine %s is not supported: %s; fix: --engine runc", e->word, e->why);
	int r = named[0] == '/' ? take(e, named, uid, ret, err) : ward_engine_locate(e, ret, err);
	if (r == 0 && named[0] == '/' && (r = check_needs(e, err)) < 0)
		ward_engine_found_clear(ret);
	return r == -ENOENT ? (err->code = -ENOTSUP) : r;
}

void ward_engine_found_clear(struct ward_engine_found *f)
{
	free(f->program);
	*f = WARD_ENGINE_FOUND_INIT;
}
