/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends records in batches, each over a connection of its own, at least once: syslog over TLS (RFC
 * 5425) or OTLP over HTTP (a batch is a request). The cursor moves when the other side has
 * confirmed a batch, and not before: whenever this process ends, what was not confirmed is sent
 * again by the next one. The receiver recognises duplicates by session and seq.
 *
 * A batch that did not arrive for a reason that passes (no connection, one that was cut, 429, 502,
 * 503, 504) is tried again after what the answer asks for, or after a time that grows. One that is
 * too large for the other side (413) is halved.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "enforcer/base/err.h"
#include "enforcer/cli/audit/export_cursor.h"

/* What a person asks for. Borrowed. */
struct ward_export_how {
	const char *target; /* tls:HOST:PORT, http://… or https://… */
	const char *ca;	    /* NULL: WARD_EXPORT_CA */
	const char *cert;   /* NULL: none; goes with key */
	const char *key;
	const char *headers; /* NULL: none */
	unsigned seconds;    /* without progress; 0: the default */
	uint64_t retry_s;    /* to go on trying; 0: not at all */
	/* http: what stands in front of the records of a request and behind them */
	const char *head, *tail;
};
#define WARD_EXPORT_SECONDS 30U
#define WARD_EXPORT_RETRY_S UINT64_C(60)

struct ward_export_batch;

bool ward_export_is_http(const char *target);
bool ward_export_is_tls(const char *target); /* tls: or https: */

/* Opens files, does not connect. The cursor is borrowed, as is how. */
int ward_export_batch_open(const struct ward_export_how *how,
	const struct ward_export_cursor *cursor, struct ward_export_batch **ret,
	struct ward_err *err) ward_must_check;
/* Takes a message, which is record seq; sends the batch when it is full. */
int ward_export_batch_put(struct ward_export_batch *b, uint64_t seq, const void *msg, size_t len,
	struct ward_err *err) ward_must_check;
/* Sends what is left. */
int ward_export_batch_flush(struct ward_export_batch *b, struct ward_err *err) ward_must_check;
/* NULL is fine. */
void ward_export_batch_free(struct ward_export_batch *b);
