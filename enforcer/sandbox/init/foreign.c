/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A container with a kernel of its own (gVisor): no descriptor of ours goes into it but the
 * command's three, and no capability, namespace or Landlock domain of ours means anything there. So
 * pid 1 stays outside, and what it takes for the command is the relay: the process that starts the
 * engine, and lives as long as it.
 *
 *   relay        starts the engine; hears by files what happens inside; ends with its status
 *   inside       wardfs-init as the container's pid 1: starts the command, confined by the same
 *                limits and the same list of system calls, which the other kernel applies; reaps
 *
 * Files in TALK, a directory that both see; each appears by a rename, when it is whole:
 *
 *   report  from inside: struct ward_init_report, what the probes answered
 *   go      from the relay: the command may start
 *   done    from inside: struct ward_init_report; NONE: the command was executed, CANNOT: why not
 *
 * Nobody reads them afterwards, so nothing that the command does there matters. The blueprint lies
 * on a mount of its own, read-only.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/sandbox/init/init.h"
#include "enforcer/sandbox/sandbox.h"

#define TALK WARD_SANDBOX_ENGINE_TALK
#define PLAN WARD_SANDBOX_ENGINE_PLAN
/* Between two looks for a file; the other side works meanwhile. */
#define LOOK_NS 2000000

/* What the blueprint does not say. */
struct handed {
	int32_t mounted, unshared, outside;
	uint32_t umask;
};

static void pause_a_moment(void)
{
	const struct timespec t = {.tv_nsec = LOOK_NS};
	nanosleep(&t, NULL);
}

/* --- files of TALK; dir: where this side sees it --- */

static int put_file(const char *dir, const char *name, const void *data, size_t len)
{
	char to[64], from[64];
	snprintf(to, sizeof(to), "%s/%s", dir, name);
	snprintf(from, sizeof(from), "%s/%s.new", dir, name);
	ward_cleanup_fd int fd =
		open(from, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	int r = fd < 0 ? -errno : ward_fd_write_all(fd, data, len);
	return r == 0 && rename(from, to) < 0 ? -errno : r;
}

/* 1: read whole, 0: not there yet, or a negative errno. */
static int get_file(const char *dir, const char *name, void *ret, size_t len)
{
	char path[64];
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	ward_cleanup_fd int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	return read(fd, ret, len) == (ssize_t)len ? 1 : -EBADMSG;
}

/* --- the relay --- */

#define OUT_TALK WARD_SANDBOX_ENGINE_STATE "/talk"
#define OUT_PLAN WARD_SANDBOX_ENGINE_STATE "/plan"

static int hand_over(const struct ward_init *in)
{
	const struct handed h = {in->mounted, in->unshared, in->outside, in->umask};
	struct stat st;
	if (mkdir(OUT_TALK, 0700) < 0 || mkdir(OUT_PLAN, 0500) < 0 ||
		chmod(OUT_PLAN, 0700) < 0 || fstat(WARD_INIT_FD_BLUEPRINT, &st) < 0)
		return -errno;
	const void *data =
		mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, WARD_INIT_FD_BLUEPRINT, 0);
	if (data == MAP_FAILED)
		return -errno;
	int r = put_file(OUT_PLAN, "blueprint", data, (size_t)st.st_size);
	return r == 0 ? put_file(OUT_PLAN, "handed", &h, sizeof(h)) : r;
}

static void cannot(int fd, enum ward_init_step step, int code, const char *text)
{
	struct ward_init_report r = {
		.kind = WARD_INIT_REPORT_NONE, .error = code, .step = step};
	r.kind = WARD_INIT_CANNOT;
	snprintf(r.text, sizeof(r.text), "%s", text);
	_exit(ward_init_say(fd, &r, -1) ? 125 : 126);
}

/* Waits for a file of the container's, as long as the engine runs. */
static void await(int fd, pid_t engine, const char *name, struct ward_init_report *ret)
{
	for (;;) {
		int status = 0;
		int r = get_file(OUT_TALK, name, ret, sizeof(*ret));
		if (r == 1)
			return;
		if (r < 0)
			cannot(fd, WARD_INIT_SETUP, -r, "hear from the container");
		if (waitpid(engine, &status, WNOHANG) == engine)
			cannot(fd, WARD_INIT_SETUP, EIO, ward_init_engine_why(status));
		pause_a_moment();
	}
}

