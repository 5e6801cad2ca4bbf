/* SPDX-License-Identifier: Apache-2.0 */
/* Mounts /dev/fuse on a directory of the host, and unmounts it. */
#include "enforcer/session/guard/fusemount.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/host_program.h"
#include "enforcer/base/plain.h"

/* For one answer of a file system that has just said that it is ready. */
#define MEET_MS 60000
/* In mountinfo, behind the options of a mount of ours: type and source (proc(5)). */
#define OURS " - fuse.wardfs wardfs "

static int open_mountpoint(const char *arg, int *ret_fd, char **ret_path, struct ward_err *err)
{
	ward_cleanup_fd int fd = -1;
	int r = ward_plain_dir(arg, &fd, err);
	if (r < 0)
		return r;
	r = ward_fd_path(fd, ret_path);
	if (r < 0)
		return ward_err_sys(err, r, "mount point %s: cannot be named", arg);
	*ret_fd = ward_steal_fd(&fd);
	return 0;
}

static int mnt_id_in(int dir, const char *name, uint64_t *ret)
{
	struct statx sx;
	ward_cleanup_fd int fd = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	/* DONT_SYNC: the file system is not served yet, or not any more. */
	if (fd < 0 || statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_MNT_ID, &sx) < 0)
		return -errno;
	*ret = sx.stx_mnt_id;
	return 0;
}

static int mnt_id_of(const char *path, uint64_t *ret)
{
	return mnt_id_in(AT_FDCWD, path, ret);
}

static const char *last_name(const char *path)
{
	return strrchr(path, '/') + 1;
}

/* Of what was mounted on point just now: its path may lead elsewhere by now. */
static int mnt_id_on(int point, const char *path, uint64_t *ret)
{
	uint64_t id = 0;
	uint64_t above = 0;
	ward_cleanup_fd int dir = openat(point, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int r = dir < 0 ? -errno : mnt_id_in(dir, last_name(path), &id);
	if (r == 0)
		r = mnt_id_in(dir, ".", &above);
	if (r == 0 && id == above)
		r = -ESTALE;
	if (r == 0)
		*ret = id;
	return r;
}

/*
 * The owner of a directory of the path can put another one in its place: so the name is looked up
 * in the directory in which it was found to be ours. A name with a mount on it cannot be moved.
 */
static int take_away(const struct ward_fusemount *m, bool lazy)
{
	ward_cleanup_free char *above = strndup(m->path, (size_t)(last_name(m->path) - m->path));
	ward_cleanup_fd int here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	ward_cleanup_fd int dir = above ? open(above, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	uint64_t id = 0;
	int r = 0;
	if (!above || here < 0)
		return above ? -errno : -ENOMEM;
	if (dir < 0 || mnt_id_in(dir, last_name(m->path), &id) < 0 || id != m->mnt_id)
		return 0;
	if (fchdir(dir) < 0)
		return -errno;
	if (umount2(last_name(m->path), UMOUNT_NOFOLLOW | (lazy ? MNT_DETACH : 0)) < 0)
		r = -errno;
	return fchdir(here) < 0 && r == 0 ? -errno : r;
}

static int by_syscall(
	int point, uid_t uid, gid_t gid, bool allow_other, int *ret_fd, bool *ret_no_device)
{
	ward_cleanup_fd int dev = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (dev < 0) {
		*ret_no_device = true;
		return -errno;
	}
	char opts[160];
	char target[64];
	snprintf(opts, sizeof(opts), "fd=%d,rootmode=40000,user_id=%u,group_id=%u%s", dev,
		(unsigned)uid, (unsigned)gid,
		allow_other ? ",allow_other,default_permissions" : "");
	snprintf(target, sizeof(target), "/proc/self/fd/%d", point);
	if (mount("wardfs", target, "fuse.wardfs", MS_NOSUID | MS_NODEV, opts) < 0)
		return -errno;
	*ret_fd = ward_steal_fd(&dev);
	return 0;
}

/* fusermount3(1) sends /dev/fuse over the socket named in _FUSE_COMMFD as one byte with SCM_RIGHTS.
 */
static int take_fd(int sock)
{
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(sizeof(int))];
	} control;
	char byte = 0;
	struct iovec iov = {&byte, 1};
	struct msghdr mh = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.space,
		.msg_controllen = sizeof(control.space)};
	if (recvmsg(sock, &mh, MSG_CMSG_CLOEXEC) <= 0)
		return -EPERM;
	const struct cmsghdr *c = CMSG_FIRSTHDR(&mh);
	if (!c || c->cmsg_type != SCM_RIGHTS || c->cmsg_len != CMSG_LEN(sizeof(int)))
		return -EPERM;
	int fd = -1;
	memcpy(&fd, CMSG_DATA(c), sizeof(int));
	return fd;
}

