/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that are replaced while a program is on its way to them. The kernel has looked a name up,
 * asks for the node that it was told, and another file has the name by then: -ESTALE, and the
 * kernel looks once more, not a third time (path_openat(), retry_estale()). So of a name at which
 * that happened the next looks of that program hold what they find by a descriptor, for a second (a
 * busy machine may not let it run at once): what is replaced in it is still reached by its node, as
 * a program natively reaches what it has looked up. No other program reaches it so: whose names the
 * kernel has not forgotten yet would open what was removed a second ago.
 *
 * Only what has lost its last link is reached so: anything else has another name, under which other
 * rules may hold. What is held stays charged to its quota, and is not held where that is nearly
 * used up; it is closed by the thread of forget_thread.h.
 */
#pragma once

#include "fs/request/op.h"

#define WARD_REPLACED_HOLD_NS UINT64_C(1000000000)

struct ward_replaced;

/* -ENOMEM */
int ward_replaced_new(struct ward_replaced **ret) ward_must_check;
/* No further requests come: releases all held files. */
void ward_replaced_end(struct ward_fs_tree *tree);
/* The same; the tree may have none. */
void ward_replaced_free(struct ward_fs_tree *tree);

/*
 * ward_backing_stat() of name in parent, whose descriptor is dirfd. *ret_fd is an O_PATH descriptor
 * of what was looked at, the caller's, if the caller wants to hold it, else untouched.
 */
int ward_replaced_look(struct ward_fs_tree *tree, struct ward_node *parent, const char *name,
	int dirfd, struct ward_file *ret, int *ret_fd) ward_must_check;
/*
 * fd (taken) leads to the file of node, which the client is about to get. -ESTALE: it is
 * gone by now, and what it was charged is given back: look again.
 */
int ward_replaced_hold(struct ward_op *op, struct ward_node *node, int *fd) ward_must_check;
/*
 * node is under none of its names: an O_PATH descriptor of its file, the caller's, which has no
 * links. -ESTALE: none is held; from now on looks at its name hold one.
 */
int ward_replaced_fd(struct ward_fs_tree *tree, struct ward_node *node, int *ret_fd,
	struct ward_file *ret) ward_must_check;

/* Closes what was held for long enough. False: nothing is held. */
bool ward_replaced_tidy(struct ward_fs_tree *tree);
