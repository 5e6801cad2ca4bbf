/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Our own places (trails and root key, control sockets, the owner's policies) and the trees:
 * neither may the agent reach one of them through a tree, nor may a tree lie inside one. Compared
 * by device and inode on the way up from descriptors, so that no link and no spelling of a path
 * hides anything, and by file system and path in it, as bind mounts have no way up to each other.
 */
#pragma once

#include "enforcer/session/plan/plan.h"

/* -EPERM names the place, the tree and the way out. */
int ward_places_check(const struct ward_run_plan *p, struct ward_err *err) ward_must_check;

/*
 * Sets p->own_guards for those that p's policy keeps from the agent. 1: the policy is to be loaded
 * with them; 0: there are none; errors as of ward_own_dir_guard().
 */
int ward_places_guard(struct ward_run_plan *p, struct ward_err *err) ward_must_check;

/*
 * What decides what the engines do that fetch an image for a run (image/save.h): nothing of it may
 * be in the agent's reach. -EPERM names the place, the tree and the way out.
 */
int ward_places_check_engines(
	const struct ward_run_plan *p, bool registry, struct ward_err *err) ward_must_check;

/*
 * What the plan and the command line name: a symbolic link on the way to it that a session can
 * change, and that leads out of its tree, would be the agent's choice of what the session gets; an
 * anchor that a session can change, of what this host runs. -EPERM names the link and the way out.
 */
int ward_places_check_ways(const struct ward_run_options *o, const struct ward_run_plan *p,
	struct ward_err *err) ward_must_check;
