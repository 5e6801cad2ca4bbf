/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The network namespace, for the process that joins it to another one. pid 1 hands it out because
 * nobody else can: it becomes non-dumpable, and with that its /proc files are closed to its own
 * user.
 */
#include <errno.h>
#include <fcntl.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/ipc/msg.h"
#include "enforcer/sandbox/init/init.h"

int ward_init_hand_out_namespaces(const struct ward_init *in, struct ward_err *err)
{
	if (!(in->blueprint.flags & WARD_BLUEPRINT_WIRE))
		return 0;
	ward_cleanup_fd int user = open("/proc/self/ns/user", O_RDONLY | O_CLOEXEC);
	ward_cleanup_fd int net = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	if (user < 0 || net < 0)
		return ward_err_sys(err, -errno, "open the namespaces");
	ward_cleanup(ward_msg_clear) struct ward_msg m;
	ward_msg_init(&m, WARD_INIT_NAMESPACES);
	const int fds[] = {user, net};
	int r = ward_msg_send(WARD_INIT_FD_CONTROL, &m, fds, 2);
	return r < 0 ? ward_err_sys(err, r, "hand out the namespaces") : 0;
}
