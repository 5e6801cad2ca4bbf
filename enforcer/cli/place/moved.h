/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A project that was moved, and another work tree of one: what the owner kept for its old path is
 * offered, and never taken. Any directory can be given a name; that this one is the old one only
 * the owner knows.
 */
#pragma once

#include <stdbool.h>

#include "enforcer/session/owner/identity.h"
#include "enforcer/session/plan/plan.h"

/* Asks at a terminal whether the policy of the main checkout shall hold here, too. */
bool ward_policy_share_asked(const char *main_checkout);
/*
 * Makes the owner's file for the project a link to that of the main checkout (worktree.h), with the
 * owner's rights. config: the owner's directory of wardfs, as ~/.config/wardfs. -EEXIST:
 * there is such a file.
 */
int ward_policy_share(const struct ward_identity *id, const char *config, const char *main_checkout,
	const char *project, struct ward_err *err) ward_must_check;

/*
 * At a terminal: asks whether a work tree shares the policy of its main checkout, and makes it so.
 * 1 after that: the plan has to be made again; 0: nothing was changed. Before ward_moved_say().
 */
int ward_moved_ask(const struct ward_run_plan *p, struct ward_err *err) ward_must_check;
/*
 * Says on stderr where a policy for this project may lie, with the commands that take it over:
 * - the project is a work tree of git, the owner keeps nothing for it, but a policy for the main
 *   checkout;
 * - it is no work tree, and there is a policy for a directory of the same name that is gone.
 */
void ward_moved_say(const struct ward_run_plan *p);
