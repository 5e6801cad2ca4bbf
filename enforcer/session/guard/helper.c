/* SPDX-License-Identifier: Apache-2.0 */
/* Starts a helper process and waits until it is ready. */
#include "enforcer/session/guard/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/fd.h"
#include "enforcer/ipc/early.h"

/* From SIGKILL to the end of a process, with much memory to give back, on a busy machine. */
#define KILLED_MS 10000

/* How often one that is waited for is looked at: it may have been stopped. */
#define LOOK_MS 1000

#define NS_PER_MS 1000000U

/* Of the flags in /proc/PID/stat: include/linux/sched.h of the kernel. */
#define PF_EXITING 0x4U

/* CONTROL and LIFELINE beside what the caller gives. */
#define HELPER_FDS_MAX (2 * WARD_TREES_MAX + WARD_RINGS_MAX + 16)

/* PREFIX/bin of an installation that was moved there: the length of PREFIX, else 0. */
static size_t moved_prefix(const char *dir)
{
	static const char bin[] = "/bin";
	const size_t n = strlen(dir), tail = sizeof(bin) - 1;
	return n > tail && strcmp(dir + n - tail, bin) == 0 ? n - tail : 0;
}

/*
 * A file of the installation: in `configured`; of one that was moved in PREFIX/`moved`; in a build
 * tree in `built`, or where that is NULL beside the running program.
 */
static int installed(const char *configured, const char *moved, const char *built, const char *name,
	char **ret, struct ward_err *err)
{
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (n < 0)
		return ward_err_sys(err, -errno, "/proc/self/exe");
	self[n] = '\0';
	char *slash = strrchr(self, '/');
	if (!slash)
		return ward_err_set(err, -ENOENT, "cannot find out where wardfs is installed");
	*slash = '\0';
	const bool here = strcmp(self, WARD_BINDIR) == 0;
	const size_t prefix = here ? 0 : moved_prefix(self);
	const char *dir = here ? configured : built ? built : self;
	const int n_ret = prefix ? asprintf(ret, "%.*s/%s/%s", (int)prefix, self, moved, name)
				 : asprintf(ret, "%s/%s", dir, name);
	if (n_ret < 0)
		return ward_err_sys(err, -ENOMEM, "%s", name);
	return 0;
}

int ward_helper_program(const char *name, char **ret, struct ward_err *err)
{
	return installed(WARD_LIBEXECDIR, "libexec/wardfs", NULL, name, ret, err);
}

int ward_helper_data(const char *name, char **ret, struct ward_err *err)
{
	return installed(WARD_DATADIR, "share/wardfs", WARD_DATADIR, name, ret, err);
}

/*
 * Between vfork and exec: our memory is shared, so nothing of it is changed but this stack. Signal
 * dispositions and masks are the child's own (vfork(2), clone(2)).
 */
static void child(const char *program, const char *name, const char *arg, const int *from,
	const int *to, size_t n)
{
	setsid(); /* Ctrl-C at the terminal is for the command, not for us */
	/* Where the caller stands an owner may write; no helper looks for anything there. */
	if (chdir("/") < 0)
		_exit(125);
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	/* Ours is close-on-exec where a session outlives its caller (run_keep.c): who stays in the
	 * background holds nothing that the caller's pipe waits for. */
	const bool hold = !(fcntl(2, F_GETFD) & FD_CLOEXEC);
	if (null < 0 || dup2(null, 0) < 0 || dup2(hold ? 2 : null, 1) < 0 ||
		(!hold && dup2(null, 2) < 0))
		_exit(errno == EMFILE ? WARD_HELPER_NO_FDS : 125);
	if (ward_fd_inherit(from, to, n) < 0)
		_exit(WARD_HELPER_NO_FDS);
	char *const argv[] = {(char *)name, (char *)arg, NULL};
	/* Sanitizers read their options from the environment; nothing else is passed. */
	char *keep[4] = {NULL};
	size_t k = 0;
	static const char *const names[] = {"ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"};
	for (size_t i = 0; i < 3; i++) {
		char **e = environ;
		while (*e && (strncmp(*e, names[i], strlen(names[i])) != 0 ||
				     (*e)[strlen(names[i])] != '='))
			e++;
		if (*e) /* the first one: nothing keeps a name from standing twice */
			keep[k++] = *e;
	}
	execve(program, argv, keep);
	_exit(127);
}

