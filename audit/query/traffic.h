/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What left a session, and what was refused to: connections by destination, program and decision,
 * from the records `connect` and `deny` (of connect and resolve).
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "audit/log/log.h"
#include "audit/store/store.h"
#include "enforcer/base/err.h"

/* Rows that are counted separately; the connections of further ones are counted together. */
#define WARD_TRAFFIC_ROWS_MAX 100000

/* Zero, but for what is asked; ward_traffic_clear(). */
struct ward_traffic {
	/* A name or an address, or a pattern as of fnmatch(3); NULL: all. Borrowed. */
	const char *host;
	/* Records from this time on, as ward_timestamp_beginning() has it; NULL: all. Borrowed. */
	const char *since;
	/* Records up to this time, as ward_timestamp_within() has it; NULL: all. Borrowed. */
	const char *until;
	/*
	 * Array of objects, in the order of the first record of each: session, decision
	 * ("allowed", "refused"), direction ("out"; "in": from the host, to a published port),
	 * action, host, addr, port, proto, comm, rule (what the records have, else null), times
	 * (connections or attempts), sent and received (bytes of those that have ended; null: none
	 * has), first and last (times). NULL: nothing was taken.
	 */
	json_t *rows;
	json_t *places;	       /* key: index in rows */
	json_int_t not_listed; /* connections of rows beyond the limit */
	bool unrecorded; /* ward_traffic_read(): the session had no network, so no attempt of it */
};
void ward_traffic_clear(struct ward_traffic *n);
/* Takes a record of a session, if it is one that is asked for. -ENOMEM. */
int ward_traffic_take(
	struct ward_traffic *n, const char *session, const json_t *record) ward_must_check;
/* Takes those of a trail. */
int ward_traffic_read(struct ward_traffic *n, const char *session, struct ward_log *log,
	struct ward_err *err) ward_must_check;
