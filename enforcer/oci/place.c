/* SPDX-License-Identifier: Apache-2.0 */
/* The directory of a container. */
#include "enforcer/oci/place.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/oci/oci.h"
#include "enforcer/session/owner/session_place.h"

#define SESSION "session"

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
	*ret_lock = ward_steal_fd(&fd);
	return 0;
}

int ward_oci_place_write(
	const char *path, const char *id, const char *session, struct ward_err *err)
{
	ward_cleanup_free char *file = NULL;
	ward_cleanup_free char *text = NULL;
	json_t *o = json_pack("{s:s, s:s}", "id", id, "session", session);
	text = o ? json_dumps(o, JSON_COMPACT) : NULL;
	json_decref(o);
	if (!text || asprintf(&file, "%s/" SESSION, path) < 0)
		return ward_err_sys(err, -ENOMEM, "%s", path);
	ward_cleanup_fd int fd = open(file, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
	if (fd < 0)
		return ward_err_sys(err, -errno, "%s", file);
	int r = ward_fd_write_all(fd, text, strlen(text));
	return r < 0 ? ward_err_sys(err, r, "%s", file) : 0;
}

int ward_oci_place_read(const char *path, char **ret_session, struct ward_err *err)
{
	ward_cleanup_free char *file = NULL;
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	if (asprintf(&file, "%s/" SESSION, path) < 0)
		return ward_err_sys(err, -ENOMEM, "%s", path);
	ward_cleanup_fd int fd = open(file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return ward_err_set(err, -ENOENT, "this container has no session");
	int r = ward_fd_read_all(fd, 4096, &text);
	json_t *o = r == 0 ? json_loadb(ward_buf_str(&text), text.len, 0, NULL) : NULL;
	const char *name = json_string_value(json_object_get(o, "session"));
	char *copy = name && ward_session_name_ok(name) ? strdup(name) : NULL;
	json_decref(o);
	if (!copy)
		return ward_err_set(err, -EBADMSG, "%s cannot be understood", file);
	*ret_session = copy;
	return 0;
}

void ward_oci_place_remove(const char *path)
{
	static const char *const names[] = {SESSION, "view"};
	ward_cleanup_fd int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	for (size_t i = 0; i < 2 && fd >= 0; i++)
		(void)unlinkat(fd, names[i], i ? AT_REMOVEDIR : 0);
	(void)rmdir(path);
}

void ward_oci_place_sweep(const char *path)
{
	ward_cleanup_fd int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
		ward_oci_place_remove(path);
}
