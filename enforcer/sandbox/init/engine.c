/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A container engine within the sandbox. Everything is mounted and the trees are served when pid 1
 * starts it, as the command's user, with the capabilities of our user namespace and none outside of
 * it. The engine makes its own user, mount and pid namespaces in ours, and the view the root of the
 * container; nothing of the engine shows there.
 *
 *   pid 1        starts the engine, gives up its rights, and ends all when the container, the
 *                engine or a helper ends
 *   container's  wardfs-init again (`inside`), with the descriptors of pid 1: from here on it does
 *   pid 1        what pid 1 does without an engine. Where the engine passes on none, it asks pid 1
 *                for them (`call`, call.c)
 *
 * Engines give the container the user 0 of their namespace. A second one within gives the command
 * its own id back; both map one id, the command's.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/kernel.h"
#include "enforcer/sandbox/init/init.h"
#include "enforcer/sandbox/sandbox.h"

/* An engine writes a line of JSON for each thing that it says. */
#define LOG WARD_SANDBOX_ENGINE_STATE "/log"
#define LOG_MAX 65536

/* All an engine gets to know of where it runs. */
static char *const environment[] = {
	(char *)(uintptr_t) "PATH=/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/sbin:/usr/local/bin",
	(char *)(uintptr_t) "HOME=" WARD_SANDBOX_ENGINE_STATE,
	(char *)(uintptr_t) "XDG_RUNTIME_DIR=" WARD_SANDBOX_ENGINE_STATE,
	(char *)(uintptr_t) "CONTAINERS_CONF=" WARD_SANDBOX_ENGINE_BUNDLE "/containers.conf", NULL};

/* --- starting it --- */

static int write_file(const char *path, const char *text)
{
	ward_cleanup_fd int fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd < 0 ? -errno : ward_fd_write_all(fd, text, strlen(text));
}

/* As a user other than 0 only ambient capabilities come through execve(2). */
static int keep_capabilities(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct caps[2];
	if (syscall(SYS_capget, &head, caps) < 0)
		return -errno;
	for (int i = 0; i < 2; i++)
		caps[i].inheritable = caps[i].permitted;
	if (syscall(SYS_capset, &head, caps) < 0)
		return -errno;
	for (unsigned long cap = 0; prctl(PR_CAPBSET_READ, cap) >= 0; cap++)
		if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, cap, 0, 0) < 0)
			return -errno;
	return 0;
}

