/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Renames of names under a rule of `secret`. What may be done there is decided about files; a name
 * may lead to another one of the host's a moment later. So the files are held from the decision to
 * the end, and what turns out to have been moved in place of them goes back before anybody in here
 * can look: renames_lock is held for writing all the while. Other renames cost nothing more.
 */
#pragma once

#include "fs/request/op.h"

struct ward_two_names {
	struct ward_node *parent, *parent2;
	const char *name, *name2;
	int dir, dir2; /* descriptors of the parents */
};

struct ward_secret_move {
	bool from, to; /* a rule of `secret` covers the name */
	int fd, fd2;   /* of both files, where it covers one of them; -1: not there */
};
#define WARD_SECRET_MOVE_INIT ((struct ward_secret_move){.fd = -1, .fd2 = -1})

/* Before the decision; again where it is decided again. */
void ward_secret_move_begin(
	struct ward_op *op, const struct ward_two_names *at, struct ward_secret_move *m);
void ward_secret_move_end(struct ward_secret_move *m);
/*
 * ward_backing_rename() of what was decided. there: the second name existed then. -ESTALE: another
 * file stood at one of the names, and is left where it was.
 */
int ward_secret_rename(struct ward_op *op, const struct ward_two_names *at,
	struct ward_secret_move *m, unsigned flags, bool there) ward_must_check;
