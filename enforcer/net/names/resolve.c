/* SPDX-License-Identifier: Apache-2.0 */
/* Resolves names with the host's configuration, by c-ares. */
#include "enforcer/net/names/resolve.h"

#include <ares.h>
#include <ctype.h>
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/fd.h"
#include "enforcer/net/base/net_limits.h"

/* A hosts file that blocks advertisements has some megabytes. */
#define HOSTS_MAX ((size_t)8 << 20)
/* An answer is kept for its TTL, within these bounds, in seconds. */
#define TTL_MIN 5
#define TTL_MAX 300
#define CACHE_MAX 256
/* c-ares asks this often, with this much patience at first, doubled each time. */
#define TRIES 3
#define TIMEOUT_MS 2000

struct host {
	char *name;
	union ward_sockaddr addr;
};

struct cached {
	char name[WARD_NAME_SIZE];
	uint64_t until_ns;
	struct ward_answer answer;
};

/* A descriptor of c-ares' that is waited for. */
struct wait {
	LIST_ENTRY(wait) link;
	struct ward_resolver *resolver;
	struct event *event;
	evutil_socket_t fd;
};

struct ward_resolve_query {
	LIST_ENTRY(ward_resolve_query) link;
	struct ward_resolver *resolver;
	struct event *soon; /* for an answer that is there already */
	char name[WARD_NAME_SIZE];
	ward_resolve_fn fn; /* NULL: cancelled */
	void *user;
	struct ward_answer answer;
};

struct ward_resolver {
	struct ward_broker *net;
	ares_channel channel;
	bool open;
	struct event *clock;
	struct host *hosts;
	size_t n_hosts;
	struct cached *cache; /* CACHE_MAX */
	LIST_HEAD(, wait) waits;
	LIST_HEAD(, ward_resolve_query) queries;
};

/* --- /etc/hosts: hosts(5) --- */

static int add_host(struct ward_resolver *r, const char *name, const union ward_sockaddr *addr)
{
	struct host *v = reallocarray(r->hosts, r->n_hosts + 1, sizeof(*v));
	if (!v)
		return -ENOMEM;
	r->hosts = v;
	v[r->n_hosts] = (struct host){.name = strdup(name), .addr = *addr};
	if (!v[r->n_hosts].name)
		return -ENOMEM;
	for (char *s = v[r->n_hosts].name; *s; s++)
		*s = (char)tolower((unsigned char)*s);
	r->n_hosts++;
	return 0;
}

static int add_line(struct ward_resolver *r, char *line)
{
	char *save = NULL;
	line[strcspn(line, "#")] = 0;
	const char *first = strtok_r(line, " \t\r", &save);
	union ward_sockaddr a;
	if (!first || !ward_sockaddr_parse(first, 0, &a))
		return 0;
	int code = 0;
	for (char *name; code == 0 && (name = strtok_r(NULL, " \t\r", &save));)
		if (strlen(name) < WARD_NAME_SIZE)
			code = add_host(r, name, &a);
	return code;
}

