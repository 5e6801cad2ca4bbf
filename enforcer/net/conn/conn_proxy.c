/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the proxy of mode = proxy for the destination of a connection. */
#include "enforcer/net/conn/conn_internal.h"

#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/net/base/net_limits.h"
#include "enforcer/net/protocol/upstream.h"

/* A proxy connects on its side meanwhile: for what it says until the stream begins. */
static uint64_t patience_ns(const struct ward_conn *c)
{
	const uint64_t ns = c->net->settings->net_handshake_ns;
	return ns < UINT64_MAX / 2 ? 2 * ns : UINT64_MAX;
}

static bool send_whole(int fd, const struct ward_buf *b)
{
	/* A few hundred bytes, into a send buffer that is empty. */
	return b->len == 0 || send(fd, b->data, b->len, MSG_NOSIGNAL) == (ssize_t)b->len;
}

static void on_proxy(evutil_socket_t fd, short what, void *user)
{
	struct ward_conn *c = user;
	ward_cleanup(ward_buf_clear) struct ward_buf out = WARD_BUF_INIT;
	uint8_t data[4096];
	/* However slowly it says something. */
	if (what & EV_TIMEOUT || ward_clock_left_ns(c->asked_ns, patience_ns(c)) == 0) {
		ward_conn_finish(c, "the proxy did not answer");
		return;
	}
	/* Looked at first: what follows the answer is the destination's, and stays in the socket.
	 */
	ssize_t n = recv(fd, data, sizeof(data), MSG_PEEK);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		ward_conn_finish(c, "the proxy has ended the connection");
		return;
	}
	ssize_t taken = ward_upstream_take(c->upstream, data, (size_t)n, &out);
	if (taken < 0) {
		char why[sizeof(c->upstream->why)];
		memcpy(why, c->upstream->why, sizeof(why));
		ward_conn_finish(c, why);
	} else if (recv(fd, data, (size_t)taken, 0) != taken || ward_buf_error(&out) < 0 ||
		   !send_whole(fd, &out)) {
		ward_conn_finish(c, "the proxy has ended the connection");
	} else if (c->upstream->state == WARD_UPSTREAM_STREAM) {
		ward_conn_stream(c);
	}
}

/* The next token of the session; "" where nobody is to know. */
static int make_token(struct ward_conn *c, char ret[WARD_TOKEN_MAX], size_t *ret_claim)
{
	ward_cleanup(ward_buf_clear) struct ward_buf to = WARD_BUF_INIT;
	struct ward_token_signer *s = c->net->signer;
	*ret = 0;
	*ret_claim = 0;
	if (!c->net->settings->net_identify)
		return 0;
	if (!s)
		return -ENOKEY;
	ward_upstream_destination(c->host, c->port, &to);
	int r = ward_token_sign(s, ward_policy_digest(c->net->policy), ward_buf_str(&to),
		ward_clock_real_ns() / WARD_NS_PER_SEC, ret, ret_claim);
	if (r == 0)
		c->number = s->number;
	return r;
}

void ward_conn_ask_proxy(struct ward_conn *c)
{
	const struct timeval tv = ward_clock_timeval(patience_ns(c));
	const struct ward_settings *s = c->net->settings;
	ward_cleanup(ward_buf_clear) struct ward_buf out = WARD_BUF_INIT;
	char token[WARD_TOKEN_MAX];
	size_t claim = 0;
	/* The part of the request to the proxy that the agent chose. */
	if (ward_net_limits_upload(c->net, strlen(c->host)) < 0) {
		ward_conn_refuse_upload(c);
		return;
	}
	int r = make_token(c, token, &claim);
	if (r < 0) {
		ward_conn_finish(c, r == -EKEYEXPIRED
					    ? "the session is too old for its tokens: start another"
					    : "no token could be made");
		return;
	}
	c->asked_ns = ward_clock_mono_ns();
	c->upstream = calloc(1, sizeof(*c->upstream));
	r = c->upstream ? ward_upstream_begin(c->upstream, &s->net_proxy, c->host, c->port,
				  s->net_identify, token, claim, &out)
			: -ENOMEM;
	event_free(c->connected);
	c->connected = NULL;
	if (r == 0) {
		c->connected =
			event_new(c->net->base, c->outside, EV_READ | EV_PERSIST, on_proxy, c);
		r = c->connected && event_add(c->connected, &tv) == 0 ? 0 : -ENOMEM;
	}
	if (r == 0 && !send_whole(c->outside, &out))
		r = -EPIPE;
	if (r < 0)
		ward_conn_finish(c,
			r == -ENAMETOOLONG ? "the destination is too long for what SOCKS5 can carry"
					   : "the proxy could not be asked");
}
