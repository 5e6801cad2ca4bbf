/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a session used, from the records of its trail, and the smallest policy in readable patterns
 * that gives it: [files] lines for /workspace.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/err.h"

struct ward_learned {
	/* path beneath /workspace, escaped: [times read, times changed], and a third member where
	 * the policy lets the file only grow */
	json_t *used;
	json_t *refused; /* "PATH (RULE)": times */
	json_t *asked;	 /* "HOST:PORT", "HOST", "ADDRESS:PORT" that were not reached: times */
	json_int_t records;
};

int ward_learned_init(struct ward_learned *l) ward_must_check;
void ward_learned_clear(struct ward_learned *l);

/* One record of the trail. -ENOMEM. */
int ward_learned_take(struct ward_learned *l, const json_t *record) ward_must_check;

/* Lines in a proposal at most: what lies deepest is put together first. */
#define WARD_LEARN_RULES_MAX 24

/* One line of [files]. */
struct ward_learned_rule {
	char *pattern; /* owned, as a policy writes it */
	bool write;
	bool append; /* write, and all of it can only grow */
	json_int_t files, times;
};
struct ward_learned_rules {
	struct ward_learned_rule *v; /* reads first, then writes; each sorted */
	size_t n;
	bool whole; /* /workspace itself is among those that may be written */
};
/* reads: what was only read gets lines, too; else only what was changed. -ENOMEM. */
int ward_learned_rules(
	const struct ward_learned *l, bool reads, struct ward_learned_rules *ret) ward_must_check;
void ward_learned_rules_clear(struct ward_learned_rules *r);
