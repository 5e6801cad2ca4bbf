/* SPDX-License-Identifier: Apache-2.0 */
/* One trail: found by the name of its session, opened, and verified. */
#pragma once

#include "audit/verify/verify.h"
#include "enforcer/base/buf.h"
#include "enforcer/base/err.h"
#include "enforcer/cli/audit/audit_cmd.h"

/*
 * Finds the session that is asked for, opens its log and has the ledger note that it is read.
 * *ret_name and *ret are the caller's.
 */
/*
 * The name of the session that is meant (c->session): latest is that of the project around the
 * current directory; outside of any project that of all, and then it is said which. *ret_name is
 * the caller's.
 */
int audit_trail_meant(struct audit_cmd *c, char **ret_name, struct ward_err *err) ward_must_check;
/* The same; a session whose trail is gone is meant by its whole name, which the ledger has. */
int audit_trail_known(struct audit_cmd *c, char **ret_name, struct ward_err *err) ward_must_check;
int audit_trail_open(struct audit_cmd *c, char **ret_name, struct ward_log **ret,
	struct ward_err *err) ward_must_check;

/* Was that a session of the project (escaped)? */
bool audit_trail_of_project(struct audit_cmd *c, const char *name, const char *project);

/* The result of verifying a trail: zero, until audit_trail_verify() fills it. */
struct audit_verified {
	struct ward_checkpoint_list notes;
	struct ward_ledger_view ledger;
	struct ward_verify_result result;
};
/*
 * Verifies an open trail against its checkpoints and the ledger. ret is the caller's to clear in
 * any case.
 */
int audit_trail_verify(struct audit_cmd *c, const char *session, struct ward_log *log,
	struct audit_verified *ret, struct ward_err *err) ward_must_check;
void audit_verified_clear(struct audit_verified *v);

/* Says the result of a verification as audit_trail_warn() does, and returns the same. */
int audit_trail_say(const struct ward_verify_result *res);
/*
 * Says on stderr if the trail is not intact (unless it is still being written). Returns the exit
 * status: 1 if somebody or something changed the trail, or another key wrote it; 0 if each record
 * is genuine, also where a crash cut the session off, and if the caller may not verify.
 */
int audit_trail_warn(struct audit_cmd *c, const char *session, struct ward_log *log);

/* Appends a path as it is called inside, escaped; a relative one is meant from the project. */
void audit_trail_path(const char *path, struct ward_buf *ret);

/* The file at path, fd; a first segment stands for those beside it too. */
int audit_trail_open_segments(const char *path, int fd, struct ward_log **ret) ward_must_check;
