/* SPDX-License-Identifier: Apache-2.0 */
/* The directory of a container. */
#include "enforcer/oci/place.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/oci/oci.h"
#include "enforcer/session/owner/session_place.h"

#define SESSION "session"
#define CONFIG "config.json"
#define BUNDLE "bundle"

/* Those of a policy that `update` could raise. */
struct limit {
	const char *name;
	uint64_t value;
};
#define LIMITS(s)                                                                                  \
	{"memory", (s)->memory}, {"processes", (s)->processes},                                    \
	{                                                                                          \
		"cpus", (s)->cpus                                                                  \
	}

int ward_oci_place_path(const struct ward_oci_args *a, char **ret, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_buf_printf(&b, WARD_OCI_PLACES "/%s@", a->id);
	/* The id has no '@', and what stands for a '/' nothing else stands for. */
	for (const char *s = a->root ? a->root : ""; *s; s++)
		if (*s == '/' || *s == '=')
			ward_buf_puts(&b, *s == '/' ? "=s" : "=e");
		else
			ward_buf_putc(&b, *s);
	if (b.len > sizeof(WARD_OCI_PLACES) + NAME_MAX)
		return ward_err_set(err, -EINVAL, "--root %s: the path is too long", a->root);
	*ret = ward_buf_steal(&b);
	return *ret ? 0 : ward_err_sys(err, -ENOMEM, "%s", a->id);
}

static int make_dirs(const char *path, struct ward_err *err)
{
	/* User 0 of a container with ids of its own passes through, and cannot list them. */
	static const char *const above[] = {"/run/wardfs", WARD_OCI_PLACES};
	for (size_t i = 0; i <= 2; i++) {
		const char *dir = i < 2 ? above[i] : path;
		struct stat st;
		if (mkdir(dir, 0711) < 0 && errno != EEXIST)
			return ward_err_sys(err, -errno, "%s", dir);
		if (lstat(dir, &st) < 0 || !S_ISDIR(st.st_mode) || st.st_uid != geteuid() ||
			st.st_mode & (S_IWGRP | S_IWOTH))
			return ward_err_set(err, -EPERM, "%s: others than root can change it", dir);
	}
	return 0;
}

int ward_oci_place_make(const char *path, int *ret_lock, struct ward_err *err)
{
	int r = make_dirs(path, err);
	if (r < 0)
		return r;
	ward_cleanup_fd int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return ward_err_sys(err, -errno, "%s", path);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return ward_err_set(err, -EBUSY, "this container exists already");
	(void)unlinkat(fd, SESSION, 0);
	(void)unlinkat(fd, CONFIG, 0);
	*ret_lock = ward_steal_fd(&fd);
	return 0;
}

