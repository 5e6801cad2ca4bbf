/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wardfs-init: makes the sandbox and becomes its pid 1. Started by the supervisor with the
 * descriptors of enum ward_init_fd, an empty environment and a blueprint; says nothing on 0, 1 and
 * 2, which are the command's.
 *
 *   stage 0  reads the blueprint; makes namespaces and mounts; clones pid 1 as a child of the
 * supervisor (CLONE_PARENT), reports it, exits pid 1    own /proc, new root, identity; drops
 * everything; lets the command's child confine itself and probe; watches until the end
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/kernel.h"
#include "enforcer/ipc/msg.h"
#include "enforcer/sandbox/init/init.h"
#include "enforcer/sandbox/sandbox.h"

static int read_plan(struct ward_init *in, struct ward_err *err)
{
	struct stat st;
	if (fstat(WARD_INIT_FD_BLUEPRINT, &st) < 0)
		return ward_err_sys(err, -errno, "read the blueprint");
	if (st.st_size <= 0 || (size_t)st.st_size > WARD_BLUEPRINT_BYTES_MAX)
		return ward_err_set(err, -EBADMSG, "the blueprint has a wrong size");
	/* Sealed against change by its maker; stays mapped: the filters point into it. */
	void *data =
		mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, WARD_INIT_FD_BLUEPRINT, 0);
	if (data == MAP_FAILED)
		return ward_err_sys(err, -errno, "read the blueprint");
	int r = ward_blueprint_decode(data, (size_t)st.st_size, &in->blueprint);
	if (r < 0)
		return ward_err_sys(err, r, "the blueprint cannot be understood");
	/* The container's pid 1 reads it again. */
	if (!(in->blueprint.flags & WARD_BLUEPRINT_ENGINE))
		close(WARD_INIT_FD_BLUEPRINT);
	return 0;
}

/* Before anything else has the descriptor: the mapping ends with execve(2), and is nobody else's.
 */
static int map_table(struct ward_init *in, struct ward_err *err)
{
	if (!(in->blueprint.flags & WARD_BLUEPRINT_TELLS))
		return 0;
	ward_cleanup_fd int fd = WARD_INIT_FD_EXECS;
	int r = ward_exec_table_map(fd, &in->told);
	return r < 0 ? ward_err_sys(err, r, "map the table of programs") : 0;
}

static int finish_identity(struct ward_init *in, struct ward_err *err)
{
	if (!(in->blueprint.flags & WARD_BLUEPRINT_ROOT))
		return 0;
	int r = ward_init_unshare_root(in, err);
	if (r < 0)
		return r;
	r = ward_init_tell(WARD_INIT_MAPS, NULL, 0, -1);
	if (r == 0)
		r = ward_init_hear(WARD_INIT_MAPPED);
	if (r < 0)
		return ward_err_sys(err, r, "wait for the maps of ids");
	return ward_init_become_agent(in, err);
}

/*
 * The trees are served, and this process is in its control groups. The rest needs the rights that
 * set_up() kept; afterwards no rights are left.
 */
static int finish(struct ward_init *in, struct ward_err *err)
{
	int r = ward_init_unshare_cgroup(in, err);
	if (r == 0)
		r = ward_init_nested(in, err);
	if (r == 0)
		r = ward_init_files(in, err);
	/* The engine needs our rights; of its mounts the container's pid 1 takes note. */
	const uint32_t engine = WARD_BLUEPRINT_ENGINE | WARD_BLUEPRINT_FOREIGN;
	if (r < 0 || (in->blueprint.flags & engine) == WARD_BLUEPRINT_ENGINE)
		return r;
	r = ward_init_note_mounts(in, err);
	return r < 0 ? r : ward_init_drop(err);
}