static int begin(struct ward_init *in, struct ward_err *err)
{
	if (setpgid(0, 0) < 0)
		return ward_err_sys(err, -errno, "make a process group");
	if (in->tty >= 0 && tcsetpgrp(in->tty, getpid()) < 0)
		return ward_err_sys(err, -errno, "give the terminal to the command");
	for (int i = 0; i < 3; i++)
		if (in->blueprint.tty_slots & (1U << i) && dup2(in->tty, i) < 0)
			return ward_err_sys(err, -errno, "give descriptor %d", i);
	int r = hand_over(in);
	return r < 0 ? ward_err_sys(err, r, "prepare the container") : 0;
}

/* fd: to pid 1, as the command's child has it. */
_Noreturn void ward_init_relay(struct ward_init *in, int fd)
{
	struct ward_init_report report = {.kind = WARD_INIT_REPORT_NONE};
	struct ward_err err = WARD_ERR_INIT;
	char go = 0;
	int status = 0;
	int r = begin(in, &err);
	if (r < 0)
		cannot(fd, WARD_INIT_SETUP, -r, err.text);
	pid_t engine = fork();
	if (engine == 0)
		ward_init_engine_execute(in->blueprint.engine);
	if (engine < 0)
		cannot(fd, WARD_INIT_SETUP, EIO, "start the engine");
	await(fd, engine, "report", &report);
	if (report.kind != WARD_INIT_TRIED)
		cannot(fd, (enum ward_init_step)report.step, report.error, report.text);
	if (!ward_init_say(fd, &report, -1) || read(fd, &go, 1) != 1)
		_exit(125);
	if (put_file(OUT_TALK, "go", &go, 1) < 0)
		cannot(fd, WARD_INIT_SETUP, EIO, "let the command go");
	await(fd, engine, "done", &report);
	if (report.kind == WARD_INIT_CANNOT)
		cannot(fd, (enum ward_init_step)report.step, report.error, report.text);
	/* Its end says that the command was executed, and so closes the rest of ours. */
	close(fd);
	(void)!close_range(0, ~0U, 0);
	while (waitpid(engine, &status, 0) < 0 && errno == EINTR)
		continue;
	_exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
}

/* --- further commands: in what the starter forked --- */

/* The engine's own words, then the environment, then our program inside and what it is to start. */
_Noreturn void ward_init_foreign_exec(const struct ward_init *in, const struct ward_blueprint_exec *e)
{
	const struct ward_blueprint *p = &in->blueprint;
	char **v = calloc(p->n_engine_exec + 2 * e->n_envp + e->n_argv + 8, sizeof(*v));
	size_t n = 0;
	if (!v)
		_exit(125);
	for (size_t i = 0; i < p->n_engine_exec; i++)
		v[n++] = p->engine_exec[i];
	for (size_t i = 0; i < e->n_envp; i++) {
		v[n++] = (char *)(uintptr_t)"--env";
		v[n++] = e->envp[i];
	}
	v[n++] = (char *)(uintptr_t)WARD_SANDBOX_ENGINE_NAME;
	v[n++] = (char *)(uintptr_t)WARD_SANDBOX_ENGINE_INIT;
	v[n++] = (char *)(uintptr_t)WARD_SANDBOX_ENGINE_EXEC;
	v[n++] = e->cwd;
	for (size_t i = 0; i < e->n_argv; i++)
		v[n++] = e->argv[i];
	ward_init_engine_execute(v);
}

/* --- inside --- */

/*
 * ward_init_drop() without what that kernel does not have: ambient capabilities and secure bits. A
 * user other than 0 gets none from execve(2) either.
 */
static int drop(struct ward_err *err)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {{0}, {0}};
	for (unsigned long cap = 0; prctl(PR_CAPBSET_READ, cap) > 0; cap++)
		if (prctl(PR_CAPBSET_DROP, cap) < 0)
			return ward_err_sys(err, -errno, "drop capability %lu", cap);
	if (syscall(SYS_capset, &head, none) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return ward_err_sys(err, -errno, "drop all capabilities");
	return 0;
}

