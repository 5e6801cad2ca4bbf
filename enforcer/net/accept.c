/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/net/accept.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "enforcer/ipc/helper.h"
#include "enforcer/net/pump.h"

int ward_net_accept(struct ward_broker *net, int listener)
{
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd >= 0 || (errno != EMFILE && errno != ENFILE))
		return fd;
	if (net->spare >= 0)
		close(net->spare);
	fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd >= 0) {
		ward_pump_reset(fd);
		close(fd);
	}
	net->spare = fcntl(WARD_FD_RING_WAKE, F_DUPFD_CLOEXEC, 3);
	return -1;
}