static int run_fusermount(int sock, const char *a1, const char *a2, const char *path)
{
	char program[PATH_MAX];
	int r = ward_host_program("fusermount3", program);
	pid_t pid = r < 0 ? -1 : fork();
	if (pid < 0)
		return r < 0 ? r : -errno;
	if (pid == 0) {
		char num[16];
		if (sock >= 0) {
			snprintf(num, sizeof(num), "%d", sock);
			setenv("_FUSE_COMMFD", num, 1);
			fcntl(sock, F_SETFD, 0);
		}
		execl(program, "fusermount3", a1, a2, "--", path, (char *)NULL);
		_exit(127);
	}
	int st = 0;
	while (waitpid(pid, &st, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(st) && WEXITSTATUS(st) == 0)
		return 0;
	return WIFEXITED(st) && WEXITSTATUS(st) == 127 ? -ENOENT : -EPERM;
}

static int by_helper(const char *path, int *ret_fd)
{
	int s[2];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, s) < 0)
		return -errno;
	ward_cleanup_fd int ours = s[0];
	ward_cleanup_fd int theirs = s[1];
	int r = run_fusermount(theirs, "-o", "rw,nosuid,nodev,fsname=wardfs,subtype=wardfs", path);
	if (r < 0)
		return r;
	/* Else the end of a helper that sends nothing is not seen. */
	close(ward_steal_fd(&theirs));
	int fd = take_fd(ours);
	if (fd < 0)
		return fd;
	*ret_fd = fd;
	return 0;
}

int ward_fusemount(const char *mountpoint, uid_t uid, gid_t gid, bool allow_other,
	struct ward_fusemount *ret, int *ret_fd, struct ward_err *err)
{
	ward_cleanup_fd int point = -1;
	ward_cleanup_fd int dev = -1;
	struct ward_fusemount m = {0};
	int r = open_mountpoint(mountpoint, &point, &m.path, err);
	if (r < 0)
		return r;
	bool no_device = false;
	r = by_syscall(point, uid, gid, allow_other, &dev, &no_device);
	if (r == -EPERM && !allow_other) {
		r = by_helper(m.path, &dev);
		m.by_helper = r == 0;
		if (r < 0)
			ward_err_set(err, -EPERM,
				"cannot mount on %s: an ordinary user needs a user namespace (unshare --user --map-current-user --keep-caps --mount), or fusermount3 (apt-get install fuse3). wardfs run needs neither",
				m.path);
	} else if (r < 0) {
		const char *fix = !no_device	 ? ""
				  : r == -EACCES ? ": open /dev/fuse (fix: chmod 0666 /dev/fuse)"
						 : ": open /dev/fuse (fix: modprobe fuse)";
		ward_err_sys(err, r, "mounting on %s%s", m.path, fix);
	}
	if (r == 0 && (r = mnt_id_on(point, m.path, &m.mnt_id)) < 0)
		ward_err_sys(err, r, "%s", m.path);
	if (r < 0) {
		free(m.path);
		return r;
	}
	*ret = m;
	*ret_fd = ward_steal_fd(&dev);
	return 0;
}

/* A copy of the descriptor of /dev/fuse keeps the connection without a server: who waits for an
 * answer and has one would wait for ever, once the caller and the server are killed. */
