/* SPDX-License-Identifier: Apache-2.0 */
/* The first and the last record of a trail: what was started, and how it ended. */
#pragma once

#include <jansson.h>

#include "audit/log/log.h"
#include "enforcer/base/err.h"

/* A trail of a session that was not started with a command, or has no end, lacks one. */
struct ward_session_ends {
	json_t *start; /* session.start, or NULL; owned */
	json_t *end;   /* session.end, or NULL; owned */
};
/* Looks at no other line. ret is the caller's to clear in any case. */
int ward_session_ends_read(
	struct ward_log *log, struct ward_session_ends *ret, struct ward_err *err) ward_must_check;
/* For ward_cleanup(). */
void ward_session_ends_clear(struct ward_session_ends *e);