static int pidfd_of(pid_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	return fd < 0 ? -errno : fd;
}

int ward_helper_prepare(const char *name, struct ward_helper *ret, struct ward_err *err)
{
	int control[2];
	int line[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control) < 0)
		return ward_err_sys(err, -errno, "%s: socketpair", name);
	if (pipe2(line, O_CLOEXEC) < 0) {
		int r = -errno;
		close(control[0]);
		close(control[1]);
		return ward_err_sys(err, r, "%s: pipe", name);
	}
	*ret = (struct ward_helper){.name = name,
		.pidfd = -1,
		.control = control[0],
		.child_control = control[1],
		.lifeline = line[0],
		.child_lifeline = line[1],
		.early = -1};
	return 0;
}

static void close_child_ends(struct ward_helper *h)
{
	if (h->child_control >= 0)
		close(h->child_control);
	if (h->child_lifeline >= 0)
		close(h->child_lifeline);
	h->child_control = h->child_lifeline = -1;
}

int ward_helper_configure(struct ward_helper *h, const struct ward_msg *config, const int *fds,
	size_t n_fds, struct ward_err *err)
{
	return ward_helper_configured(h, ward_msg_send(h->control, config, fds, n_fds), err);
}

int ward_helper_configured(struct ward_helper *h, int r, struct ward_err *err)
{
	/* It is gone, or was never executed: what it said last, or how it ended, says why. */
	if ((r == -EPIPE || r == -ECONNRESET) && h->pid > 0) {
		int why = ward_helper_wait_ready(h, NULL, err);
		return why < 0 ? why : r;
	}
	return r < 0 ? ward_err_sys(err, r, "%s: configuration", h->name) : 0;
}

int ward_helper_start(struct ward_helper *h, const struct ward_helper_fd *fds, size_t n_fds,
	const struct ward_msg *config, struct ward_err *err)
{
	int r = ward_helper_configure(h, config, NULL, 0, err);
	return r < 0 ? r : ward_helper_spawn(h, fds, n_fds, err);
}

/* Its process, with fds beside CONTROL and LIFELINE, and arg (or NULL) as argv[1]. */
static pid_t execute(struct ward_helper *h, const struct ward_helper_fd *fds, size_t n_fds,
	const char *arg, struct ward_err *err)
{
	ward_cleanup_free char *program = NULL;
	int r = ward_helper_program(h->name, &program, err);
	if (r < 0)
		return r;
	int from[HELPER_FDS_MAX];
	int to[HELPER_FDS_MAX];
	if (n_fds + 2 > HELPER_FDS_MAX)
		return ward_err_set(err, -E2BIG, "%s: too many descriptors", h->name);
	from[0] = h->child_control, to[0] = WARD_FD_CONTROL;
	from[1] = h->child_lifeline, to[1] = WARD_FD_LIFELINE;
	for (size_t i = 0; i < n_fds; i++)
		from[i + 2] = fds[i].from, to[i + 2] = fds[i].to;
	/* A fork would copy the page tables of all that is mapped here, and then each page touched.
	 */
	pid_t pid = vfork();
	if (pid < 0)
		return ward_err_sys(err, -errno, "fork");
	if (pid == 0)
		child(program, h->name, arg, from, to, n_fds + 2);
	h->pidfd = pidfd_of(pid);
	close_child_ends(h);
	return pid;
}

void ward_helper_early(struct ward_helper *h)
{
	int ends[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return;
	const struct ward_helper_fd fd = {ends[1], WARD_FD_EARLY};
	pid_t pid = execute(h, &fd, 1, WARD_EARLY, NULL);
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return;
	}
	h->waiting = pid;
	h->early = ends[0];
}

