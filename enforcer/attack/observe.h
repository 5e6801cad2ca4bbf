/* SPDX-License-Identifier: Apache-2.0 */
/* Makes attempts in a sandbox and, as controls, outside; and judges them by what changed outside.
 */
#pragma once

#include "enforcer/attack/world.h"

enum ward_attack_verdict {
	WARD_ATTACK_HELD,
	WARD_ATTACK_BROKEN,
	WARD_ATTACK_NOT_APPLICABLE, /* the caller may not do it outside either */
	WARD_ATTACK_UNTESTED,
	WARD_ATTACK_VERDICTS
};

struct ward_attack_outcome {
	const struct ward_attempt *attempt;
	enum ward_attack_group group;
	enum ward_attack_verdict verdict;
	char said[64];	      /* what the attempt said inside: "did", "EPERM", "SIGSYS" */
	char control[64];     /* the same of the control */
	unsigned runs, broke; /* how often it was made, and how often it was broken */
	char seen[80];	      /* what the observer saw; or why there is no verdict */
	/* what a run in one place came to; filled in by the observer */
	struct ward_ran {
		bool ran, effect, did, lacks, looked, ended, unready, absent;
		char said[64], seen[64];
	} inside, outside;
};

/*
 * argv: the sandbox's command line, which "PROGRAM inside FACTS" is added to; NULL: none (mode
 * "none"). Fills in the n outcomes, whose attempt and group are set. 0, or -1 with the sandbox's
 * own messages in why if it did not even start. verbose: its messages go to standard error.
 */
int ward_observe(struct ward_world *w, char *const *argv, bool verbose,
	struct ward_attack_outcome *v, size_t n, char *why, size_t size);

const char *ward_attack_verdict_name(enum ward_attack_verdict v);
