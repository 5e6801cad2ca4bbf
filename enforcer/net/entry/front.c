/* SPDX-License-Identifier: Apache-2.0 */
/* Serves the proxy inside: HTTP and SOCKS5. */
#include "enforcer/net/entry/front.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/net/conn/accept.h"
#include "enforcer/net/conn/conn.h"
#include "enforcer/net/conn/pump.h"
#include "enforcer/net/protocol/http.h"
#include "enforcer/net/protocol/socks.h"

/* Programs that have not said yet where they want to go. */
#define CLIENTS_MAX 1024U

struct client {
	LIST_ENTRY(client) link;
	struct ward_front *front;
	struct event *event;
	int fd;
	bool greeted; /* SOCKS */
	uint64_t since_ns;
	size_t len;
	uint8_t data[WARD_HTTP_HEAD_MAX];
};

struct ward_front {
	struct ward_broker *net;
	int fd;
	struct event *event;
	LIST_HEAD(, client) clients;
	size_t n_clients;
};

static void drop(struct client *c)
{
	LIST_REMOVE(c, link);
	c->front->n_clients--;
	if (c->event)
		event_free(c->event);
	if (c->fd >= 0)
		close(c->fd);
	free(c);
}

static void say(struct client *c, const void *data, size_t len)
{
	/* What does not fit into an empty send buffer, nobody reads. */
	(void)!send(c->fd, data, len, MSG_NOSIGNAL);
	drop(c);
}

static void say_bad_request(struct client *c)
{
	static const char text[] = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n"
				   "Content-Length: 0\r\n\r\n";
	say(c, text, sizeof(text) - 1);
}

static void say_socks(struct client *c, enum ward_socks_reply code)
{
	uint8_t reply[WARD_SOCKS_REPLY_LEN];
	ward_socks_reply(code, reply);
	say(c, reply, sizeof(reply));
}

/* Hands the connection on; first is what goes to the server before anything else. */
static void go(struct client *c, enum ward_conn_front kind, const char *host, uint16_t port,
	const void *first, size_t len)
{
	struct ward_conn_request r = {
		.fd = c->fd, .front = kind, .host = host, .port = port, .first = first, .len = len};
	/* The descriptor may be closed, and its number another's, when the call returns. */
	event_free(c->event);
	c->event = NULL;
	if (ward_conn_request(c->front->net, &r) == 0)
		c->fd = -1;
	drop(c);
}

static bool is_method(const struct ward_http_head *h, const char *name)
{
	return h->method.len == strlen(name) && memcmp(h->method.p, name, h->method.len) == 0;
}

/* Leaves out headers for the proxy, and asks the server to close the connection. */
static bool is_hop(const struct ward_http_text *line)
{
	static const char *const names[] = {"Host", "Connection", "Proxy-Connection",
		"Proxy-Authorization", "Proxy-Authenticate", "Keep-Alive", "TE"};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (ward_http_field_is(line, names[i]))
			return true;
	return false;
}

static void absolute(struct client *c, const struct ward_http_head *h)
{
	struct ward_http_text authority, path;
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	char host[256];
	uint16_t port = 0;
	if (!ward_http_absolute(&h->target, &authority, &path) ||
		!ward_http_authority(authority.p, authority.len, host, &port) || h->upgrade) {
		say_bad_request(c);
		return;
	}
	ward_http_undot(host);
	ward_buf_add(&b, h->method.p, h->method.len);
	ward_buf_putc(&b, ' ');
	ward_buf_add(&b, path.len ? path.p : "/", path.len ? path.len : 1);
	ward_buf_printf(&b, " HTTP/1.%u\r\nHost: ", h->minor);
	/* As it was decided: what follows the request is compared with that (inspect.c). */
	ward_buf_printf(&b, strchr(host, ':') ? "[%s]" : "%s", host);
	if (port)
		ward_buf_printf(&b, ":%u", port);
	ward_buf_puts(&b, "\r\nConnection: close\r\n");
	for (size_t i = 0; i < h->n_fields; i++) {
		if (is_hop(&h->fields[i]))
			continue;
		ward_buf_add(&b, h->fields[i].p, h->fields[i].len);
		ward_buf_puts(&b, "\r\n");
	}
	ward_buf_puts(&b, "\r\n");
	ward_buf_add(&b, c->data + h->size, c->len - h->size);
	if (ward_buf_error(&b) < 0)
		say_bad_request(c);
	else
		go(c, WARD_FRONT_HTTP, host, port ? port : 80, b.data, b.len);
}

