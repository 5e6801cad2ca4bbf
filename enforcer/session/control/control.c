/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the control socket of a session, and asks that of another one. */
#include "enforcer/session/control/control.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "audit/store/store.h"
#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/fd.h"

/* A supervisor answers at once; longer means that it is stuck. */
#define ANSWER_MS 5000
#define STATUS_MS 1000
/* What the socket is called until it listens. */
#define NEW_NAME "control.new"
/* Of WARD_CONTROL_MAX, for the command; JSON may double a byte ('\\', '"'). */
#define ARGV_MAX 16384U
/* Others hold the lock of a directory for some system calls, when they sweep; longer: a session. */
#define LOCK_TRIES 2000
#define LOCK_NAP_US 1000
/* How often a client that waits for the end of a session looks. */
#define GONE_NAP_MS 10
/* Of a directory full of leftovers this many names are looked at. */
#define SWEEP_MAX 4096
/* asm-generic/socket.h, Linux 6.5; the installed headers may be older. */
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

json_t *ward_control_text(const char *text)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_escape(&b, text, strlen(text));
	return json_string(ward_buf_str(&b));
}

json_t *ward_control_argv(char *const *argv)
{
	json_t *list = json_array();
	size_t room = ARGV_MAX;
	for (; *argv; argv++) {
		json_t *s = ward_control_text(*argv);
		size_t n = s ? json_string_length(s) + 3 : 0;
		if (!s || n > room) {
			json_decref(s);
			json_array_append_new(list, json_string("…"));
			break;
		}
		room -= n;
		json_array_append_new(list, s);
	}
	return list;
}

/* Opens a directory that only we can write to. */
static int open_private(int at, const char *path, int *ret, struct ward_err *err)
{
	ward_cleanup_fd int fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	if (fd < 0 || fstat(fd, &st) < 0)
		return ward_err_sys(err, -errno, "%s", path);
	if (st.st_uid != geteuid() || st.st_mode & 022)
		return ward_err_set(
			err, -EPERM, "%s belongs to another user, or others can write to it", path);
	*ret = ward_steal_fd(&fd);
	return 0;
}

/* The same, making it where it is missing. */
static int private_dir(int at, const char *path, int *ret, struct ward_err *err)
{
	if (mkdirat(at, path, 0700) < 0 && errno != EEXIST)
		return ward_err_sys(err, -errno, "%s", path);
	return open_private(at, path, ret, err);
}

/* The socket's address through a directory descriptor: sun_path has room for 108 bytes only. */
static void address(int dir, const char *name, struct sockaddr_un *ret)
{
	*ret = (struct sockaddr_un){.sun_family = AF_UNIX};
	snprintf(ret->sun_path, sizeof(ret->sun_path), "/proc/self/fd/%d/%s", dir, name);
}

/*
 * The session's directory, held by a lock (flock(2)) for as long as *ret is open: the kernel lets
 * go of it with the process, however that ended. A sweep holds it for an instant only.
 */
static int take_dir(int base, const char *session, int *ret, struct ward_err *err)
{
	for (int i = 0; i < LOCK_TRIES; i++) {
		ward_cleanup_fd int dir = -1;
		struct stat mine;
		struct stat there;
		struct ward_err why = WARD_ERR_INIT;
		int r = private_dir(base, session, &dir, &why);
		/* Swept between its making and its opening. */
		if (r == -ENOENT)
			continue;
		if (r < 0)
			return ward_err_set(err, r, "%s", why.text);
		if (flock(dir, LOCK_EX | LOCK_NB) < 0) {
			if (errno != EWOULDBLOCK)
				return ward_err_sys(err, -errno, "%s", session);
			usleep(LOCK_NAP_US);
			continue;
		}
		/* Swept between its opening and the lock: what we hold has no name any more. */
		if (fstat(dir, &mine) < 0 ||
			fstatat(base, session, &there, AT_SYMLINK_NOFOLLOW) < 0 ||
			mine.st_ino != there.st_ino || mine.st_dev != there.st_dev)
			continue;
		*ret = ward_steal_fd(&dir);
		return 0;
	}
	return ward_err_set(err, -EBUSY,
		"a session '%s' of another state directory is running; choose another name with --session",
		session);
}

/* Ours are sockets alone: control, control.new, socket.N (sockets.c). */
static void empty_dir(int dir)
{
	int copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ward_cleanup_dir DIR *d = copy < 0 ? NULL : fdopendir(copy);
	if (!d && copy >= 0)
		close(copy);
	const struct dirent *e = NULL;
	while (d && (e = readdir(d)))
		if (e->d_type == DT_SOCK)
			unlinkat(dir, e->d_name, 0);
}