static int set_up(struct ward_init *in, struct ward_err *err)
{
	ward_cleanup_fd int master = -1;
	if (setsid() < 0)
		return ward_err_sys(err, -errno, "make a session");
	/* As pid 1 is of itself: orphans of the session become our children. */
	if (!(in->blueprint.layers & WARD_LAYER_PID) &&
		prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
		return ward_err_sys(err, -errno, "become the parent of orphans");
	int r = ward_init_pivot(in, err);
	if (r == 0)
		r = finish_identity(in, err);
	/* Early: the network is made while we go on. */
	if (r == 0)
		r = ward_init_hand_out_namespaces(in, err);
	if (r == 0)
		r = ward_init_furnish(in, err);
	/* An engine mounts another one; ours is whole, else it could not. */
	if (r == 0 && in->blueprint.layers & WARD_LAYER_HOST &&
		!(in->blueprint.flags & WARD_BLUEPRINT_ENGINE))
		r = ward_init_mask_proc(in, err);
	if (r == 0 && in->blueprint.flags & WARD_BLUEPRINT_PTY)
		r = ward_init_pty(in, &master, err);
	if (r < 0)
		return r;
	if (in->blueprint.layers & WARD_LAYER_LANDLOCK &&
		!(in->blueprint.flags & WARD_BLUEPRINT_FOREIGN))
		in->landlock = ward_kernel_landlock();
	r = ward_init_programs_held(in, err);
	if (r < 0)
		return r;
	uint32_t v[2] = {in->landlock, in->applied};
	r = ward_init_tell(WARD_INIT_READY, v, 2, master);
	return r < 0 ? ward_err_sys(err, r, "report") : 0;
}

/* The command, and what runs beside it; then watches. */
static int run_command(struct ward_init *in, struct ward_err *err)
{
	int r = ward_init_command(in, err);
	/* What starts programs has its own by now. */
	ward_exec_table_unmap(in->told);
	in->told = NULL;
	/* Behind it: the command is pid 2 inside. */
	if (r == 0)
		r = ward_init_replayer(in, err);
	if (r < 0) {
		ward_init_tell_failed(r, WARD_INIT_SETUP, err->text);
		return 125;
	}
	return ward_init_watch(in);
}

/* Becomes pid 1's main program; returns its exit status. The pipe ends when stage 0 has reported.
 */
static int run_pid1(struct ward_init *in, const int staged_pipe[2])
{
	struct ward_err err = WARD_ERR_INIT;
	char byte = 0;
	/* Both talk on the same channel: without this, our first word could overtake stage 0's. */
	close(staged_pipe[1]);
	while (read(staged_pipe[0], &byte, 1) < 0 && errno == EINTR)
		continue;
	close(staged_pipe[0]);
	/* The file system daemon gets its own copies; here they would keep the mount alive. */
	for (size_t i = 0; i < WARD_TREES_MAX; i++)
		if (in->fuse[i] >= 0)
			close(in->fuse[i]);
	int r = set_up(in, &err);
	if (r == 0) {
		if (ward_init_hear(WARD_INIT_PROBE) < 0)
			return 125;
		r = finish(in, &err);
	}
	if (r < 0) {
		ward_init_tell_failed(r, WARD_INIT_SETUP, err.text);
		return 125;
	}
	const bool foreign = in->blueprint.flags & WARD_BLUEPRINT_FOREIGN;
	return in->blueprint.flags & WARD_BLUEPRINT_ENGINE && !foreign ? ward_init_engine(in)
								       : run_command(in, &err);
}

/* Started again by an engine, in the container that it made of our view. */
static int run_inside(struct ward_init *in, bool calls)
{
	struct ward_err err = WARD_ERR_INIT;
	int r = calls ? ward_init_call(&err) : 0;
	/* Without an answer the channel to the supervisor is none. */
	if (r < 0)
		return 125;
	r = read_plan(in, &err);
	if (r == 0)
		r = ward_init_inside(in, &err);
	if (r < 0) {
		ward_init_tell_failed(r, WARD_INIT_SETUP, err.text);
		return 125;
	}
	return run_command(in, &err);
}

static int staged(const struct ward_init *in, pid_t pid, struct ward_err *err)
{
	ward_cleanup(ward_msg_clear) struct ward_msg m;
	ward_msg_init(&m, WARD_INIT_STAGED);
	ward_msg_put_u32(&m, (uint32_t)pid);
	int fds[WARD_TREES_MAX + 1];
	size_t n = in->blueprint.n_trees;
	memcpy(fds, in->fuse, sizeof(in->fuse));
	if (in->told)
		fds[n++] = in->root;
	int r = ward_msg_send(WARD_INIT_FD_CONTROL, &m, fds, n);
	return r < 0 ? ward_err_sys(err, r, "report pid 1") : 0;
}

/*
 * One thread that moves itself makes the kernel wait for nobody (cgroup_procs_write_start());
 * its later children are in the groups from the beginning.
 */
static int enter_groups(const struct ward_init *in, struct ward_err *err)
{
	for (uint32_t i = 0; i < in->blueprint.n_tasks; i++) {
		ward_cleanup_fd int fd = WARD_INIT_FD_TASKS + (int)i;
		if (write(fd, "0", 1) != 1)
			return ward_err_sys(err, -errno, "join the session's control group");
	}
	return 0;
}

static int stage0(struct ward_init *in, struct ward_err *err)
{
	int r = read_plan(in, err);
	if (r == 0)
		r = map_table(in, err);
	/* First: a real-time process is let into no control group without a share for such. */
	if (r == 0)
		r = ward_init_no_precedence(err);
	if (r == 0)
		r = enter_groups(in, err);
	if (r < 0)
		return r;
	if (in->blueprint.flags & WARD_BLUEPRINT_ENGINE)
		in->view = WARD_SANDBOX_ENGINE_VIEW;
	if (in->blueprint.flags & WARD_BLUEPRINT_ROOT) {
		if (unshare(CLONE_NEWNS) < 0)
			r = ward_err_sys(err, -errno, "make a mount namespace%s",
				errno == EPERM ? " (root without CAP_SYS_ADMIN, as in a container; "
						 "fix: give it, or start as an ordinary user)"
					       : "");
	} else {
		r = ward_init_unshare_rootless(in, err);
	}
	if (r == 0 && in->blueprint.probe_outside[0] != '\0')
		in->outside = ward_init_probe_open(in->blueprint.probe_outside);
	if (r == 0)
		r = ward_init_mounts(in, err);
	if (r < 0)
		return r;
	/* /dev/fuse was mounted above, in the host's pid namespace: request pids mean something. */
	int staged_pipe[2];
	if (pipe2(staged_pipe, O_CLOEXEC) < 0)
		return ward_err_sys(err, -errno, "pipe");
	unsigned long flags = in->blueprint.layers & WARD_LAYER_PID ? CLONE_NEWPID : 0;
	pid_t pid =
		(pid_t)syscall(SYS_clone, flags | CLONE_PARENT | SIGCHLD, NULL, NULL, NULL, 0UL);
	if (pid < 0)
		return ward_err_sys(err, -errno, "make a pid namespace");
	if (pid == 0)
		_exit(run_pid1(in, staged_pipe));
	return staged(in, pid, err);
}

int main(int argc, char **argv)
{
	static struct ward_init in;
	struct ward_err err = WARD_ERR_INIT;
	sigset_t all;
	in.root = in.tty = in.child = in.asks = in.starter = in.mount_table = -1;
	for (size_t i = 0; i < WARD_BLUEPRINT_EXECS_MAX; i++)
		in.execs[i] = WARD_INIT_EXEC_NONE;
	in.mounted = in.unshared = in.outside = in.shut = -1;
	for (size_t i = 0; i < WARD_TREES_MAX; i++)
		in.fuse[i] = in.nested[i] = -1;
	/* Nothing interrupts; SIGCHLD is read from a descriptor, SIGKILL needs nobody's leave. */
	sigfillset(&all);
	if (sigprocmask(SIG_SETMASK, &all, NULL) < 0)
		return 125;
	in.umask = umask(0);
	in.view = "/";
	if (argc == 2 && strcmp(argv[1], WARD_SANDBOX_ENGINE_INSIDE) == 0)
		_exit(access(WARD_SANDBOX_ENGINE_PLAN, F_OK) == 0 ? ward_init_foreign_inside(&in)
								  : run_inside(&in, false));
	if (argc == 2 && strcmp(argv[1], WARD_SANDBOX_ENGINE_CALL) == 0)
		_exit(run_inside(&in, true));
	if (argc > 3 && strcmp(argv[1], WARD_SANDBOX_ENGINE_EXEC) == 0)
		_exit(ward_init_foreign_command(&in, argv));
	if (fcntl(WARD_INIT_FD_CONTROL, F_SETFD, FD_CLOEXEC) < 0)
		return 125;
	int r = stage0(&in, &err);
	if (r < 0)
		ward_init_tell_failed(r, WARD_INIT_SETUP, err.text);
	/* Nothing to flush; and what runs at exit would find pid 1's root under it by now. */
	_exit(r < 0 ? 125 : 0);
}
