/* SPDX-License-Identifier: Apache-2.0 */
/* What the two halves of an apply share: apply.c has the order, apply_one.c each change. */
#pragma once

#include "enforcer/review/applied.h"
#include "enforcer/review/swap.h"

struct ward_applying {
	struct ward_apply *a;
	int undo; /* kept files; -1: nothing is changed (dry) */
	struct ward_undo_log log;
	uint32_t next;	  /* the number of the next change */
	uint32_t *number; /* of each change in the log; 0: it is not there */
	bool *ready;	  /* it has been looked at, and waits to be done */
	uint64_t *came;	  /* the inode that was put there */
	uint32_t *unit;	  /* as ward_units_find() has it */
};

/* One change while it is worked on. */
struct ward_one {
	struct ward_applying *w;
	size_t i;
	const struct ward_change *c;
	struct ward_swapping s;
};

/* 0, or the change is ended already. ward_one_end() in any case. */
int ward_one_begin(struct ward_applying *w, size_t i, struct ward_one *o) ward_must_check;
void ward_one_end(struct ward_one *o);

/* Names: what is to go, is looked at (and kept); it goes. */
void ward_one_look_gone(struct ward_one *o);
void ward_one_remove(struct ward_one *o);
/* Directories, and names of files that the host has. */
void ward_one_rmdir(struct ward_one *o);
void ward_one_mkdir(struct ward_one *o);
void ward_one_rename(struct ward_one *o);
/* A further name of a file that this or another apply added. */
void ward_one_link(struct ward_one *o);
/* Content: made ready; put there. */
void ward_one_write(struct ward_one *o);
void ward_one_put(struct ward_one *o);
/* It was put there or removed, and is taken back: what it goes together with could not be. */
void ward_one_back(struct ward_one *o);
/* Permissions of a directory. */
void ward_one_mode(struct ward_one *o);
/* It is about to be done: is in the log from now on. */
void ward_one_about(struct ward_one *o);
