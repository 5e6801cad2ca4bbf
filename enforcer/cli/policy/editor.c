/* SPDX-License-Identifier: Apache-2.0 */
/* Runs an editor with the owner's rights and no others. */
#include "enforcer/cli/policy/editor.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/out.h"
#include "enforcer/base/pollset.h"
#include "enforcer/session/control/signals.h"
#include "enforcer/session/owner/project.h"
#include "enforcer/session/terminal/relay.h"

/* For a terminal that takes nothing, at the end. */
#define DRAIN_MS 1000

/* TIOCLINUX, whose subcodes paste into a console. */
#ifndef TIOCLINUX
#define TIOCLINUX 0x541C
#endif

#if defined(__x86_64__)
#define NATIVE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE AUDIT_ARCH_AARCH64
#elif defined(__riscv) && __riscv_xlen == 64
#define NATIVE AUDIT_ARCH_RISCV64
#endif

/*
 * ioctl(2) with TIOCSTI is EPERM: it would type into the terminal of the caller, whose shell reads
 * that later. The kernel looks at the lower half of the argument alone. Other ABIs than the native
 * one have other numbers, so they end. x32 has a bit in the number.
 */
static int no_typing(void)
{
#ifdef NATIVE
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NATIVE, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000U, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_ioctl, 0, 4),
		/* little endian, as all three are */
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, TIOCSTI, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, TIOCLINUX, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {sizeof(code) / sizeof(*code), code};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		return -errno;
	return 0;
#else
	return -ENOSYS;
#endif
}

/* Of the caller's environment what an editor needs, and nothing that is the caller's own. */
static int own_environment(const struct ward_identity *id)
{
	static const char *const kept[] = {"TERM", "COLORTERM", "LANG", "LC_ALL", "LC_CTYPE",
		"LC_MESSAGES", "VISUAL", "EDITOR", "LINES", "COLUMNS"};
	const size_t n = sizeof(kept) / sizeof(*kept);
	char *values[sizeof(kept) / sizeof(*kept)];
	for (size_t i = 0; i < n; i++) {
		const char *v = getenv(kept[i]);
		values[i] = v ? strdup(v) : NULL;
		if (v && !values[i])
			return -ENOMEM;
	}
	if (clearenv() != 0)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (values[i] && setenv(kept[i], values[i], 1) < 0)
			return -errno;
	if (setenv("PATH", "/usr/local/bin:/usr/bin:/bin", 1) < 0 ||
		setenv("HOME", id->home ? id->home : "/", 1) < 0 ||
		setenv("USER", id->name, 1) < 0 || setenv("LOGNAME", id->name, 1) < 0)
		return -errno;
	return 0;
}

/* All of it, for good: real, effective, saved and file system ids. */
static int become(const struct ward_identity *id)
{
	if (setgroups(id->n_groups, id->groups) < 0 ||
		setresgid(id->owner_gid, id->owner_gid, id->owner_gid) < 0 ||
		setresuid(id->owner_uid, id->owner_uid, id->owner_uid) < 0)
		return -errno;
	if (getuid() != id->owner_uid || geteuid() != id->owner_uid || setuid(0) == 0)
		return -EPERM;
	return 0;
}

/*
 * The project is an agent's: an editor may obey a file in the directory that it starts in (.exrc),
 * and a name in VISUAL may be looked for there. The file's directory is the owner's.
 */
static int leave_project(const char *file)
{
	const char *slash = strrchr(file, '/');
	ward_cleanup_free char *dir = slash ? strndup(file, (size_t)(slash - file) + 1) : NULL;
	if (!dir)
		return slash ? -ENOMEM : -EINVAL;
	return chdir(dir) < 0 ? -errno : 0;
}

/* Does this part of PATH lead into the project, or to wherever one stands? */
static bool leads_into(const char *part, size_t n, const char *project)
{
	ward_cleanup_free char *dir = strndup(part, n), *real = NULL;
	ward_cleanup_fd int fd =
		dir && *part == '/' ? open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	if (*part != '/')
		return true;
	return fd >= 0 && project &&
	       (ward_fd_path(fd, &real) < 0 || ward_path_beneath(real, project));
}

