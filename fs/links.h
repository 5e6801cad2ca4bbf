/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Are all links of a file names that are known here? What is known of names may be older than what
 * others removed, and a name that is gone would stand for a link that nobody here knows. So they
 * are looked at, each one; but of a file with many, whose names all lie in watched directories, it
 * is known afterwards until somebody else changes one: what others did is in the queue of the
 * watches (watch.h) before their system calls return, and is looked through before the answer is
 * used again. What is done here keeps names and links in step by itself.
 */
#pragma once

#include "fs/node.h"

/*
 * nlink links were seen a moment ago, and n_names live names are known. Where they change all the
 * while: no.
 */
bool ward_links_known(
	struct ward_fs_tree *tree, struct ward_node *node, uint64_t nlink, size_t n_names);

/*
 * A name is removed here: begins before its link goes, ends when no name stands for it any more (or
 * it was not removed). Meanwhile nothing is known of any file's links without a look.
 */
void ward_links_removal(struct ward_nodes *nodes, bool begins);

/* A further name is made here: what is known of the others stays so. */
struct ward_links_step {
	uint64_t seen, doubts, dirs_gen;
	bool sure;
};
/* Before it is made, with renames_lock held for writing until after the second one. */
struct ward_links_step ward_links_step_begin(
	struct ward_nodes *nodes, const struct ward_node *node);
/* It was made and entered, or not; each begin has its end. */
void ward_links_step_end(
	struct ward_nodes *nodes, struct ward_node *node, const struct ward_links_step *step);

/* Does anybody want to hear of the names that others change? */
bool ward_links_ask(const struct ward_nodes *nodes);
/* Others changed what stands at name in the directory with that number. */
void ward_links_changed(struct ward_nodes *nodes, uint64_t dir, const char *name);
/* Others may have changed anything. */
void ward_links_lost(struct ward_nodes *nodes);
