/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tables know of the links of files with many names (links_known.h finds it out): whether
 * all links of a file are names that are known here, and what makes that doubtful. Memory work
 * alone.
 */
#pragma once

#include "fs/node/node_names.h"

/* Locked: all links of the file are its names. While a name is taken away here, nobody knows. */
bool ward_links_sure(const struct ward_nodes *nodes, const struct ward_several *s);
/* Locked: is there a watch on each directory from the root to each of the names? */
bool ward_links_watched(const struct ward_nodes *nodes, const struct ward_several *s);

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
