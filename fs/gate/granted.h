/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the rules refuse is asked once more with the session's grants. A decision that a grant makes
 * counts a use, is recorded as one (`use`) before it is answered, and is noted at the request: what
 * is opened ends with these grants.
 */
#pragma once

#include "fs/gate/gate.h"
#include "fs/request/fs_records.h"

/* What a request asked for: as ward_gate_node() and ward_gate_name() have it. */
struct ward_granted_ask {
	const struct ward_record_paths *paths;
	uint32_t rights, alt;
};

/*
 * Both ask for a->rights, then for a->alt, where req has been refused without grants. 1: allowed,
 * and *ret is the decision; 0: it stays refused; -EIO: no record.
 */
int ward_granted_node(struct ward_op *op, struct ward_node *node, struct ward_request req,
	const struct ward_granted_ask *a, struct ward_decision *ret) ward_must_check;
int ward_granted_name(struct ward_op *op, struct ward_request req, const struct ward_granted_ask *a,
	struct ward_decision *ret) ward_must_check;

/*
 * What grants give at the two names of a rename, v. Takes out what does not serve this one: an
 * answer about several renames is for each of them, not for the source of one and the target of
 * another. A negative errno: nothing may be given.
 */
int ward_granted_rename(struct ward_op *op, const struct ward_record_paths *paths,
	struct ward_granted v[2]) ward_must_check;
/* The same at the new name of a link to node: an answer about a link is for that file. */
void ward_granted_link(struct ward_op *op, const struct ward_node *node, struct ward_granted *v);

/*
 * Of what was allowed (by_glass: as in struct ward_decision): counts and records the uses of
 * v[0..n) that give one of `rights`. -EDQUOT: one was spent or has ended meanwhile; -EIO.
 */
int ward_granted_use(struct ward_op *op, const struct ward_record_paths *paths,
	const struct ward_granted *v, size_t n, uint32_t rights, uint32_t by_glass) ward_must_check;
