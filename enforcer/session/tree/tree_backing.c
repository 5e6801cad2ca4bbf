/* SPDX-License-Identifier: Apache-2.0 */
/* Opens the backing of a tree: a host directory or a tmpfs. */
#include "enforcer/session/tree/tree_backing.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/patient.h"
#include "enforcer/ipc/msg.h"

int ward_tree_backing_open(const char *path, const char *home, int *ret_fd, struct ward_err *err)
{
	int r = ward_patient_reach(path, err);
	if (r < 0)
		return ward_err_wrap(err, "tree source");
	ward_cleanup_fd int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return ward_err_sys(err, -errno, "tree source %s", path);
	struct stat st;
	struct stat other;
	if (fstat(fd, &st) < 0)
		return ward_err_sys(err, -errno, "tree source %s", path);
	const char *const never[] = {"/", home};
	for (size_t i = 0; i < 2; i++)
		if (never[i] && stat(never[i], &other) == 0 && other.st_dev == st.st_dev &&
			other.st_ino == st.st_ino)
			return ward_err_set(err, -EPERM,
				"%s cannot be the project, because it is %s. Change into a project directory",
				path, i == 0 ? "the root of the host" : "your home directory");
	*ret_fd = ward_steal_fd(&fd);
	return 0;
}

/* fsopen(2), fsconfig(2), fsmount(2): glibc 2.36 declares them, as mount_setattr(2) users expect.
 */
int ward_backing_new(uint64_t size, uid_t uid, gid_t gid)
{
	char number[32];
	ward_cleanup_fd int fs = (int)syscall(SYS_fsopen, "tmpfs", FSOPEN_CLOEXEC);
	if (fs < 0)
		return -errno;
	/* A file without content costs memory as well: as many as pages, and some (tmpfs(5)). */
	const struct {
		const char *key;
		unsigned long long value;
		bool octal;
	} set[] = {{"size", size, false}, {"nr_inodes", size / 4096 + 1024, false},
		{"mode", 0755, true}, {"uid", uid, false}, {"gid", gid, false}};
	for (size_t i = 0; i < sizeof(set) / sizeof(*set); i++) {
		snprintf(number, sizeof(number), set[i].octal ? "%llo" : "%llu", set[i].value);
		if (syscall(SYS_fsconfig, fs, FSCONFIG_SET_STRING, set[i].key, number, 0) < 0)
			return -errno;
	}
	if (syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return -errno;
	int fd = (int)syscall(
		SYS_fsmount, fs, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
	return fd < 0 ? -errno : fd;
}

static int write_file(const char *path, const char *text)
{
	ward_cleanup_fd int fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd < 0 ? -errno : ward_fd_write_all(fd, text, strlen(text));
}

/* Its own user namespace, in which it may mount. */
static int enter_rootless(uid_t uid, gid_t gid)
{
	char map[64];
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
		return -errno;
	int r = write_file("/proc/self/setgroups", "deny");
	snprintf(map, sizeof(map), "%u %u 1", (unsigned)uid, (unsigned)uid);
	if (r == 0)
		r = write_file("/proc/self/uid_map", map);
	snprintf(map, sizeof(map), "%u %u 1", (unsigned)gid, (unsigned)gid);
	return r < 0 ? r : write_file("/proc/self/gid_map", map);
}

/* In a child: the result goes back over sock. */
static int child(int sock, uid_t uid, gid_t gid, bool root, int (*make)(void *user), void *user)
{
	int r = root ? (unshare(CLONE_NEWNS) < 0 ? -errno : 0) : enter_rootless(uid, gid);
	int fd = r < 0 ? r : make(user);
	if (fd < 0)
		return fd;
	struct ward_msg m;
	ward_msg_init(&m, WARD_MSG_VERSION);
	return ward_msg_send(sock, &m, &fd, 1);
}

int ward_backing_by_child(uid_t uid, gid_t gid, bool root, int (*make)(void *user), void *user)
{
	int s[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, s) < 0)
		return -errno;
	ward_cleanup_fd int ours = s[0];
	pid_t pid = fork();
	if (pid < 0) {
		close(s[1]);
		return -errno;
	}
	if (pid == 0)
		_exit(-child(s[1], uid, gid, root, make, user));
	close(s[1]);
	char buf[64];
	int fd = -1;
	size_t n = 1;
	ssize_t got = ward_msg_recv(ours, buf, sizeof(buf), &fd, &n);
	int status = 0;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (got > 0 && n == 1)
		return fd;
	return WIFEXITED(status) && WEXITSTATUS(status) ? -WEXITSTATUS(status) : -EIO;
}

struct tmpfs {
	uint64_t size;
	uid_t uid;
	gid_t gid;
};

static int make_tmpfs(void *user)
{
	const struct tmpfs *t = user;
	return ward_backing_new(t->size, t->uid, t->gid);
}

int ward_backing_tmpfs(
	uint64_t size, uid_t uid, gid_t gid, bool root, int *ret_fd, struct ward_err *err)
{
	struct tmpfs t = {.size = size, .uid = uid, .gid = gid};
	ward_cleanup_fd int fd =
		root ? make_tmpfs(&t) : ward_backing_by_child(uid, gid, false, make_tmpfs, &t);
	if (fd < 0) {
		int r = fd;
		fd = -1;
		return ward_err_sys(err, r, "making an ephemeral tree");
	}
	*ret_fd = ward_steal_fd(&fd);
	return 0;
}

int ward_backing_point(int backing, const char *path, uid_t uid, gid_t gid, struct ward_err *err)
{
	/* Nobody else knows this file system yet: no name in it can be a link. */
	ward_cleanup_fd int dir = fcntl(backing, F_DUPFD_CLOEXEC, 3);
	for (const char *s = path; dir >= 0 && *s;) {
		char name[256];
		size_t n = strcspn(s, "/");
		if (n == 0 || n >= sizeof(name))
			return ward_err_set(err, -ENAMETOOLONG, "a tree beneath another: %s", path);
		memcpy(name, s, n);
		name[n] = '\0';
		if (mkdirat(dir, name, 0755) == 0) {
			if (fchownat(dir, name, uid, gid, AT_SYMLINK_NOFOLLOW) < 0)
				return ward_err_sys(
					err, -errno, "a tree beneath another: %s", path);
		} else if (errno != EEXIST) {
			return ward_err_sys(err, -errno, "a tree beneath another: %s", path);
		}
		int next = openat(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		close(dir);
		dir = next;
		s += n;
		s += *s == '/';
	}
	return dir < 0 ? ward_err_sys(err, -errno, "a tree beneath another: %s", path) : 0;
}
