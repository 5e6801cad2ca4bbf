/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening files with the owner's rights: what the owner may not do on the host, root must not do
 * for them by starting a session. Between begin and end this process acts on files as the owner
 * (setfsuid(2): the kernel takes the file capabilities away as well). Single-threaded callers only.
 */
#pragma once

#include "enforcer/base/err.h"
#include "enforcer/session/identity.h"

struct ward_as_owner {
	bool active;
	gid_t *groups; /* ours, to be restored */
	int n_groups;
	gid_t gid;
};

/* Does nothing where the owner is the caller. */
int ward_as_owner_begin(const struct ward_identity *id, struct ward_as_owner *ret,
	struct ward_err *err) ward_must_check;
/* Idempotent. Ends the process where the old rights cannot be had back: it must not go on with
 * half. */
void ward_as_owner_end(struct ward_as_owner *o);
