/* SPDX-License-Identifier: Apache-2.0 */
/* Records what the kernel refuses in the broker's namespace. */
#include "enforcer/net/conn/refused.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/event.h>
#include <linux/if_packet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/clock.h"
#include "enforcer/net/base/asker.h"
#include "enforcer/net/base/net_records.h"
#include "enforcer/net/names/name_table.h"

/* As much as the filter of the wire lets through. */
#define PACKET_MAX 96
#define BATCH 256
/* Batches that fit into the socket, and more. */
#define LAST_MAX 16
#define KEPT_MAX 256
/* Who asks, in a second. */
#define LOOKS_MAX 200U
/* An RST: headers, and options of TCP. */
#define ANSWER_MAX 160
#define ANSWERS_MAX 32
#define REPEAT_NS (10 * WARD_NS_PER_SEC)

struct seen {
	union ward_sockaddr to;
	bool udp;
	uint64_t ns;
};

struct ward_refused {
	struct ward_broker *net;
	struct event *event;
	struct event *held; /* answers that wait */
	uint64_t looked_ns; /* begin of the second in which `looked` counts */
	unsigned looked;
	struct seen seen[KEPT_MAX];
	size_t next;
	uint64_t missed;    /* packets that nobody saw, not recorded yet */
	uint64_t missed_ns; /* when that was recorded last */
};

bool ward_refused_parse(const uint8_t *data, size_t len, union ward_sockaddr *ret_from,
	union ward_sockaddr *ret, bool *ret_udp)
{
	size_t head = 40;
	unsigned protocol;
	memset(ret, 0, sizeof(*ret));
	memset(ret_from, 0, sizeof(*ret_from));
	if (len < 20)
		return false;
	if (data[0] >> 4 == 4) {
		head = (size_t)(data[0] & 15) * 4;
		protocol = data[9];
		ret->v4.sin_family = AF_INET;
		memcpy(&ret->v4.sin_addr, data + 16, 4);
		ret_from->v4.sin_family = AF_INET;
		memcpy(&ret_from->v4.sin_addr, data + 12, 4);
		/* A later fragment has no ports. */
		if (head < 20 || ((data[6] & 0x1f) | data[7]))
			return false;
	} else if (data[0] >> 4 == 6 && len >= 40) {
		protocol = data[6];
		ret->v6.sin6_family = AF_INET6;
		memcpy(&ret->v6.sin6_addr, data + 24, 16);
		ret_from->v6.sin6_family = AF_INET6;
		memcpy(&ret_from->v6.sin6_addr, data + 8, 16);
	} else {
		return false;
	}
	if ((protocol != IPPROTO_TCP && protocol != IPPROTO_UDP) || len < head + 4)
		return false;
	ward_sockaddr_set_port(ret_from, (uint16_t)(data[head] << 8 | data[head + 1]));
	ward_sockaddr_set_port(ret, (uint16_t)(data[head + 2] << 8 | data[head + 3]));
	*ret_udp = protocol == IPPROTO_UDP;
	return true;
}

static bool is_repeated(struct ward_refused *r, const union ward_sockaddr *to, bool udp)
{
	uint64_t now = ward_clock_mono_ns();
	for (size_t i = 0; i < KEPT_MAX; i++) {
		const struct seen *s = &r->seen[i];
		if (s->to.sa.sa_family && s->udp == udp && now - s->ns < REPEAT_NS &&
			ward_sockaddr_same_host(&s->to, to) &&
			ward_sockaddr_port(&s->to) == ward_sockaddr_port(to))
			return true;
	}
	r->seen[r->next++ % KEPT_MAX] = (struct seen){*to, udp, now};
	return false;
}

/*
 * A datagram's socket is there still, and that of a connection while its answer waits. Who scans
 * ports does not hold everybody else up: so many look-ups a second.
 */
static void find_asker(struct ward_refused *r, const union ward_sockaddr *from,
	const union ward_sockaddr *to, bool udp, struct ward_asker *ret)
{
	*ret = WARD_ASKER_UNKNOWN;
	if (ward_clock_left_ns(r->looked_ns, WARD_NS_PER_SEC) == 0) {
		r->looked_ns = ward_clock_mono_ns();
		r->looked = 0;
	}
	if (r->looked++ < LOOKS_MAX)
		ward_asker_find(r->net, from, to, udp, ret);
	else
		ret->why = "too many attempts in one second";
}

