/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for what may never end, and goes on. */
#include "enforcer/base/patient.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/mounts.h"

/* The numbers in the other process. */
enum { AT = 0, ANSWER = 1 };

struct answer {
	int result;
	struct ward_patient_found found;
};

union control {
	struct cmsghdr head; /* for the alignment */
	char room[CMSG_SPACE(sizeof(int))];
};

static void send_answer(const struct answer *a)
{
	struct iovec iov = {.iov_base = (void *)a, .iov_len = sizeof(*a)};
	union control c = {.room = {0}};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
	if (a->result == 0 && a->found.fd >= 0) {
		m.msg_control = c.room;
		m.msg_controllen = sizeof(c.room);
		struct cmsghdr *h = CMSG_FIRSTHDR(&m);
		h->cmsg_level = SOL_SOCKET;
		h->cmsg_type = SCM_RIGHTS;
		h->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(h), &a->found.fd, sizeof(int));
	}
	(void)!sendmsg(ANSWER, &m, MSG_NOSIGNAL);
}

/*
 * What is open here may stay open for as long as a machine runs: a lock of the caller's, a pipe
 * whose other end waits for its end.
 */
static _Noreturn void child(ward_patient_fn look, int at, const char *path, int answer)
{
	struct answer a = {.result = -EIO, .found = {.fd = -1}};
	const int from[] = {at >= 0 ? at : -1, answer}, to[] = {AT, ANSWER};
	if (ward_fd_inherit(from, to, 2) < 0)
		_exit(1);
	(void)close_range(ANSWER + 1, ~0U, 0);
	a.result = look(at >= 0 ? AT : at, path, &a.found);
	send_answer(&a);
	_exit(0);
}

/* Its own signals are for the caller: this process has no use for its handlers. */
static pid_t start(ward_patient_fn look, int at, const char *path, int answer)
{
	sigset_t all, before;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	const pid_t pid = fork();
	if (pid == 0)
		child(look, at, path, answer);
	const int r = pid < 0 ? -errno : 0;
	sigprocmask(SIG_SETMASK, &before, NULL);
	return r < 0 ? r : pid;
}

