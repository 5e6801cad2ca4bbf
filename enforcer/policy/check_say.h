/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of `check` share: whom they tell, and how they name what they found. For the
 * files check*.c of this folder alone. The functions below keep nothing of what they are given.
 */
#pragma once

#include <stdbool.h>

#include "enforcer/policy/check.h"
#include "enforcer/policy/internal.h"

struct ward_checker {
	const struct ward_policy *p;
	ward_finding_fn fn;
	void *user;
	enum ward_finding_about about; /* of what is said next */
};

/* Tells of a rule or an entry. The strings live during the call; fix may be NULL. */
void ward_checker_say_rule(
	const struct ward_checker *c, const struct ward_rule *r, const char *why, const char *fix);
void ward_checker_say_entry(
	const struct ward_checker *c, const struct ward_entry *e, const char *why, const char *fix);

/* Is path dir, or beneath it? Both as written. */
bool ward_checker_lies_in(const char *path, const char *dir) ward_must_check;
/* What a program may do at path, when it asks to write. -EINVAL: no path of a sandbox; -ENOMEM. */
int ward_checker_rights(
	const struct ward_policy *p, const char *path, struct ward_decision *ret) ward_must_check;

/* Rules that never decide, name no path in any tree, or give more than was meant. -ENOMEM. */
int ward_checker_rules(const struct ward_checker *c) ward_must_check;
/* Trees that serve too much, or what others serve as well. -ENOMEM. */
int ward_checker_trees(const struct ward_checker *c) ward_must_check;
/* Names that `hide` takes from directories that programs will want to remove. -ENOMEM. */
int ward_checker_hidden(const struct ward_checker *c) ward_must_check;
/* Entries of [network] that have no effect, or reach too far. */
void ward_checker_network(const struct ward_checker *c);