_Noreturn void ward_init_engine_execute(char *const *argv)
{
	sigset_t none;
	sigemptyset(&none);
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	sigprocmask(SIG_SETMASK, &none, NULL);
	umask(022);
	if (chdir("/") == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
		execve(argv[0], argv, environment);
	_exit(errno == ENOENT ? 127 : 126);
}

static int hand_over(const struct ward_init *in, int *ret)
{
	const struct ward_init_handed h = {in->mounted, in->unshared, in->outside, in->umask};
	ward_cleanup_fd int fd = memfd_create("wardfs-handed", MFD_CLOEXEC);
	int r = fd < 0 ? -errno : ward_fd_write_all(fd, &h, sizeof(h));
	if (r == 0)
		*ret = ward_steal_fd(&fd);
	return r;
}

/* What the container's pid 1 has, in one row from 0 on: all that an engine can pass. */
static size_t descriptors(const struct ward_init *in, int handed, int ret[WARD_INIT_FDS_MAX])
{
	const struct ward_blueprint *p = &in->blueprint;
	size_t n = 0;
	for (int fd = 0; fd < WARD_INIT_FD_LIFELINES + (int)p->n_lifelines; fd++)
		ret[n++] = fd;
	if (p->flags & WARD_BLUEPRINT_REPLAY)
		ret[n++] = WARD_INIT_FD_REPLAY;
	if (in->tty >= 0)
		ret[n++] = in->tty;
	ret[n++] = handed;
	return n;
}

/* Its user 0 is the command's id; the mounts of ours are locked in it. */
static int become_user_zero(void)
{
	char uids[64], gids[64];
	snprintf(uids, sizeof(uids), "0 %u 1\n", geteuid());
	snprintf(gids, sizeof(gids), "0 %u 1\n", getegid());
	/* Whoever changed ids is not dumpable, and its maps are not its own. */
	int r = prctl(PR_SET_DUMPABLE, 1) < 0 || unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0 ? -errno
											  : 0;
	if (r == 0)
		r = write_file("/proc/self/setgroups", "deny");
	if (r == 0)
		r = write_file("/proc/self/uid_map", uids);
	return r == 0 ? write_file("/proc/self/gid_map", gids) : r;
}

/* What it says is not the command's to hear: it goes to the log. */
static int take_log(int ret[3])
{
	ret[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	ret[1] = open(LOG, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	ret[2] = fcntl(ret[1], F_DUPFD_CLOEXEC, 3);
	return ret[0] < 0 || ret[2] < 0 ? -errno : 0;
}

static _Noreturn void become_engine(const struct ward_init *in, int handed)
{
	const struct ward_blueprint *p = &in->blueprint;
	int from[WARD_INIT_FDS_MAX], to[WARD_INIT_FDS_MAX];
	const bool calls = p->flags & WARD_BLUEPRINT_CALLS;
	size_t n = calls ? 3 : descriptors(in, handed, from);
	for (size_t i = 0; i < n; i++)
		to[i] = (int)i;
	if ((calls && take_log(from) < 0) || ward_fd_inherit(from, to, n) < 0)
		_exit(126);
	if (p->flags & WARD_BLUEPRINT_USER_ZERO && become_user_zero() < 0)
		_exit(126);
	if (keep_capabilities() < 0)
		_exit(126);
	ward_init_engine_execute(p->engine);
}

/* Without what a terminal would do with it; NULL: it is empty. Changes log. */
static const char *last_line(char *log)
{
	size_t n = strlen(log);
	while (n > 0 && (log[n - 1] == '\n' || log[n - 1] == '\r'))
		log[--n] = '\0';
	const char *nl = strrchr(log, '\n');
	return n == 0 ? NULL : nl ? nl + 1 : log;
}

/* The value of "msg" in the last line, its escapes as they are. */
const char *ward_init_engine_why(int status)
{
	static char log[LOG_MAX];
	static char text[WARD_ERR_TEXT_MAX];
	ward_cleanup_fd int fd = open(LOG, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	ssize_t n = fd < 0 ? 0 : read(fd, log, sizeof(log) - 1);
	log[n > 0 ? n : 0] = '\0';
	const char *last = NULL;
	for (const char *s = log; (s = strstr(s, "\"msg\":")); s++)
		last = s + 6;
	if (last) {
		last += strspn(last, " \"");
		size_t len = 0;
		while (last[len] && last[len] != '\n' &&
			!(last[len] == '"' && last[len - 1] != '\\'))
			len++;
		snprintf(text, sizeof(text), "the engine: %.*s", (int)len, last);
	} else if (last_line(log)) {
		snprintf(text, sizeof(text), "the engine: %s", last_line(log));
	} else if (WIFSIGNALED(status)) {
		snprintf(
			text, sizeof(text), "the engine was killed by signal %d", WTERMSIG(status));
	} else {
		snprintf(
			text, sizeof(text), "the engine ended with status %d", WEXITSTATUS(status));
	}
	return text;
}

/* --- pid 1 beside it --- */

struct beside {
	struct pollfd fds[2 + WARD_BLUEPRINT_LIFELINES_MAX]; /* children, call, lifelines */
	size_t n;
	pid_t engine;
	int handed;  /* -1: let go of */
	bool called; /* call is the connection of the container's pid 1 */
};

static bool lifeline_closed(const struct beside *b)
{
	for (size_t i = 2; i < b->n; i++)
		if (b->fds[i].revents)
			return true;
	return false;
}

/* What the command reads and writes, its terminal, and the supervisor are the container's alone. */
static int let_go(struct ward_init *in)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int i = 0; i < 3; i++)
		if (null < 0 || dup2(null, i) < 0)
			return -errno;
	if (in->tty >= 0)
		close(in->tty);
	in->tty = -1;
	return 0;
}

/* The container speaks for itself: from here on nobody outside of it needs a right. */
static int give_up(struct ward_init *in)
{
	struct ward_err err = WARD_ERR_INIT;
	close(WARD_INIT_FD_CONTROL);
	int r = ward_init_drop(&err);
	return r < 0 ? r
		     : ward_init_filter(in->blueprint.init_filter, in->blueprint.init_filter_len);
}

/* The engine leaves the container to us; or it ends with the container, if that is to call. */
static int engine_ended(struct ward_init *in, const struct beside *b, int status)
{
	const bool calls = in->blueprint.flags & WARD_BLUEPRINT_CALLS;
	if (b->called)
		return 1;
	if (status == 0 && !calls)
		return give_up(in);
	/* Without it nobody in the container would say anything. */
	ward_init_tell_failed(-EIO, WARD_INIT_SETUP, ward_init_engine_why(status));
	return -EIO;
}

/* Waits for what has ended. Returns 1: all is over, 0, or a negative errno. */
static int reap_all(struct ward_init *in, const struct beside *b)
{
	for (;;) {
		int status = 0;
		pid_t pid = waitpid(-1, &status, WNOHANG);
		if (pid < 0)
			return errno == ECHILD ? 1 : -errno;
		if (pid == 0)
			return 0;
		int r = pid == b->engine ? engine_ended(in, b, status) : 0;
		if (r != 0)
			return r;
	}
}

/* The container's pid 1 asks, or is gone. Returns as reap_all(). */
static int called(struct ward_init *in, struct beside *b)
{
	int row[WARD_INIT_FDS_MAX];
	if (b->called)
		return 1;
	const size_t n = descriptors(in, b->handed, row);
	const int fd = ward_init_call_answer(b->fds[1].fd, row, n);
	if (fd < 0)
		return fd;
	close(b->fds[1].fd);
	b->fds[1].fd = fd;
	b->called = true;
	int r = let_go(in);
	return r < 0 ? r : give_up(in);
}

static int watch_engine(struct ward_init *in, struct beside *b)
{
	for (;;) {
		struct signalfd_siginfo si;
		if (poll(b->fds, b->n, -1) < 0) {
			if (errno != EINTR)
				return 125;
			continue;
		}
		if (lifeline_closed(b))
			return 125;
		int r = b->fds[1].revents ? called(in, b) : 0;
		while (read(b->fds[0].fd, &si, sizeof(si)) == (ssize_t)sizeof(si))
			continue;
		if (r == 0)
			r = reap_all(in, b);
		if (r != 0)
			return r > 0 ? 0 : 125;
	}
}

int ward_init_engine(struct ward_init *in)
{
	const bool calls = in->blueprint.flags & WARD_BLUEPRINT_CALLS;
	struct beside b = {.n = 2 + in->blueprint.n_lifelines, .handed = -1};
	sigset_t all;
	sigfillset(&all);
	b.fds[0] = (struct pollfd){
		.fd = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK), .events = POLLIN};
	b.fds[1] = (struct pollfd){.fd = calls ? ward_init_call_listen() : -1, .events = POLLIN};
	for (uint32_t i = 0; i < in->blueprint.n_lifelines; i++)
		b.fds[2 + i] =
			(struct pollfd){.fd = WARD_INIT_FD_LIFELINES + (int)i, .events = POLLIN};
	if (b.fds[0].fd < 0 || (calls && b.fds[1].fd < 0) || hand_over(in, &b.handed) < 0) {
		ward_init_tell_failed(-EIO, WARD_INIT_SETUP, "start the engine");
		return 125;
	}
	b.engine = fork();
	if (b.engine == 0)
		become_engine(in, b.handed);
	if (b.engine < 0) {
		ward_init_tell_failed(-errno, WARD_INIT_SETUP, "fork");
		return 125;
	}
	if (!calls) {
		close(b.handed);
		if (let_go(in) < 0)
			return 125;
	}
	return watch_engine(in, &b);
}

/* --- the container's pid 1 --- */

int ward_init_own_id(const struct ward_init *in, struct ward_err *err)
{
	char uids[64], gids[64];
	snprintf(uids, sizeof(uids), "%u %u 1\n", in->blueprint.agent_uid, geteuid());
	snprintf(gids, sizeof(gids), "%u %u 1\n", in->blueprint.agent_gid, getegid());
	if (unshare(CLONE_NEWUSER) < 0)
		return ward_err_sys(err, -errno, "make a user namespace in the container");
	int r = write_file("/proc/self/setgroups", "deny");
	/* gVisor has no such file: there groups cannot be set without a capability anyway. */
	if (r == -ENOENT && in->blueprint.flags & WARD_BLUEPRINT_FOREIGN)
		r = 0;
	if (r == 0)
		r = write_file("/proc/self/uid_map", uids);
	if (r == 0)
		r = write_file("/proc/self/gid_map", gids);
	return r < 0 ? ward_err_sys(
			       err, r, "become user %u in the container", in->blueprint.agent_uid)
		     : 0;
}

/* Where they stand is known from the blueprint. */
static int take_descriptors(struct ward_init *in, struct ward_err *err)
{
	const struct ward_blueprint *p = &in->blueprint;
	int at = WARD_INIT_FD_LIFELINES + (int)p->n_lifelines;
	struct ward_init_handed h = {0};
	if (close_range(WARD_INIT_FD_CONTROL, ~0U, CLOSE_RANGE_CLOEXEC) < 0)
		return ward_err_sys(err, -errno, "close descriptors");
	if (p->flags & WARD_BLUEPRINT_REPLAY) {
		if (dup3(at, WARD_INIT_FD_REPLAY, O_CLOEXEC) < 0)
			return ward_err_sys(err, -errno, "descriptors from the engine");
		close(at++);
	}
	if (p->flags & WARD_BLUEPRINT_PTY)
		in->tty = at++;
	if (pread(at, &h, sizeof(h), 0) != (ssize_t)sizeof(h))
		return ward_err_set(err, -EBADF, "the engine passed on too few descriptors");
	close(at);
	in->mounted = h.mounted;
	in->unshared = h.unshared;
	in->outside = h.outside;
	in->umask = h.umask;
	return 0;
}

/* The engine's root is none of the command's. */
void ward_init_forget_outer(struct ward_blueprint *p)
{
	size_t n = 0;
	for (size_t i = 0; i < p->n_entries; i++) {
		struct ward_blueprint_entry *e = &p->entries[i];
		if (e->flags & WARD_BLUEPRINT_OUTER) {
			free(e->path);
			free(e->text);
		} else {
			p->entries[n++] = *e;
		}
	}
	p->n_entries = n;
}

int ward_init_inside(struct ward_init *in, struct ward_err *err)
{
	if (getpid() != 1)
		return ward_err_set(err, -EPERM, "the engine made no pid namespace");
	ward_init_forget_outer(&in->blueprint);
	int r = take_descriptors(in, err);
	if (r < 0)
		return r;
	/* We lead a session already (every engine makes one). */
	if (in->tty >= 0 && ioctl(in->tty, TIOCSCTTY, 0) < 0)
		return ward_err_sys(err, -errno, "take the pty as terminal");
	if (in->blueprint.layers & WARD_LAYER_LANDLOCK)
		in->landlock = ward_kernel_landlock();
	r = ward_init_own_id(in, err);
	if (r == 0)
		r = ward_init_note_mounts(in, err);
	return r < 0 ? r : ward_init_drop(err);
}
