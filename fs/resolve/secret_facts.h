/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of files at names under a rule of `secret` (enum ward_fact). The policy knows what
 * git had when it was loaded (ward_policy_found()); what was put there through the mount is
 * remembered here, by the file and not by its name: inode number, time of birth, and the generation
 * that file handles carry, so that a number which is used again is another file. Where the backing
 * has no file handles, a descriptor keeps the file; of a few of them.
 */
#pragma once

#include "fs/kernel/backing.h"
#include "fs/node/node.h"

struct ward_secrets;

/* -ENOMEM */
int ward_secrets_new(struct ward_secrets **ret) ward_must_check;
void ward_secrets_free(struct ward_secrets *s);

/* Of an open file (O_PATH will do) at node, or at its child name if that is not NULL. file: of fd.
 */
enum ward_fact ward_secret_fact(struct ward_fs_tree *tree, int fd, const struct ward_file *file,
	struct ward_node *node, const char *name);
/*
 * Of what stands at name in parent, whose descriptor is dirfd, now. expect: as it was seen a moment
 * ago, another file counts as THERE; NULL: whatever is there.
 */
enum ward_fact ward_secret_fact_at(struct ward_fs_tree *tree, int dirfd, struct ward_node *parent,
	const char *name, const struct ward_file *expect);
/* The session put the file of fd there, or changed it. -ENOMEM, -ENFILE: it cannot be remembered,
 * and is no longer the session's. */
int ward_secret_own(struct ward_fs_tree *tree, int fd) ward_must_check;
