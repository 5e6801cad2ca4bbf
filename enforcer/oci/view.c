/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the mount namespace of a container's creation. */
#include "enforcer/oci/view.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/oci/floor_parts.h"
#include "enforcer/oci/idmap.h"

/* What the options of a mount say about writing and recursion is ours to say. */
static int set_options(struct ward_oci_volume *v)
{
	static const char *const dropped[] = {"rw", "rrw", "ro", "rro", "rbind", "bind"};
	json_t *options = json_object_get(v->mount, "options");
	bool ro = v->how == WARD_OCI_HOW_READ;
	if (!json_is_array(options)) {
		json_object_set_new(v->mount, "options", json_array());
		options = json_object_get(v->mount, "options");
	}
	for (size_t i = json_array_size(options); i-- > 0;) {
		const char *s = json_string_value(json_array_get(options, i));
		for (size_t k = 0; s && k < sizeof(dropped) / sizeof(*dropped); k++)
			if (strcmp(s, dropped[k]) == 0) {
				ro = ro || k == 2 || k == 3;
				json_array_remove(options, i);
				break;
			}
	}
	for (size_t i = json_array_size(options); v->noexec && i-- > 0;) {
		const char *s = json_string_value(json_array_get(options, i));
		if (s && (strcmp(s, "exec") == 0 || strcmp(s, "rexec") == 0))
			json_array_remove(options, i);
	}
	if (v->noexec)
		json_array_append_new(options, json_string("noexec"));
	/* A tree has no mounts beneath it. */
	const bool all = v->recursive && v->how != WARD_OCI_HOW_GUARD;
	json_array_append_new(options, json_string(all ? "rbind" : "bind"));
	return json_array_append_new(options, json_string(ro ? "ro" : "rw"));
}

