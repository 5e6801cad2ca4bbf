/* SPDX-License-Identifier: Apache-2.0 */
/* Sends exported records to a syslog daemon and keeps a cursor of how far it came. */
#include "enforcer/cli/audit/export_to.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/sockios.h>
#include <netdb.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "audit/format.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/quantity.h"
#include "enforcer/cli/base/output.h"

/* Messages on their way whose ends are remembered. */
#define FLIGHT 1024
/* The other side takes nothing for so long: it has failed. */
#define STUCK_S 30
#define LOOK_MS 10
/* "SESSION SEQ\n", padded with spaces: written in one piece, always over the last one. */
#define CURSOR_BYTES 128

struct ward_export_to {
	int fd;
	bool stream;
	int cursor; /* -1: none */
	char session[WARD_SESSION_NAME_MAX + 1];
	uint64_t seq;	/* of the last message that the kernel took */
	uint64_t taken; /* of the last one that the other side took */
	uint64_t sent;	/* bytes, TCP */
	struct {
		uint64_t seq, end;
	} flight[FLIGHT];
	size_t first, n;
};

static int write_cursor(const struct ward_export_to *x, uint64_t seq)
{
	char text[CURSOR_BYTES + 1];
	if (x->cursor < 0)
		return 0;
	int n = snprintf(text, sizeof(text), "%s %" PRIu64, x->session, seq);
	if (n < 0 || n >= CURSOR_BYTES)
		return -EINVAL;
	memset(text + n, ' ', (size_t)(CURSOR_BYTES - n));
	text[CURSOR_BYTES - 1] = '\n';
	ssize_t w = pwrite(x->cursor, text, CURSOR_BYTES, 0);
	return w == CURSOR_BYTES ? 0 : w < 0 ? -errno : -EIO;
}

static int open_cursor(struct ward_export_to *x, const char *path, struct ward_err *err)
{
	char text[CURSOR_BYTES + 1] = "";
	int r = ward_output_keep(path, 0600, &x->cursor, err);
	if (r < 0)
		return r;
	ssize_t n = pread(x->cursor, text, CURSOR_BYTES, 0);
	if (n < 0)
		return ward_err_sys(err, -errno, "%s", path);
	if (n == 0)
		return 0;
	const size_t len = strlen(x->session);
	const char *number = text + len + 1;
	if (strncmp(text, x->session, len) != 0 || text[len] != ' ')
		return ward_err_set(err, -EINVAL,
			"%s: this cursor belongs to another session, or is not a cursor", path);
	if (!ward_quantity_digits(&number, &x->seq))
		return ward_err_set(err, -EINVAL, "%s: no cursor", path);
	x->taken = x->seq;
	return 0;
}

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
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	struct addrinfo *all = NULL;
	const char *colon = strrchr(target, ':');
	if (!colon || colon == target || !colon[1])
		return ward_err_set(err, -EINVAL, "tcp:%s: HOST:PORT is meant", target);
	/* [::1]:514 */
	size_t len = (size_t)(colon - target);
	bool brackets = target[0] == '[' && target[len - 1] == ']';
	ward_cleanup_free char *host = strndup(target + brackets, len - 2 * (size_t)brackets);
	if (!host)
		return ward_err_sys(err, -ENOMEM, "export");
	int g = getaddrinfo(host, colon + 1, &hints, &all);
	if (g != 0)
		return ward_err_set(err, -EHOSTUNREACH, "%s: %s", target, gai_strerror(g));
	int r = -EHOSTUNREACH;
	for (const struct addrinfo *a = all; a && x->fd < 0; a = a->ai_next) {
		ward_cleanup_fd int fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
		r = fd < 0 || connect(fd, a->ai_addr, a->ai_addrlen) < 0 ? -errno : 0;
		if (r == 0)
			x->fd = ward_steal_fd(&fd);
	}
	freeaddrinfo(all);
	x->stream = true;
	return r < 0 ? ward_err_sys(err, r, "%s", target) : 0;
}

int ward_export_to_open(const char *target, const char *cursor, const char *session,
	struct ward_export_to **ret, uint64_t *ret_after, struct ward_err *err)
{
	const struct timeval stuck = {.tv_sec = STUCK_S};
	struct ward_export_to *x = calloc(1, sizeof(*x));
	if (!x)
		return ward_err_sys(err, -ENOMEM, "export");
	x->fd = x->cursor = -1;
	snprintf(x->session, sizeof(x->session), "%s", session);
	int r = cursor ? open_cursor(x, cursor, err) : 0;
	if (r == 0 && strncmp(target, "unix:", 5) == 0)
		r = connect_unix(x, target + 5, err);
	else if (r == 0 && strncmp(target, "tcp:", 4) == 0)
		r = connect_tcp(x, target + 4, err);
	else if (r == 0)
		r = ward_err_set(err, -EINVAL, "%s: write unix:PATH or tcp:HOST:PORT", target);
	if (r == 0 && setsockopt(x->fd, SOL_SOCKET, SO_SNDTIMEO, &stuck, sizeof(stuck)) < 0)
		r = ward_err_sys(err, -errno, "%s", target);
	if (r < 0)
		return ward_export_to_close(x, r, err);
	*ret_after = x->seq;
	*ret = x;
	return 0;
}

/* What the other side has acknowledged by now. -EPIPE: it has gone. */
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
	r = write_cursor(x, seq);
	return r < 0 ? ward_err_sys(err, r, "cursor") : 0;
}

int ward_export_to_close(struct ward_export_to *x, int r, struct ward_err *err)
{
	if (!x)
		return r;
	if (r == 0) {
		r = wait_taken(x, 0);
		if (r < 0)
			(void)ward_err_sys(err, r, "export");
	}
	/* Not sent after all, as far as is known. */
	if (r < 0 && x->seq != x->taken)
		(void)!write_cursor(x, x->taken);
	if (x->cursor >= 0 && fsync(x->cursor) < 0 && r == 0)
		r = ward_err_sys(err, -errno, "cursor");
	if (x->fd >= 0)
		close(x->fd);
	if (x->cursor >= 0)
		close(x->cursor);
	free(x);
	return r;
}
