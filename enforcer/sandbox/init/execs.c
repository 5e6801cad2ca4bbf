/* SPDX-License-Identifier: Apache-2.0 */
/* pid 1 and the commands beside the first: what the starter started, and how it ended. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/ipc/msg.h"
#include "enforcer/sandbox/init/init.h"
#include "enforcer/sandbox/sandbox.h"

static void tell_failed(uint32_t id, uint32_t error, uint32_t step, const char *text)
{
	ward_cleanup(ward_msg_clear) struct ward_msg m;
	ward_msg_init(&m, WARD_INIT_EXEC_FAILED);
	ward_msg_put_u32(&m, id);
	ward_msg_put_u32(&m, error);
	ward_msg_put_u32(&m, step);
	ward_msg_put_str(&m, text);
	/* The supervisor is gone: the poll loop sees it next. */
	(void)!ward_msg_send(WARD_INIT_FD_CONTROL, &m, NULL, 0);
}

static void drop(struct ward_init_exec *x)
{
	if (x->report >= 0)
		close(x->report);
	if (x->pty >= 0)
		close(x->pty);
	*x = WARD_INIT_EXEC_NONE;
}

static struct ward_init_exec *free_slot(struct ward_init *in)
{
	for (size_t i = 0; i < WARD_BLUEPRINT_EXECS_MAX; i++)
		if (in->execs[i].pid == 0)
			return &in->execs[i];
	return NULL;
}

void ward_init_exec_request(struct ward_init *in, uint32_t id, const int *fds, size_t n)
{
	ward_cleanup(ward_msg_clear) struct ward_msg m;
	ward_msg_init(&m, WARD_INIT_EXEC);
	ward_msg_put_u32(&m, id);
	if (in->starter < 0)
		tell_failed(id, ESRCH, WARD_INIT_SETUP,
			in->blueprint.flags & WARD_BLUEPRINT_ONCE
				? "[process] seccomp = no-exec lets no other program run"
				: "what starts commands was ended from inside the session");
	else if (!free_slot(in))
		tell_failed(id, EAGAIN, WARD_INIT_SETUP, "too many commands at once");
	else if (ward_msg_send(in->starter, &m, fds, n) < 0)
		tell_failed(id, ESRCH, WARD_INIT_SETUP,
			"what starts commands was ended from inside the session");
	else
		/* A command may have stopped it, as any process of its uid. */
		(void)!kill(in->starter_pid, SIGCONT);
}

void ward_init_exec_answer(struct ward_init *in, pid_t reaped)
{
	char data[256];
	int report = -1;
	size_t n = 1;
	struct ward_msg_reader r;
	ssize_t len = ward_msg_recv(in->starter, data, sizeof(data), &report, &n);
	struct ward_init_exec *x = free_slot(in);
	if (len <= 0) {
		close(in->starter);
		in->starter = -1;
		return;
	}
	ward_msg_reader_init(&r, data, (size_t)len);
	uint32_t id = ward_msg_get_u32(&r);
	uint32_t pid = ward_msg_get_u32(&r);
	uint32_t error = ward_msg_get_u32(&r);
	bool ok = ward_msg_done(&r) == 0 && r.type == WARD_INIT_EXEC;
	/* It waits for us to hear of it: somebody inside has killed it. */
	bool gone = pid > 1 && (pid_t)pid != reaped && kill((pid_t)pid, 0) < 0 && errno == ESRCH;
	if (ok && x && n == 1 && pid > 1 && !gone) {
		*x = (struct ward_init_exec){
			.id = id, .pid = (pid_t)pid, .report = report, .pty = -1};
		return;
	}
	if (n == 1)
		close(report);
	tell_failed(id, error ? error : EIO, WARD_INIT_SETUP, "start the command");
}

void ward_init_exec_report(struct ward_init_exec *x)
{
	struct ward_init_report f;
	int fd = -1;
	ssize_t n = ward_init_hear_report(x->report, &f, &fd);
	if (n == (ssize_t)sizeof(f) && f.kind == WARD_INIT_TRIED) {
		if (x->pty >= 0)
			close(x->pty);
		x->pty = fd;
		return;
	}
	if (fd >= 0)
		close(fd);
	close(x->report);
	x->report = -1;
	if (n == 0) {
		uint32_t v[1] = {x->id};
		x->started = true;
		(void)!ward_init_tell(WARD_INIT_EXEC_STARTED, v, 1, x->pty);
		if (x->pty >= 0)
			close(x->pty);
		x->pty = -1;
		return;
	}
	f.text[sizeof(f.text) - 1] = '\0';
	if (n == (ssize_t)sizeof(f) && f.kind == WARD_INIT_CANNOT)
		tell_failed(x->id, (uint32_t)f.error, f.step, f.text);
	else
		tell_failed(x->id, EIO, WARD_INIT_SETUP, "the command could not be started");
}

/*
 * What the starter has said so far: it says who a process is before that can end by itself. reaped:
 * the one that this is about; it has no number any more, and what it reported is still to be read.
 */
static void hear_all(struct ward_init *in, pid_t reaped)
{
	for (;;) {
		struct pollfd p = {.fd = in->starter, .events = POLLIN};
		if (in->starter < 0 || poll(&p, 1, 0) <= 0)
			return;
		ward_init_exec_answer(in, reaped);
	}
}

bool ward_init_exec_reaped(struct ward_init *in, const siginfo_t *si)
{
	if (si->si_pid != in->command)
		hear_all(in, si->si_code == CLD_STOPPED ? 0 : si->si_pid);
	for (size_t i = 0; i < WARD_BLUEPRINT_EXECS_MAX; i++) {
		struct ward_init_exec *x = &in->execs[i];
		if (x->pid != si->si_pid)
			continue;
		if (si->si_code == CLD_STOPPED)
			return true;
		/* What it said before it ended comes first. */
		while (x->report >= 0)
			ward_init_exec_report(x);
		uint32_t v[3] = {x->id,
			si->si_code == CLD_EXITED ? WARD_SANDBOX_EXITED : WARD_SANDBOX_SIGNALED,
			(uint32_t)si->si_status};
		if (x->started)
			(void)!ward_init_tell(WARD_INIT_EXEC_ENDED, v, 3, -1);
		drop(x);
		return true;
	}
	return false;
}

void ward_init_exec_signal(const struct ward_init *in, uint32_t id, int sig)
{
	/* Each leads a session of its own, and so a process group. */
	for (size_t i = 0; i < WARD_BLUEPRINT_EXECS_MAX; i++)
		if (in->execs[i].pid > 1 && in->execs[i].id == id)
			kill(-in->execs[i].pid, sig);
}
