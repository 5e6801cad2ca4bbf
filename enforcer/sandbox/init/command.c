/* SPDX-License-Identifier: Apache-2.0 */
/* The command: its terminal, its limits, its last walls, its execution. */
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/sandbox/init/init.h"

/* Where execvp(3) looks when there is no PATH. */
#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"

int ward_init_pty(struct ward_init *in, int *ret_master, struct ward_err *err)
{
	struct winsize size = {
		.ws_row = (unsigned short)in->plan.rows, .ws_col = (unsigned short)in->plan.cols};
	int unlock = 0;
	ward_cleanup_fd int master = open("/dev/pts/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (master < 0 || ioctl(master, TIOCSPTLCK, &unlock) < 0 ||
		ioctl(master, TIOCSWINSZ, &size) < 0)
		return ward_err_sys(err, -errno, "make a pty");
	ward_cleanup_fd int tty = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	/*
	 * pid 1 is the leader of the session, the command only of its own process group: a group is
	 * stopped by Ctrl-Z only if some parent of its members is in the same session but another
	 * group, else it counts as orphaned (setpgid(2)).
	 */
	if (tty < 0 || ioctl(tty, TIOCSCTTY, 0) < 0)
		return ward_err_sys(err, -errno, "take the pty as terminal");
	in->tty = ward_steal_fd(&tty);
	*ret_master = ward_steal_fd(&master);
	return 0;
}

static int limit(int resource, uint64_t value)
{
	struct rlimit now;
	if (value == UINT64_MAX)
		return 0;
	if (getrlimit((__rlimit_resource_t)resource, &now) < 0)
		return -errno;
	/* What the caller itself may not exceed stays the bound. */
	struct rlimit want = {.rlim_cur = value, .rlim_max = value};
	if (now.rlim_max != RLIM_INFINITY && want.rlim_max > now.rlim_max)
		want.rlim_cur = want.rlim_max = now.rlim_max;
	return setrlimit((__rlimit_resource_t)resource, &want) < 0 ? -errno : 0;
}

static int limits(const struct ward_plan *p, struct ward_err *err)
{
	/* Counted per user namespace (Linux 5.14) and pid 1 is one of them. */
	uint64_t processes = p->processes < UINT64_MAX ? p->processes + 1 : UINT64_MAX;
	int r = limit(RLIMIT_NPROC, processes);
	if (r == 0)
		r = limit(RLIMIT_NOFILE, p->open_files);
	if (r == 0)
		r = limit(RLIMIT_FSIZE, p->file_size);
	if (r == 0)
		r = limit(RLIMIT_CORE, p->core_bytes);
	return r < 0 ? ward_err_sys(err, r, "set limits") : 0;
}

static int descriptors(const struct ward_init *in, struct ward_err *err)
{
	for (int i = 0; i < 3; i++)
		if (in->plan.tty_slots & (1U << i) && dup2(in->tty, i) < 0)
			return ward_err_sys(err, -errno, "give descriptor %d", i);
	if (close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) < 0)
		return ward_err_sys(err, -errno, "close descriptors");
	return 0;
}

static void plain_signals(void)
{
	sigset_t none;
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* As execvp(3), but a script without "#!" stays an error. Returns only on failure. */
static int execute(const struct ward_plan *p)
{
	const char *name = p->argv[0];
	const char *path = DEFAULT_PATH;
	int result = -ENOENT;
	if (strchr(name, '/')) {
		execve(name, p->argv, p->envp);
		return -errno;
	}
	for (size_t i = 0; i < p->n_envp; i++)
		if (strncmp(p->envp[i], "PATH=", 5) == 0)
			path = p->envp[i] + 5;
	for (;;) {
		char full[4096];
		int len = (int)strcspn(path, ":");
		int n = snprintf(full, sizeof(full), "%.*s/%s", len, path, name);
		if (len == 0)
			n = snprintf(full, sizeof(full), "./%s", name);
		if (n > 0 && (size_t)n < sizeof(full)) {
			execve(full, p->argv, p->envp);
			if (errno == EACCES)
				result = -EACCES;
			else if (errno != ENOENT && errno != ENOTDIR && errno != ELOOP &&
				 errno != ENODEV && errno != ESTALE)
				return -errno;
		}
		path += len;
		if (*path == '\0')
			return result;
		path++;
	}
}

/*
 * Asks once for the attributes of each tree's root. Until then the kernel takes it for uid 0's,
 * whom an own user namespace does not know, and refuses every create in it (HAS_UNMAPPED_ID(),
 * fs/namei.c).
 */
static int meet_trees(const struct ward_plan *p, struct ward_err *err)
{
	struct stat st;
	for (size_t i = 0; p->flags & WARD_PLAN_SERVED && i < p->n_entries; i++) {
		const struct ward_plan_entry *e = &p->entries[i];
		if (e->kind == WARD_PLAN_TREE && stat(e->path, &st) < 0)
			return ward_err_sys(err, -errno, "%s", e->path);
	}
	return 0;
}

static int prepare(const struct ward_init *in, struct ward_err *err)
{
	const struct ward_plan *p = &in->plan;
	if (setpgid(0, 0) < 0)
		return ward_err_sys(err, -errno, "make a process group");
	if (in->tty >= 0 && tcsetpgrp(in->tty, getpid()) < 0)
		return ward_err_sys(err, -errno, "give the terminal to the command");
	int r = descriptors(in, err);
	if (r < 0)
		return r;
	umask(in->umask);
	if (chdir(p->cwd) < 0)
		return ward_err_sys(err, -errno, "enter %s, the start directory inside", p->cwd);
	r = meet_trees(p, err);
	if (r == 0)
		r = limits(p, err);
	if (r == 0)
		r = ward_init_landlock(in, err);
	if (r < 0)
		return r;
	plain_signals();
	r = ward_init_filter(p->filter, p->filter_len);
	return r < 0 ? ward_err_sys(err, r, "install the system call filter") : 0;
}

static void run_child(const struct ward_init *in, int report)
{
	struct ward_init_failure f = {.step = WARD_INIT_SETUP};
	struct ward_err err = WARD_ERR_INIT;
	int r = prepare(in, &err);
	if (r == 0) {
		f.step = WARD_INIT_EXEC;
		r = ward_err_sys(&err, execute(&in->plan), "%s", in->plan.argv[0]);
	}
	f.error = -r;
	memcpy(f.text, err.text, sizeof(f.text));
	/* Less than PIPE_BUF: whole or not at all; if not, the reader sees a short report. */
	ssize_t n = write(report, &f, sizeof(f));
	_exit(n == (ssize_t)sizeof(f) ? 125 : 126);
}

int ward_init_command(struct ward_init *in, struct ward_err *err)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) < 0)
		return ward_err_sys(err, -errno, "pipe");
	ward_cleanup_fd int in_end = ends[0];
	ward_cleanup_fd int out_end = ends[1];
	pid_t pid = fork();
	if (pid < 0)
		return ward_err_sys(err, -errno, "fork");
	if (pid == 0) {
		run_child(in, out_end);
		_exit(125);
	}
	in->command = pid;
	in->exec_pipe = ward_steal_fd(&in_end);
	return 0;
}
