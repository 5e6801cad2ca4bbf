/* SPDX-License-Identifier: Apache-2.0 */
/* The command: its terminal, its limits, its last walls, its execution. */
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/sandbox/init/init.h"

/* Of all message queues of the session (mq_overview(7)): the kernel's own default, which a host may
 * have raised. Queues are kernel memory. */
#define QUEUE_BYTES 819200

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

/*
 * No core: not a limit of 0, at which a core_pattern that names a program or a socket (core(5)) is
 * served nevertheless, by root, outside, and as much as there is. At 1 the kernel gives the core to
 * nobody (do_coredump()); no file is that small. The command cannot set it: conf/seccomp.
 */
static int limit_core(uint64_t bytes)
{
	struct rlimit now;
	if (bytes < UINT64_MAX)
		return limit(RLIMIT_CORE, bytes > 1 ? bytes : 1);
	/* Nor to more than it is given here. */
	if (getrlimit(RLIMIT_CORE, &now) < 0)
		return -errno;
	now.rlim_cur = now.rlim_max;
	return setrlimit(RLIMIT_CORE, &now) < 0 ? -errno : 0;
}

static int limits(const struct ward_blueprint *p, struct ward_err *err)
{
	/*
	 * Counted per user namespace (Linux 5.14), and ours are among them: pid 1, the starter, the
	 * replayer. One
	 * more, so that a control group refuses first where there is one: it counts what it
	 * refuses.
	 */
	uint64_t more = p->flags & WARD_BLUEPRINT_GROUPED ? 3 : 2;
	if (p->flags & WARD_BLUEPRINT_REPLAY)
		more++;
	uint64_t processes = p->processes < UINT64_MAX - more ? p->processes + more : UINT64_MAX;
	int r = limit(RLIMIT_NPROC, processes);
	if (r == 0)
		r = limit(RLIMIT_NOFILE, p->open_files);
	if (r == 0)
		r = limit(RLIMIT_FSIZE, p->file_size);
	if (r == 0)
		r = limit_core(p->core_bytes);
	if (r == 0)
		r = limit(RLIMIT_DATA, p->data_bytes);
	if (r == 0)
		r = limit(RLIMIT_CPU, p->cpu_seconds);
	/* Another kernel has queues of its own memory, and may not know this limit. */
	if (r == 0 && p->layers & WARD_LAYER_HOST && !(p->flags & WARD_BLUEPRINT_FOREIGN))
		r = limit(RLIMIT_MSGQUEUE, QUEUE_BYTES);
	return r < 0 ? ward_err_sys(err, r, "set limits") : 0;
}

static int descriptors(const struct ward_init *in, struct ward_err *err)
{
	for (int i = 0; i < 3; i++)
		if (in->blueprint.tty_slots & (1U << i) && dup2(in->tty, i) < 0)
			return ward_err_sys(err, -errno, "give descriptor %d", i);
	int r = ward_init_own_devices(in->blueprint.layers, err);
	if (r < 0)
		return r;
	if (close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) == 0)
		return 0;
	if (!(in->blueprint.flags & WARD_BLUEPRINT_FOREIGN))
		return ward_err_sys(err, -errno, "close descriptors");
	/* A kernel without that flag: of ours there are few, and nobody else's came along. */
	for (int fd = 3; fd < WARD_INIT_FDS_MAX; fd++)
		if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 && errno != EBADF)
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

/*
 * Asks once for the attributes of each tree's root. Until then the kernel takes it for uid 0's,
 * whom an own user namespace does not know, and refuses every create in it (HAS_UNMAPPED_ID(),
 * fs/namei.c).
 */
static int meet_trees(const struct ward_blueprint *p, struct ward_err *err)
{
	struct stat st;
	for (size_t i = 0; p->flags & WARD_BLUEPRINT_SERVED && i < p->n_entries; i++) {
		const struct ward_blueprint_entry *e = &p->entries[i];
		if (e->kind == WARD_BLUEPRINT_TREE && stat(e->path, &st) < 0)
			return ward_err_sys(err, -errno, "%s", e->path);
	}
	return 0;
}

/*
 * From here on each execve waits for the supervisor's word. Before the filter of the command, which
 * may let no further listener be made (strict); of two filters the stricter answer counts.
 */
static int watch_execs(const struct ward_blueprint *p, int *ret_listener, struct ward_err *err)
{
	if (p->exec_filter_len == 0)
		return 0;
	int r = ward_init_filter_asking(p->exec_filter, p->exec_filter_len, ret_listener);
	if (r == -EBUSY)
		return ward_err_set(err, r,
			"cannot record which programs start, because a process outside already listens to the system calls (fix: [audit] exec = no)");
	return r < 0 ? ward_err_sys(err, r, "have programs that are started recorded") : 0;
}

