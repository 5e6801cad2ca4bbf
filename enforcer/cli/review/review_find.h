/* SPDX-License-Identifier: Apache-2.0 */
/* Which session's staged changes are meant, and what today's policy says to each. */
#pragma once

#include "audit/store/store.h"
#include "enforcer/cli/place/policy_place.h"
#include "enforcer/review/review.h"

struct ward_review_meant {
	struct ward_policy_place place; /* the project around the current directory */
	struct ward_store *store;
	char *session;
	char *step;   /* of SESSION@STEP; NULL: its end */
	int dir_fd;   /* of what was staged: a view of the step, if there is one */
	int place_fd; /* of the session: what was applied, and whose it is; else the same as dir_fd
		       */
	struct ward_review_changes changes;
	int roots[16];	       /* O_PATH, -1: not served by this project's policy */
	bool another[16];      /* of `roots`: not the directory that the session had */
	const char *trees[16]; /* sandbox paths of the same; borrowed */
	const char **flags;    /* one for each change (review_flags.h) */
	bool *asked;	       /* one for each change: the policy asks about it */
	char digest[WARD_REVIEW_DIGEST_SIZE];
	bool discarded; /* there are no changes any more */
	struct ward_applied applied;
	int undo_roots[16]; /* as `roots`, of the directories of `applied` */
	const char *undo_trees[16];
};

void ward_review_meant_init(struct ward_review_meant *m);

/*
 * session: SESSION or SESSION@STEP, a number or a name. NULL: the last one of this project that
 * staged anything. Refuses one that still runs. Acts on files as the project's owner. Clear it also
 * on failure. applied: what was applied is meant, of NULL the session of which something was
 * applied last. Then `changes` stays empty, and `digest` is the one that was applied.
 */
int ward_review_meant_find(const char *session, bool applied, struct ward_review_meant *ret,
	struct ward_err *err) ward_must_check;
void ward_review_meant_clear(struct ward_review_meant *m);
/* SESSION or SESSION@STEP, as people read it; the caller's. NULL: no memory. */
char *ward_review_meant_name(const struct ward_review_meant *m);

/* What is said of a change besides: "", or why it is applied only where it is named itself. */
const char *ward_review_flag(const struct ward_review_meant *m, const struct ward_change *c);
/*
 * Today's policy about it: 0, or the errno that the guard would answer; *ret_rule: the line that
 * says so, borrowed, or "default".
 */
int ward_review_decide(const struct ward_review_meant *m, const struct ward_change *c,
	char ret_rule[128]) ward_must_check;
