/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/risk/maker.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/policy/known.h"

/* package.json of large packages is some 100 KiB; a RECORD of large ones a few MiB. */
#define JSON_MAX ((size_t)1 << 20)
#define RECORD_MAX ((size_t)8 << 20)
/* All that is read of one venv, and the names that are looked at in one directory. */
#define RECORDS_MAX ((size_t)64 << 20)
#define NAMES_MAX 8192U
/* A name or a version that is longer says nothing to a person. */
#define WORD_MAX_BYTES 80U

struct maker {
	const struct ward_maker_place *where;
	int top; /* "/" */
	char **ret;
	size_t left; /* of RECORDS_MAX */
};

static void decrefp(json_t **o)
{
	json_decref(*o);
}

/* --- files --- */

static bool is_written(const struct maker *m, const char *path)
{
	for (size_t i = 0; i < m->where->n_written; i++)
		if (ward_known_beneath(path, m->where->written[i]))
			return true;
	return false;
}

/* 1: read; 0: there is no such file, or it counts for nothing. */
static int read_file(const struct maker *m, const char *path, size_t max, struct ward_buf *ret)
{
	if (is_written(m, path))
		return 0;
	ward_cleanup_fd int fd = ward_fd_open_beneath(m->top, path + 1);
	if (fd < 0)
		return fd == -ENOMEM ? fd : 0;
	int r = ward_fd_read_all(fd, max, ret);
	return r == -ENOMEM ? r : r == 0 && ret->len > 0;
}

/* A file that is no JSON object says nothing: *ret is NULL. */
static int load(const struct maker *m, json_t **ret, const char *fmt, ...) ward_printf(3, 4);
static int load(const struct maker *m, json_t **ret, const char *fmt, ...)
{
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	char path[PATH_MAX];
	va_list ap;
	va_start(ap, fmt);
	int n = vsnprintf(path, sizeof(path), fmt, ap);
	va_end(ap);
	*ret = NULL;
	if (n < 0 || (size_t)n >= sizeof(path))
		return 0;
	int r = read_file(m, path, JSON_MAX, &text);
	if (r > 0)
		*ret = json_loadb(text.data, text.len, JSON_REJECT_DUPLICATES, NULL);
	return r < 0 ? r : 0;
}

static DIR *open_dir(const struct maker *m, const char *path)
{
	const struct open_how how = {.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
	int fd = is_written(m, path) ? -1 : ward_fd_openat2(m->top, path + 1, &how);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	if (!d && fd >= 0)
		close(fd);
	return d;
}

/* --- saying --- */

/* The maker of the package wrote these words. */
static bool is_word(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (s[i] <= ' ' || s[i] > '~' || strchr("\"\\()", s[i]))
			return false;
	return n > 0 && n <= WORD_MAX_BYTES;
}

static int say(const struct maker *m, const char *tool, const char *name, size_t name_n,
	const char *version, size_t version_n)
{
	if (!is_word(name, name_n) || !is_word(version, version_n))
		return 0;
	return asprintf(m->ret, "%s %.*s %.*s", tool, (int)name_n, name, (int)version_n, version) <
			       0
		       ? -ENOMEM
		       : 0;
}

static int say_members(const struct maker *m, const char *tool, const json_t *o, const char *name,
	const char *version)
{
	const char *n = json_string_value(json_object_get(o, name));
	const char *v = json_string_value(json_object_get(o, version));
	return n && v ? say(m, tool, n, strlen(n), v, strlen(v)) : 0;
}

static bool has_word(const json_t *list, const char *word)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *s = json_string_value(json_array_get(list, i));
		if (s && strcmp(s, word) == 0)
			return true;
	}
	return false;
}

/* --- npm --- */

static int look_npm(const struct maker *m, const char *path)
{
	static const char modules[] = "/node_modules/";
	ward_cleanup(decrefp) json_t *o = NULL;
	const char *at = NULL;
	for (const char *s = strstr(path, modules); s; s = strstr(s + 1, modules))
		at = s + strlen(modules);
	if (!at)
		return 0;
	size_t n = strcspn(at, "/");
	if (*at == '@' && at[n])
		n += 1 + strcspn(at + n + 1, "/");
	if (n == 0 || !at[n])
		return 0;
	int r = load(m, &o, "%.*s/package.json", (int)(at + n - path), path);
	const char *name = json_string_value(json_object_get(o, "name"));
	/* A package that calls itself otherwise than it lies there is not believed. */
	if (r < 0 || !name || strlen(name) != n || strncmp(name, at, n) != 0)
		return r;
	return say_members(m, "npm", o, "name", "version");
}

/* --- what lies in ROOT/bin --- */

static int look_cargo(const struct maker *m, const char *root, const char *program)
{
	ward_cleanup(decrefp) json_t *o = NULL;
	const char *key = NULL;
	json_t *value = NULL;
	int r = load(m, &o, "%s/.crates2.json", root);
	/* "ripgrep 14.1.0 (registry+https://…)": {"bins": ["rg"], …} */
	json_object_foreach(json_object_get(o, "installs"), key, value)
	{
		size_t n = strcspn(key, " ");
		const char *version = key + n + (key[n] == ' ');
		if (has_word(json_object_get(value, "bins"), program))
			return say(m, "cargo", key, n, version, strcspn(version, " "));
	}
	return r;
}

