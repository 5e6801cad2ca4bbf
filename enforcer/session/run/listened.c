/* SPDX-License-Identifier: Apache-2.0 */
/* Looks for ports on which a command listens. */
#include "enforcer/session/run/listened.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/fd.h"

/* 150 bytes a socket: of more, the first thousands are looked at, or none. */
#define TABLE_MAX ((size_t)1 << 20)
/* The kernel gives ports from here on to who asks for none (net.ipv4.ip_local_port_range). */
#define CHOSEN_FROM 32768U
/* TCP_LISTEN, as the fourth column has it (kernel: net/ipv4/tcp_ipv4.c). */
#define LISTENS "0A"

/* Seconds after the start. */
static const unsigned looks[] = {2, 10, 60};
#define LOOKS (sizeof(looks) / sizeof(*looks))

typedef void found_fn(struct ward_listened *l, const struct ward_network *n, unsigned port);

/* "  0: 0100007F:1435 00000000:0000 0A …": the port of the line, or 0. */
static unsigned port_of(const char *line)
{
	unsigned slot = 0, port = 0, other = 0;
	char address[33], peer[33], state[3];
	if (sscanf(line, " %u: %32[0-9A-F]:%4x %32[0-9A-F]:%4x %2s", &slot, address, &port, peer,
		    &other, state) != 6)
		return 0;
	return strcmp(state, LISTENS) == 0 ? port : 0;
}

static void each(struct ward_listened *l, const struct ward_network *n, found_fn *found)
{
	for (size_t i = 0; i < 2; i++) {
		ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
		if (l->fds[i] < 0 || lseek(l->fds[i], 0, SEEK_SET) < 0 ||
			ward_fd_read_all(l->fds[i], TABLE_MAX, &b) < 0 || ward_buf_error(&b) < 0)
			continue;
		for (const char *s = strchr(ward_buf_str(&b), '\n'); s && s[1];
			s = strchr(s + 1, '\n')) {
			const unsigned port = port_of(s + 1);
			if (port)
				found(l, n, port);
		}
	}
}

static void take_before(struct ward_listened *l, const struct ward_network *n, unsigned port)
{
	(void)n;
	if (l->n_before < WARD_LISTENED_BEFORE_MAX)
		l->before[l->n_before++] = port;
}

static void take_port(struct ward_listened *l, const struct ward_network *n, unsigned port)
{
	bool known = port >= CHOSEN_FROM;
	for (unsigned i = 0; i < l->n_before && !known; i++)
		known = l->before[i] == port;
	for (size_t i = 0; i < n->n_published && !known; i++)
		known = n->published[i].inside == port;
	if (!known && (!l->port || port < l->port))
		l->port = port;
}

static void plan_next(struct ward_listened *l)
{
	const unsigned past = l->look ? looks[l->look - 1] : 0;
	l->next_ns = l->look < LOOKS
			     ? ward_clock_mono_ns() + (looks[l->look] - past) * WARD_NS_PER_SEC
			     : UINT64_MAX;
}

void ward_listened_open(struct ward_listened *l, pid_t pid, bool empty)
{
	static const char *const tables[] = {"tcp", "tcp6"};
	for (size_t i = 0; i < 2; i++) {
		char path[64];
		snprintf(path, sizeof(path), "/proc/%d/net/%s", (int)pid, tables[i]);
		l->fds[i] = pid > 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	}
	if (!empty)
		each(l, NULL, take_before);
	plan_next(l);
}

int ward_listened_timeout(const struct ward_listened *l)
{
	const uint64_t now = ward_clock_mono_ns();
	if (l->next_ns == UINT64_MAX)
		return -1;
	if (l->next_ns <= now)
		return 0;
	const uint64_t ms = (l->next_ns - now) / 1000000U + 1;
	return ms < INT_MAX ? (int)ms : INT_MAX;
}

void ward_listened_tick(struct ward_listened *l, const struct ward_network *n)
{
	if (l->next_ns > ward_clock_mono_ns())
		return;
	l->port = 0;
	each(l, n, take_port);
	l->look++;
	plan_next(l);
}

void ward_listened_close(struct ward_listened *l)
{
	for (size_t i = 0; i < 2; i++)
		if (l->fds[i] >= 0)
			close(l->fds[i]);
	l->fds[0] = l->fds[1] = -1;
	l->next_ns = UINT64_MAX;
}