static int prepare(const struct ward_init *in, struct ward_init_report *report, int *ret_asks,
	struct ward_err *err)
{
	const struct ward_blueprint *p = &in->blueprint;
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
	ward_init_probe_unconfined(in, report);
	if (r == 0)
		r = ward_init_landlock(in, err);
	if (r < 0)
		return r;
	plain_signals();
	ward_init_probe_unfiltered(in, report);
	r = ward_init_programs_close(in, err);
	if (r < 0)
		return r;
	r = watch_execs(p, ret_asks, err);
	if (r < 0)
		return r;
	r = p->flags & WARD_BLUEPRINT_ONCE
		    ? ward_init_filter_asking(p->filter, p->filter_len, ret_asks)
		    : ward_init_filter(p->filter, p->filter_len);
	if (r < 0)
		return ward_err_sys(err, r, WARD_INIT_NO_FILTER);
	ward_init_probe_filtered(in, report);
	return 0;
}

int ward_init_confine_again(const struct ward_init *in, struct ward_err *err)
{
	int r = limits(&in->blueprint, err);
	if (r == 0 && ward_init_filter(in->blueprint.filter, in->blueprint.filter_len) < 0)
		r = ward_err_set(err, -EIO, WARD_INIT_NO_FILTER);
	return r;
}

/*
 * Confined as the command is, and before it is one. Under no-exec there is nothing to start. asks:
 * what it must not keep, -1: nothing.
 */
static int add_starter(struct ward_init *in, int fd, int asks, struct ward_err *err)
{
	struct ward_init_report hello = {.kind = WARD_INIT_STARTER};
	ward_cleanup_fd int sock = -1;
	pid_t pid = 0;
	if (in->blueprint.flags & WARD_BLUEPRINT_ONCE)
		return 0;
	int r = ward_init_starter(in, asks, &sock, &pid);
	if (r < 0)
		return ward_err_sys(err, r, "fork");
	hello.error = pid;
	return ward_init_say(fd, &hello, sock) ? 0 : ward_err_set(err, -EPIPE, "pid 1 is gone");
}

static void run_child(struct ward_init *in, int fd)
{
	struct ward_init_report report = {.kind = WARD_INIT_TRIED, .step = WARD_INIT_SETUP};
	struct ward_err err = WARD_ERR_INIT;
	int asks = -1;
	/* Outside of such a container: what starts further commands has to be there before the
	 * relay gives its rights up. Inside nobody starts any. */
	const bool foreign = in->blueprint.flags & WARD_BLUEPRINT_FOREIGN;
	if (foreign && in->view[1] && add_starter(in, fd, asks, &err) == 0)
		ward_init_relay(in, fd);
	int r = foreign && in->view[1] ? err.code : prepare(in, &report, &asks, &err);
	/* Behind all walls, so what it starts is recorded too. */
	if (r == 0 && !foreign)
		r = add_starter(in, fd, asks, &err);
	if (r == 0) {
		/* Nothing but that byte lets it go on; pid 1's end closes with pid 1. */
		if (!ward_init_say(fd, &report, asks))
			_exit(125);
		/* Not ours to listen to: with the last one that can, execve fails (ENOSYS). */
		if (asks >= 0)
			close(asks);
		r = ward_init_wait_given(fd, &in->blueprint, &err);
		if (r == -EPIPE)
			_exit(125);
	}
	if (r == 0) {
		report.step = WARD_INIT_EXEC_STEP;
		r = ward_err_sys(&err, ward_init_execute(&in->blueprint, in->told), "%s",
			in->blueprint.argv[0]);
	}
	report.kind = WARD_INIT_CANNOT;
	report.error = -r;
	memcpy(report.text, err.text, sizeof(report.text));
	_exit(ward_init_say(fd, &report, -1) ? 125 : 126);
}

int ward_init_command(struct ward_init *in, struct ward_err *err)
{
	int ends[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return ward_err_sys(err, -errno, "socketpair");
	ward_cleanup_fd int ours = ends[0];
	ward_cleanup_fd int theirs = ends[1];
	pid_t pid = fork();
	if (pid < 0)
		return ward_err_sys(err, -errno, "fork");
	if (pid == 0) {
		close(ours);
		run_child(in, theirs);
		_exit(125);
	}
	in->command = pid;
	in->child = ward_steal_fd(&ours);
	return 0;
}