static int wait_answer(int sock, uint64_t time_ns)
{
	const uint64_t began_ns = ward_clock_mono_ns();
	struct pollfd p = {.fd = sock, .events = POLLIN};
	int n = 0;
	do {
		const uint64_t left = ward_clock_left_ns(began_ns, time_ns);
		const struct timespec ts = {.tv_sec = (time_t)(left / WARD_NS_PER_SEC),
			.tv_nsec = (long)(left % WARD_NS_PER_SEC)};
		n = ppoll(&p, 1, &ts, NULL);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n == 0 ? -ETIMEDOUT : 0;
}

static int receive(int sock, struct ward_patient_found *ret)
{
	struct answer a;
	struct iovec iov = {.iov_base = &a, .iov_len = sizeof(a)};
	union control c = {.room = {0}};
	struct msghdr m = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = c.room,
		.msg_controllen = sizeof(c.room)};
	const ssize_t n = recvmsg(sock, &m, MSG_CMSG_CLOEXEC);
	if (n != (ssize_t)sizeof(a))
		return n < 0 ? -errno : -EIO; /* the process died */
	const bool has_fd = a.result == 0 && a.found.fd >= 0;
	const struct cmsghdr *h = CMSG_FIRSTHDR(&m);
	a.found.fd = -1;
	if (h && h->cmsg_type == SCM_RIGHTS && h->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(&a.found.fd, CMSG_DATA(h), sizeof(int));
	/* No number was free for it. */
	if (has_fd && a.found.fd < 0)
		return -EMFILE;
	if (a.result == 0)
		*ret = a.found;
	return a.result;
}

int ward_patient(ward_patient_fn look, int at, const char *path, uint64_t time_ns,
	struct ward_patient_found *ret_found)
{
	int ends[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	const pid_t pid = start(look, at, path, ends[1]);
	close(ends[1]);
	int r = pid < 0 ? pid : wait_answer(ends[0], time_ns);
	if (r == 0)
		r = receive(ends[0], ret_found);
	close(ends[0]);
	/* A child that still waits is left to the reaper of orphans: nobody here waits for it. */
	if (r == -ETIMEDOUT)
		kill(pid, SIGKILL);
	if (pid > 0)
		while (waitpid(pid, NULL, r == -ETIMEDOUT ? WNOHANG : 0) < 0 && errno == EINTR)
			;
	return r;
}

static uint64_t mount_id(const char *path)
{
	struct statx stx = {.stx_mask = 0};
	/* The kernel answers from what it has. */
	const int r =
		statx(AT_FDCWD, path, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, STATX_MNT_ID, &stx);
	return r == 0 && stx.stx_mask & STATX_MNT_ID ? stx.stx_mnt_id : 0;
}

/* Does the way there leave the mount that all of the host's looks begin at? */
static bool crosses(const char *path)
{
	const struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_XDEV};
	if (path[0] != '/') {
		const uint64_t root = mount_id("/");
		if (!root || mount_id(".") != root)
			return true;
	}
	const ward_cleanup_fd int fd = ward_fd_openat2(AT_FDCWD, path, &how);
	return fd == -EXDEV;
}

static int open_dir(int at, const char *path, struct ward_patient_found *ret)
{
	const struct open_how how = {
		.flags = O_PATH | O_DIRECTORY | O_CLOEXEC, .resolve = RESOLVE_NO_MAGICLINKS};
	ret->fd = ward_fd_openat2(at, path, &how);
	if (ret->fd < 0)
		return ret->fd;
	return fstat(ret->fd, &ret->st) < 0 ? -errno : 0;
}

int ward_patient_open_dir(int at, const char *path, uint64_t time_ns, struct stat *ret_st)
{
	struct ward_patient_found found = {.fd = -1};
	/* On the mount that all of the host's looks begin at: nobody's answer is waited for. */
	int r = at == AT_FDCWD && path[0] == '/' && !crosses(path)
			? open_dir(at, path, &found)
			: ward_patient(open_dir, at, path, time_ns, &found);
	if (r < 0)
		return r;
	*ret_st = found.st;
	return found.fd;
}

/* The kernel may know the name and the attributes: the server itself is asked. */
static void reach_one(const char *path)
{
	const struct open_how how = {.flags = O_PATH | O_CLOEXEC};
	struct statx stx;
	ward_cleanup_fd int fd = ward_fd_openat2(AT_FDCWD, path, &how);
	if (fd >= 0)
		(void)statx(fd, "", AT_EMPTY_PATH | AT_STATX_FORCE_SYNC, STATX_BASIC_STATS, &stx);
}

/* ward_patient_fn: names that each end in a zero byte, and an empty one. */
static int reach(int at, const char *paths, struct ward_patient_found *ret)
{
	(void)at;
	(void)ret;
	for (; *paths; paths += strlen(paths) + 1)
		reach_one(paths);
	return 0;
}

/* Of what the kernel knows: nobody is waited for. */
static bool has_link(const char *path)
{
	const struct open_how how = {
		.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_CACHED};
	const ward_cleanup_fd int fd = ward_fd_openat2(AT_FDCWD, path, &how);
	return fd == -ELOOP;
}

static int refuse(const char *path, struct ward_err *err)
{
	ward_cleanup(ward_mounts_clear) struct ward_mounts m = {0};
	ward_cleanup_free char *cwd = path[0] == '/' ? NULL : getcwd(NULL, 0);
	ward_cleanup(ward_buf_clear) struct ward_buf whole = WARD_BUF_INIT;
	ward_buf_printf(&whole, "%s%s%s", cwd ? cwd : "", cwd ? "/" : "", path);
	const char *point = NULL;
	if (ward_buf_error(&whole) == 0 && !has_link(path) && ward_mounts_read(&m, NULL) == 0)
		point = ward_mounts_point(&m, ward_buf_str(&whole));
	/* By a symbolic link it lies elsewhere. */
	if (!point || strcmp(point, "/") == 0)
		return ward_err_set(
			err, -ETIMEDOUT, "%s leads to a file system that does not answer", path);
	return ward_err_set(err, -ETIMEDOUT,
		"%s: the file system mounted at %s does not answer (fix: restart its server, or unmount it: umount -l %s)",
		path, point, point);
}

int ward_patient_reach(const char *path, struct ward_err *err)
{
	char *const one[] = {(char *)path};
	return ward_patient_reach_all(one, 1, err);
}

int ward_patient_reach_all(char *const *paths, size_t n, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf all = WARD_BUF_INIT;
	struct ward_patient_found found = {.fd = -1};
	for (size_t i = 0; i < n; i++)
		if (paths[i][0] && crosses(paths[i]))
			ward_buf_add(&all, paths[i], strlen(paths[i]) + 1);
	if (ward_buf_error(&all) < 0)
		return ward_err_sys(err, -ENOMEM, "files of the host");
	if (!all.len)
		return 0;
	int r = ward_patient(reach, AT_FDCWD, ward_buf_str(&all), WARD_PATIENT_NS, &found);
	if (r != -ETIMEDOUT)
		return r < 0 ? ward_err_sys(err, r, "%s", ward_buf_str(&all)) : 0;
	if (strlen(ward_buf_str(&all)) + 1 == all.len)
		return refuse(ward_buf_str(&all), err);
	/* Which of them? */
	for (const char *p = ward_buf_str(&all); *p; p += strlen(p) + 1) {
		ward_cleanup(ward_buf_clear) struct ward_buf one = WARD_BUF_INIT;
		ward_buf_add(&one, p, strlen(p) + 1);
		r = ward_buf_error(&one);
		if (r == 0)
			r = ward_patient(
				reach, AT_FDCWD, ward_buf_str(&one), WARD_PATIENT_NS, &found);
		if (r < 0)
			return r == -ETIMEDOUT ? refuse(p, err) : ward_err_sys(err, r, "%s", p);
	}
	return 0;
}