static void record(struct ward_refused *r, const union ward_sockaddr *from,
	const union ward_sockaddr *to, bool udp)
{
	char text[WARD_NAME_SIZE + 16], address[WARD_ADDRESS_TEXT_MAX];
	struct ward_buf place = WARD_BUF_INIT, rule = WARD_BUF_INIT;
	const struct ward_net_name *name = ward_net_names_find(r->net, to);
	ward_sockaddr_text_port(to, address);
	if (name)
		snprintf(text, sizeof(text), "%s:%u%s", name->text, ward_sockaddr_port(to),
			udp ? "/udp" : "");
	else
		snprintf(text, sizeof(text), "%s%s", address, udp ? "/udp" : "");
	(void)ward_policy_connect(r->net->policy, text, &place, &rule);
	struct ward_asker asker;
	find_asker(r, from, to, udp, &asker);
	struct ward_net_record rec = {.action = "connect",
		.proto = udp ? "udp" : "tcp",
		.host = name ? name->text : NULL,
		.addr = name ? NULL : to,
		.port = ward_sockaddr_port(to),
		.place = place.len ? ward_buf_str(&place) : "default",
		.rule = rule.len ? ward_buf_str(&rule) : NULL,
		.error = ECONNREFUSED,
		.uid = WARD_EVENT_UNKNOWN,
		.pid = asker.pid,
		.comm = asker.comm,
		.why = asker.why};
	/* It is refused in any case. */
	(void)!ward_net_record(r->net, WARD_EVENT_DENY, &rec);
	ward_buf_clear(&place);
	ward_buf_clear(&rule);
}

/* The broker's own address: the name server and the proxy answer there, or the kernel refuses. */
static bool is_service(const union ward_sockaddr *to)
{
	struct in_addr own;
	return to->sa.sa_family == AF_INET && inet_pton(AF_INET, WARD_WIRE_BROKER4, &own) == 1 &&
	       to->v4.sin_addr.s_addr == own.s_addr &&
	       (ward_sockaddr_port(to) == 53 || ward_sockaddr_port(to) == WARD_FRONT_PORT);
}

/* Many attempts at once do not fit into the socket: how many it were stands in the trail. */
static void count_missed(struct ward_refused *r, bool last)
{
	struct tpacket_stats stats = {0};
	socklen_t len = sizeof(stats);
	char text[160];
	/* Reading sets it back. */
	if (getsockopt(r->net->wire.packet, SOL_PACKET, PACKET_STATISTICS, &stats, &len) == 0)
		r->missed += stats.tp_drops;
	if (r->missed == 0 ||
		(!last && r->missed_ns && ward_clock_left_ns(r->missed_ns, REPEAT_NS)))
		return;
	snprintf(text, sizeof(text),
		"%llu attempts came faster than they could be looked at: those that were refused "
		"are not recorded one by one",
		(unsigned long long)r->missed);
	struct ward_net_record rec = {.action = "connect",
		.place = "default",
		.error = ECONNREFUSED,
		.text = text,
		.uid = WARD_EVENT_UNKNOWN,
		.pid = WARD_EVENT_UNKNOWN};
	r->missed = 0;
	r->missed_ns = ward_clock_mono_ns();
	(void)!ward_net_record(r->net, WARD_EVENT_DENY, &rec);
}

/* True: there may be more. */
static bool look(struct ward_refused *r, int fd)
{
	for (int i = 0; i < BATCH; i++) {
		uint8_t data[PACKET_MAX];
		union ward_sockaddr from, to;
		bool udp = false;
		struct sockaddr_ll ll;
		socklen_t len = sizeof(ll);
		ssize_t n = recvfrom(fd, data, sizeof(data), 0, (struct sockaddr *)&ll, &len);
		if (n < 0)
			return false;
		/* To the host it was sent to alone: multicast and broadcast go nowhere. */
		if (ll.sll_pkttype != PACKET_HOST ||
			!ward_refused_parse(data, (size_t)n, &from, &to, &udp))
			continue;
		if (is_service(&to) || ward_net_names_listens(r->net, &to, udp) ||
			is_repeated(r, &to, udp))
			continue;
		record(r, &from, &to, udp);
	}
	return true;
}

