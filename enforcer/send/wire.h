/* SPDX-License-Identifier: Apache-2.0 */
/* A connection, with TLS or without, over a non-blocking socket. No function waits but send_wait().
 */
#pragma once

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct send_wire {
	int fd;
	SSL *ssl;    /* NULL: no TLS */
	short wants; /* what has to come before the last call can go on: POLLIN, POLLOUT */
};

/* Takes some bytes: how many; -EAGAIN: none now; another negative errno: the connection is over. */
ssize_t send_wire_write(struct send_wire *w, const void *p, size_t n);
/*
 * Reads some bytes: how many; 0: the other side has said that no more comes; -EAGAIN: none now;
 * -ECONNABORTED: with TLS, the connection ended and nobody said so under the keys of TLS (which
 * anybody on the way can bring about); another negative errno: it is over.
 */
ssize_t send_wire_read(struct send_wire *w, void *p, size_t n);
/* Says that no more comes from here: with TLS a close_notify, then the end of the stream. 0,
 * -EAGAIN, or a negative errno. */
int send_wire_end(struct send_wire *w);
/* Waits for what the last call wants, and also for `also`. The events that came. */
short send_wait(const struct send_wire *w, short also);
/*
 * Has the other side's kernel acknowledged all that was sent, and not reset the connection since?
 * 1, 0: not yet, or a negative errno.
 */
int send_wire_acknowledged(const struct send_wire *w);
