/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Are all links of a file names that are known here? What is known of names may be older than what
 * others removed, and a name that is gone would stand for a link that nobody here knows. So they
 * are looked at, each one; but of a file with many, whose names all lie in watched directories, it
 * is known afterwards until somebody else changes one: what others did is in the queue of the
 * watches (backing_watch.h) before their system calls return, and is looked through before the
 * answer is used again. What is done here keeps names and links in step by itself.
 */
#pragma once

#include "fs/node/node.h"

/*
 * nlink links were seen a moment ago, and n_names live names are known. Where they change all the
 * while: no.
 */
bool ward_links_known(
	struct ward_fs_tree *tree, struct ward_node *node, uint64_t nlink, size_t n_names);
