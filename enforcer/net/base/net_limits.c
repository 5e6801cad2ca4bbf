/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the accounts of [network] upload, rate and connections. */
#include "enforcer/net/base/net_limits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "enforcer/base/clock.h"

/* A destination that was quiet may be this far ahead of its rate. */
#define BURST_NS (WARD_NS_PER_SEC / 4)

struct ward_account {
	LIST_ENTRY(ward_account) link;
	char host[WARD_NAME_SIZE];
	size_t connections;
	uint64_t paid_ns; /* what was moved is paid for at the rate until then */
};

struct ward_net_limits {
	LIST_HEAD(, ward_account) accounts;
	uint64_t uploaded;
};

int ward_net_limits_open(struct ward_broker *net, struct ward_err *err)
{
	net->limits = calloc(1, sizeof(*net->limits));
	return net->limits ? 0 : ward_err_sys(err, -ENOMEM, "limits");
}

void ward_net_limits_close(struct ward_broker *net)
{
	while (net->limits && !LIST_EMPTY(&net->limits->accounts)) {
		struct ward_account *a = LIST_FIRST(&net->limits->accounts);
		LIST_REMOVE(a, link);
		free(a);
	}
	free(net->limits);
	net->limits = NULL;
}

/* Nobody uses it, and what it moved is paid for: then it says nothing that a new one would not. */
static void sweep(struct ward_net_limits *l)
{
	uint64_t now = ward_clock_mono_ns();
	struct ward_account *a = LIST_FIRST(&l->accounts);
	while (a) {
		struct ward_account *next = LIST_NEXT(a, link);
		if (a->connections == 0 && a->paid_ns <= now) {
			LIST_REMOVE(a, link);
			free(a);
		}
		a = next;
	}
}

int ward_net_limits_enter(struct ward_broker *net, const char *host, struct ward_account **ret)
{
	struct ward_account *a;
	LIST_FOREACH(a, &net->limits->accounts, link)
		if (strcmp(a->host, host) == 0)
			break;
	if (!a) {
		sweep(net->limits);
		a = calloc(1, sizeof(*a));
		if (!a)
			return -ENOMEM;
		strncpy(a->host, host, sizeof(a->host) - 1);
		LIST_INSERT_HEAD(&net->limits->accounts, a, link);
	}
	if (a->connections >= net->settings->net_connections)
		return -EUSERS;
	a->connections++;
	*ret = a;
	return 0;
}

void ward_net_limits_leave(struct ward_broker *net, struct ward_account *a)
{
	a->connections--;
}

int ward_net_limits_upload(struct ward_broker *net, size_t bytes)
{
	struct ward_net_limits *l = net->limits;
	if (net->settings->net_upload == WARD_UNLIMITED)
		return 0;
	if (bytes > net->settings->net_upload || l->uploaded > net->settings->net_upload - bytes)
		return -EDQUOT;
	l->uploaded += bytes;
	return 0;
}

void ward_net_limits_moved(struct ward_broker *net, struct ward_account *a, size_t bytes)
{
	uint64_t rate = net->settings->net_rate, now = ward_clock_mono_ns();
	if (rate == WARD_UNLIMITED || bytes == 0)
		return;
	/* The rate is in thousandths of a byte a second; what is moved at once is less than 16 MB.
	 */
	uint64_t cost =
		rate ? (uint64_t)bytes * 1000 * WARD_NS_PER_SEC / rate : 3600 * WARD_NS_PER_SEC;
	if (a->paid_ns < now)
		a->paid_ns = now;
	if (__builtin_add_overflow(a->paid_ns, cost, &a->paid_ns))
		a->paid_ns = UINT64_MAX;
}

uint64_t ward_net_limits_wait(struct ward_broker *net, const struct ward_account *a)
{
	uint64_t now = ward_clock_mono_ns();
	if (net->settings->net_rate == WARD_UNLIMITED)
		return 0;
	return a->paid_ns > now + BURST_NS ? a->paid_ns - now - BURST_NS : 0;
}
