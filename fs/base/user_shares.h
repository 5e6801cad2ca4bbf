/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each user of a mount may have of what there is for all (`wardfs mount --allow-other`): open
 * files, locks, waits. A user may take no more than is left for the others: the first user gets at
 * most half of what is free, each next user half of the rest. A sixteenth is for root alone, whose
 * mount it is. Where one owner is served, nothing is counted here, and everything is granted.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "enforcer/base/err.h"

struct ward_shares;

enum ward_share {
	WARD_SHARE_OPEN,    /* files and directories; -ENFILE */
	WARD_SHARE_LOCKERS, /* owners of locks with a descriptor; -ENOLCK, as all below */
	WARD_SHARE_OWNERS,  /* ... that handles remember */
	WARD_SHARE_RANGES,  /* of POSIX locks */
	WARD_SHARE_WAITERS,
	WARD_SHARE_KINDS_
};

/* most: how much there is of each kind. -ENOMEM. */
int ward_shares_new(
	const unsigned most[WARD_SHARE_KINDS_], struct ward_shares **ret) ward_must_check;
void ward_shares_free(struct ward_shares *s);

/* n more for the user. False: that is more than its share. s may be NULL, as below. */
bool ward_share_take(struct ward_shares *s, enum ward_share kind, uid_t uid, unsigned n);
/* The same without a question; for what is asked with ward_share_over(). */
void ward_share_add(struct ward_shares *s, enum ward_share kind, uid_t uid, unsigned n);
void ward_share_give(struct ward_shares *s, enum ward_share kind, uid_t uid, unsigned n);
/* Has the user more than its share, less so many percent of all? */
bool ward_share_over(struct ward_shares *s, enum ward_share kind, uid_t uid, unsigned percent);

/* May a user have `mine`, where all have `total` of `most`? */
bool ward_share_fair(uid_t uid, unsigned mine, unsigned total, unsigned most);
