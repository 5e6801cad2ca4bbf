/* SPDX-License-Identifier: Apache-2.0 */
/* Further commands in a running sandbox: asks pid 1 for one, and for signals to it. */
#include <errno.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/ipc/msg.h"
#include "enforcer/sandbox/blueprint.h"
#include "enforcer/sandbox/internal.h"

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
	struct ward_blueprint_exec p = {.pty = e->pty,
		.rows = e->winsize.ws_row,
		.cols = e->winsize.ws_col,
		.argv = (char **)(uintptr_t)e->argv,
		.n_argv = count(e->argv),
		.envp = (char **)(uintptr_t)e->envp,
		.n_envp = count(e->envp),
		.cwd = (char *)(uintptr_t)e->cwd};
	int r = ward_blueprint_exec_encode(&p, &bytes);
	if (r < 0)
		return ward_err_sys(err, r, "describe the command");
	return ward_fd_sealed("wardfs-exec", bytes.data, bytes.len, ret_fd, err);
}

static int check(const struct ward_sandbox_exec *e, struct ward_err *err)
{
	if (!e->argv || !e->argv[0] || !e->argv[0][0])
		return ward_err_set(err, -EINVAL, "no command");
	if (!e->cwd || e->cwd[0] != '/')
		return ward_err_set(err, -EINVAL, "the directory must be an absolute path");
	return 0;
}

/* The description and the descriptors with the message. */
static int send(struct ward_sandbox *sb, const struct ward_msg *m,
	const struct ward_sandbox_exec *e, struct ward_err *err)
{
	ward_cleanup_fd int description = -1;
	int r = check(e, err);
	if (r == 0)
		r = describe(e, &description, err);
	if (r < 0)
		return r;
	int fds[4] = {description, e->stdio[0], e->stdio[1], e->stdio[2]};
	r = ward_msg_send(ward_sandbox_fd(sb), m, fds, 4);
	return r < 0 ? ward_err_sys(err, r, "ask pid 1 of the sandbox") : 0;
}

int ward_sandbox_exec(struct ward_sandbox *sb, uint32_t id, const struct ward_sandbox_exec *e,
	struct ward_err *err)
{
	ward_cleanup(ward_msg_clear) struct ward_msg m;
	ward_msg_init(&m, WARD_INIT_EXEC);
	ward_msg_put_u32(&m, id);
	if (!ward_sandbox_is_started(sb))
		return ward_err_set(err, -ESRCH, "the session's command has not started yet");
	return send(sb, &m, e, err);
}

int ward_sandbox_give(
	struct ward_sandbox *sb, const struct ward_sandbox_exec *e, struct ward_err *err)
{
	ward_cleanup(ward_msg_clear) struct ward_msg m;
	ward_msg_init(&m, WARD_INIT_GIVE);
	if (e->pty || ward_sandbox_is_started(sb))
		return ward_err_set(err, -EINVAL, "this sandbox takes no other command");
	return send(sb, &m, e, err);
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
