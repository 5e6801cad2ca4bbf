/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs init: shows the owner what a repository proposes, and takes over what is accepted. */
#pragma once

#include <stdbool.h>

#include "enforcer/cli/place/policy_place.h"

struct init_answer {
	const char *accept; /* --accept: the digest; NULL: the owner is asked */
	bool decline;	    /* --decline */
	bool dry;	    /* nothing is asked or written */
};

/*
 * Digits that --accept takes: the whole digest. Who writes a proposal can make two that have the
 * first 12 digits in common within a minute, show one and put the other in its place.
 */
#define INIT_ACCEPT_DIGITS 64U

/*
 * place: the policy in force after init has written its own lines. 0; 1: there is a proposal that
 * nobody answered; negative: the file is no proposal, or could not be taken over.
 */
int init_proposal(const struct ward_policy_place *place, const struct init_answer *answer,
	struct ward_err *err) ward_must_check;
