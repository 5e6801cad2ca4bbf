/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the trees of a session lie on the host. Two trees may serve one directory, or one a part of
 * what another one serves: then one file has two names, and what a guard, the floor or the project
 * file takes under the one must not be given under the other.
 *
 * The tree with the deepest source decides. Where the one above would give what that takes, it
 * shows nothing of it but the name: wardfs-fs refuses the rest. What cannot be done that
 * way is refused before the start: two trees of the very same directory, and a tree that lifts what
 * holds for its place in the tree that it lies in. That only a base policy may do, for its own
 * rules.
 */
#pragma once

#include <sys/types.h>

#include "enforcer/base/mounts.h"
#include "enforcer/ipc/helper.h"
#include "enforcer/policy/policy.h"

struct ward_tree_spots {
	struct ward_mounts mounts;
	struct ward_spot v[WARD_TREES_MAX]; /* path NULL: no directory of the host's */
	dev_t dev[WARD_TREES_MAX];	    /* of each that has a path: stat(2) */
	ino_t ino[WARD_TREES_MAX];
	uint32_t elsewhere[WARD_TREES_MAX]; /* bit i: of that, only tree i shows its own part */
	size_t n;
};

/* Of the directories fds[0..n), -1: none. -ENOMEM or what reading the table of mounts fails with.
 */
int ward_tree_spots_find(const int *fds, size_t n, struct ward_tree_spots *ret,
	struct ward_err *err) ward_must_check;
void ward_tree_spots_clear(struct ward_tree_spots *s);

/* Appends tree i's name for the place, of p's trees. False: the tree does not serve it. */
bool ward_tree_spots_name(const struct ward_tree_spots *s, const struct ward_policy *p, size_t i,
	const struct ward_spot *spot, struct ward_buf *ret_name);

/*
 * Fills s->elsewhere. -EINVAL names two trees and a rule that keeps something from being seen,
 * changed or executed in the one, where the other one serves the same files and the rule is not on
 * their names there.
 */
int ward_tree_spots_check(struct ward_tree_spots *s, const struct ward_policy *p,
	struct ward_err *err) ward_must_check;
/* The same for a policy that takes the place of p: nothing more can be refused by wardfs-fs. */
int ward_tree_spots_recheck(const struct ward_tree_spots *s, const struct ward_policy *p,
	struct ward_err *err) ward_must_check;