/* As leave_project(), of PATH: .venv/bin and node_modules/.bin often stand there. */
static int leave_path(const char *project)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	const char *path = getenv("PATH");
	for (const char *s = path; s; s = *s ? s + 1 : NULL) {
		size_t n = strcspn(s, ":");
		if (!leads_into(s, n, project)) {
			ward_buf_puts(&b, b.len ? ":" : "");
			ward_buf_add(&b, s, n);
		}
		s += n;
	}
	if (ward_buf_error(&b) < 0)
		return -ENOMEM;
	return path && setenv("PATH", ward_buf_str(&b), 1) < 0 ? -errno : 0;
}

static int start(const struct ward_identity *id, const char *file, const char *project)
{
	int r = 0;
	if (id->owner_uid != geteuid()) {
		r = own_environment(id);
		if (r == 0)
			r = become(id);
		if (r == 0)
			r = no_typing();
	}
	if (r == 0)
		r = leave_path(project);
	if (r == 0)
		r = leave_project(file);
	if (r < 0)
		return r;
	const char *editor = getenv("VISUAL");
	if (!editor || !*editor)
		editor = getenv("EDITOR");
	/* The variable may hold options, as for git and crontab: the shell takes it apart. */
	execl("/bin/sh", "sh", "-c", "exec ${0} \"$1\"", editor && *editor ? editor : "vi", file,
		(char *)NULL);
	return -errno;
}

static _Noreturn void child(const struct ward_identity *id, const char *file, const char *project)
{
	int r = start(id, file, project);
	ward_tellf("wardfs: the editor cannot be started as %s: %s\n", id->name, strerror(-r));
	_exit(126);
}