static int meet_child(const char *path, pid_t parent)
{
	struct stat st;
	if (close_range(0, ~0U, 0) < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		return errno;
	if (getppid() != parent)
		return ESRCH;
	return stat(path, &st) < 0 ? errno : 0;
}

int ward_fusemount_meet(const struct ward_fusemount *m, struct ward_err *err)
{
	int status = 0;
	const pid_t parent = getpid();
	pid_t pid = fork();
	if (pid == 0)
		_exit(meet_child(m->path, parent));
	ward_cleanup_fd int fd = pid < 0 ? -1 : pidfd_open(pid, 0);
	if (fd < 0 && pid < 0)
		return ward_err_sys(err, -errno, "fork");
	struct pollfd end = {.fd = fd, .events = POLLIN};
	bool late = fd < 0 || poll(&end, 1, MEET_MS) <= 0;
	/* Who waits for an answer of FUSE can be killed; */
	if (late)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	int code = late ? ETIMEDOUT : WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
	/* fusermount3's mount may not be ours to enter; it lies in a namespace that knows uid 0. */
	return code && !m->by_helper ? ward_err_sys(err, -code, "%s", m->path) : 0;
}

bool ward_fusemount_is_here(const struct ward_fusemount *m)
{
	ward_cleanup_file FILE *f = fopen("/proc/self/mountinfo", "re");
	ward_cleanup_free char *line = NULL;
	size_t cap = 0;
	while (f && getline(&line, &cap, f) > 0)
		if (strstr(line, OURS) && strtoull(line, NULL, 10) == m->mnt_id)
			return true;
	return false;
}

int ward_fusemount_undo(const struct ward_fusemount *m, bool lazy, struct ward_err *err)
{
	uint64_t id = 0;
	if (mnt_id_of(m->path, &id) < 0 || id != m->mnt_id)
		return ward_fusemount_is_here(m)
			       ? ward_err_set(err, -EEXIST, WARD_FUSEMOUNT_COVERED, m->path)
			       : 0;
	int r = 0;
	if (m->by_helper)
		r = run_fusermount(-1, "-u", lazy ? "-z" : "-q", m->path);
	else
		r = take_away(m, lazy);
	return r < 0 ? ward_err_sys(err, r, "unmounting %s", m->path) : 0;
}

int ward_fusemount_adopt(struct ward_fusemount *m, struct ward_err *err)
{
	int r = mnt_id_of(m->path, &m->mnt_id);
	m->by_helper = geteuid() != 0;
	return r < 0 ? ward_err_sys(err, r, "%s", m->path) : 0;
}

void ward_fusemount_clear(struct ward_fusemount *m)
{
	free(m->path);
	*m = (struct ward_fusemount){0};
}

/* The field of mountinfo, where blanks and the like are written as \\ooo (proc_pid_mountinfo(5)).
 */
static bool is_field(const char *field, const char *path)
{
	for (; *field && *path; path++) {
		char c = *field++;
		if (c == '\\' && strspn(field, "01234567") >= 3) {
			c = (char)((field[0] - '0') << 6 | (field[1] - '0') << 3 |
				   (field[2] - '0'));
			field += 3;
		}
		if (c != *path)
			return false;
	}
	return !*field && !*path;
}

bool ward_fusemount_is_ours(const char *path)
{
	ward_cleanup_file FILE *f = fopen("/proc/self/mountinfo", "re");
	ward_cleanup_free char *line = NULL;
	size_t cap = 0;
	bool ours = false;
	while (f && getline(&line, &cap, f) > 0) {
		char point[4 * PATH_MAX];
		const char *dash = strstr(line, " - ");
		/* Fields as proc(5): id parent dev root POINT options … - TYPE SOURCE super. */
		if (dash && sscanf(line, "%*s %*s %*s %*s %16383s", point) == 1 &&
			is_field(point, path))
			ours = strncmp(dash, OURS, strlen(OURS)) == 0;
	}
	return ours;
}