static int write_file(const char *path, const char *name, json_t *o, struct ward_err *err)
{
	ward_cleanup_free char *file = NULL;
	ward_cleanup_free char *text = o ? json_dumps(o, JSON_COMPACT) : NULL;
	if (!text || asprintf(&file, "%s/%s", path, name) < 0)
		return ward_err_sys(err, -ENOMEM, "%s", path);
	ward_cleanup_fd int fd = open(file, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
	if (fd < 0)
		return ward_err_sys(err, -errno, "%s", file);
	int r = ward_fd_write_all(fd, text, strlen(text));
	return r < 0 ? ward_err_sys(err, r, "%s", file) : 0;
}

/* Missing ones are no limit. */
static json_t *limits_json(const struct ward_settings *s)
{
	json_t *o = json_object();
	const struct limit all[] = {LIMITS(s)};
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (all[i].value <= INT64_MAX)
			json_object_set_new(o, all[i].name, json_integer((json_int_t)all[i].value));
	return o;
}

int ward_oci_place_write(const char *path, const struct ward_oci_place *p, struct ward_err *err)
{
	int r = write_file(path, CONFIG, p->config, err);
	if (r < 0)
		return r;
	json_t *o = json_pack("{s:s, s:s, s:s, s:o}", "id", p->id, "session", p->session, "bundle",
		p->bundle, "limits", limits_json(p->settings));
	r = write_file(path, SESSION, o, err);
	json_decref(o);
	return r;
}

static int read_session(const char *path, json_t **ret, struct ward_err *err)
{
	ward_cleanup_free char *file = NULL;
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	if (asprintf(&file, "%s/" SESSION, path) < 0)
		return ward_err_sys(err, -ENOMEM, "%s", path);
	ward_cleanup_fd int fd = open(file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return ward_err_set(err, -ENOENT, "this container has no session");
	int r = ward_fd_read_all(fd, 2 * PATH_MAX, &text);
	json_t *o = r == 0 ? json_loadb(ward_buf_str(&text), text.len, 0, NULL) : NULL;
	if (!o)
		return ward_err_set(err, -EBADMSG, "%s cannot be understood", file);
	*ret = o;
	return 0;
}

static int read_member(const char *path, const char *member, char **ret, struct ward_err *err)
{
	json_t *o = NULL;
	int r = read_session(path, &o, err);
	if (r < 0)
		return r;
	const char *value = json_string_value(json_object_get(o, member));
	char *copy = value ? strdup(value) : NULL;
	json_decref(o);
	if (!copy)
		return ward_err_set(err, -EBADMSG, "%s/" SESSION " cannot be understood", path);
	*ret = copy;
	return 0;
}

int ward_oci_place_limits(const char *path, struct ward_settings *ret, struct ward_err *err)
{
	json_t *o = NULL;
	int r = read_session(path, &o, err);
	if (r < 0)
		return r;
	const json_t *limits = json_object_get(o, "limits");
	uint64_t *const to[] = {&ret->memory, &ret->processes, &ret->cpus};
	const struct limit all[] = {LIMITS(ret)};
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		const json_t *v = json_object_get(limits, all[i].name);
		*to[i] = json_is_integer(v) ? (uint64_t)json_integer_value(v) : WARD_UNLIMITED;
	}
	r = json_is_object(limits)
		    ? 0
		    : ward_err_set(err, -EBADMSG, "%s/" SESSION " cannot be understood", path);
	json_decref(o);
	return r;
}

int ward_oci_place_read(const char *path, char **ret_session, struct ward_err *err)
{
	ward_cleanup_free char *name = NULL;
	int r = read_member(path, "session", &name, err);
	if (r < 0)
		return r;
	if (!ward_session_name_ok(name))
		return ward_err_set(err, -EBADMSG, "%s/" SESSION " cannot be understood", path);
	*ret_session = name;
	name = NULL;
	return 0;
}

/* Relative to the bundle that it leaves. */
static int keep_root(struct ward_oci_container *c, struct ward_err *err)
{
	json_t *root = json_object_get(c->config, "root");
	const char *name = json_string_value(json_object_get(root, "path"));
	ward_cleanup_free char *real = NULL;
	ward_cleanup_fd int fd =
		name ? openat(c->bundle_fd, name, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	int r = fd < 0 ? -errno : ward_fd_path(fd, &real);
	if (r < 0)
		return ward_err_sys(err, r, "the root file system");
	json_t *path = json_string(real);
	return path && json_object_set_new(root, "path", path) == 0
		       ? 0
		       : ward_err_set(err, -EINVAL, "the root file system: its path is no UTF-8");
}

int ward_oci_place_bundle(const char *path, struct ward_oci_container *c, struct ward_oci_args *a,
	struct ward_err *err)
{
	ward_cleanup_free char *dir = NULL;
	char *arg = NULL;
	if (!a->bundle)
		return ward_err_set(err, -EINVAL, "a container with ids of its own needs --bundle");
	int r = keep_root(c, err);
	if (r < 0)
		return r;
	if (asprintf(&dir, "%s/" BUNDLE, path) < 0 ||
		asprintf(&arg, "%s%s", a->bundle_joined ? "--bundle=" : "", dir) < 0)
		return ward_err_sys(err, -ENOMEM, "%s", path);
	/* It lives as long as the command line. */
	a->argv[a->bundle_at] = arg;
	a->bundle = arg + (a->bundle_joined ? strlen("--bundle=") : 0);
	if (mkdir(dir, 0711) < 0 && errno != EEXIST)
		return ward_err_sys(err, -errno, "%s", dir);
	ward_cleanup_fd int at = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	ward_cleanup_fd int made =
		at < 0 ? -1 : openat(at, CONFIG, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	const int config = made < 0 ? -1 : openat(at, CONFIG, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (config < 0)
		return ward_err_sys(err, -errno, "%s/" CONFIG, dir);
	close(c->config_fd);
	c->config_fd = config;
	close(c->bundle_fd);
	c->bundle_fd = ward_steal_fd(&at);
	free(c->bundle);
	c->bundle = ward_steal_ptr(&dir);
	return 0;
}

int ward_oci_place_cover(const char *path, struct ward_err *err)
{
	ward_cleanup_free char *bundle = NULL;
	ward_cleanup_free char *ours = NULL;
	ward_cleanup_free char *theirs = NULL;
	int r = read_member(path, "bundle", &bundle, err);
	if (r < 0)
		return r;
	if (asprintf(&ours, "%s/" CONFIG, path) < 0 || asprintf(&theirs, "%s/" CONFIG, bundle) < 0)
		return ward_err_sys(err, -ENOMEM, "%s", path);
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
		return ward_err_sys(err, -errno, "a mount namespace");
	const struct open_how how = {
		.flags = O_PATH | O_CLOEXEC | O_NOFOLLOW, .resolve = RESOLVE_NO_SYMLINKS};
	ward_cleanup_fd int to = ward_fd_openat2(AT_FDCWD, theirs, &how);
	ward_cleanup_fd int from = open_tree(
		AT_FDCWD, ours, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_SYMLINK_NOFOLLOW);
	if (to < 0 || from < 0 ||
		move_mount(from, "", to, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
		return ward_err_sys(err, to < 0 ? to : -errno, "%s", theirs);
	return 0;
}

void ward_oci_place_remove(const char *path)
{
	static const char *const names[] = {
		SESSION, CONFIG, BUNDLE "/" CONFIG, "view", BUNDLE, NULL};
	ward_cleanup_fd int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	for (size_t i = 0; names[i] && fd >= 0; i++)
		(void)unlinkat(fd, names[i], i > 2 ? AT_REMOVEDIR : 0);
	(void)rmdir(path);
}

void ward_oci_place_sweep(const char *path)
{
	ward_cleanup_fd int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
		ward_oci_place_remove(path);
}
