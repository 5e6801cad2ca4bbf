/* SPDX-License-Identifier: Apache-2.0 */
/* What pid 1 says about further commands, as events of the sandbox. */
#include <errno.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/sandbox/blueprint.h"
#include "enforcer/sandbox/internal.h"

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