static int read_plan(struct ward_init *in, struct ward_err *err)
{
	struct stat st;
	struct handed h;
	ward_cleanup_fd int fd = open(PLAN "/blueprint", O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return ward_err_sys(err, -errno, "read the blueprint");
	if (st.st_size <= 0 || (size_t)st.st_size > WARD_BLUEPRINT_BYTES_MAX)
		return ward_err_set(err, -EBADMSG, "the blueprint has a wrong size");
	/* Stays mapped: the filters point into it. */
	void *data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	int r = data == MAP_FAILED
			? -errno
			: ward_blueprint_decode(data, (size_t)st.st_size, &in->blueprint);
	if (r == 0)
		r = get_file(PLAN, "handed", &h, sizeof(h)) == 1 ? 0 : -EBADMSG;
	if (r < 0)
		return ward_err_sys(err, r, "the blueprint cannot be understood");
	in->mounted = h.mounted;
	in->unshared = h.unshared;
	in->outside = h.outside;
	in->umask = h.umask;
	ward_init_forget_outer(&in->blueprint);
	/* The relay has the terminal; here it is the descriptors that it lies on. */
	in->blueprint.tty_slots = 0;
	/* That kernel knows files by the one id that the engine maps: as those of its user 0. */
	r = ward_init_own_id(in, err);
	return r < 0 ? r : drop(err);
}

static int report_failed(int code, const char *text)
{
	struct ward_init_report r = {.kind = WARD_INIT_CANNOT, .step = WARD_INIT_SETUP};
	r.error = -code;
	snprintf(r.text, sizeof(r.text), "%s", text);
	(void)!put_file(TALK, "report", &r, sizeof(r));
	return 125;
}

/* What the child says, as files; then what becomes of it. */
static int relay_reports(struct ward_init *in)
{
	struct ward_init_report r = {.kind = WARD_INIT_REPORT_NONE};
	char go = 0;
	int none = -1;
	if (ward_init_hear_report(in->child, &r, &none) != (ssize_t)sizeof(r))
		return report_failed(-EIO, "the command could not be started");
	if (put_file(TALK, "report", &r, sizeof(r)) < 0 || r.kind != WARD_INIT_TRIED)
		return 125;
	while (get_file(TALK, "go", &go, 1) == 0)
		pause_a_moment();
	if (go != 1 || send(in->child, &go, 1, MSG_NOSIGNAL) != 1)
		return 125;
	if (ward_init_hear_report(in->child, &r, &none) != (ssize_t)sizeof(r))
		r = (struct ward_init_report){.kind = WARD_INIT_REPORT_NONE};
	return put_file(TALK, "done", &r, sizeof(r)) < 0 || r.kind == WARD_INIT_CANNOT ? 125 : 0;
}

int ward_init_foreign_inside(struct ward_init *in)
{
	struct ward_err err = WARD_ERR_INIT;
	int status = 0;
	int r = read_plan(in, &err);
	if (r == 0)
		r = ward_init_command(in, &err);
	if (r < 0)
		return report_failed(r, err.text);
	r = relay_reports(in);
	/* Every orphan is ours; with us all of them end. */
	for (pid_t pid = 0; r == 0 && pid != in->command;) {
		pid = waitpid(-1, &status, 0);
		if (pid < 0 && errno != EINTR)
			return 125;
	}
	return r ? r : WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* argv: the program, EXEC, the directory, then the command. Confined as the first one is. */
int ward_init_foreign_command(struct ward_init *in, char **argv)
{
	struct ward_err err = WARD_ERR_INIT;
	extern char **environ;
	int r = read_plan(in, &err);
	if (r == 0 && chdir(argv[2]) < 0)
		r = ward_err_sys(&err, -errno, "enter %s", argv[2]);
	if (r == 0)
		r = ward_init_confine_again(in, &err);
	if (r == 0) {
		struct ward_blueprint p = {.argv = argv + 3, .envp = environ};
		while (environ[p.n_envp])
			p.n_envp++;
		r = ward_init_execute(&p);
		dprintf(2, "wardfs: %s: %s\n", argv[3], strerror(-r));
		return r == -ENOENT ? 127 : 126;
	}
	dprintf(2, "wardfs: %s\n", err.text);
	return 125;
}