/* To the helper that waits for them. */
static int hand_over(
	struct ward_helper *h, const struct ward_helper_fd *fds, size_t n_fds, struct ward_err *err)
{
	int from[WARD_MSG_FDS_MAX];
	struct ward_msg m;
	uint32_t n = 0;
	if (n_fds > WARD_MSG_FDS_MAX)
		return ward_err_set(err, -E2BIG, "%s: too many descriptors", h->name);
	for (size_t i = 0; i < n_fds; i++)
		n += fds[i].from >= 0;
	ward_msg_init(&m, WARD_MSG_FDS);
	ward_msg_put_u32(&m, n);
	n = 0;
	for (size_t i = 0; i < n_fds; i++) {
		if (fds[i].from < 0)
			continue;
		ward_msg_put_u32(&m, (uint32_t)fds[i].to);
		from[n++] = fds[i].from;
	}
	int r = ward_msg_send(h->early, &m, from, n);
	ward_msg_clear(&m);
	close(h->early);
	h->early = -1;
	h->pid = h->waiting;
	h->waiting = 0;
	/* It is gone, or was never executed: who configures it, or waits for it, hears how it
	 * ended. */
	if (r == -EPIPE || r == -ECONNRESET)
		r = 0;
	return r < 0 ? ward_err_sys(err, r, "%s: descriptors", h->name) : 0;
}

int ward_helper_spawn(
	struct ward_helper *h, const struct ward_helper_fd *fds, size_t n_fds, struct ward_err *err)
{
	if (h->waiting > 0)
		return hand_over(h, fds, n_fds, err);
	pid_t pid = execute(h, fds, n_fds, NULL, err);
	if (pid < 0)
		return (int)pid;
	h->pid = pid;
	return 0;
}

/* It closed its end without a word. */
static int not_ready(struct ward_helper *h, struct ward_err *err)
{
	int status = ward_helper_reap(h, WARD_HELPER_READY_MS, false);
	ward_cleanup_free char *program = NULL;
	if (status > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 127 &&
		ward_helper_program(h->name, &program, NULL) == 0)
		return ward_err_set(err, -EPIPE,
			"cannot execute %s; install all of wardfs (meson install)", program);
	if (status > 0 && WIFEXITED(status) && WEXITSTATUS(status) == WARD_HELPER_NO_FDS)
		return ward_err_set(err, -EMFILE,
			"%s cannot get its descriptors; raise the limit of open files (ulimit -n)",
			h->name);
	return ward_err_set(err, -EPIPE, "%s ended before it was ready", h->name);
}

int ward_helper_wait_ready(struct ward_helper *h, char **ret_text, struct ward_err *err)
{
	struct pollfd p = {.fd = h->control, .events = POLLIN};
	int n = 0;
	do {
		n = poll(&p, 1, WARD_HELPER_READY_MS);
	} while (n < 0 && errno == EINTR);
	if (n == 0)
		return ward_err_set(err, -ETIMEDOUT, "%s does not answer", h->name);
	ward_cleanup_free char *buf = malloc(WARD_MSG_MAX);
	if (!buf)
		return ward_err_sys(err, -ENOMEM, "%s", h->name);
	ssize_t len = ward_msg_recv(h->control, buf, WARD_MSG_MAX, NULL, NULL);
	/* It ended and left a message from the supervisor unread. That is reported once, before
	 * what it had said.
	 */
	if (len == -ECONNRESET)
		len = ward_msg_recv(h->control, buf, WARD_MSG_MAX, NULL, NULL);
	if (len == 0 || len == -ECONNRESET)
		return not_ready(h, err);
	if (len < 0)
		return ward_err_sys(err, (int)len, "%s", h->name);
	struct ward_msg_reader m;
	ward_msg_reader_init(&m, buf, (size_t)len);
	ward_cleanup_free char *text =
		ret_text || m.type == WARD_MSG_FAILED ? ward_msg_get_str(&m) : NULL;
	if (m.type == WARD_MSG_READY && ward_msg_done(&m) == 0) {
		if (ret_text)
			*ret_text = ward_steal_ptr(&text);
		return 0;
	}
	return ward_err_set(
		err, -EIO, "%s: %s", h->name, text ? text : "unexpected answer at start");
}