static void http(struct client *c)
{
	struct ward_http_head h;
	char host[256];
	uint16_t port = 0;
	int r = ward_http_head((const char *)c->data, c->len, &h);
	if (r == -EAGAIN)
		return;
	if (r < 0)
		say_bad_request(c);
	else if (!is_method(&h, "CONNECT"))
		absolute(c, &h);
	else if (!ward_http_authority(h.target.p, h.target.len, host, &port) || !port)
		say_bad_request(c);
	else {
		ward_http_undot(host);
		go(c, WARD_FRONT_CONNECT, host, port, c->data + h.size, c->len - h.size);
	}
}

static void take(struct client *c, size_t n)
{
	c->len -= n;
	memmove(c->data, c->data + n, c->len);
}

static void socks(struct client *c)
{
	static const uint8_t welcome[] = {5, 0}, none[] = {5, 0xff};
	struct ward_socks_request q;
	if (!c->greeted) {
		ssize_t n = ward_socks_greeting(c->data, c->len);
		if (n < 0) {
			say(c, none, sizeof(none));
			return;
		}
		if (n == 0)
			return;
		take(c, (size_t)n);
		c->greeted = true;
		if (send(c->fd, welcome, sizeof(welcome), MSG_NOSIGNAL) != sizeof(welcome)) {
			drop(c);
			return;
		}
	}
	ssize_t n = ward_socks_request(c->data, c->len, &q);
	if (n == 0)
		return;
	if (n < 0) {
		say_socks(c, n == -EOPNOTSUPP	  ? WARD_SOCKS_BAD_COMMAND
			     : n == -EAFNOSUPPORT ? WARD_SOCKS_BAD_ADDRESS
						  : WARD_SOCKS_FAILED);
		return;
	}
	take(c, (size_t)n);
	go(c, WARD_FRONT_SOCKS, q.host, q.port, c->data, c->len);
}

static void on_client(evutil_socket_t fd, short what, void *user)
{
	struct client *c = user;
	ssize_t n = what & EV_TIMEOUT ? 0 : recv(fd, c->data + c->len, sizeof(c->data) - c->len, 0);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		drop(c);
		return;
	}
	c->len += (size_t)n;
	/* Not for as long as it says something now and then. */
	if (ward_clock_left_ns(c->since_ns, c->front->net->settings->net_handshake_ns) == 0)
		drop(c);
	else if (c->data[0] == 5 || c->greeted)
		socks(c);
	else
		http(c);
}

static void on_accept(evutil_socket_t fd, short what, void *user)
{
	struct ward_front *f = user;
	const struct timeval patience = ward_clock_timeval(f->net->settings->net_handshake_ns);
	int got = ward_net_accept(f->net, fd);
	if (got < 0)
		return;
	struct client *c = f->n_clients < CLIENTS_MAX ? calloc(1, sizeof(*c)) : NULL;
	if (c)
		c->event = event_new(f->net->base, got, EV_READ | EV_PERSIST, on_client, c);
	if (!c || !c->event || event_add(c->event, &patience) < 0) {
		if (c && c->event)
			event_free(c->event);
		free(c);
		ward_net_turn_away(f->net, got);
		return;
	}
	c->front = f;
	c->fd = got;
	c->since_ns = ward_clock_mono_ns();
	LIST_INSERT_HEAD(&f->clients, c, link);
	f->n_clients++;
}

int ward_front_open(struct ward_broker *net, struct ward_err *err)
{
	union ward_sockaddr a = {.v4 = {.sin_family = AF_INET, .sin_port = htons(WARD_FRONT_PORT)}};
	struct ward_front *f = net->front = calloc(1, sizeof(*f));
	if (!f || inet_pton(AF_INET, WARD_WIRE_BROKER4, &a.v4.sin_addr) != 1)
		return ward_err_sys(err, -ENOMEM, "proxy");
	f->net = net;
	f->fd = -1;
	int r = ward_wire_socket(&net->wire, WARD_WIRE_OUTER, AF_INET, SOCK_STREAM, &a.sa, &f->fd);
	if (r < 0)
		return ward_err_sys(err, r, "proxy");
	f->event = event_new(net->base, f->fd, EV_READ | EV_PERSIST, on_accept, f);
	return f->event && event_add(f->event, NULL) == 0 ? 0 : ward_err_sys(err, -ENOMEM, "proxy");
}

void ward_front_close(struct ward_broker *net)
{
	struct ward_front *f = net->front;
	if (!f)
		return;
	while (!LIST_EMPTY(&f->clients))
		drop(LIST_FIRST(&f->clients));
	if (f->event)
		event_free(f->event);
	if (f->fd >= 0)
		close(f->fd);
	free(f);
	net->front = NULL;
}
