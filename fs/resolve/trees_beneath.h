/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trees that lie beneath this one: where they are mounted, and what the mount covers.
 *
 * The kernel asks for every name on the way to such a mount as for any other, but when the answer
 * is an error it takes the name for gone and detaches what is mounted there (fs/dcache.c,
 * d_invalidate()). So the directories that lead to a place, and the place itself, are held from
 * their first lookup on: what only hinders the look (search bits, descriptors that ran out, an I/O
 * error) is answered from the descriptor that is held. Gone or replaced on the host they are gone
 * here. And whatever takes the mount away (a request that its sender's death interrupts does), what
 * it covered, or covers where this tree is seen without the other one, is refused: the flags tell
 * the policy so.
 *
 * A place is known by its path in this tree and, once it is held, by its node as well: moved on the
 * host it takes the mount along.
 *
 * A directory of this tree may also be what another tree serves, wherever that is mounted, under
 * rules that this one has not (tree->elsewhere). Then that tree decides alone. Such a directory is
 * known by its inode, whatever its name is by now.
 *
 * tree->beneath is NULL where there are none; then nothing here costs anything.
 */
#pragma once

#include "fs/node/node.h"

struct ward_beneath;

/* Of all trees of fs, whose paths and descriptors are known. *ret NULL: none lies beneath this one.
 * -ENOMEM. */
int ward_beneath_new(const struct ward_fs_tree *tree, struct ward_beneath **ret,
	struct ward_err *err) ward_must_check;
/* Before the nodes. NULL is fine. */
void ward_beneath_free(struct ward_fs_tree *tree);

/* WARD_REQUEST_LEADS, COVERED and ELSEWHERE of node, or of its child name if that is not NULL. */
uint32_t ward_beneath_flags(struct ward_fs_tree *tree, struct ward_node *node, const char *name);
/* The same, locked (nodes->lock). */
uint32_t ward_beneath_flags_locked(
	const struct ward_fs_tree *tree, const struct ward_node *node, const char *name);

/* The directory name in dirfd is this node now: holds it if it leads to a place. */
void ward_beneath_hold(struct ward_fs_tree *tree, struct ward_node *parent, const char *name,
	int dirfd, struct ward_node *node);
/*
 * A look at that name failed with r: 0, and its metadata if the name is held and may still be
 * there; else r.
 */
int ward_beneath_look(struct ward_fs_tree *tree, struct ward_node *parent, const char *name, int r,
	struct ward_file *ret);
