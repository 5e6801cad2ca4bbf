/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What verify prints: one verdict for each name. Two sources can speak of the same trail, itself
 * (with its keys and the ledger) and checkpoints that were kept elsewhere. What the second source
 * says is kept back until the verdict of the trail comes, which then has both.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "audit/verify/result.h"
#include "enforcer/base/err.h"

/* Zero, but for json, system and all; audit_verdicts_clear(). */
struct audit_verdicts {
	bool json;     /* they go into `all` */
	bool system;   /* the trails are the system writer's: the command that is named says so */
	json_t *all;   /* owned: array of objects */
	bool bad;      /* something is not intact */
	bool foreign;  /* and a key that does not count signed it */
	size_t unread; /* trails that could not be read */
	enum ward_verify_state last; /* of what was reported last */
	struct audit_verdict_kept {
		char *name;
		struct ward_verify_result result;
		bool told;
	} * kept;
	size_t n_kept;
	json_t *places; /* owned: {name: index in kept} */
};

/*
 * Reports what verification of a trail, or of what else `name` is, concluded. A kept verdict of
 * that name comes first: it stands, and the text says what the trail by itself says.
 */
void audit_verdicts_report(
	struct audit_verdicts *v, const char *name, const struct ward_verify_result *r);
/* Of a bundle, after its trail was reported: adds to a good attestation that the trail is another
 * one, if the trail was changed. True if it was. */
bool audit_verdicts_beside(const struct audit_verdicts *v, struct ward_verify_result *attestation);
/* Keeps a verdict of a name back, one that is not INTACT; the first of a name stands. -ENOMEM. */
int audit_verdicts_keep(struct audit_verdicts *v, const char *name,
	const struct ward_verify_result *r, struct ward_err *err) ward_must_check;
/* Reports the kept ones whose names no other verdict had. */
void audit_verdicts_rest(struct audit_verdicts *v);
void audit_verdicts_clear(struct audit_verdicts *v);
