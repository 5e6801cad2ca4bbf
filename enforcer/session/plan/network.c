/* SPDX-License-Identifier: Apache-2.0 */
/* Turns [network] into the configuration of the sandbox and wardfs-net. */
#include "enforcer/session/plan/network.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "audit/log/chain.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/net/protocol/token.h"

/* It waits for nobody when its control socket ends. */
#define END_MS 5000

/*
 * The broker's end of the wire (enforcer/net/setup/wire.h), which answers for names of the policy.
 * A second try after five seconds would help nobody; no search domains: a name is what it says.
 */
#define RESOLV "nameserver 198.18.0.1\noptions timeout:5 attempts:2\n"

bool ward_network_brokered(const struct ward_network *n)
{
	return n->mode == WARD_NET_ALLOWLIST || n->mode == WARD_NET_PROXY;
}

int ward_network_prepare(const struct ward_run_plan *p, int runtime_dir, const char *session,
	struct ward_network *ret, struct ward_err *err)
{
	struct ward_network n = WARD_NETWORK_INIT;
	n.mode = p->settings->net;
	n.identify = n.mode == WARD_NET_PROXY && p->settings->net_identify;
	/* Names are asked for where /etc/resolv.conf says, and that is part of the view. Without a
	 * mode there is a container, whose resolv.conf wardfs-oci writes. */
	if (ward_network_brokered(&n) && p->mode && !(p->mode->takes & WARD_TAKES_BROKER))
		return ward_err_set(err, -EINVAL,
			"[network] mode = %s needs a mode with its own view; fix: --mode restricted",
			ward_network_name(n.mode));
	if (ward_network_brokered(&n)) {
		int r = ward_sockets_open(p, runtime_dir, session, &n.sockets, err);
		if (r == 0)
			r = ward_helper_prepare("wardfs-net", &n.helper, err);
		if (r < 0) {
			ward_sockets_close(&n.sockets);
			return r;
		}
	}
	*ret = n;
	return 0;
}

void ward_network_describe(const struct ward_network *n, struct ward_sandbox_spec *spec)
{
	switch (n->mode) {
	case WARD_NET_NONE:
		spec->net = WARD_SANDBOX_NET_NONE;
		break;
	case WARD_NET_ALLOWLIST:
	case WARD_NET_PROXY:
		spec->net = WARD_SANDBOX_NET_WIRE;
		spec->resolv = RESOLV;
		break;
	case WARD_NET_HOST:
		spec->net = WARD_SANDBOX_NET_HOST;
		break;
	}
}

/* The broker gets a key of this session alone, and the host's word for it. */
static int put_grant(
	struct ward_msg *m, const struct ward_guard *g, bool wanted, struct ward_err *err)
{
	uint8_t host[WARD_KEY_BYTES], seed[WARD_TOKEN_SEED_BYTES];
	char grant[WARD_TOKEN_GRANT_MAX] = "";
	struct ward_signing_key key;
	if (!wanted) {
		ward_msg_put_str(m, "");
		ward_msg_put_bytes(m, "", 0);
		return 0;
	}
	if (ward_chain_setup() < 0)
		return ward_err_set(err, -EIO, "libsodium");
	int r = ward_store_read_seed(g->state, host, err);
	if (r < 0)
		return r;
	ward_signing_key_from_seed(host, &key);
	r = ward_token_grant(
		&key, g->store.name, ward_clock_real_ns() / WARD_NS_PER_SEC, grant, seed);
	if (r == 0) {
		ward_msg_put_str(m, grant);
		ward_msg_put_bytes(m, seed, sizeof(seed));
	}
	ward_chain_wipe(host, sizeof(host));
	ward_chain_wipe(seed, sizeof(seed));
	ward_chain_wipe(&key, sizeof(key));
	return r < 0 ? ward_err_sys(err, r, "[network] identify") : 0;
}

