/* SPDX-License-Identifier: Apache-2.0 */
/* The first and the last record of a trail: what was started, and how it ended. */
#pragma once

#include <jansson.h>

#include "audit/log/log.h"
#include "enforcer/base/err.h"

/* A trail of a session that was not started with a command, or has no end, lacks one. */
struct ward_session_ends {
	json_t *start; /* session.start, or NULL; owned. Of a session that was prepared: with the
			* time and the detail of its take as well; `argv` is the string "prepared"
			* where nobody took it */
	json_t *end;   /* session.end, or NULL; owned */
};
/* Looks at no other line, but for the take. ret is the caller's to clear in any case. */
int ward_session_ends_read(
	struct ward_log *log, struct ward_session_ends *ret, struct ward_err *err) ward_must_check;
/* For ward_cleanup(). */
void ward_session_ends_clear(struct ward_session_ends *e);

/*
 * Adds to a session.start of a session that was prepared what its take says, or, with NULL, that
 * nobody took it. Nothing to others. Changes start.
 */
void ward_session_taken(json_t *start, const json_t *take);
