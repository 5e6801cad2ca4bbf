/* SPDX-License-Identifier: Apache-2.0 */
/* The sessions of the ledger that an answer about all sessions does not cover, and why. */
#pragma once

#include <jansson.h>
#include <stdint.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/err.h"
#include "enforcer/cli/audit/audit_cmd.h"

/* Zero; audit_left_out_clear(). */
struct audit_left_out {
	struct ward_buf lost; /* "NAME (REASON), …": their trails are missing or damaged */
	uint64_t n_lost;
	struct ward_buf gone; /* the same: removed or expired, and the ledger says so */
	uint64_t n_gone;
};
void audit_left_out_clear(struct audit_left_out *l);

/* Adds a session whose trail is missing or damaged. */
void audit_left_out_add(struct audit_left_out *l, const char *session, const char *reason);
/*
 * Adds the sessions of the ledger whose trail is missing or gone. Passes over those that did not
 * start in the time of --since and --until. Adds nothing if the caller may not read the ledger: the
 * system's writer keeps it. Errors are those of reading.
 */
int audit_left_out_absent(
	struct audit_cmd *c, struct audit_left_out *l, struct ward_err *err) ward_must_check;
/*
 * The same by the index, which is open to this caller, and those whose trail cannot be opened. It
 * opens only the trails that the index does not have. today: the index is up to date; then it
 * also adds those that have fewer records than the ledger says, or lines that are no records.
 */
int audit_left_out_indexed(struct audit_cmd *c, bool today, struct audit_left_out *l,
	struct ward_err *err) ward_must_check;
/* Says both on stderr. -EIO, with err, if a trail is missing or damaged; else 0. */
int audit_left_out_say(const struct audit_left_out *l, struct ward_err *err) ward_must_check;
