/* SPDX-License-Identifier: Apache-2.0 */
/* What tells two policies apart: classes of paths, and settings. Pure. */
#pragma once

#include "enforcer/policy/policy.h"

/* Steps of both automata together; past it the comparison says that it is not whole. */
#define WARD_DIFF_STEPS_MAX 4000000U
/* Of these in which each rule counts by itself. */
#define WARD_DIFF_EXACT_STEPS_MAX 1000000U
/* Positions and rules of the states that a walk leads to, all steps together: some seconds. */
#define WARD_DIFF_WORK_MAX (UINT64_C(1) << 27)

/* How far a comparison came. */
enum ward_diff_reach {
	WARD_DIFF_CUT = 0, /* a bound cut it short: there may be more */
	WARD_DIFF_RIGHTS,  /* every way in which rights differ was told; of classes that only rules
			      of one verb in a row tell apart, one may stand for the others */
	WARD_DIFF_WHOLE,   /* and every class */
};

struct ward_difference {
	const char *path;      /* of paths: a path, or a class of paths ("/workspace/x/[*].pem") */
	uint32_t lost, gained; /* rights that only the first, only the second gives */
	const struct ward_rule *a, *b; /* what decides in either; NULL: the default */
	const char *key;	       /* of a setting: "[limits] wall"; else NULL */
	const char *value_a, *value_b; /* of a setting: its value in either; NULL: not set there */
};

/* Strings live during the call. */
typedef void (*ward_difference_fn)(void *user, const struct ward_difference *d);

/* How a long comparison comes along: steps done so far, every WARD_DIFF_STEPS_TELL. */
#define WARD_DIFF_STEPS_TELL 1024U
typedef void (*ward_diff_tell_fn)(void *user, uint64_t steps);

/*
 * Compares what one path may be used for: sa and sb are its states in a and b. True: they differ,
 * and lost, gained, a and b of *ret are filled (nothing else is touched).
 */
bool ward_policy_differ(const struct ward_policy *a, const struct ward_state *sa,
	const struct ward_policy *b, const struct ward_state *sb, bool dir,
	struct ward_difference *ret);

/*
 * Calls fn for each class of paths that loses or gains rights from a to b, the shortest path of it
 * as example (a wildcard stands as it is written), and for each setting that differs. A class is
 * what the same rules decide; of guards that take the same, one decides. Every class of names is
 * tried at every step. tell may be NULL; both get user. -ENOMEM.
 */
int ward_policy_diff(const struct ward_policy *a, const struct ward_policy *b,
	ward_difference_fn fn, ward_diff_tell_fn tell, void *user,
	enum ward_diff_reach *ret) ward_must_check;

/*
 * The same as far as WARD_DIFF_RIGHTS: with few rules that gain or lose something, a hundredth of
 * the steps. -ENOMEM.
 */
int ward_policy_diff_rights(const struct ward_policy *a, const struct ward_policy *b,
	ward_difference_fn fn, ward_diff_tell_fn tell, void *user,
	enum ward_diff_reach *ret) ward_must_check;

/*
 * What p would be with one line more at the end of its base, for the difference: pattern gets the
 * verb that gives these rights. It lifts no guard and no line of the floor or the project, as a
 * grant does; unlike a grant, it answers no `ask` of theirs. *ret: for ward_policy_unref().
 * -EINVAL: no such pattern; -ENOMEM.
 */
int ward_policy_widened(const struct ward_policy *p, const char *pattern, uint32_t rights,
	struct ward_policy **ret, struct ward_err *err) ward_must_check;

/* The settings alone. -ENOMEM. */
int ward_policy_diff_settings(const struct ward_policy *a, const struct ward_policy *b,
	ward_difference_fn fn, void *user) ward_must_check;