static int make_target(const char *path, bool directory)
{
	if (directory)
		return mkdir(path, 0755) < 0 ? -errno : 0;
	int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

/* The mount that fd is on, from fd on: what was decided about, whatever its path leads to now. */
static int copy_mount(const struct ward_oci_volume *v, const char *path, struct ward_err *err)
{
	const unsigned all = v->recursive ? AT_RECURSIVE : 0;
	ward_cleanup_fd int tree =
		open_tree(v->fd, "", AT_EMPTY_PATH | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | all);
	if (tree < 0)
		return ward_err_sys(err, -errno, "the volume at %s: %s", v->destination, v->source);
	struct mount_attr ids = {.attr_set = MOUNT_ATTR_IDMAP, .userns_fd = (uint64_t)v->ids};
	if (v->ids >= 0 && mount_setattr(tree, "", AT_EMPTY_PATH | (v->ids_all ? all : 0), &ids,
				   sizeof(ids)) < 0)
		return ward_err_sys(err, -errno, "the volume at %s: its file system cannot map ids",
			v->destination);
	struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY};
	if (v->how == WARD_OCI_HOW_READ &&
		mount_setattr(tree, "", AT_EMPTY_PATH | all, &attr, sizeof(attr)) < 0)
		return ward_err_sys(err, -errno, "the volume at %s: read-only", v->destination);
	if (move_mount(tree, "", AT_FDCWD, path, MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return ward_err_sys(err, -errno, "the volume at %s", v->destination);
	return 0;
}

static int mount_volume(struct ward_oci_volume *v, const char *path, struct ward_oci_view *view,
	struct ward_err *err)
{
	int r = make_target(path, v->directory);
	if (r < 0)
		return ward_err_sys(err, r, "%s", path);
	if (v->how == WARD_OCI_HOW_GUARD) {
		r = ward_fusemount(path, geteuid(), getegid(), true, &view->mounts[view->n],
			&view->fuse[view->n], err);
		view->n += r == 0;
	} else {
		r = copy_mount(v, path, err);
	}
	if (r < 0)
		return r;
	ward_oci_idmap_done(v->mount);
	json_object_set_new(v->mount, "type", json_string("bind"));
	json_object_set_new(v->mount, "source", json_string(path));
	return set_options(v);
}

static int mount_config(const struct ward_oci_container *c, const char *path,
	struct ward_oci_view *view, struct ward_err *err)
{
	struct stat st;
	ward_cleanup_free char *text = json_dumps(c->config, JSON_COMPACT);
	ward_cleanup_fd int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
	if (!text || fd < 0)
		return ward_err_sys(err, text ? -errno : -ENOMEM, "%s", path);
	int r = ward_fd_write_all(fd, text, strlen(text));
	if (r < 0 || fstat(fd, &st) < 0)
		return ward_err_sys(err, r < 0 ? r : -errno, "%s", path);
	view->dev = st.st_dev;
	view->ino = st.st_ino;
	ward_cleanup_fd int tree = open_tree(AT_FDCWD, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	if (tree < 0 || move_mount(tree, "", c->config_fd, "",
				MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
		return ward_err_sys(err, -errno, "%s/config.json", c->bundle);
	return 0;
}

static int enter(const char *view, int *ret_host, struct ward_err *err)
{
	*ret_host = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
	if (*ret_host < 0 || unshare(CLONE_NEWNS) < 0)
		return ward_err_sys(err, -errno, "a mount namespace");
	/* An unmount on the host happens here, too, but not the other way round. */
	if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0 ||
		mount("wardfs", view, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=16m") < 0)
		return ward_err_sys(err, -errno, "%s", view);
	return 0;
}

/* The descriptors were opened before: they lead to mounts of the namespace that we came from. */
static int reopen(struct ward_oci_container *c, struct ward_err *err)
{
	struct stat a, b;
	for (size_t i = 0; i <= c->n_volumes; i++) {
		int *fd = i < c->n_volumes ? &c->volumes[i].fd : &c->config_fd;
		ward_cleanup_free char *path = NULL;
		int r = ward_fd_path(*fd, &path);
		if (r < 0)
			return ward_err_sys(err, r, "config.json");
		const struct open_how how = {
			.flags = O_PATH | O_CLOEXEC | O_NOFOLLOW, .resolve = RESOLVE_NO_SYMLINKS};
		ward_cleanup_fd int here = ward_fd_openat2(AT_FDCWD, path, &how);
		if (here < 0 || fstat(here, &a) < 0 || fstat(*fd, &b) < 0 || a.st_dev != b.st_dev ||
			a.st_ino != b.st_ino)
			return ward_err_set(err, -EAGAIN, "%s: it was replaced", path);
		close(*fd);
		*fd = ward_steal_fd(&here);
	}
	return 0;
}

int ward_oci_view_make(struct ward_oci_container *c, const struct ward_oci_host *h,
	const char *place, bool wired, struct ward_oci_view *ret, struct ward_err *err)
{
	char dir[PATH_MAX];
	char path[PATH_MAX + 32];
	(void)snprintf(dir, sizeof(dir), "%s/view", place);
	if (mkdir(dir, 0755) < 0 && errno != EEXIST)
		return ward_err_sys(err, -errno, "%s", dir);
	int r = enter(dir, &ret->host, err);
	if (r == 0)
		r = reopen(c, err);
	for (size_t i = 0; i < c->n_volumes && r == 0; i++) {
		(void)snprintf(path, sizeof(path), "%s/%zu", dir, i);
		r = mount_volume(&c->volumes[i], path, ret, err);
	}
	/* Before the one that is ours. */
	if (r == 0)
		r = ward_oci_join(c->config, h, dir, err);
	if (r == 0 && wired)
		r = ward_oci_wired_make(c->config, dir, &ret->wired, err);
	(void)snprintf(path, sizeof(path), "%s/config", dir);
	return r == 0 ? mount_config(c, path, ret, err) : r;
}

int ward_oci_view_check(const struct ward_oci_view *v, const char *bundle, struct ward_err *err)
{
	int r = 0;
	for (size_t i = 0; i < v->n && r == 0; i++)
		r = ward_fusemount_meet(&v->mounts[i], err);
	if (r < 0)
		return r;
	ward_cleanup_free char *path = NULL;
	struct stat st;
	if (asprintf(&path, "%s/config.json", bundle) < 0)
		return ward_err_sys(err, -ENOMEM, "%s", bundle);
	/* By the words that the runtime has. */
	if (lstat(path, &st) < 0 || st.st_dev != v->dev || st.st_ino != v->ino)
		return ward_err_set(err, -EAGAIN, "%s: it was replaced", path);
	return 0;
}

void ward_oci_view_clear(struct ward_oci_view *v)
{
	for (size_t i = 0; i < v->n; i++) {
		if (v->fuse[i] >= 0)
			close(v->fuse[i]);
		ward_fusemount_clear(&v->mounts[i]);
	}
	ward_oci_wired_clear(&v->wired);
	if (v->host >= 0)
		close(v->host);
	*v = WARD_OCI_VIEW_INIT;
}