/* Removes the directory of a session that nobody holds. */
static void sweep_one(int base, const char *session)
{
	ward_cleanup_fd int dir =
		openat(base, session, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0 || flock(dir, LOCK_EX | LOCK_NB) < 0)
		return;
	empty_dir(dir);
	unlinkat(base, session, AT_REMOVEDIR);
}

static void sweep(int base)
{
	int copy = openat(base, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ward_cleanup_dir DIR *d = copy < 0 ? NULL : fdopendir(copy);
	if (!d && copy >= 0)
		close(copy);
	const struct dirent *e = NULL;
	for (size_t i = 0; d && i < SWEEP_MAX && (e = readdir(d)); i++)
		if (ward_session_name_ok(e->d_name))
			sweep_one(base, e->d_name);
}

void ward_control_sweep(const char *runtime)
{
	ward_cleanup_fd int base = -1;
	/* Another's directory is not ours to clear up. */
	if (open_private(AT_FDCWD, runtime, &base, NULL) == 0)
		sweep(base);
}

int ward_control_listen(const char *runtime, const char *session, int *ret_dir, int *ret_listen,
	struct ward_err *err)
{
	ward_cleanup_fd int base = -1;
	ward_cleanup_fd int dir = -1;
	int r = private_dir(AT_FDCWD, runtime, &base, err);
	if (r == 0) {
		sweep(base);
		r = take_dir(base, session, &dir, err);
	}
	if (r < 0)
		return ward_err_wrap(err, "control socket");
	ward_cleanup_fd int s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un sa;
	address(dir, NEW_NAME, &sa);
	if (s < 0)
		return ward_err_sys(err, -errno, "control socket");
	empty_dir(dir);
	/* Under its name it listens already: nobody is refused who finds it. */
	if (bind(s, (struct sockaddr *)&sa, sizeof(sa)) < 0 || listen(s, 16) < 0 ||
		renameat(dir, NEW_NAME, dir, "control") < 0)
		return ward_err_sys(err, -errno, "control socket in %s/%s", runtime, session);
	*ret_dir = ward_steal_fd(&dir);
	*ret_listen = ward_steal_fd(&s);
	return 0;
}

/* The owner of the directory above can put another one in the place of ours meanwhile. */
void ward_control_remove(const char *runtime, const char *session, int dir)
{
	ward_cleanup_fd int base = -1;
	struct stat mine;
	struct stat there;
	empty_dir(dir);
	if (open_private(AT_FDCWD, runtime, &base, NULL) == 0 && fstat(dir, &mine) == 0 &&
		fstatat(base, session, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
		mine.st_ino == there.st_ino && mine.st_dev == there.st_dev)
		unlinkat(base, session, AT_REMOVEDIR);
}

/* True if pid lives in our own pid namespace; a dead or hidden process does not. */
static bool outside(pid_t pid)
{
	char path[64];
	struct stat theirs;
	struct stat ours;
	snprintf(path, sizeof(path), "/proc/%d/ns/pid", (int)pid);
	return pid > 0 && stat(path, &theirs) == 0 && stat("/proc/self/ns/pid", &ours) == 0 &&
	       theirs.st_ino == ours.st_ino && theirs.st_dev == ours.st_dev;
}

/* Longer chains of parents than any that people have. */
#define PARENTS_MAX 65536

/* proc_pid_stat(5): the name may hold anything, so from its last parenthesis on. -1: not to be
 * seen. */
static pid_t parent_of(pid_t pid)
{
	char path[64];
	char text[512];
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	ward_cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return -1;
	text[n] = '\0';
	const char *at = strrchr(text, ')');
	return at && strlen(at) > 4 ? (pid_t)strtol(at + 4, NULL, 10) : -1;
}

/*
 * True if pid descends from the supervisor. In mode none the command shares the supervisor's pid
 * namespace. Whatever the command starts keeps wardfs-init, a child of the supervisor and a
 * subreaper, above it. A process that cannot be seen does not descend from it. `ours` is a child of
 * the supervisor that is none of the command's, with what it started; 0: there is none.
 */
static bool from_us(pid_t pid, pid_t ours)
{
	for (unsigned i = 0; i < PARENTS_MAX; i++) {
		if (ours > 0 && pid == ours)
			return false;
		if (pid == getpid())
			return true;
		if (pid <= 1)
			return false;
		pid = parent_of(pid);
	}
	return true;
}

/*
 * The process that connected, whatever has its number by now. Left -1 on kernels before 6.5, which
 * do not know SO_PEERPIDFD; 0 or a negative errno.
 */
static int peer_pidfd(int sock, int *ret)
{
	int fd = -1;
	socklen_t len = sizeof(fd);
	if (getsockopt(sock, SOL_SOCKET, SO_PEERPIDFD, &fd, &len) == 0) {
		*ret = fd;
		return 0;
	}
	return errno == ENOPROTOOPT ? 0 : -errno;
}

/* While it does, its number is nobody else's: what was read of /proc/PID before was its own. */
static bool lives(int pidfd)
{
	struct pollfd p = {.fd = pidfd, .events = POLLIN};
	return pidfd < 0 || poll(&p, 1, 0) == 0;
}

/* 0: the process at the other end may ask. */
static int check_peer(int fd, uid_t owner, pid_t ours)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
		return -errno;
	if (peer.uid != 0 && peer.uid != geteuid() && peer.uid != owner)
		return -EPERM;
	ward_cleanup_fd int pidfd = -1;
	int r = peer_pidfd(fd, &pidfd);
	if (r < 0 || !outside(peer.pid) || from_us(peer.pid, ours) || !lives(pidfd))
		return -EPERM;
	return 0;
}

int ward_control_accept(int listen_fd, uid_t owner, pid_t ours, int *ret_fd)
{
	int fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC);
	if (fd < 0)
		return -errno;
	int r = check_peer(fd, owner, ours);
	if (r < 0)
		ward_fd_drop(fd);
	else
		*ret_fd = fd;
	return r;
}