/* RFC 1071, over the bytes and what was added up before. */
static uint32_t add_up(uint32_t sum, const uint8_t *p, size_t len)
{
	for (size_t i = 0; i + 1 < len; i += 2)
		sum += (uint32_t)(p[i] << 8 | p[i + 1]);
	return len & 1 ? sum + (uint32_t)(p[len - 1] << 8) : sum;
}

bool ward_refused_seal(uint8_t *data, size_t len)
{
	const bool v6 = len >= 40 && data[0] >> 4 == 6;
	const size_t head = v6 ? 40 : len >= 20 ? (size_t)(data[0] & 15) * 4 : 0;
	if ((!v6 && (head < 20 || data[0] >> 4 != 4)) || data[v6 ? 6 : 9] != IPPROTO_TCP ||
		len < head + 20 || len > UINT16_MAX)
		return false;
	uint32_t sum = v6 ? add_up(0, data + 8, 32) : add_up(0, data + 12, 8);
	data[head + 16] = data[head + 17] = 0;
	sum = add_up(sum + IPPROTO_TCP + (uint32_t)(len - head), data + head, len - head);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	data[head + 16] = (uint8_t)(~sum >> 8);
	data[head + 17] = (uint8_t)~sum;
	return true;
}

/*
 * First the answers, then what had come before them, then they go. What does not get through the
 * agent's kernel asks for again.
 */
static void on_held(evutil_socket_t fd, short what, void *user)
{
	struct ward_refused *r = user;
	uint8_t data[ANSWERS_MAX][ANSWER_MAX];
	size_t len[ANSWERS_MAX], n = 0;
	while (n < ANSWERS_MAX) {
		ssize_t got = recvfrom(fd, data[n], sizeof(data[n]), MSG_TRUNC, NULL, NULL);
		if (got < 0)
			break;
		if ((size_t)got <= sizeof(data[n]) && ward_refused_seal(data[n], (size_t)got))
			len[n++] = (size_t)got;
	}
	for (int i = 0; i < LAST_MAX && look(r, r->net->wire.packet); i++)
		continue;
	for (size_t i = 0; i < n; i++)
		(void)!ward_wire_release(&r->net->wire, data[i], len[i], data[i][0] >> 4 == 6);
}

static void on_packets(evutil_socket_t fd, short what, void *user)
{
	(void)look(user, fd);
	count_missed(user, false);
}

int ward_refused_open(struct ward_broker *net, struct ward_err *err)
{
	struct ward_refused *r = net->refused = calloc(1, sizeof(*r));
	if (!r)
		return ward_err_sys(err, -ENOMEM, "refusals");
	r->net = net;
	/* A kernel without packet sockets refuses the same, unseen. */
	if (net->wire.packet < 0)
		return 0;
	r->event = event_new(net->base, net->wire.packet, EV_READ | EV_PERSIST, on_packets, r);
	bool good = r->event && event_add(r->event, NULL) == 0;
	if (good && net->wire.held >= 0) {
		r->held = event_new(net->base, net->wire.held, EV_READ | EV_PERSIST, on_held, r);
		good = r->held && event_add(r->held, NULL) == 0;
	}
	return good ? 0 : ward_err_sys(err, -ENOMEM, "refusals");
}

void ward_refused_close(struct ward_broker *net)
{
	if (!net->refused)
		return;
	if (net->refused->event && net->ring) {
		/* What a command did last, and how much of it. */
		for (int i = 0; i < LAST_MAX && look(net->refused, net->wire.packet); i++)
			continue;
		count_missed(net->refused, true);
	}
	if (net->refused->event)
		event_free(net->refused->event);
	if (net->refused->held)
		event_free(net->refused->held);
	free(net->refused);
	net->refused = NULL;
}
