/* SPDX-License-Identifier: Apache-2.0 */
/* What a session was: who started what, where, in which mode, and how it ended. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "audit/query/session_ends.h"
#include "enforcer/base/buf.h"
#include "enforcer/cli/audit/audit_cmd.h"

/* Adds project, command (an array), mode, status and signal to o; null where it is not known. */
void audit_about_json(json_t *o, const struct ward_session_ends *e);

/* The command as it can be pasted into a shell, and shown on a terminal; nothing where there was
 * none. */
void audit_about_command(const struct ward_session_ends *e, struct ward_buf *ret);
/* "0", "signal 9"; "-" where the session has no end, or nothing was started. */
void audit_about_exit(const struct ward_session_ends *e, char *ret, size_t size);
/* A member of session.start's detail as bytes: a path; nothing where it is not there. */
void audit_about_path(const struct ward_session_ends *e, const char *member, struct ward_buf *ret);

/*
 * Appends text in at least, and at most, so many columns: cut with an ellipsis, filled with blanks.
 * A character is taken for one column.
 */
void audit_about_column(struct ward_buf *b, const char *text, size_t columns);

/* Prints the head of a summary: session, time, who, project, command, mode, policy, result. */
void audit_about_print(
	const struct audit_cmd *c, const char *session, const struct ward_session_ends *e);