static int read_hosts(struct ward_resolver *r)
{
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	ward_cleanup_fd int fd = open("/etc/hosts", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	int code = ward_fd_read_all(fd, HOSTS_MAX, &text);
	char *save = NULL;
	char *line = code == 0 && text.data ? strtok_r(text.data, "\n", &save) : NULL;
	for (; code == 0 && line; line = strtok_r(NULL, "\n", &save))
		code = add_line(r, line);
	return code;
}

static void look_in_hosts(const struct ward_resolver *r, const char *name, struct ward_answer *a)
{
	for (size_t i = 0; i < r->n_hosts && a->n < WARD_RESOLVE_MAX; i++)
		if (strcmp(r->hosts[i].name, name) == 0)
			a->v[a->n++] = r->hosts[i].addr;
}

/* --- c-ares in the loop --- */

static void set_clock(struct ward_resolver *r)
{
	struct timeval tv;
	if (ares_timeout(r->channel, NULL, &tv))
		event_add(r->clock, &tv);
	else
		event_del(r->clock);
}

static void socket_ready(evutil_socket_t fd, short what, void *user)
{
	struct wait *w = user;
	struct ward_resolver *r = w->resolver;
	ares_process_fd(r->channel, what & EV_READ ? fd : ARES_SOCKET_BAD,
		what & EV_WRITE ? fd : ARES_SOCKET_BAD);
	set_clock(r);
}

static void clock_rang(evutil_socket_t fd, short what, void *user)
{
	struct ward_resolver *r = user;
	ares_process_fd(r->channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
	set_clock(r);
}

static void forget_wait(struct wait *w)
{
	LIST_REMOVE(w, link);
	event_free(w->event);
	free(w);
}

/* c-ares says what it waits for; neither: the descriptor is about to be closed. */
static void socket_state(void *user, ares_socket_t fd, int readable, int writable)
{
	struct ward_resolver *r = user;
	struct wait *w;
	LIST_FOREACH(w, &r->waits, link)
		if (w->fd == fd)
			break;
	if (w)
		forget_wait(w);
	if (!readable && !writable)
		return;
	w = calloc(1, sizeof(*w));
	if (!w)
		return; /* the question runs into its time */
	w->resolver = r;
	w->fd = fd;
	short what = (short)((readable ? EV_READ : 0) | (writable ? EV_WRITE : 0) | EV_PERSIST);
	w->event = event_new(r->net->base, fd, what, socket_ready, w);
	if (!w->event || event_add(w->event, NULL) < 0) {
		if (w->event)
			event_free(w->event);
		free(w);
		return;
	}
	LIST_INSERT_HEAD(&r->waits, w, link);
}

/* --- questions --- */

static void end_query(struct ward_resolve_query *q)
{
	LIST_REMOVE(q, link);
	if (q->soon)
		event_free(q->soon);
	free(q);
}

/* Out of the loop, never out of ward_resolve() or c-ares. */
static void answer_soon(evutil_socket_t fd, short what, void *user)
{
	struct ward_resolve_query *q = user;
	if (q->fn)
		q->fn(q->user, &q->answer);
	end_query(q);
}

static void deliver(struct ward_resolve_query *q)
{
	static const struct timeval now = {0};
	event_add(q->soon, &now);
}

static struct cached *find_cached(struct ward_resolver *r, const char *name)
{
	for (size_t i = 0; i < CACHE_MAX; i++)
		if (strcmp(r->cache[i].name, name) == 0 && r->cache[i].name[0])
			return &r->cache[i];
	return NULL;
}

/* In the place of what ends first; an unused one has ended long ago. */
static void keep(struct ward_resolver *r, const struct ward_resolve_query *q, int ttl)
{
	struct cached *c = find_cached(r, q->name);
	ttl = ttl < TTL_MIN ? TTL_MIN : ttl > TTL_MAX ? TTL_MAX : ttl;
	for (size_t i = 0; !c && i < CACHE_MAX; i++)
		if (!r->cache[i].name[0])
			c = &r->cache[i];
	if (!c) {
		c = &r->cache[0];
		for (size_t i = 1; i < CACHE_MAX; i++)
			if (r->cache[i].until_ns < c->until_ns)
				c = &r->cache[i];
	}
	memcpy(c->name, q->name, sizeof(c->name));
	c->answer = q->answer;
	c->until_ns = ward_clock_mono_ns() + (uint64_t)ttl * WARD_NS_PER_SEC;
}

/* The names that stand between the question and the addresses. */
static void take_names(struct ward_answer *a, const struct ares_addrinfo *found)
{
	for (struct ares_addrinfo_cname *c = found->cnames; c; c = c->next) {
		if (!c->name)
			continue;
		if (a->n_names == WARD_RESOLVE_NAMES_MAX || strlen(c->name) >= WARD_NAME_SIZE) {
			a->error = -E2BIG; /* more than any honest zone has */
			return;
		}
		memcpy(a->names[a->n_names++], c->name, strlen(c->name) + 1);
	}
}

static void on_answer(void *user, int status, int timeouts, struct ares_addrinfo *found)
{
	struct ward_resolve_query *q = user;
	struct ward_answer *a = &q->answer;
	int ttl = TTL_MAX;
	if (status == ARES_EDESTRUCTION) {
		end_query(q);
		return;
	}
	a->error = status == ARES_SUCCESS				? 0
		   : status == ARES_ENOTFOUND || status == ARES_ENODATA ? -ENOENT
									: -EIO;
	for (struct ares_addrinfo_node *n = found ? found->nodes : NULL; n; n = n->ai_next) {
		if (n->ai_family != AF_INET && n->ai_family != AF_INET6)
			continue;
		if (a->n == WARD_RESOLVE_MAX) {
			a->error = -E2BIG; /* one that nobody looks at could be a bad one */
			break;
		}
		memcpy(&a->v[a->n], n->ai_addr,
			n->ai_family == AF_INET ? sizeof(a->v[0].v4) : sizeof(a->v[0].v6));
		ward_sockaddr_unmap(&a->v[a->n++]);
		ttl = n->ai_ttl < ttl ? n->ai_ttl : ttl;
	}
	if (found) {
		take_names(a, found);
		ares_freeaddrinfo(found);
	}
	if (a->error == 0 && a->n)
		keep(q->resolver, q, ttl);
	deliver(q);
}

const char *ward_resolve_fault(int error)
{
	return error == -E2BIG ? "the answer about the name has too many addresses or aliases"
			       : "the name does not exist or nobody answered";
}

int ward_resolve(struct ward_broker *net, const char *name, ward_resolve_fn fn, void *user,
	struct ward_resolve_query **ret)
{
	struct ward_resolver *r = net->resolver;
	struct ward_resolve_query *q = calloc(1, sizeof(*q));
	if (!q || strlen(name) >= WARD_NAME_SIZE) {
		free(q);
		return -ENOMEM;
	}
	q->resolver = r;
	q->fn = fn;
	q->user = user;
	memcpy(q->name, name, strlen(name) + 1);
	look_in_hosts(r, name, &q->answer);
	const struct cached *c = q->answer.n ? NULL : find_cached(r, name);
	if (c && c->until_ns > ward_clock_mono_ns())
		q->answer = c->answer;
	q->soon = evtimer_new(net->base, answer_soon, q);
	if (!q->soon) {
		free(q);
		return -ENOMEM;
	}
	LIST_INSERT_HEAD(&r->queries, q, link);
	if (q->answer.n) {
		*ret = q;
		deliver(q);
		return 0;
	}
	/* Looking a name up tells something to its name server, so it counts. The agent does
	 * not choose the name of a proxy.
	 */
	if (net->settings->net != WARD_NET_PROXY && ward_net_limits_upload(net, strlen(name)) < 0) {
		end_query(q);
		return -EDQUOT;
	}
	const struct ares_addrinfo_hints hints = {
		.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
	*ret = q;
	ares_getaddrinfo(r->channel, name, NULL, &hints, on_answer, q);
	set_clock(r);
	return 0;
}

void ward_resolve_cancel(struct ward_resolve_query *q)
{
	q->fn = NULL;
}

int ward_resolver_open(struct ward_broker *net, struct ward_err *err)
{
	char lookups[] = "b"; /* DNS alone: /etc/hosts could not be read later */
	struct ward_resolver *r = net->resolver = calloc(1, sizeof(*r));
	/* ares_getaddrinfo(3) searches in spite of NOSEARCH (c-ares 1.18): so in no domains. */
	struct ares_options o = {.flags = ARES_FLAG_NOSEARCH | ARES_FLAG_NOALIASES,
		.ndomains = 0,
		.timeout = TIMEOUT_MS,
		.tries = TRIES,
		.lookups = lookups,
		.sock_state_cb = socket_state,
		.sock_state_cb_data = r};
	if (r)
		r->cache = calloc(CACHE_MAX, sizeof(*r->cache));
	if (!r || !r->cache)
		return ward_err_sys(err, -ENOMEM, "resolver");
	r->net = net;
	int code = read_hosts(r);
	if (code < 0)
		return ward_err_sys(err, code, "/etc/hosts");
	code = ares_library_init(ARES_LIB_INIT_ALL);
	if (code == ARES_SUCCESS)
		code = ares_init_options(&r->channel, &o,
			ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_LOOKUPS |
				ARES_OPT_SOCK_STATE_CB | ARES_OPT_DOMAINS);
	if (code != ARES_SUCCESS)
		return ward_err_set(err, -EIO, "resolver: %s", ares_strerror(code));
	r->open = true;
	r->clock = evtimer_new(net->base, clock_rang, r);
	return r->clock ? 0 : ward_err_sys(err, -ENOMEM, "resolver");
}

void ward_resolver_close(struct ward_broker *net)
{
	struct ward_resolver *r = net->resolver;
	if (!r)
		return;
	if (r->open)
		ares_destroy(r->channel); /* ends what is under way with EDESTRUCTION */
	while (!LIST_EMPTY(&r->queries))
		end_query(LIST_FIRST(&r->queries));
	while (!LIST_EMPTY(&r->waits))
		forget_wait(LIST_FIRST(&r->waits));
	if (r->clock)
		event_free(r->clock);
	for (size_t i = 0; i < r->n_hosts; i++)
		free(r->hosts[i].name);
	free(r->hosts);
	free(r->cache);
	free(r);
	net->resolver = NULL;
	ares_library_cleanup();
}
