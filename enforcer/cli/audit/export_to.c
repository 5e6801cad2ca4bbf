/* SPDX-License-Identifier: Apache-2.0 */
/* Sends exported records to a collector and keeps a cursor of how far it came. */
#include "enforcer/cli/audit/export_to.h"

#include <errno.h>
#include <linux/sockios.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "enforcer/cli/audit/dial.h"
#include "enforcer/cli/audit/export_cursor.h"

/* Messages on their way whose ends are remembered. */
#define FLIGHT 1024
/* The other side takes nothing for so long: it has failed. */
#define STUCK_S 30
#define LOOK_MS 10

struct ward_export_to {
	int fd;
	bool stream;
	struct ward_export_cursor cursor;
	struct ward_export_batch *batch; /* tls:, http:, https:; NULL: one of the others */
	uint64_t seq;			 /* of the last message that the kernel took */
	uint64_t taken;			 /* of the last one that the other side took */
	uint64_t sent;			 /* bytes, TCP */
	struct {
		uint64_t seq, end;
	} flight[FLIGHT];
	size_t first, n;
};

static int connect_unix(struct ward_export_to *x, const char *path, struct ward_err *err)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	if (strlen(path) >= sizeof(to.sun_path))
		return ward_err_sys(err, -ENAMETOOLONG, "%s", path);
	memcpy(to.sun_path, path, strlen(path) + 1);
	x->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (x->fd < 0 || connect(x->fd, (struct sockaddr *)&to, sizeof(to)) < 0)
		return ward_err_sys(err, -errno, "%s", path);
	return 0;
}

static int connect_tcp(struct ward_export_to *x, const char *target, struct ward_err *err)
{
	char host[WARD_DIAL_HOST_MAX], port[WARD_DIAL_PORT_MAX];
	if (ward_dial_split(target, strlen(target), NULL, host, port) < 0)
		return ward_err_set(err, -EINVAL, "tcp:%s: give tcp:HOST:PORT", target);
	x->stream = true;
	return ward_dial(host, port, STUCK_S, &x->fd, err);
}

/* Targets with a socket of ours, which is written to as records come. */
static int connect_to(struct ward_export_to *x, const char *target, struct ward_err *err)
{
	const struct timeval stuck = {.tv_sec = STUCK_S};
	int r = 0;
	if (strncmp(target, "unix:", 5) == 0)
		r = connect_unix(x, target + 5, err);
	else if (strncmp(target, "tcp:", 4) == 0)
		r = connect_tcp(x, target + 4, err);
	else
		r = ward_err_set(err, -EINVAL,
			"%s: write unix:PATH, tcp:HOST:PORT, tls:HOST:PORT, or the http:// or "
			"https:// address of an OTLP collector",
			target);
	if (r == 0 && setsockopt(x->fd, SOL_SOCKET, SO_SNDTIMEO, &stuck, sizeof(stuck)) < 0)
		r = ward_err_sys(err, -errno, "%s", target);
	return r;
}

int ward_export_to_open(const struct ward_export_how *how, const char *cursor, const char *session,
	struct ward_export_to **ret, uint64_t *ret_after, struct ward_err *err)
{
	struct ward_export_to *x = calloc(1, sizeof(*x));
	if (!x)
		return ward_err_sys(err, -ENOMEM, "export");
	x->fd = -1;
	int r = ward_export_cursor_open(cursor, session, &x->cursor, &x->seq, err);
	x->taken = x->seq;
	if (r == 0)
		r = ward_export_is_http(how->target) || ward_export_is_tls(how->target)
			    ? ward_export_batch_open(how, &x->cursor, &x->batch, err)
			    : connect_to(x, how->target, err);
	if (r < 0)
		return ward_export_to_close(x, r, err);
	*ret_after = x->seq;
	*ret = x;
	return 0;
}

/* The bytes that the other side has acknowledged. -EPIPE: the connection is closed. */
static int note_taken(struct ward_export_to *x)
{
	int left = 0;
	struct pollfd p = {.fd = x->fd, .events = POLLIN};
	char byte = 0;
	if (!x->stream)
		return 0;
	/* Asked before the state of the connection: with a reset what is left is thrown away. */
	if (ioctl(x->fd, SIOCOUTQ, &left) < 0)
		return -errno;
	if (poll(&p, 1, 0) > 0) {
		if (p.revents & (POLLERR | POLLHUP))
			return -EPIPE;
		ssize_t n = recv(x->fd, &byte, 1, MSG_DONTWAIT);
		if (n == 0 || (n < 0 && errno != EAGAIN))
			return -EPIPE;
	}
	while (x->n > 0 && x->flight[x->first].end <= x->sent - (uint64_t)left) {
		x->taken = x->flight[x->first].seq;
		x->first = (x->first + 1) % FLIGHT;
		x->n--;
	}
	return 0;
}

static int send_all(const struct ward_export_to *x, const void *p, size_t len)
{
	size_t at = 0;
	while (at < len) {
		ssize_t n = send(x->fd, (const char *)p + at, len - at, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EPIPE;
		at += (size_t)n;
	}
	return 0;
}

/* Until no more than `most` messages are on their way. */
static int wait_taken(struct ward_export_to *x, size_t most)
{
	int r = note_taken(x);
	for (int i = 0; r == 0 && x->n > most; i++) {
		if (i == STUCK_S * 1000 / LOOK_MS)
			return -ETIMEDOUT;
		(void)poll(NULL, 0, LOOK_MS);
		r = note_taken(x);
	}
	return r;
}

int ward_export_to_put(
	struct ward_export_to *x, uint64_t seq, const void *msg, size_t len, struct ward_err *err)
{
	char count[24];
	if (x->batch)
		return ward_export_batch_put(x->batch, seq, msg, len, err);
	int r = wait_taken(x, FLIGHT - 1);
	int n = x->stream ? snprintf(count, sizeof(count), "%zu ", len) : 0;
	if (r == 0 && n > 0)
		r = send_all(x, count, (size_t)n);
	if (r == 0)
		r = send_all(x, msg, len);
	if (r < 0)
		return ward_err_sys(err, r, "export");
	x->seq = seq;
	if (x->stream) {
		x->sent += (uint64_t)n + len;
		x->flight[(x->first + x->n) % FLIGHT].seq = seq;
		x->flight[(x->first + x->n++) % FLIGHT].end = x->sent;
	} else {
		x->taken = seq;
	}
	r = ward_export_cursor_write(&x->cursor, seq);
	return r < 0 ? ward_err_sys(err, r, "cursor") : 0;
}

int ward_export_to_close(struct ward_export_to *x, int r, struct ward_err *err)
{
	if (!x)
		return r;
	if (r == 0 && x->batch) {
		r = ward_export_batch_flush(x->batch, err);
	} else if (r == 0) {
		r = wait_taken(x, 0);
		if (r < 0)
			(void)ward_err_sys(err, r, "export");
	}
	/* Not sent after all, as far as is known. */
	if (r < 0 && x->seq != x->taken)
		(void)!ward_export_cursor_write(&x->cursor, x->taken);
	const int c = ward_export_cursor_close(&x->cursor);
	if (c < 0 && r == 0)
		r = ward_err_sys(err, c, "cursor");
	ward_export_batch_free(x->batch);
	if (x->fd >= 0)
		close(x->fd);
	free(x);
	return r;
}