int ward_control_hear(int fd, char **ret_text, int *fds, size_t *n_fds)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int) * 4)];
	} control;
	size_t max = *n_fds;
	*n_fds = 0;
	ward_cleanup_free char *buf = malloc(WARD_CONTROL_MAX + 1);
	if (!buf)
		return -ENOMEM;
	struct iovec iov = {buf, WARD_CONTROL_MAX};
	struct msghdr msg = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control)};
	ssize_t n = recvmsg(fd, &msg, MSG_CMSG_CLOEXEC);
	int r = n < 0 ? -errno : n == 0 ? -EPIPE : 0;
	if (n >= 0 && msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC))
		r = -EMSGSIZE;
	for (struct cmsghdr *c = n >= 0 ? CMSG_FIRSTHDR(&msg) : NULL; c; c = CMSG_NXTHDR(&msg, c)) {
		size_t got = c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS
				     ? (c->cmsg_len - CMSG_LEN(0)) / sizeof(int)
				     : 0;
		for (size_t i = 0; i < got; i++) {
			int one = -1;
			memcpy(&one, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
			if (r == 0 && *n_fds < max)
				fds[(*n_fds)++] = one;
			else
				ward_fd_drop(one);
		}
	}
	if (r < 0)
		return r;
	buf[n] = '\0';
	*ret_text = ward_steal_ptr(&buf);
	return 0;
}

int ward_control_answer(int sock, json_t **ret, int *ret_fd)
{
	ward_cleanup_free char *text = NULL;
	ward_cleanup_fd int fd = -1;
	size_t n = 1;
	int r = ward_control_hear(sock, &text, &fd, &n);
	if (n == 0)
		fd = -1;
	if (r < 0)
		return r == -EINTR ? -EAGAIN : r;
	*ret = json_loads(text, 0, NULL);
	if (!*ret)
		return -EBADMSG;
	*ret_fd = ward_steal_fd(&fd);
	return 0;
}

int ward_control_exit_status(const json_t *answer)
{
	const json_t *exited = json_object_get(answer, "exited");
	const json_t *signaled = json_object_get(answer, "signaled");
	if (exited)
		return (int)json_integer_value(exited) & 255;
	return signaled ? 128 + (int)(json_integer_value(signaled) & 127) : -1;
}

