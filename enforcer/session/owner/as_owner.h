/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening files with the owner's rights: what the owner may not do on the host, root must not do
 * for them by starting a session. Between begin and end this process acts on files as the owner
 * (setfsuid(2): the kernel takes the file capabilities away as well). Single-threaded callers only.
 * Nested pairs are fine: the inner one does nothing, and with another owner it goes back to the
 * outer one's.
 */
#pragma once

#include "enforcer/base/err.h"
#include "enforcer/policy/load.h"
#include "enforcer/session/owner/identity.h"

struct ward_as_owner {
	bool active;
	gid_t *groups; /* ours, to be restored */
	int n_groups;
	uid_t uid; /* for files, to be restored; an outer pair's where pairs are nested */
	gid_t gid;
};

/* Does nothing where the owner is the caller. */
int ward_as_owner_begin(const struct ward_identity *id, struct ward_as_owner *ret,
	struct ward_err *err) ward_must_check;
/*
 * Back to this process's own rights in between: what a caller named may lie where the owner cannot
 * go. Ends with ward_as_owner_end(), too.
 */
int ward_as_caller_begin(struct ward_as_owner *ret, struct ward_err *err) ward_must_check;
/* Idempotent. Ends the process where the old rights cannot be restored: it must not go on with
 * half. */
void ward_as_owner_end(struct ward_as_owner *o);

/*
 * ward_policy_load() with the owner's rights: the owner's directories, and the project, may hold
 * links to anywhere, and what a loader complains of, it quotes. Only l->policy, which is the
 * caller's word, and what that extends, are read with the caller's.
 */
int ward_policy_load_owned(const struct ward_identity *id, const struct ward_load *l,
	struct ward_policy **ret, struct ward_err *err) ward_must_check;