static int look_pipx(const struct maker *m, const char *root, const char *program)
{
	ward_cleanup(decrefp) json_t *o = NULL;
	int r = load(m, &o, "%s/pipx_metadata.json", root);
	const json_t *main = json_object_get(o, "main_package");
	if (r < 0 || !has_word(json_object_get(main, "apps"), program))
		return r;
	return say_members(m, "pipx", main, "package", "package_version");
}

/* Does a line of this RECORD begin with ../../../bin/PROGRAM and a comma? */
static int recorded(struct maker *m, const char *path, const char *program)
{
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	char want[NAME_MAX + 20];
	int n = snprintf(want, sizeof(want), "../../../bin/%s,", program);
	int r = read_file(m, path, m->left < RECORD_MAX ? m->left : RECORD_MAX, &text);
	m->left -= text.len < m->left ? text.len : m->left;
	if (r <= 0 || n < 0 || (size_t)n >= sizeof(want))
		return r;
	const char *end = text.data + text.len;
	for (const char *s = text.data; s < end; s++) {
		s = memmem(s, (size_t)(end - s), want, (size_t)n);
		if (!s)
			return 0;
		if (s == text.data || s[-1] == '\n')
			return 1;
	}
	return 0;
}

/* In one directory of packages of Python. */
static int look_packages(struct maker *m, const char *dir, const char *tool, const char *program)
{
	static const char suffix[] = ".dist-info";
	ward_cleanup_dir DIR *d = open_dir(m, dir);
	unsigned names = 0;
	for (const struct dirent *e; d && (e = readdir(d)) && names < NAMES_MAX && m->left > 0;
		names++) {
		char path[PATH_MAX];
		size_t n = strlen(e->d_name);
		if (n <= strlen(suffix) || strcmp(e->d_name + n - strlen(suffix), suffix) != 0)
			continue;
		n -= strlen(suffix);
		const char *dash = memrchr(e->d_name, '-', n);
		int len = snprintf(path, sizeof(path), "%s/%s/RECORD", dir, e->d_name);
		if (!dash || len < 0 || (size_t)len >= sizeof(path))
			continue;
		int r = recorded(m, path, program);
		if (r > 0)
			return say(m, tool, e->d_name, (size_t)(dash - e->d_name), dash + 1,
				(size_t)(e->d_name + n - dash - 1));
		if (r < 0)
			return r;
	}
	return 0;
}

static int look_pip(struct maker *m, const char *root, const char *program)
{
	static const char *const kinds[] = {"site-packages", "dist-packages"};
	ward_cleanup(ward_buf_clear) struct ward_buf cfg = WARD_BUF_INIT;
	char lib[PATH_MAX];
	char path[PATH_MAX];
	unsigned names = 0;
	int n = snprintf(path, sizeof(path), "%s/pyvenv.cfg", root);
	if (n < 0 || (size_t)n >= sizeof(path))
		return 0;
	int r = read_file(m, path, JSON_MAX, &cfg);
	const char *tool = r > 0 ? "venv" : "pip";
	n = snprintf(lib, sizeof(lib), "%s/lib", root);
	if (r < 0 || n < 0 || (size_t)n >= sizeof(lib))
		return r < 0 ? r : 0;
	ward_cleanup_dir DIR *d = open_dir(m, lib);
	r = 0;
	for (const struct dirent *e;
		r == 0 && !*m->ret && d && (e = readdir(d)) && names < NAMES_MAX; names++) {
		if (strncmp(e->d_name, "python", strlen("python")) != 0)
			continue;
		for (size_t i = 0; r == 0 && !*m->ret && i < 2; i++) {
			n = snprintf(path, sizeof(path), "%s/%s/%s", lib, e->d_name, kinds[i]);
			if (n >= 0 && (size_t)n < sizeof(path))
				r = look_packages(m, path, tool, program);
		}
	}
	return r;
}

int ward_maker_find(const struct ward_maker_place *where, const char *path, char **ret)
{
	static const char bin[] = "/bin/";
	ward_cleanup_fd int top = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct maker m = {.where = where, .top = top, .ret = ret, .left = RECORDS_MAX};
	const char *program = strrchr(path, '/');
	*ret = NULL;
	if (top < 0 || !program || *path != '/')
		return 0;
	int r = look_npm(&m, path);
	program++;
	const size_t n = (size_t)(program - path);
	if (r < 0 || *ret || n <= strlen(bin) ||
		memcmp(program - strlen(bin), bin, strlen(bin)) != 0)
		return r;
	ward_cleanup_free char *root = strndup(path, n - strlen(bin));
	if (!root)
		return -ENOMEM;
	r = look_cargo(&m, root, program);
	if (r == 0 && !*ret)
		r = look_pipx(&m, root, program);
	if (r == 0 && !*ret)
		r = look_pip(&m, root, program);
	return r;
}
