/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does a rule ever count? Exact: every path that the rule's pattern completes is looked at, a class
 * of names at a time (classes.h), with the states that decide. Pure.
 */
#pragma once

#include "enforcer/policy/policy.h"

/* States looked at for one rule, and steps for all; past them a rule is not decided. */
#define WARD_SHADOW_STATES_MAX 1024U
#define WARD_SHADOW_STEPS_MAX 4000000U
/*
 * Rules and positions that all steps together go through, some seconds: of tens of thousands of
 * rules that match the same names each is compared with all others.
 */
#define WARD_SHADOW_WORK_MAX (UINT64_C(1) << 28)
/* Rules named that together leave nothing to one. */
#define WARD_SHADOW_NAMED_MAX 3U

enum ward_shadow_answer {
	WARD_SHADOW_UNDECIDED = 0, /* a bound was met */
	WARD_SHADOW_COUNTS,
	WARD_SHADOW_NEVER,
	WARD_SHADOW_NOWHERE, /* its pattern names nothing in any tree, nor beneath */
};

struct ward_shadow {
	enum ward_shadow_answer answer;
	/* NEVER: who leaves it nothing, each somewhere; the first ones */
	const struct ward_rule *by[WARD_SHADOW_NAMED_MAX];
	size_t n_by;
	bool more;  /* there are more than named */
	bool taken; /* a guard takes what it gives, at least in part of the places */
};

/*
 * Calls fn for each rule, in order; number counts from 0. A rule of a list counts where no later
 * one of its list decides and no guard takes of what it gives; a guard where no other takes the
 * same or more. -ENOMEM.
 */
int ward_policy_shadows(const struct ward_policy *p,
	void (*fn)(void *user, uint32_t number, const struct ward_shadow *s),
	void *user) ward_must_check;
