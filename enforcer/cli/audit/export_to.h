/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exports to a collector. RFC 5424 messages over a unix datagram socket (unix:PATH), over TCP with
 * octet counting (tcp:HOST:PORT, RFC 6587 3.4.1) or over TLS (tls:HOST:PORT, RFC 5425); or OTLP
 * over HTTP (http://…, https://…). The last two: export_batch.h.
 *
 * A cursor file says how far it came. unix: and tcp: while all is well behind the last message that
 * the kernel took, which it delivers also when this process is killed; once the connection breaks,
 * behind the last one that the other side's kernel had acknowledged. So going on from it loses
 * nothing that the other side had not taken, and sends nothing twice, but for what was acknowledged
 * in the very moment of the break. What the other side's kernel took and its program never read, no
 * sender of plain syslog can know (RFC 6587, 3.1). Each message has session and seq, to tell by.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "enforcer/base/err.h"
#include "enforcer/cli/audit/export_batch.h"

struct ward_export_to;

/* cursor: a file that is made if it is not there, NULL: none. *ret_after: the seq to go on behind.
 * how is borrowed until ward_export_to_close().
 */
int ward_export_to_open(const struct ward_export_how *how, const char *cursor, const char *session,
	struct ward_export_to **ret, uint64_t *ret_after, struct ward_err *err) ward_must_check;
/* Sends one message, which is record seq. */
int ward_export_to_put(struct ward_export_to *x, uint64_t seq, const void *msg, size_t len,
	struct ward_err *err) ward_must_check;
/* Waits until the other side has everything. Frees x in any case; NULL is fine. r: what came
 * before. */
int ward_export_to_close(struct ward_export_to *x, int r, struct ward_err *err) ward_must_check;
