/* SPDX-License-Identifier: Apache-2.0 */
/* Accepts connections, also when all descriptors are in use. */
#include "enforcer/net/conn/accept.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "enforcer/base/clock.h"
#include "enforcer/ipc/helper.h"
#include "enforcer/net/base/net_records.h"
#include "enforcer/net/conn/pump.h"
#include "enforcer/net/names/name_table.h"

/* Of those that are turned away in a row, one record. */
#define REPEAT_NS (10 * WARD_NS_PER_SEC)

void ward_net_turn_away(struct ward_broker *net, int fd)
{
	union ward_sockaddr to = {0};
	socklen_t len = sizeof(to);
	uint64_t now = ward_clock_mono_ns();
	if (now - net->turned_away_ns >= REPEAT_NS && getsockname(fd, &to.sa, &len) == 0 &&
		(to.sa.sa_family == AF_INET || to.sa.sa_family == AF_INET6)) {
		const struct ward_net_name *name = ward_net_names_find(net, &to);
		struct ward_net_record r = {.action = "connect",
			.proto = "tcp",
			.host = name ? name->text : NULL,
			.addr = name ? NULL : &to,
			.port = ward_sockaddr_port(&to),
			.place = "default",
			.text = "no room for another connection; more like it are not recorded for ten "
				"seconds",
			.error = ECONNRESET,
			.uid = WARD_EVENT_UNKNOWN,
			.pid = WARD_EVENT_UNKNOWN};
		net->turned_away_ns = now;
		/* It is refused already. */
		(void)!ward_net_record(net, WARD_EVENT_DENY, &r);
	}
	ward_pump_reset(fd);
	close(fd);
}

int ward_net_accept(struct ward_broker *net, int listener)
{
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd >= 0 || (errno != EMFILE && errno != ENFILE))
		return fd;
	if (net->spare >= 0)
		close(net->spare);
	fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd >= 0)
		ward_net_turn_away(net, fd);
	net->spare = fcntl(WARD_FD_RING_WAKE, F_DUPFD_CLOEXEC, 3);
	return -1;
}