static int end_of(pid_t pid)
{
	int status = 0;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* --- another user's editor: a terminal and a pid namespace of its own --- */

struct apart {
	const struct ward_identity *id;
	const char *file, *project;
	struct ward_relay *relay;
	struct ward_pollset set;
	int pty;     /* -1: none of 0, 1, 2 is a terminal */
	int signals; /* of ours */
	int pidfd;   /* of the namespace's init */
	bool over;
	bool ended; /* a signal to us ended it */
};

/* 0, 1, 2 of the editor: a terminal of its own, the caller's files through pipes. */
static int own_stdio(const struct apart *a)
{
	int stdio[3];
	ward_cleanup_fd int tty = -1;
	if (setsid() < 0)
		return -errno;
	if (a->pty >= 0) {
		tty = ioctl(a->pty, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
		if (tty < 0 || ioctl(tty, TIOCSCTTY, 0) < 0 ||
			fchown(tty, a->id->owner_uid, (gid_t)-1) < 0)
			return -errno;
	}
	ward_relay_stdio(a->relay, stdio);
	/* Not before all are copied: one may be the number of another. */
	for (int i = 0; i < 3; i++) {
		stdio[i] = fcntl(stdio[i] < 0 ? tty : stdio[i], F_DUPFD_CLOEXEC, 3);
		if (stdio[i] < 0)
			return -errno;
	}
	for (int i = 0; i < 3; i++)
		if (dup2(stdio[i], i) < 0)
			return -errno;
	return 0;
}

/*
 * Process 1 of the editor's namespace, root's still. When the editor has ended this ends too, and
 * the kernel ends whatever the editor left behind. So nothing of the owner's outlives the call.
 */
static _Noreturn void keeper(const struct apart *a)
{
	sigset_t none;
	sigemptyset(&none);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		_exit(126);
	pid_t pid = fork();
	if (pid == 0) {
		int r = own_stdio(a);
		signal(SIGPIPE, SIG_DFL);
		sigprocmask(SIG_SETMASK, &none, NULL);
		if (r == 0)
			child(a->id, a->file, a->project);
		ward_tellf("wardfs: the editor's terminal: %s\n", strerror(-r));
		_exit(126);
	}
	_exit(pid < 0 ? 126 : end_of(pid));
}

static int make_pty(struct apart *a, struct ward_err *err)
{
	if (!ward_relay_wants_pty(a->relay))
		return 0;
	a->pty = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (a->pty < 0 || grantpt(a->pty) < 0 || unlockpt(a->pty) < 0)
		return ward_err_sys(err, -errno, "a terminal for the editor");
	return 0;
}

/* The order in which a round looks at them. */
enum turn { TURN_SIGNALS, TURN_RELAY, TURN_END };

static void on_signal(void *arg, short revents)
{
	struct apart *a = arg;
	struct signalfd_siginfo si;
	(void)revents;
	while (read(a->signals, &si, sizeof(si)) == (ssize_t)sizeof(si)) {
		if (si.ssi_signo == SIGWINCH) {
			ward_relay_resize(a->relay);
		} else {
			a->over = a->ended = true;
			(void)pidfd_send_signal(a->pidfd, SIGKILL, NULL, 0);
		}
	}
}

static void on_end(void *arg, short revents)
{
	(void)revents;
	((struct apart *)arg)->over = true;
}

static int serve(struct apart *a, struct ward_err *err)
{
	int r = ward_relay_start(a->relay, a->pty, err);
	if (r == 0)
		r = ward_relay_watch(a->relay, &a->set, TURN_RELAY, err);
	if (r < 0)
		return r;
	r = ward_pollset_add(&a->set, TURN_SIGNALS, a->signals, POLLIN, on_signal, a, NULL);
	if (r == 0)
		r = ward_pollset_add(&a->set, TURN_END, a->pidfd, POLLIN, on_end, a, NULL);
	while (r == 0 && !a->over)
		r = ward_pollset_round(&a->set);
	if (r == 0)
		ward_relay_finish(a->relay, DRAIN_MS);
	/* Answers of the terminal to what the editor asked it: the caller's shell would read them.
	 */
	if (r == 0 && ward_relay_in_front(a->relay))
		(void)tcflush(0, TCIFLUSH);
	return r < 0 ? ward_err_sys(err, r, "the editor's terminal") : 0;
}

/* The editor's exit status, or -errno. */
static int run_apart(struct apart *a, struct ward_err *err)
{
	static const int caught[] = {SIGWINCH, SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	const struct ward_relay_spec spec = {
		.flags = WARD_RELAY_TERMINAL, .apart = WARD_APART_ALL, .owner = a->id->owner_uid};
	int r = ward_relay_open(&spec, &a->relay, err);
	if (r == 0)
		r = make_pty(a, err);
	if (r == 0)
		r = ward_signals_catch(caught, sizeof(caught) / sizeof(*caught), &a->signals, err);
	if (r < 0)
		return r;
	struct clone_args how = {.flags = CLONE_NEWPID | CLONE_PIDFD,
		.pidfd = (uint64_t)(uintptr_t)&a->pidfd,
		.exit_signal = SIGCHLD};
	pid_t pid = (pid_t)syscall(SYS_clone3, &how, sizeof(how));
	if (pid == 0)
		keeper(a);
	if (pid < 0)
		return ward_err_sys(err, -errno,
			"starting an editor in a pid namespace, which ends what it leaves behind");
	r = serve(a, err);
	if (r < 0)
		(void)pidfd_send_signal(a->pidfd, SIGKILL, NULL, 0);
	int status = end_of(pid);
	return r < 0 ? r : status;
}

static int editor_apart(
	const struct ward_identity *id, const char *file, const char *project, struct ward_err *err)
{
	struct apart a = {
		.id = id, .file = file, .project = project, .pty = -1, .signals = -1, .pidfd = -1};
	sigset_t before;
	struct sigaction pipe;
	sigprocmask(SIG_SETMASK, NULL, &before);
	sigaction(SIGPIPE, NULL, &pipe);
	int r = run_apart(&a, err);
	ward_relay_close(a.relay);
	const int fds[] = {a.pty, a.signals, a.pidfd};
	for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	sigaction(SIGPIPE, &pipe, NULL);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return r == 0 && a.ended ? 128 + SIGKILL : r;
}

/* --- the caller's own --- */

static int editor_here(
	const struct ward_identity *id, const char *file, const char *project, struct ward_err *err)
{
	pid_t pid = fork();
	if (pid == 0)
		child(id, file, project);
	if (pid < 0)
		return ward_err_sys(err, -errno, "starting an editor");
	/* ^C is the editor's to understand, not ours. */
	struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
	sigaction(SIGINT, &ignore, &before);
	int status = end_of(pid);
	sigaction(SIGINT, &before, NULL);
	return status;
}

int editor_run(
	const struct ward_identity *id, const char *file, const char *project, struct ward_err *err)
{
	(void)!ward_out_flush(); /* the child would print it once more */
	int r = id->owner_uid != geteuid() ? editor_apart(id, file, project, err)
					   : editor_here(id, file, project, err);
	if (r <= 0)
		return r;
	return ward_err_set(err, -ECANCELED,
		"the editor ended with an error (status %d); nothing was installed. Set VISUAL "
		"or EDITOR to choose the editor",
		r);
}