/* The state and the flags in /proc/PID/stat. False: they cannot be read. */
static bool read_stat(const struct ward_helper *h, char *ret_state, unsigned *ret_flags)
{
	ward_cleanup(ward_buf_clear) struct ward_buf stat = {.max = 4096};
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)h->pid);
	ward_cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || ward_fd_read_all(fd, stat.max, &stat) < 0)
		return false;
	const char *end = strrchr(ward_buf_str(&stat), ')');
	return end && sscanf(end + 1, " %c %*d %*d %*d %*d %*d %u", ret_state, ret_flags) == 2;
}

bool ward_helper_continue(const struct ward_helper *h)
{
	char state = 0;
	unsigned flags = 0;
	if (h->pid <= 0 || !read_stat(h, &state, &flags) || (state != 'T' && state != 't'))
		return false;
	if (h->foreign)
		(void)syscall(SYS_pidfd_send_signal, h->pidfd, SIGCONT, NULL, 0);
	else
		kill(h->pid, SIGCONT); /* our unreaped child */
	return true;
}

/* False: it still lives after ms. Meanwhile it is continued, whoever stops it. */
static bool wait_end(const struct ward_helper *h, int ms)
{
	struct pollfd p = {.fd = h->pidfd, .events = POLLIN};
	const uint64_t until = ward_clock_mono_ns() + (uint64_t)ms * NS_PER_MS;
	for (;;) {
		const uint64_t now = ward_clock_mono_ns();
		const uint64_t left = now < until ? (until - now) / NS_PER_MS + 1 : 0;
		const int n = poll(&p, 1, left > LOOK_MS ? LOOK_MS : (int)left);
		if (n > 0 || (n < 0 && errno != EINTR))
			return true;
		if (n == 0 && left == 0)
			return false;
		if (n == 0)
			(void)ward_helper_continue(h);
	}
}

int ward_helper_reap(struct ward_helper *h, int ms, bool kill_it)
{
	if (h->pid <= 0)
		return 0;
	if (kill_it && !h->foreign)
		kill(h->pid, SIGKILL); /* our unreaped child: the pid cannot be another's */
	if (h->pidfd >= 0 && !wait_end(h, kill_it ? KILLED_MS : ms)) {
		/* It waits in the kernel for a file system that does not answer: nobody can end it.
		 */
		h->pid = kill_it ? 0 : h->pid;
		return -ETIMEDOUT;
	}
	if (h->foreign) {
		h->pid = 0;
		return 0;
	}
	int status = 0;
	pid_t got = 0;
	do {
		got = waitpid(h->pid, &status, 0);
	} while (got < 0 && errno == EINTR);
	h->pid = 0;
	return got < 0 ? -errno : status;
}

/* The number behind a word of /proc/PID/status, hexadecimal. */
static unsigned long long signals_of(const char *text, const char *word)
{
	const char *at = strstr(text, word);
	return at ? strtoull(at + strlen(word), NULL, 16) : 0;
}

bool ward_helper_dying(const struct ward_helper *h)
{
	const unsigned long long kill_bit = 1ULL << (SIGKILL - 1);
	ward_cleanup(ward_buf_clear) struct ward_buf status = {.max = 16384};
	char path[64], state = 0;
	unsigned flags = 0;
	if (h->pid <= 0)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/status", (int)h->pid);
	ward_cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	/* Our own child, not reaped: it is there. What cannot be read tells nothing good. */
	if (fd < 0 || ward_fd_read_all(fd, status.max, &status) < 0 ||
		!read_stat(h, &state, &flags))
		return true;
	return state == 'Z' || state == 'X' || (flags & PF_EXITING) ||
	       ((signals_of(ward_buf_str(&status), "SigPnd:") |
			signals_of(ward_buf_str(&status), "ShdPnd:")) &
		       kill_bit);
}

void ward_helper_close(struct ward_helper *h)
{
	if (h->waiting > 0) {
		h->pid = h->waiting;
		h->waiting = 0;
		(void)!ward_helper_reap(h, 0, true);
	}
	if (h->early >= 0)
		close(h->early);
	h->early = -1;
	if (h->pidfd >= 0)
		close(h->pidfd);
	if (h->control >= 0)
		close(h->control);
	if (h->lifeline >= 0)
		close(h->lifeline);
	h->pidfd = h->control = h->lifeline = -1;
	close_child_ends(h);
}
