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

/* to: where the last of them wanted to go; NULL: many places. */
static void record(struct ward_broker *net, const union ward_sockaddr *to, const char *text)
{
	const struct ward_net_name *name = to ? ward_net_names_find(net, to) : NULL;
	struct ward_net_record r = {.action = "connect",
		.proto = "tcp",
		.host = name ? name->text : NULL,
		.addr = name ? NULL : to,
		.port = to ? ward_sockaddr_port(to) : 0,
		.place = "default",
		.text = text,
		.error = ECONNRESET,
		.uid = WARD_EVENT_UNKNOWN,
		.pid = WARD_EVENT_UNKNOWN,
		.connections = &net->n_turned_away};
	/* They are refused already. */
	(void)!ward_net_record(net, WARD_EVENT_DENY, &r);
	net->n_turned_away = 0;
}

void ward_net_turn_away(struct ward_broker *net, int fd)
{
	union ward_sockaddr to = {0};
	socklen_t len = sizeof(to);
	uint64_t now = ward_clock_mono_ns();
	net->n_turned_away++;
	if (now - net->turned_away_ns >= REPEAT_NS && getsockname(fd, &to.sa, &len) == 0 &&
		(to.sa.sa_family == AF_INET || to.sa.sa_family == AF_INET6)) {
		net->turned_away_ns = now;
		record(net, &to,
			"no room for another connection; more like it are counted for ten seconds");
	}
	ward_pump_reset(fd);
	close(fd);
}

void ward_net_turned_away(struct ward_broker *net)
{
	if (net->n_turned_away)
		record(net, NULL, "no room for further connections, counted together");
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
