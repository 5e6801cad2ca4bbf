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
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/sandbox/init/init.h"
#include "enforcer/sandbox/sandbox.h"

#define OUT_TALK WARD_SANDBOX_ENGINE_STATE "/talk"
#define OUT_PLAN WARD_SANDBOX_ENGINE_STATE "/plan"

static int hand_over(const struct ward_init *in)
{
	const struct ward_init_handed h = {in->mounted, in->unshared, in->outside, in->umask};
	struct stat st;
	if (mkdir(OUT_TALK, 0700) < 0 || mkdir(OUT_PLAN, 0500) < 0 || chmod(OUT_PLAN, 0700) < 0 ||
		fstat(WARD_INIT_FD_BLUEPRINT, &st) < 0)
		return -errno;
	const void *data =
		mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, WARD_INIT_FD_BLUEPRINT, 0);
	if (data == MAP_FAILED)
		return -errno;
	int r = ward_init_talk_put(OUT_PLAN, "blueprint", data, (size_t)st.st_size);
	return r == 0 ? ward_init_talk_put(OUT_PLAN, "handed", &h, sizeof(h)) : r;
}

static void cannot(int fd, enum ward_init_step step, int code, const char *text)
{
	struct ward_init_report r = {.kind = WARD_INIT_REPORT_NONE, .error = code, .step = step};
	r.kind = WARD_INIT_CANNOT;
	snprintf(r.text, sizeof(r.text), "%s", text);
	_exit(ward_init_say(fd, &r, -1) ? 125 : 126);
}

/* Waits for a file of the container's, as long as the engine runs. */
static void await(int fd, pid_t engine, const char *name, struct ward_init_report *ret)
{
	for (;;) {
		int status = 0;
		int r = ward_init_talk_get(OUT_TALK, name, ret, sizeof(*ret));
		if (r == 1)
			return;
		if (r < 0)
			cannot(fd, WARD_INIT_SETUP, -r, "hear from the container");
		if (waitpid(engine, &status, WNOHANG) == engine)
			cannot(fd, WARD_INIT_SETUP, EIO, ward_init_engine_why(status));
		ward_init_talk_pause();
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
	if (ward_init_talk_put(OUT_TALK, "go", &go, 1) < 0)
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
_Noreturn void ward_init_relay_exec(const struct ward_init *in, const struct ward_blueprint_exec *e)
{
	const struct ward_blueprint *p = &in->blueprint;
	char **v = calloc(p->n_engine_exec + 2 * e->n_envp + e->n_argv + 8, sizeof(*v));
	size_t n = 0;
	if (!v)
		_exit(125);
	for (size_t i = 0; i < p->n_engine_exec; i++)
		v[n++] = p->engine_exec[i];
	for (size_t i = 0; i < e->n_envp; i++) {
		v[n++] = (char *)(uintptr_t) "--env";
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
