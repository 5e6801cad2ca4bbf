/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does a directory of the backing take two spellings for one name? Found out by asking: nothing is
 * created. Such a backing (vfat, exfat, NTFS, SMB, shared folders of virtual machines, casefold of
 * ext4 and f2fs) lets rules be passed by another spelling, since two would have two states.
 */
#pragma once

#include "enforcer/base/err.h"
#include "fs/base/fs.h"

/*
 * Finds out about the root of a tree (after ward_backing_init()): fills folds and folds_each. For
 * an empty directory, asks about its own name in the directory above. If that fails, the type
 * decides: a type that is known not to fold does not fold, XFS says so itself, and every other type
 * counts as folding. -EOPNOTSUPP: it folds, and the policy does not ([guard] fold).
 */
int ward_folding_root(struct ward_fs_tree *tree, struct ward_err *err) ward_must_check;

/* -EOPNOTSUPP for a directory that folds, in a tree whose root does not. */
int ward_folding_check(const struct ward_fs_tree *tree, int dirfd) ward_must_check;

/*
 * Is the name in the directory's list, byte for byte? What answers to a name that is not is another
 * spelling of one that is. 1, 0 or a negative errno.
 */
int ward_folding_listed(int dirfd, const char *name) ward_must_check;
