/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The new root: a tmpfs in a private mount namespace, into which everything of the blueprint is
 * placed.
 *
 * The sources on the host are all cloned (open_tree(2)) before anything is mounted, since the place
 * where the new root is assembled may cover one of them. Mount points are looked up inside the new
 * root only (openat2(2), RESOLVE_IN_ROOT). Trees come last and nothing may be looked up beneath
 * them: until the session starts nobody answers there.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/sandbox/init/init.h"
#include "enforcer/sandbox/sandbox.h"

/* The smallest tmpfs: one page; and as many files as pages, but some in any case. */
#define TMPFS_BYTES_MIN 4096
#define TMPFS_FILES_MIN 1024
/* Name of the shared tmpfs while it is being divided; gone before the command starts. */
#define SHARED_NAME ".shared"
/* Of a file until it is mounted elsewhere. */
#define OVER_NAME ".over"

/* What a mount call that does not exist, or that something in front of the kernel refuses, needs.
 */
static const char *fix(int code)
{
	return code == -ENOSYS || code == -EPERM
		       ? " (the new mount calls are missing or refused; fix: Linux 5.12 or later, in "
			 "a container a seccomp profile that passes them and openat2)"
		       : "";
}

static int mount_detached(const char *type, const char *const (*options)[2], size_t n,
	unsigned attrs, int *ret_fd, struct ward_err *err)
{
	ward_cleanup_fd int fs = fsopen(type, FSOPEN_CLOEXEC);
	if (fs < 0)
		return ward_err_sys(
			err, -errno, "%s is not offered by this kernel%s", type, fix(-errno));
	for (size_t i = 0; i < n; i++) {
		if (fsconfig(fs, FSCONFIG_SET_STRING, options[i][0], options[i][1], 0) < 0)
			return ward_err_sys(
				err, -errno, "%s option %s=%s", type, options[i][0], options[i][1]);
	}
	if (fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return ward_err_sys(err, -errno, "mount %s", type);
	int fd = fsmount(fs, FSMOUNT_CLOEXEC, attrs);
	if (fd < 0)
		return ward_err_sys(err, -errno, "mount %s", type);
	*ret_fd = fd;
	return 0;
}

int ward_init_attach(int mount, int at, const char *path, struct ward_err *err)
{
	if (move_mount(mount, "", at, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
		return ward_err_sys(err, -errno, "mount on %s%s", path, fix(-errno));
	return 0;
}

int ward_init_open_inside(int root, const char *path)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	return ward_fd_openat2(root, path, &how);
}

/*
 * Another id for file lookups alone: setfsuid(2) to a non-zero id also takes CAP_DAC_* out of the
 * effective set, and gives it back on the way to 0; CAP_SYS_ADMIN, which open_tree needs, stays.
 */
static int look_up_as(uid_t uid, gid_t gid, const gid_t *groups, size_t n)
{
	if (uid != 0 && setgroups(n, groups) < 0)
		return -errno;
	setfsgid(gid);
	setfsuid(uid);
	/* They report the previous id and no error: ask again. */
	return setfsuid((uid_t)-1) == (int)uid && setfsgid((gid_t)-1) == (int)gid ? 0 : -EPERM;
}

/*
 * Opens path inside. Root's right to pass any directory counts only where a mount has an id for its
 * owner (capable_wrt_inode_uidgid()), which mounts that are shut do not: there the command's ids
 * do.
 */
static int open_place(const struct ward_init *in, const char *path)
{
	const struct ward_blueprint *p = &in->blueprint;
	int fd = ward_init_open_inside(in->root, path);
	if (fd != -EACCES || !(p->flags & WARD_BLUEPRINT_ROOT))
		return fd;
	int r = look_up_as(p->agent_uid, p->agent_gid, p->groups,
		p->owner_uid == p->agent_uid ? p->n_groups : 0);
	if (r == 0)
		fd = ward_init_open_inside(in->root, path);
	if (look_up_as(0, 0, NULL, 0) < 0 || r < 0) {
		if (fd >= 0)
			close(fd);
		return -EPERM;
	}
	return fd;
}

/* As root, what is made below a directory of the agent's belongs to the agent as well. */
static int inherit_owner(const struct ward_init *in, int parent, const char *name)
{
	struct stat st;
	if (!(in->blueprint.flags & WARD_BLUEPRINT_ROOT))
		return 0;
	if (fstat(parent, &st) < 0)
		return -errno;
	if (st.st_uid != in->blueprint.agent_uid)
		return 0;
	if (fchownat(parent, name, in->blueprint.agent_uid, in->blueprint.agent_gid,
		    AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	return 0;
}

/* Nothing is made in a directory of the host, which mode `none` and `process` show writable. */
static int own_place(const struct ward_init *in, int parent)
{
	struct stat here;
	struct stat root;
	if (in->blueprint.layers & WARD_LAYER_VIEW)
		return 0;
	if (fstat(parent, &here) < 0 || fstat(in->root, &root) < 0)
		return -errno;
	return here.st_dev == root.st_dev ? 0 : -EROFS;
}

static int make_one(const struct ward_init *in, int parent, const char *name, mode_t mode)
{
	int r = own_place(in, parent);
	if (r < 0)
		return r;
	r = S_ISDIR(mode) ? mkdirat(parent, name, mode & 07777)
			  : mknodat(parent, name, S_IFREG | (mode & 07777), 0);
	if (r < 0)
		return -errno;
	r = inherit_owner(in, parent, name);
	if (r < 0)
		return r;
	int fd = openat(parent, name, O_PATH | O_CLOEXEC | O_NOFOLLOW);
	return fd < 0 ? -errno : fd;
}

static int make_error(int code, const char *path, const char *part, struct ward_err *err)
{
	if (code == -EROFS)
		return ward_err_set(err, code,
			"mount point %s does not exist, and wardfs cannot make it: it lies in a part of the host that is read-only inside; make it on the host, or choose another path",
			path);
	return ward_err_sys(err, code, "mount point %s: make %s", path, part);
}

/*
 * Opens path inside, making what is missing: directories on the way, and at the end a directory or
 * an empty file as mode says. Returns an O_PATH descriptor.
 */
static int make_point(const struct ward_init *in, const char *path, mode_t mode, int *ret_fd,
	struct ward_err *err)
{
	ward_cleanup_free char *part = strdup(path);
	if (!part)
		return ward_err_sys(err, -ENOMEM, "mount point %s", path);
	/* Back to what exists (mostly the parent), then forward. "" stands for the root. */
	size_t whole = strlen(part);
	int at = open_place(in, part);
	while (at == -ENOENT && part[0] != '\0') {
		*strrchr(part, '/') = '\0';
		at = open_place(in, part[0] != '\0' ? part : "/");
	}
	if (at == -ENOSYS || at == -EPERM)
		return ward_err_sys(err, at,
			"openat2(2) is refused or missing; fix: Linux 5.6 or later, and in a "
			"container a seccomp profile that passes it");
	if (at < 0)
		return ward_err_sys(err, at, "mount point %s", path);
	ward_cleanup_fd int dir = at;
	for (size_t len = strlen(part); len < whole; len = strlen(part)) {
		part[len] = '/'; /* the next component is whole again */
		bool last = strlen(part) == whole;
		int next = make_one(in, dir, part + len + 1, last ? mode : S_IFDIR | 0755);
		if (next < 0)
			return make_error(next, path, part, err);
		close(dir);
		dir = next;
	}
	*ret_fd = ward_steal_fd(&dir);
	return 0;
}

static int set_attrs(int fd, unsigned flags, uint64_t set, uint64_t clear)
{
	struct mount_attr attr = {.attr_set = set, .attr_clr = clear};
	return mount_setattr(fd, "", AT_EMPTY_PATH | flags, &attr, sizeof(attr)) < 0 ? -errno : 0;
}

static unsigned noexec(const struct ward_blueprint_entry *e)
{
	return e->flags & WARD_BLUEPRINT_NOEXEC ? MOUNT_ATTR_NOEXEC : 0;
}

/* --- sources, before anything is mounted --- */

static bool is_file(int fd, const struct ward_blueprint_entry *e)
{
	struct stat st;
	return fstat(fd, &st) == 0 && st.st_dev == e->dev && st.st_ino == e->ino;
}

/*
 * What was looked at is what is shown: no link that has come since leads elsewhere, and no other
 * file has taken the name. The supervisor's descriptor would do, but belongs to a mount of another
 * namespace, which open_tree(2) does not clone.
 */
static int clone_plain(const struct ward_blueprint_entry *e)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_NO_SYMLINKS,
	};
	ward_cleanup_fd int at = ward_fd_openat2(AT_FDCWD, e->text, &how);
	if (at < 0 || !is_file(at, e)) {
		errno = at < 0 ? -at : ESTALE;
		return -1;
	}
	return open_tree(
		at, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | AT_EMPTY_PATH);
}

static int clone_source(const struct ward_blueprint_entry *e, int *ret_fd, struct ward_err *err)
{
	bool device = e->kind == WARD_BLUEPRINT_DEVICE;
	int fd = e->flags & WARD_BLUEPRINT_PLAIN ? clone_plain(e)
						 : open_tree(AT_FDCWD, e->text,
							   OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC |
								   (device ? 0 : AT_RECURSIVE));
	if (fd < 0) {
		if (e->flags & WARD_BLUEPRINT_OPTIONAL &&
			(errno == ENOENT || errno == ENOTDIR || errno == EACCES))
			return 0;
		if (errno == ESTALE)
			return ward_err_set(err, -ESTALE,
				"somebody replaced %s of the host while the session started; start it again",
				e->text);
		return ward_err_sys(
			err, -errno, "cannot show %s of the host%s", e->text, fix(-errno));
	}
	/* Mounts of the host as they are: nothing is promised about them. */
	if (e->kind == WARD_BLUEPRINT_HOST) {
		*ret_fd = fd;
		return 0;
	}
	/* A device is written to nevertheless; its own times, which everybody may set, are not. */
	int r = device ? set_attrs(fd, 0, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC,
				 0)
		       : set_attrs(fd, AT_RECURSIVE,
				 MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV |
					 noexec(e),
				 0);
	if (r < 0) {
		close(fd);
		return ward_err_sys(err, r, "cannot protect the view of %s%s", e->text, fix(r));
	}
	*ret_fd = fd;
	return 0;
}

static int clone_sources(struct ward_init *in, int *mounts, struct ward_err *err)
{
	const struct ward_blueprint *p = &in->blueprint;
	bool switching = p->flags & WARD_BLUEPRINT_ROOT && p->owner_uid != 0;
	bool as_owner = false;
	int r = 0;
	for (size_t i = 0; i < p->n_entries && r == 0; i++) {
		const struct ward_blueprint_entry *e = &p->entries[i];
		mounts[i] = -1;
		if (e->kind != WARD_BLUEPRINT_BIND && e->kind != WARD_BLUEPRINT_HOST &&
			e->kind != WARD_BLUEPRINT_DEVICE)
			continue;
		bool want = switching && e->flags & WARD_BLUEPRINT_AS_OWNER;
		if (want != as_owner) {
			r = want ? look_up_as(p->owner_uid, p->owner_gid, p->groups, p->n_groups)
				 : look_up_as(0, 0, NULL, 0);
			if (r < 0)
				return ward_err_sys(err, r, "look up as user %u", p->owner_uid);
			as_owner = want;
		}
		r = clone_source(e, &mounts[i], err);
		if (r == 0 && mounts[i] >= 0 && e->flags & WARD_BLUEPRINT_SHUT)
			ward_init_shut(in, mounts[i]);
	}
	if (as_owner && look_up_as(0, 0, NULL, 0) < 0 && r == 0)
		r = ward_err_set(err, -EPERM, "cannot leave the owner's identity");
	return r;
}

/* --- placing --- */

/*
 * Somewhere every host has; only this mount namespace sees what covers it. outer: beside the view,
 * which comes into it.
 */
static int make_root(struct ward_init *in, bool outer, struct ward_err *err)
{
	static const char *const all[] = {"/tmp", "/run", "/mnt", "/var", "/usr"};
	const char *const *places = all + outer;
	/* Directories and a few files that we write; the command cannot add any. */
	static const char *const options[][2] = {
		{"source", "wardfs"}, {"mode", "0755"}, {"size", "16m"}, {"nr_inodes", "64k"}};
	ward_cleanup_fd int mount = -1;
	int r = mount_detached("tmpfs", options, sizeof(options) / sizeof(options[0]),
		MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, &mount, err);
	if (r < 0)
		return r;
	r = -ENOENT;
	for (size_t i = 0; i < 4 && r == -ENOENT; i++)
		r = move_mount(mount, "", AT_FDCWD, places[i], MOVE_MOUNT_F_EMPTY_PATH) < 0 ? -errno
											    : 0;
	if (r < 0)
		return ward_err_sys(err, r, "mount the new root%s", fix(r));
	in->root = ward_steal_fd(&mount);
	return 0;
}

static int mount_tmpfs(const struct ward_init *in, uint32_t mode, unsigned attrs, int *ret_fd,
	struct ward_err *err)
{
	char size[32], inodes[32], bits[16];
	/* tmpfs(5): 0 would mean no limit at all. Files without content cost memory as well. */
	uint64_t bytes = in->blueprint.tmp_bytes > TMPFS_BYTES_MIN ? in->blueprint.tmp_bytes
								   : TMPFS_BYTES_MIN;
	uint64_t files = bytes / TMPFS_BYTES_MIN + TMPFS_FILES_MIN;
	snprintf(size, sizeof(size), "%llu", (unsigned long long)bytes);
	snprintf(inodes, sizeof(inodes), "%llu", (unsigned long long)files);
	snprintf(bits, sizeof(bits), "%o", mode);
	const char *const options[][2] = {
		{"source", "wardfs"}, {"mode", bits}, {"size", size}, {"nr_inodes", inodes}};
	bool limited = in->blueprint.tmp_bytes != UINT64_MAX;
	return mount_detached("tmpfs", options, limited ? 4 : 2,
		MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | attrs, ret_fd, err);
}

/* One tmpfs with /tmp, /run and /dev/shm as parts, so the sum of the three has one limit. */
static int make_shared(const struct ward_init *in, int *ret_fd, struct ward_err *err)
{
	ward_cleanup_fd int mount = -1;
	ward_cleanup_fd int point = -1;
	int r = mount_tmpfs(in, 0700, 0, &mount, err);
	if (r == 0)
		r = make_point(in, "/" SHARED_NAME, S_IFDIR | 0700, &point, err);
	/* Parts can be cloned off only once it is attached. */
	if (r == 0)
		r = ward_init_attach(mount, point, "/" SHARED_NAME, err);
	if (r == 0)
		*ret_fd = ward_steal_fd(&mount);
	return r;
}

static int drop_shared(const struct ward_init *in, struct ward_err *err)
{
	if (fchdir(in->root) < 0 || umount2(SHARED_NAME, MNT_DETACH) < 0 ||
		unlinkat(in->root, SHARED_NAME, AT_REMOVEDIR) < 0)
		return ward_err_sys(err, -errno, "divide the shared tmpfs");
	return 0;
}

static int own(const struct ward_init *in, int fd, const char *path, struct ward_err *err)
{
	if (in->blueprint.flags & WARD_BLUEPRINT_ROOT &&
		fchownat(fd, "", in->blueprint.agent_uid, in->blueprint.agent_gid, AT_EMPTY_PATH) <
			0)
		return ward_err_sys(err, -errno, "give %s to the command", path);
	return 0;
}

static int clone_part(const struct ward_init *in, const struct ward_blueprint_entry *e, int shared,
	size_t number, int *ret_fd, struct ward_err *err)
{
	char name[32];
	snprintf(name, sizeof(name), "%zu", number);
	if (mkdirat(shared, name, e->mode) < 0)
		return ward_err_sys(err, -errno, "make %s", e->path);
	ward_cleanup_fd int fd = open_tree(shared, name, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	if (fd < 0)
		return ward_err_sys(err, -errno, "make %s", e->path);
	int r = own(in, fd, e->path, err);
	if (r == 0 && noexec(e) && set_attrs(fd, 0, MOUNT_ATTR_NOEXEC, 0) < 0)
		r = ward_err_sys(err, -errno, "protect %s", e->path);
	if (r == 0)
		*ret_fd = ward_steal_fd(&fd);
	return r;
}

static int place_file(
	const struct ward_init *in, const struct ward_blueprint_entry *e, struct ward_err *err)
{
	ward_cleanup_fd int point = -1;
	int r = make_point(in, e->path, S_IFREG | e->mode, &point, err);
	if (r < 0)
		return r;
	/* Reopened by way of the descriptor: the path is not looked up a second time. */
	char self[64];
	snprintf(self, sizeof(self), "/proc/self/fd/%d", point);
	ward_cleanup_fd int fd = open(self, O_WRONLY | O_CLOEXEC);
	r = fd < 0 ? -errno : ward_fd_write_all(fd, e->text, strlen(e->text));
	return r < 0 ? ward_err_sys(err, r, "write %s", e->path) : 0;
}

/* On a file of an image, which is not to be written: one of the root's, mounted there. */
static int place_over(
	const struct ward_init *in, const struct ward_blueprint_entry *e, struct ward_err *err)
{
	ward_cleanup_fd int point = open_place(in, e->path);
	struct stat st;
	if (point < 0 || fstat(point, &st) < 0 || !S_ISREG(st.st_mode))
		return ward_err_sys(
			err, point < 0 ? point : -EINVAL, "show %s of the session", e->path);
	ward_cleanup_fd int fd = openat(
		in->root, OVER_NAME, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int r = fd < 0 || fchmod(fd, e->mode) < 0 ? -errno
						  : ward_fd_write_all(fd, e->text, strlen(e->text));
	if (r < 0)
		return ward_err_sys(err, r, "write %s", e->path);
	ward_cleanup_fd int mount =
		open_tree(in->root, OVER_NAME, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	if (mount < 0)
		return ward_err_sys(err, -errno, "show %s of the session", e->path);
	r = set_attrs(mount, 0, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, 0);
	if (r < 0)
		return ward_err_sys(err, r, "protect %s", e->path);
	r = ward_init_attach(mount, point, e->path, err);
	if (r == 0 && unlinkat(in->root, OVER_NAME, 0) < 0)
		r = ward_err_sys(err, -errno, "show %s of the session", e->path);
	return r;
}

static int place_link(
	const struct ward_init *in, const struct ward_blueprint_entry *e, struct ward_err *err)
{
	char dir[4096];
	const char *name = strrchr(e->path, '/') + 1;
	snprintf(dir, sizeof(dir), "%.*s", (int)(name - 1 - e->path), e->path);
	ward_cleanup_fd int point = -1;
	int r = 0;
	if (dir[0] == '\0')
		point = fcntl(in->root, F_DUPFD_CLOEXEC, 3);
	else
		r = make_point(in, dir, S_IFDIR | 0755, &point, err);
	if (r < 0)
		return r;
	if (point < 0 || symlinkat(e->text, point, name) < 0)
		return ward_err_sys(err, -errno, "make the link %s", e->path);
	return 0;
}

/* The same tree again is a clone of this mount, with its attributes. */
static int mount_fuse(struct ward_init *in, const struct ward_blueprint_entry *e, int *ret_fd,
	struct ward_err *err)
{
	ward_cleanup_fd int dev = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (dev < 0)
		return ward_err_sys(err, -errno, "open /dev/fuse (%s)",
			errno == EACCES	  ? "fix: chmod 0666 /dev/fuse"
			: errno == ENOENT ? "fix: modprobe fuse"
			: errno == EPERM  ? "fix: the container must allow the device c 10:229"
					  : "see wardfs doctor");
	char fd[16], uid[16], gid[16], source[32];
	snprintf(fd, sizeof(fd), "%d", dev);
	snprintf(uid, sizeof(uid), "%u", in->blueprint.agent_uid);
	snprintf(gid, sizeof(gid), "%u", in->blueprint.agent_gid);
	snprintf(source, sizeof(source), "wardfs");
	/* Only these ids may enter (no allow_other); root of the host may not either. */
	const char *const options[][2] = {{"source", source}, {"subtype", "wardfs"}, {"fd", fd},
		{"rootmode", "40000"}, {"user_id", uid}, {"group_id", gid}};
	int r = mount_detached("fuse", options, sizeof(options) / sizeof(options[0]),
		MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | noexec(e), ret_fd, err);
	if (r == 0)
		in->fuse[e->mode] = ward_steal_fd(&dev);
	return r;
}

/* Not read-only: the place of a tree beneath it can be made. Landlock closes it to the command. */
static int mount_cover(int *ret_fd, struct ward_err *err)
{
	static const char *const options[][2] = {
		{"source", "wardfs"}, {"mode", "0555"}, {"size", "64k"}, {"nr_inodes", "256"}};
	return mount_detached("tmpfs", options, sizeof(options) / sizeof(options[0]),
		MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC, ret_fd, err);
}

static int mount_pts(int *ret_fd, struct ward_err *err)
{
	static const char *const options[][2] = {
		{"source", "devpts"}, {"ptmxmode", "0666"}, {"mode", "0620"}};
	return mount_detached("devpts", options, sizeof(options) / sizeof(options[0]),
		MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC, ret_fd, err);
}

int ward_init_clone_tree(int tree)
{
	return tree < 0 ? -1
			: open_tree(tree, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH);
}

/* A tree beneath another one gets its place later, by ward_init_nested(). */
static int place_nested(
	struct ward_init *in, const struct ward_blueprint_entry *e, struct ward_err *err)
{
	int r = in->fuse[e->mode] < 0 ? mount_fuse(in, e, &in->nested[e->mode], err) : -EEXIST;
	return r < 0 ? ward_err_wrap(err, "tree %s", e->path) : 0;
}

/* One tree, and right after it the entries that show the same file system again. */
static int place_tree(
	struct ward_init *in, const struct ward_blueprint_entry *e, int *tree, struct ward_err *err)
{
	ward_cleanup_fd int point = -1;
	ward_cleanup_fd int again = -1;
	if (e->flags & WARD_BLUEPRINT_NESTED)
		return place_nested(in, e, err);
	int r = make_point(in, e->path, S_IFDIR | 0755, &point, err);
	if (r < 0)
		return r;
	if (e->kind == WARD_BLUEPRINT_TREE) {
		r = in->fuse[e->mode] < 0 ? mount_fuse(in, e, &tree[e->mode], err) : -EEXIST;
		if (r < 0)
			return ward_err_wrap(err, "tree %s", e->path);
		return ward_init_attach(tree[e->mode], point, e->path, err);
	}
	/* Only a mount that is attached can be cloned: a nested one is, here, and its clone waits.
	 */
	if (in->nested[e->mode] >= 0) {
		r = ward_init_attach(in->nested[e->mode], point, e->path, err);
		again = r == 0 ? ward_init_clone_tree(in->nested[e->mode]) : -1;
		if (r == 0 && again < 0)
			r = ward_err_sys(err, -errno, "show the tree at %s as well", e->path);
		if (r == 0) {
			close(in->nested[e->mode]);
			in->nested[e->mode] = ward_steal_fd(&again);
		}
		return r;
	}
	again = ward_init_clone_tree(tree[e->mode]);
	if (again < 0)
		return ward_err_sys(err, -errno, "show the tree at %s as well", e->path);
	return ward_init_attach(again, point, e->path, err);
}

/* Over what the host has there: where that is gone, or closed to the command, nothing is to hide.
 */
static int place_cover(const struct ward_init *in, const struct ward_blueprint_entry *e, int source,
	struct ward_err *err)
{
	int at = open_place(in, e->path);
	if (at == -EACCES || at == -ENOENT || at == -ENOTDIR)
		return 0;
	if (at < 0)
		return ward_err_sys(err, at, "hide %s", e->path);
	ward_cleanup_fd int point = at;
	return ward_init_attach(source, point, e->path, err);
}

/* source: the entry's clone or cover, -1: none. tree: mounts of the trees so far. */
static int place(
	struct ward_init *in, size_t i, int source, int shared, int *tree, struct ward_err *err)
{
	const struct ward_blueprint_entry *e = &in->blueprint.entries[i];
	ward_cleanup_fd int mount = -1;
	ward_cleanup_fd int point = -1;
	mode_t mode = S_IFDIR | 0755;
	struct stat st;
	int r = 0;
	if (e->flags & WARD_BLUEPRINT_HIDES)
		return place_cover(in, e, source, err);
	switch (e->kind) {
	case WARD_BLUEPRINT_DIR:
		return make_point(in, e->path, S_IFDIR | e->mode, &point, err);
	case WARD_BLUEPRINT_FILE:
		return e->flags & WARD_BLUEPRINT_OVER ? place_over(in, e, err)
						      : place_file(in, e, err);
	case WARD_BLUEPRINT_LINK:
		return place_link(in, e, err);
	case WARD_BLUEPRINT_BIND:
	case WARD_BLUEPRINT_HOST:
	case WARD_BLUEPRINT_DEVICE:
		if (source < 0)
			return 0;
		if (fstat(source, &st) < 0)
			return ward_err_sys(err, -errno, "show %s", e->text);
		mode = S_ISDIR(st.st_mode) ? S_IFDIR | 0755 : S_IFREG | 0444;
		break;
	case WARD_BLUEPRINT_SHARED:
		r = clone_part(in, e, shared, i, &mount, err);
		break;
	case WARD_BLUEPRINT_TMPFS:
		r = mount_tmpfs(in, e->mode, noexec(e), &mount, err);
		if (r == 0)
			r = own(in, mount, e->path, err);
		break;
	case WARD_BLUEPRINT_COVER:
		break; /* made by place_all(), which closes it to writing at the end */
	case WARD_BLUEPRINT_PTS:
		r = mount_pts(&mount, err);
		break;
	case WARD_BLUEPRINT_TREE:
	case WARD_BLUEPRINT_TREE_AT:
		return place_tree(in, e, tree, err);
	case WARD_BLUEPRINT_FILES:
		return place_nested(in, e, err);
	case WARD_BLUEPRINT_TREE_FILE:
		/* ward_init_files() mounts it. */
		return make_point(in, e->path, S_IFREG | 0444, &point, err);
	case WARD_BLUEPRINT_NONE:
	case WARD_BLUEPRINT_KINDS_:
		return ward_err_set(err, -EBADMSG, "bad blueprint");
	}
	if (r == 0)
		r = make_point(in, e->path, mode, &point, err);
	if (r == 0 && e->flags & WARD_BLUEPRINT_ON_SAME && !is_file(point, e))
		r = ward_err_set(err, -ESTALE,
			"somebody replaced %s, which a tree serves, while the session started; start it again",
			e->path);
	return r < 0 ? r : ward_init_attach(mount >= 0 ? mount : source, point, e->path, err);
}

/* When every mount point is made: rootless, what we mounted is the command's id's to write. */
static int close_to_writing(const struct ward_init *in, const int *sources, struct ward_err *err)
{
	int r = set_attrs(in->root, 0, MOUNT_ATTR_RDONLY, 0);
	for (size_t i = 0; i < in->blueprint.n_entries && r == 0; i++)
		if (in->blueprint.entries[i].kind == WARD_BLUEPRINT_COVER)
			r = set_attrs(sources[i], 0, MOUNT_ATTR_RDONLY, 0);
	return r < 0 ? ward_err_sys(err, r, "protect the new root") : 0;
}

/*
 * The root of the engine: what it needs of the host, and the finished view as one directory, so
 * that no path of the view leads out of it.
 */
static int place_outer(struct ward_init *in, int *sources, struct ward_err *err)
{
	const struct ward_blueprint *p = &in->blueprint;
	ward_cleanup_fd int view = in->root;
	ward_cleanup_fd int point = -1;
	in->root = -1;
	int r = make_root(in, true, err);
	for (size_t i = 0; i < p->n_entries && r == 0; i++)
		if (p->entries[i].flags & WARD_BLUEPRINT_OUTER)
			r = place(in, i, sources[i], -1, NULL, err);
	if (r == 0)
		r = make_point(in, WARD_SANDBOX_ENGINE_VIEW, S_IFDIR | 0755, &point, err);
	if (r == 0)
		r = ward_init_attach(view, point, WARD_SANDBOX_ENGINE_VIEW, err);
	if (r == 0 && (r = set_attrs(in->root, 0, MOUNT_ATTR_RDONLY, 0)) < 0)
		r = ward_err_sys(err, r, "protect the root of the engine");
	return r;
}

static int place_all(struct ward_init *in, int *sources, struct ward_err *err)
{
	const struct ward_blueprint *p = &in->blueprint;
	ward_cleanup_fd int shared = -1;
	bool engine = p->flags & WARD_BLUEPRINT_ENGINE;
	int tree[WARD_TREES_MAX];
	for (size_t i = 0; i < WARD_TREES_MAX; i++)
		tree[i] = -1;
	bool view = p->layers & WARD_LAYER_VIEW;
	int r = make_root(in, false, err);
	if (r == 0 && view)
		r = make_shared(in, &shared, err);
	for (size_t i = 0; i < p->n_entries && r == 0; i++) {
		if (p->entries[i].flags & WARD_BLUEPRINT_OUTER)
			continue;
		if (p->entries[i].kind == WARD_BLUEPRINT_COVER)
			r = mount_cover(&sources[i], err);
		if (r == 0)
			r = place(in, i, sources[i], shared, tree, err);
	}
	for (size_t i = 0; i < WARD_TREES_MAX; i++)
		if (tree[i] >= 0)
			close(tree[i]);
	if (r == 0 && view)
		r = drop_shared(in, err);
	if (r == 0)
		r = close_to_writing(in, sources, err);
	return r == 0 && engine ? place_outer(in, sources, err) : r;
}

int ward_init_mounts(struct ward_init *in, struct ward_err *err)
{
	/* What we mount must not reach the host, nor what the host mounts later reach us. */
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return ward_err_sys(err, -errno, "make the mount namespace private%s",
			errno == EACCES
				? " (AppArmor gives user namespaces no rights; fix: sysctl -w "
				  "kernel.apparmor_restrict_unprivileged_userns=0)"
				: "");
	ward_cleanup_free int *sources = calloc(in->blueprint.n_entries + 1, sizeof(*sources));
	if (!sources)
		return ward_err_sys(err, -ENOMEM, "mounts");
	for (size_t i = 0; i < in->blueprint.n_entries; i++)
		sources[i] = -1;
	int r = ward_init_shut_begin(in);
	if (r < 0)
		r = ward_err_sys(err, r, "make a map of ids");
	if (r == 0)
		r = clone_sources(in, sources, err);
	ward_init_shut_end(in);
	if (r == 0)
		r = place_all(in, sources, err);
	for (size_t i = 0; i < in->blueprint.n_entries; i++)
		if (sources[i] >= 0)
			close(sources[i]);
	return r;
}
