/* SPDX-License-Identifier: Apache-2.0 */
/* The sessions of the ledger that an answer about all sessions does not cover, and why. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "audit/verify/ledger_view.h"
#include "enforcer/base/buf.h"
#include "enforcer/base/err.h"
#include "enforcer/cli/audit/audit_cmd.h"

/* Zero; audit_left_out_clear(). */
struct audit_left_out {
	struct ward_buf lost; /* "NAME (REASON), …": their trails are missing or damaged */
	uint64_t n_lost;
	struct ward_buf gone; /* the same: removed or expired, and the ledger says so */
	uint64_t n_gone;
	json_t *names; /* {NAME: true} of `lost`; one counts once */
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
 * v: what audit_ledger_list() read, all of it or what is `unsettled` at least; NULL: reads it.
 * Where the index has as many sessions that ended as the ledger, with the same sum, only the others
 * are looked at.
 */
int audit_left_out_indexed(struct audit_cmd *c, bool today, const struct ward_ledger_view *v,
	struct audit_left_out *l, struct ward_err *err) ward_must_check;
/*
 * Reads of the ledger what these functions need at least. *ret stays empty if the caller may not
 * read the ledger. ward_ledger_view_free().
 */
int audit_left_out_ledger(
	struct audit_cmd *c, struct ward_ledger_view *ret, struct ward_err *err) ward_must_check;
/*
 * Has the index, as of today, each session of the ledger that ended, with as many records? Else an
 * answer of the index alone can miss one. v: as above.
 */
bool audit_left_out_none(struct audit_cmd *c, const struct ward_ledger_view *v);
/* Says both on stderr. -EIO, with err, if a trail is missing or damaged; else 0. */
int audit_left_out_say(const struct audit_left_out *l, struct ward_err *err) ward_must_check;
