/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes a connection, with TLS or without. */
#include "enforcer/send/wire.h"

#include <errno.h>
#include <linux/sockios.h>
#include <openssl/err.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* What a call of OpenSSL that failed means. */
static int tls_error(struct send_wire *w, int ret)
{
	const int e = errno;
	switch (SSL_get_error(w->ssl, ret)) {
	case SSL_ERROR_WANT_READ:
		w->wants = POLLIN;
		return -EAGAIN;
	case SSL_ERROR_WANT_WRITE:
		w->wants = POLLOUT;
		return -EAGAIN;
	case SSL_ERROR_SYSCALL:
		return e ? -e : -ECONNABORTED;
	case SSL_ERROR_SSL:
		if (ERR_GET_REASON(ERR_peek_last_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING)
			return -ECONNABORTED;
		return -EPROTO;
	default:
		return -EPROTO;
	}
}

ssize_t send_wire_write(struct send_wire *w, const void *p, size_t n)
{
	w->wants = POLLOUT;
	if (!w->ssl) {
		ssize_t done = write(w->fd, p, n);
		return done < 0 ? (errno == EINTR ? -EAGAIN : -errno) : done;
	}
	size_t done = 0;
	ERR_clear_error();
	errno = 0;
	int r = SSL_write_ex(w->ssl, p, n, &done);
	return r == 1 ? (ssize_t)done : tls_error(w, r);
}

ssize_t send_wire_read(struct send_wire *w, void *p, size_t n)
{
	w->wants = POLLIN;
	if (!w->ssl) {
		ssize_t done = read(w->fd, p, n);
		return done < 0 ? (errno == EINTR ? -EAGAIN : -errno) : done;
	}
	size_t done = 0;
	ERR_clear_error();
	errno = 0;
	int r = SSL_read_ex(w->ssl, p, n, &done);
	if (r == 1)
		return (ssize_t)done;
	return SSL_get_error(w->ssl, r) == SSL_ERROR_ZERO_RETURN ? 0 : tls_error(w, r);
}

int send_wire_end(struct send_wire *w)
{
	if (w->ssl && !(SSL_get_shutdown(w->ssl) & SSL_SENT_SHUTDOWN)) {
		ERR_clear_error();
		errno = 0;
		int r = SSL_shutdown(w->ssl);
		if (r < 0)
			return tls_error(w, r);
	}
	return shutdown(w->fd, SHUT_WR) < 0 ? -errno : 0;
}

short send_wait(const struct send_wire *w, short also)
{
	struct pollfd p = {.fd = w->fd, .events = (short)(w->wants | also)};
	while (poll(&p, 1, -1) < 0 && errno == EINTR)
		continue;
	return p.revents;
}

int send_wire_acknowledged(const struct send_wire *w)
{
	int left = 0, error = 0;
	socklen_t len = sizeof(error);
	/* Asked before the error: with a reset what is left is thrown away. */
	if (ioctl(w->fd, SIOCOUTQ, &left) < 0 ||
		getsockopt(w->fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
		return -errno;
	return error ? -error : left == 0;
}
