/* SPDX-License-Identifier: Apache-2.0 */
/* Further commands in a running sandbox: what the supervisor asks of pid 1, and what it hears. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/ipc/msg.h"
#include "enforcer/sandbox/internal.h"
#include "enforcer/sandbox/plan.h"

static size_t count(char *const *v)
{
	size_t n = 0;
	while (v && v[n])
		n++;
	return n;
}

static int describe(const struct ward_sandbox_exec *e, int *ret_fd, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf bytes = WARD_BUF_INIT;
	/* Only encoded: nothing is changed or freed. */
	struct ward_plan_exec p = {.pty = e->pty,
		.rows = e->winsize.ws_row,
		.cols = e->winsize.ws_col,
		.argv = (char **)(uintptr_t)e->argv,
		.n_argv = count(e->argv),
		.envp = (char **)(uintptr_t)e->envp,
		.n_envp = count(e->envp),
		.cwd = (char *)(uintptr_t)e->cwd};
	int r = ward_plan_exec_encode(&p, &bytes);
	if (r < 0)
		return ward_err_sys(err, r, "describe the command");
	return ward_fd_sealed("wardfs-exec", bytes.data, bytes.len, ret_fd, err);
}

int ward_sandbox_exec(struct ward_sandbox *sb, uint32_t id, const struct ward_sandbox_exec *e,
	struct ward_err *err)
{
	ward_cleanup(ward_msg_clear) struct ward_msg m;
	ward_cleanup_fd int description = -1;
	ward_msg_init(&m, WARD_INIT_EXEC);
	if (!ward_sandbox_is_started(sb))
		return ward_err_set(err, -ESRCH, "the session's command does not run yet");
	if (!e->argv || !e->argv[0] || !e->argv[0][0])
		return ward_err_set(err, -EINVAL, "no command");
	if (!e->cwd || e->cwd[0] != '/')
		return ward_err_set(err, -EINVAL, "the directory must be an absolute path");
	int r = describe(e, &description, err);
	if (r < 0)
		return r;
	int fds[4] = {description, e->stdio[0], e->stdio[1], e->stdio[2]};
	ward_msg_put_u32(&m, id);
	r = ward_msg_send(ward_sandbox_fd(sb), &m, fds, 4);
	return r < 0 ? ward_err_sys(err, r, "ask pid 1 of the sandbox") : 0;
}

int ward_sandbox_exec_signal(struct ward_sandbox *sb, uint32_t id, int sig)
{
	ward_cleanup(ward_msg_clear) struct ward_msg m;
	if (sig < 1 || sig > 64)
		return -EINVAL;
	ward_msg_init(&m, WARD_INIT_EXEC_SIGNAL);
	ward_msg_put_u32(&m, id);
	ward_msg_put_u32(&m, (uint32_t)sig);
	int r = ward_msg_send(ward_sandbox_fd(sb), &m, NULL, 0);
	return r == -EPIPE || r == -ECONNRESET ? -ESRCH : r;
}

static int hear_failed(struct ward_msg_reader *r, struct ward_sandbox_event *ret)
{
	ret->kind = WARD_SANDBOX_EXEC_FAILED;
	ret->id = ward_msg_get_u32(r);
	ret->value = (int)ward_msg_get_u32(r);
	uint32_t step = ward_msg_get_u32(r);
	ward_cleanup_free char *text = ward_msg_get_str(r);
	if (ward_msg_done(r) < 0 || ret->value <= 0)
		return -EBADMSG;
	/* Only of the execution itself do these mean "the command". */
	if (step != WARD_INIT_EXEC_STEP &&
		(ret->value == ENOENT || ret->value == EACCES || ret->value == ENOEXEC))
		ret->value = EIO;
	strncat(ret->text, text, sizeof(ret->text) - 1);
	return 0;
}

int ward_sandbox_hear_exec(struct ward_msg_reader *r, int fd, struct ward_sandbox_event *ret)
{
	if (r->type == WARD_INIT_EXEC_FAILED)
		return hear_failed(r, ret);
	ret->id = ward_msg_get_u32(r);
	if (r->type == WARD_INIT_EXEC_STARTED) {
		ret->kind = WARD_SANDBOX_EXEC_STARTED;
		ret->fd = fd;
		return ward_msg_done(r);
	}
	uint32_t kind = ward_msg_get_u32(r);
	ret->value = (int)ward_msg_get_u32(r);
	ret->kind =
		kind == WARD_SANDBOX_EXITED ? WARD_SANDBOX_EXEC_EXITED : WARD_SANDBOX_EXEC_SIGNALED;
	if (kind != WARD_SANDBOX_EXITED && kind != WARD_SANDBOX_SIGNALED)
		return -EBADMSG;
	return ward_msg_done(r);
}
