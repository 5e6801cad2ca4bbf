/* SPDX-License-Identifier: Apache-2.0 */
/* The lines at the end of a run, for stderr. Each is the caller's; NULL: nothing to say. */
#pragma once

#include "enforcer/policy/policy.h"
#include "enforcer/session/ask/asks.h"
#include "enforcer/session/guard/guard.h"
#include "enforcer/session/tree/executed.h"

/* What the policy refused: how often, the first, and the command that shows the rest. */
/* owner_policy: the owner's file for the project, or NULL. */
char *ward_note_refused(const struct ward_guard_summary *s, const char *session, bool system,
	const char *owner_policy);
/* Questions that a person refused, or that had no answer. */
char *ward_note_asked(const struct ward_asks *a, const char *session, bool system);
/* Of a command that failed: what opens the network that it looked for. */
/* Of a command that failed: the secret that it looked for, where [expect] keeps it out of the line
 * above. NULL: none. */
char *ward_note_hidden(const struct ward_guard_summary *s, const char *session, bool system);
/*
 * Of a command that failed: a file that it wanted to make, and that exists as a secret, with the
 * command that lets it. An earlier session may have made the file. policy: the session's. NULL:
 * there is none, or no line of the owner's helps.
 */
char *ward_note_there(const struct ward_guard_summary *s, const struct ward_policy *policy);
/* 0: nothing to say. */
char *ward_note_listened(unsigned port);
char *ward_note_unreached(const struct ward_guard_summary *s);
extern const char ward_note_offline[];
/* Of a command that failed: that it had a sandbox of its own, and what to do. */
extern const char ward_note_nested[];
extern const char ward_note_tracer[];
/* What is new in the project that this host may execute. */
char *ward_note_executed(const struct ward_executed *found, const char *session, bool system);
/* A mount in the project whose server does not answer. */
char *ward_note_silent(const char *point);
/* New entries of the project that are no files: named pipes, sockets, links that lead out. */
char *ward_note_left(const struct ward_executed *found, const char *session, bool system);
