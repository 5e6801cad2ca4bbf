/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long the kernel may keep an answer. What the policy shows at a path depends on the path only,
 * so only changes of files matter. The kernel knows changes from inside by itself; watches report
 * the changes of others. So the kernel keeps answers about watched directories for long. It keeps
 * attributes of a file only while no writer of the file is inside (stores into a mapping are
 * invisible), and while the file has one name (a change through another name may be invisible).
 */
#pragma once

#include "fs/node/node.h"

/* Seconds. What is not watched: changes on the host are seen within this. */
#define WARD_KEEP_SHORT 1.0
/* Watched entries also expire, so that nothing stays wrong forever. */
#define WARD_KEEP_LONG 3600.0

struct ward_keep {
	double entry, attr;
};

/*
 * For the answer that says that node is what parent has under a name. since: tree->watch_seq as it
 * was before the backing was looked at.
 */
struct ward_keep ward_keep_name(
	struct ward_nodes *nodes, struct ward_node *parent, struct ward_node *node, uint64_t since);
/* For an answer with the attributes of node, st. */
double ward_keep_attr(
	struct ward_nodes *nodes, struct ward_node *node, const struct stat *st, uint64_t since);
/*
 * node was opened, and is st by now: a second link that somebody made elsewhere makes no event
 * here, nor does what is written through it.
 */
void ward_keep_opened(struct ward_nodes *nodes, struct ward_node *node, const struct stat *st);
/* May it keep the listing of dir that will be read from now on? */
bool ward_keep_listing(struct ward_nodes *nodes, const struct ward_node *dir);
/* May somebody in here be writing to it, unseen? */
bool ward_keep_writing(struct ward_nodes *nodes, const struct ward_node *node);
/*
 * For the answer that parent has no such name. visible: whether rules would show it; where they
 * would not, it is 0, whether something is there or not.
 */
double ward_keep_absent(
	struct ward_nodes *nodes, struct ward_node *parent, bool visible, uint64_t since);
