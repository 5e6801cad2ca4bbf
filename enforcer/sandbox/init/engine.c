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
 *   pid 1        what pid 1 does without an engine
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
static char *const environment[] = {(char *)(uintptr_t) "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
	(char *)(uintptr_t) "HOME=" WARD_SANDBOX_ENGINE_STATE,
	(char *)(uintptr_t) "XDG_RUNTIME_DIR=" WARD_SANDBOX_ENGINE_STATE, NULL};

/* --- starting it --- */

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

/* In one row from 3 on: all that an engine can pass. */
static _Noreturn void become_engine(const struct ward_init *in, int handed)
{
	const struct ward_blueprint *p = &in->blueprint;
	int from[WARD_INIT_FDS_MAX], to[WARD_INIT_FDS_MAX];
	size_t n = 0;
	for (int fd = 0; fd < WARD_INIT_FD_LIFELINES + (int)p->n_lifelines; fd++)
		from[n++] = fd;
	if (p->flags & WARD_BLUEPRINT_REPLAY)
		from[n++] = WARD_INIT_FD_REPLAY;
	if (in->tty >= 0)
		from[n++] = in->tty;
	from[n++] = handed;
	for (size_t i = 0; i < n; i++)
		to[i] = (int)i;
	if (ward_fd_inherit(from, to, n) < 0 || keep_capabilities() < 0)
		_exit(126);
	ward_init_engine_execute(p->engine);
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

static bool lifeline_closed(const struct pollfd *fds, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (fds[i].revents)
			return true;
	return false;
}

/* The engine leaves the container to us. Without it nobody in the container would say anything. */
static int engine_ended(struct ward_init *in, int status)
{
	if (status != 0) {
		ward_init_tell_failed(-EIO, WARD_INIT_SETUP, ward_init_engine_why(status));
		return -EIO;
	}
	close(WARD_INIT_FD_CONTROL);
	struct ward_err err = WARD_ERR_INIT;
	int r = ward_init_drop(&err);
	return r < 0 ? r
		     : ward_init_filter(in->blueprint.init_filter, in->blueprint.init_filter_len);
}

/* Waits for what has ended. Returns 1: nobody is left, 0, or a negative errno. */
static int reap_all(struct ward_init *in, pid_t engine)
{
	for (;;) {
		int status = 0;
		pid_t pid = waitpid(-1, &status, WNOHANG);
		if (pid < 0)
			return errno == ECHILD ? 1 : -errno;
		if (pid == 0)
			return 0;
		int r = pid == engine ? engine_ended(in, status) : 0;
		if (r < 0)
			return r;
	}
}

int ward_init_engine(struct ward_init *in)
{
	struct pollfd fds[1 + WARD_BLUEPRINT_LIFELINES_MAX];
	sigset_t all;
	ward_cleanup_fd int handed = -1;
	sigfillset(&all);
	ward_cleanup_fd int children = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
	if (children < 0 || hand_over(in, &handed) < 0) {
		ward_init_tell_failed(-EIO, WARD_INIT_SETUP, "start the engine");
		return 125;
	}
	pid_t engine = fork();
	if (engine == 0)
		become_engine(in, handed);
	if (engine < 0) {
		ward_init_tell_failed(-errno, WARD_INIT_SETUP, "fork");
		return 125;
	}
	/* What the command reads and writes, and its terminal, are the container's alone. */
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int i = 0; i < 3; i++)
		if (null < 0 || dup2(null, i) < 0)
			return 125;
	if (in->tty >= 0)
		close(in->tty);
	fds[0] = (struct pollfd){.fd = children, .events = POLLIN};
	for (uint32_t i = 0; i < in->blueprint.n_lifelines; i++)
		fds[1 + i] =
			(struct pollfd){.fd = WARD_INIT_FD_LIFELINES + (int)i, .events = POLLIN};
	for (;;) {
		struct signalfd_siginfo si;
		if (poll(fds, 1 + in->blueprint.n_lifelines, -1) < 0 && errno != EINTR)
			return 125;
		if (lifeline_closed(fds + 1, in->blueprint.n_lifelines))
			return 125;
		while (read(children, &si, sizeof(si)) == (ssize_t)sizeof(si))
			continue;
		int r = reap_all(in, engine);
		if (r != 0)
			return r > 0 ? 0 : 125;
	}
}

/* --- the container's pid 1 --- */

static int write_file(const char *path, const char *text)
{
	ward_cleanup_fd int fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd < 0 ? -errno : ward_fd_write_all(fd, text, strlen(text));
}

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