static int configure(struct ward_network *n, const struct ward_guard *g,
	const struct ward_run_plan *p, struct ward_err *err)
{
	const struct ward_identity *id = &p->id;
	ward_cleanup(ward_msg_clear) struct ward_msg m;
	ward_msg_init(&m, WARD_MSG_CONFIG);
	ward_msg_put_str(&m, g->store.name);
	ward_msg_put_u32(&m, id->root ? WARD_NET_ROOT : 0);
	ward_msg_put_u32(&m, id->owner_uid);
	ward_msg_put_u32(&m, id->owner_gid);
	ward_msg_put_u32(&m, (uint32_t)id->n_groups);
	for (size_t i = 0; i < id->n_groups; i++)
		ward_msg_put_u32(&m, id->groups[i]);
	int r = put_grant(&m, g, n->identify, err);
	ward_msg_put_u32(&m, (uint32_t)n->sockets.n);
	for (size_t i = 0; i < n->sockets.n; i++)
		ward_msg_put_str(&m, p->sockets[i]);
	ward_msg_put_str(&m, g->via);
	if (r == 0)
		r = ward_helper_configure(&n->helper, &m, NULL, 0, err);
	ward_chain_wipe(m.buf.data, m.buf.len);
	return r;
}

int ward_network_spawn(struct ward_network *n, const struct ward_guard *g,
	const struct ward_run_plan *p, struct ward_err *err)
{
	if (!ward_network_brokered(n))
		return 0;
	struct ward_helper_fd fds[3 + WARD_NET_SOCKETS_MAX] = {
		{g->policy_fd, WARD_FD_POLICY},
		{g->ring_fd[WARD_GUARD_RING_NET], WARD_FD_RING},
		{g->wake, WARD_FD_RING_WAKE},
	};
	size_t n_fds = 3;
	for (size_t i = 0; i < n->sockets.n; i++)
		fds[n_fds++] =
			(struct ward_helper_fd){n->sockets.fds[i], WARD_FD_NET_SOCKETS + (int)i};
	int r = configure(n, g, p, err);
	return r < 0 ? r : ward_helper_spawn(&n->helper, fds, n_fds, err);
}

int ward_network_join(
	struct ward_network *n, int user_ns, int net_ns, pid_t pid1, struct ward_err *err)
{
	const int namespaces[2] = {user_ns, net_ns};
	ward_cleanup(ward_msg_clear) struct ward_msg m;
	ward_msg_init(&m, WARD_MSG_NET_WIRE);
	ward_msg_put_u32(&m, (uint32_t)pid1);
	int r = ward_helper_configure(&n->helper, &m, namespaces, 2, err);
	ward_sockets_close(&n->sockets);
	return r;
}

int ward_network_start(struct ward_network *n, struct ward_sandbox *sb, struct ward_err *err)
{
	int user_ns = -1;
	int net_ns = -1;
	if (!ward_network_brokered(n))
		return 0;
	ward_sandbox_namespaces(sb, &user_ns, &net_ns);
	int r = ward_network_join(n, user_ns, net_ns, ward_sandbox_pid(sb), err);
	ward_sandbox_forget_namespaces(sb);
	return r;
}

const char *ward_network_resolv(void)
{
	return RESOLV;
}

int ward_network_wait(struct ward_network *n, struct ward_err *err)
{
	if (!ward_network_brokered(n))
		return 0;
	ward_cleanup_free char *text = NULL;
	int r = ward_helper_wait_ready(&n->helper, &text, err);
	for (const char *s = text; r == 0 && s && *s; s = strchr(s, '\n') + 1) {
		struct ward_published p = {0};
		if (n->n_published == WARD_PUBLISHED_MAX || !strchr(s, '\n') ||
			sscanf(s, "%u %u %u", &p.asked, &p.port, &p.inside) != 3)
			return ward_err_set(err, -EBADMSG, "wardfs-net sent nonsense");
		n->published[n->n_published++] = p;
	}
	return r;
}

/* "3000" or "8080:3000": is it the port of the host? */
static bool is_asked(const char *text, unsigned port)
{
	char *end = NULL;
	return strtoul(text, &end, 10) == port && (!*end || *end == ':');
}

static bool is_typed(const struct ward_run_options *o, unsigned port)
{
	for (size_t i = 0; i < o->publish.n; i++)
		if (o->publish.v[i] != o->sign_in_port && is_asked(o->publish.v[i], port))
			return true;
	return false;
}