int ward_control_send(int fd, const char *text, const int *fds, size_t n)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int) * 4)];
	} control = {.bytes = {0}};
	struct iovec iov = {(void *)(uintptr_t)text, strlen(text)};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	if (n > 4)
		return -E2BIG;
	if (n > 0) {
		control.head = (struct cmsghdr){.cmsg_len = CMSG_LEN(n * sizeof(int)),
			.cmsg_level = SOL_SOCKET,
			.cmsg_type = SCM_RIGHTS};
		memcpy(CMSG_DATA(&control.head), fds, n * sizeof(int));
		msg.msg_control = &control;
		msg.msg_controllen = CMSG_SPACE(n * sizeof(int));
	}
	return sendmsg(fd, &msg, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/* more: SOCK_NONBLOCK, or 0: it waits for a place in the queue. */
static int connect_to(
	const char *runtime, const char *session, int more, int *ret_fd, struct ward_err *err)
{
	if (!ward_session_name_ok(session))
		return ward_err_set(err, -EINVAL, "'%s' is not a session name", session);
	ward_cleanup_fd int base = open(runtime, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	if (base >= 0 && (fstat(base, &st) < 0 || st.st_uid != geteuid() || st.st_mode & 022))
		return ward_err_set(err, -EPERM,
			"did not connect to %s: it belongs to another user, or others can write to it",
			runtime);
	ward_cleanup_fd int dir =
		base < 0 ? -1
			 : openat(base, session, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0)
		return ward_err_set(err, -ENOENT, "no session '%s' is running", session);
	ward_cleanup_fd int s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | more, 0);
	struct sockaddr_un sa;
	address(dir, "control", &sa);
	/* A supervisor that is stopped accepts nobody, and those before us fill its queue. */
	const struct timeval queue = {.tv_sec = 2}, any = {0};
	if (s >= 0)
		(void)setsockopt(s, SOL_SOCKET, SO_SNDTIMEO, &queue, sizeof(queue));
	if (s < 0 || connect(s, (struct sockaddr *)&sa, sizeof(sa)) < 0)
		return s >= 0 && errno == EAGAIN
			       ? ward_err_set(err, -EAGAIN, "session %s does not answer", session)
			       : ward_err_sys(err, -errno, "session %s", session);
	(void)setsockopt(s, SOL_SOCKET, SO_SNDTIMEO, &any, sizeof(any));
	*ret_fd = ward_steal_fd(&s);
	return 0;
}

int ward_control_connect(
	const char *runtime, const char *session, int *ret_fd, struct ward_err *err)
{
	return connect_to(runtime, session, 0, ret_fd, err);
}

int ward_control_try(const char *runtime, const char *session, int *ret_fd, struct ward_err *err)
{
	return connect_to(runtime, session, SOCK_NONBLOCK, ret_fd, err);
}

/* It is locked as long as its supervisor lives, and removed at the end. */
static bool is_gone(const char *runtime, const char *session)
{
	ward_cleanup_fd int base = -1;
	int r = open_private(AT_FDCWD, runtime, &base, NULL);
	/* What another user's directory says of a session of ours counts for nothing. */
	if (r < 0)
		return r == -ENOENT;
	ward_cleanup_fd int dir =
		openat(base, session, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return dir < 0 || flock(dir, LOCK_SH | LOCK_NB) == 0;
}

bool ward_control_wait_gone(const char *runtime, const char *session, int ms)
{
	if (!ward_session_name_ok(session))
		return true;
	for (; !is_gone(runtime, session); ms -= GONE_NAP_MS) {
		if (ms <= 0)
			return false;
		(void)poll(NULL, 0, GONE_NAP_MS);
	}
	return true;
}

int ward_control_ask(const char *runtime, const char *session, const char *request, char **ret,
	struct ward_err *err)
{
	return ward_control_ask_with(runtime, session, request, -1, ANSWER_MS, ret, err);
}

/* The supervisor may answer, and a process that it asks in turn does not: the text names it. */
static int no_answer(const char *runtime, const char *session, int ms, struct ward_err *err)
{
	ward_cleanup_free char *text = NULL;
	struct ward_err unused = WARD_ERR_INIT;
	const char *silent = NULL;
	json_t *o = NULL;
	if (ms >= ANSWER_MS && ward_control_ask_with(runtime, session, "{\"verb\":\"status\"}", -1,
				       STATUS_MS, &text, &unused) == 0)
		o = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	silent = json_string_value(json_object_get(o, "silent"));
	int r = silent ? ward_err_set(err, -ETIMEDOUT,
				 "session %s: %s does not answer; once it does, it may still do "
				 "what was asked",
				 session, silent)
		       : ward_err_set(err, -ETIMEDOUT, "session %s does not answer", session);
	json_decref(o);
	return r;
}

int ward_control_ask_with(const char *runtime, const char *session, const char *request, int fd,
	int ms, char **ret, struct ward_err *err)
{
	ward_cleanup_fd int s = -1;
	int r = ward_control_connect(runtime, session, &s, err);
	if (r < 0)
		return r;
	int sent = ward_control_send(s, request, &fd, fd >= 0 ? 1 : 0);
	/* It may hang up before it is asked, and after. */
	if (sent < 0 && sent != -EPIPE)
		return ward_err_sys(err, sent, "session %s", session);
	struct pollfd p = {.fd = s, .events = POLLIN};
	if (sent == 0 && poll(&p, 1, ms) <= 0)
		return no_answer(runtime, session, ms, err);
	ward_cleanup_free char *buf = malloc(WARD_CONTROL_MAX + 1);
	if (!buf)
		return ward_err_sys(err, -ENOMEM, "session %s", session);
	ssize_t n = sent < 0 ? 0 : recv(s, buf, WARD_CONTROL_MAX, 0);
	if (n <= 0)
		return ward_err_set(err, -EACCES, "session %s refused to answer", session);
	buf[n] = '\0';
	*ret = ward_steal_ptr(&buf);
	return 0;
}
