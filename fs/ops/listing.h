/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers to READDIR and READDIRPLUS. What the policy hides is left out, of the positions too: each
 * entry names that of the next one that shows, and inside all positions are cookies under a key
 * (fs/node/dir_cookie.h), which hold across requests as the backing's own do.
 */
#pragma once

#include "fs/request/op.h"

/* One answer as it grows. */
struct ward_listing {
	char *buf;
	size_t size, len; /* room, and bytes in it */
	int64_t off;	  /* of the next entry, on the backing */
	size_t patch;	  /* where in buf the last entry has its position, 0: nowhere */
	bool plus;	  /* with attributes: each such entry counts a lookup */
	bool ahead;	  /* made before it is asked for: without what somebody is writing to */
	bool end;	  /* nothing comes after it */
};

/*
 * Adds up to max entries of h's directory; h->dir_lock is held, or nobody else has h. 1: there may
 * be more and there is room; 0: it is full, or the directory has ended; a negative errno: nothing
 * is in it (an error after some entries comes with the next answer).
 */
int ward_listing_fill(struct ward_op *op, struct ward_handle *h, struct ward_listing *l,
	size_t max) ward_must_check;
/* Nobody will see this answer: nor the lookups in it. */
void ward_listing_give_back(struct ward_fs_tree *tree, const struct ward_listing *l);
