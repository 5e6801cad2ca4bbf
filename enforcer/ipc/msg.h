/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages between our processes, over SOCK_SEQPACKET sockets made by socketpair(2), and the same
 * encoding for plans in sealed memory files.
 *
 * Format (one machine, host byte order; both ends are of one build and compare WARD_MSG_VERSION):
 *
 *   u32 version   u32 type   then fields one after the other:
 *     u32, u64    as they are, no padding
 *     bytes, str  u32 length, then the bytes (str: no NUL inside, none at the end)
 *
 * The reader has a sticky error and never dies: a missing field reads as 0 or "" and
 * marks the message bad; ward_msg_done() insists that nothing is left unread. A sender says
 * everything in the order in which the receiver asks. File descriptors travel beside (SCM_RIGHTS),
 * at most WARD_MSG_FDS_MAX.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "enforcer/base/buf.h"

#define WARD_MSG_VERSION 1U
/* Larger things travel as sealed memory files. */
#define WARD_MSG_MAX (64U << 10)
#define WARD_MSG_FDS_MAX 16

/* --- writing --- */
struct ward_msg {
	struct ward_buf buf;
};
void ward_msg_init(struct ward_msg *m, uint32_t type);
void ward_msg_clear(struct ward_msg *m);
void ward_msg_put_u32(struct ward_msg *m, uint32_t v);
void ward_msg_put_u64(struct ward_msg *m, uint64_t v);
void ward_msg_put_bytes(struct ward_msg *m, const void *data, size_t len);
void ward_msg_put_str(struct ward_msg *m, const char *s); /* NULL as "" */
/* Sends m with n_fds descriptors (which stay the caller's). Negative errno. */
int ward_msg_send(int sock, const struct ward_msg *m, const int *fds, size_t n_fds) ward_must_check;
/* The same, without waiting for the reader: -EAGAIN. */
int ward_msg_try_send(int sock, const struct ward_msg *m) ward_must_check;
/*
 * Whether sock, and all that connect to it, take descriptors (SO_PASSRIGHTS, Linux 6.16). If not,
 * sending some is -EPERM, and closing sock closes nothing of the other side's. 0, or a negative
 * errno: this kernel always takes them.
 */
int ward_msg_take_fds(int sock, bool takes);
/* 0: none are taken, and none were where that was said before the connection; 1: they are. */
int ward_msg_takes_fds(int sock) ward_must_check;

/* --- reading --- */
struct ward_msg_reader {
	const uint8_t *p;
	size_t left;
	uint32_t type;
	bool bad;
};
/* Reads the head; bad version or short: r->bad. data must outlive r. */
void ward_msg_reader_init(struct ward_msg_reader *r, const void *data, size_t len);
uint32_t ward_msg_get_u32(struct ward_msg_reader *r);
uint64_t ward_msg_get_u64(struct ward_msg_reader *r);
/* Borrowed bytes, *ret_len of them; "" and 0 when bad. */
const void *ward_msg_get_bytes(struct ward_msg_reader *r, size_t *ret_len);
/* A fresh NUL-terminated copy (free()); NULL when bad, out of memory, or a NUL inside. */
char *ward_msg_get_str(struct ward_msg_reader *r) ward_must_check;
/* 0 if nothing was bad and nothing is left, else -EBADMSG. */
int ward_msg_done(const struct ward_msg_reader *r) ward_must_check;

/*
 * Receives one message into buf (at least WARD_MSG_MAX bytes) and up to *n_fds descriptors, all
 * close-on-exec, the caller's. Returns the length > 0; 0 at end of file; -EBADMSG for a truncated
 * message or too many descriptors (then all are closed); other negative errno. Sets *n_fds.
 */
ssize_t ward_msg_recv(int sock, void *buf, size_t size, int *fds, size_t *n_fds) ward_must_check;
