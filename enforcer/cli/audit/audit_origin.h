/* SPDX-License-Identifier: Apache-2.0 */
/* Which session the content of a file of the project came from, through `wardfs review apply`. */
#pragma once

#include "enforcer/cli/audit/audit_cmd.h"
#include "enforcer/cli/base/here.h"
#include "enforcer/review/review.h"

/* Names that the file had before, through renames that were applied; older ones are left out. */
#define AUDIT_ORIGIN_NAMES 16U

/* One change of the file that was applied or undone, as the files beside trails have it. */
struct audit_origin_step {
	char time[40], session[WARD_SESSION_NAME_MAX + 1];
	char before[WARD_REVIEW_DIGEST_SIZE], after[WARD_REVIEW_DIGEST_SIZE]; /* "": nothing */
	char change[16];
	char part[16]; /* other content came than what is staged; "": that itself */
	bool undone;
	bool left; /* the file went from here to another name */
	json_int_t by;
};
struct audit_origin_name {
	char *path;	/* as the command saw it, escaped */
	char until[40]; /* when it got the next one; "": it has this one */
};
struct audit_origin {
	struct ward_here here;
	bool follows;
	struct audit_origin_name names[AUDIT_ORIGIN_NAMES]; /* the present one first */
	size_t n_names;					    /* 0: there is no project here */
	struct audit_origin_step *v;			    /* by time */
	size_t n;
};

/*
 * Finds each apply and undo of the file in any session of the project around the current directory.
 * path: as audit_trail_path() takes it. follows: also under names that it had before. ret is the
 * caller's to clear in any case.
 */
int audit_origin_find(struct audit_cmd *c, const char *path, bool follows, struct audit_origin *ret,
	struct ward_err *err) ward_must_check;
void audit_origin_clear(struct audit_origin *o);
/* Appends what the file has now. A negative errno: it is none, or too large to be compared. */
int audit_origin_now(const struct audit_origin *o, struct ward_buf *ret) ward_must_check;
/* Prints a line for each, and which of them put there what the file has now. */
void audit_origin_print(const struct audit_origin *o);