char *ward_network_leads(const struct ward_network *n, const struct ward_run_options *o)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	for (size_t i = 0; i < n->n_published; i++) {
		const struct ward_published *p = &n->published[i];
		if (p->port == p->asked && !is_typed(o, p->asked))
			continue;
		ward_buf_puts(&b, b.len ? "; " : "");
		if (p->port == p->asked) {
			ward_buf_printf(&b, "http://127.0.0.1:%u leads to port %u inside", p->port,
				p->inside);
			continue;
		}
		ward_buf_printf(&b, "port %u of this host is in use", p->asked);
		if (p->port)
			ward_buf_printf(&b, ": http://127.0.0.1:%u leads to port %u inside",
				p->port, p->inside);
		else
			ward_buf_printf(&b,
				", and so are those above it: nothing leads to port %u inside",
				p->inside);
	}
	return b.len ? ward_buf_steal(&b) : NULL;
}

json_t *ward_network_published(const struct ward_network *n)
{
	json_t *list = json_array();
	for (size_t i = 0; i < n->n_published; i++)
		if (n->published[i].port)
			json_array_append_new(
				list, json_pack("{s:i, s:i}", "port", (int)n->published[i].port,
					      "inside", (int)n->published[i].inside));
	return list;
}

int ward_network_explain(struct ward_network *n, int r, struct ward_err *err)
{
	struct pollfd p = {.fd = n->helper.control, .events = POLLIN};
	struct ward_err why = WARD_ERR_INIT;
	ward_cleanup_free char *text = NULL;
	if (n->helper.pid > 0 && poll(&p, 1, 0) > 0 &&
		ward_helper_wait_ready(&n->helper, &text, &why) < 0 && err)
		*err = why;
	return r;
}

/* What it said before is for nobody any more. 1: it has ended; 0: it is dead; -ETIMEDOUT. */
static int wait_ended(int control)
{
	const uint64_t since = ward_clock_mono_ns(), patience = END_MS * UINT64_C(1000000);
	/* A question can stand before it, unread. */
	char data[WARD_NETWORK_SAYS_MAX];
	for (;;) {
		struct pollfd p = {.fd = control, .events = POLLIN};
		struct ward_msg_reader m;
		const uint64_t left = ward_clock_left_ns(since, patience);
		const int ready = poll(&p, 1, (int)(left / 1000000));
		if (ready < 0 && errno == EINTR)
			continue;
		if (ready <= 0)
			return -ETIMEDOUT;
		ssize_t n = ward_msg_recv(control, data, sizeof(data), NULL, NULL);
		if (n <= 0)
			return 0;
		ward_msg_reader_init(&m, data, (size_t)n);
		if (m.type == WARD_MSG_NET_ENDED)
			return ward_msg_done(&m) == 0;
	}
}

enum ward_network_end ward_network_end(struct ward_network *n)
{
	if (n->helper.pid <= 0)
		return WARD_NETWORK_ENDED;
	/* Its word comes when its last record is in the ring; the kernel still takes a while for
	 * its sockets (synchronize_net()), which nobody has to wait for here. */
	(void)shutdown(n->helper.control, SHUT_WR);
	const int r = wait_ended(n->helper.control);
	n->ended = r >= 0;
	if (n->ended)
		return r ? WARD_NETWORK_ENDED : WARD_NETWORK_DIED;
	const bool dying = ward_helper_dying(&n->helper);
	/* What hangs must not write into a trail that has its end. */
	ward_helper_reap(&n->helper, 0, true);
	return dying ? WARD_NETWORK_DIED : WARD_NETWORK_LATE;
}

void ward_network_close(struct ward_network *n)
{
	if (n->ended)
		ward_helper_reap(&n->helper, END_MS, false);
	ward_helper_reap(&n->helper, 0, true);
	ward_helper_close(&n->helper);
	ward_sockets_close(&n->sockets);
}

const char *ward_network_name(enum ward_net mode)
{
	switch (mode) {
	case WARD_NET_NONE:
		return "none";
	case WARD_NET_ALLOWLIST:
		return "allowlist";
	case WARD_NET_PROXY:
		return "proxy";
	case WARD_NET_HOST:
		return "host";
	}
	return "?";
}
