/* SPDX-License-Identifier: Apache-2.0 */
/* What somebody else did to the backing: what of it the tables and the kernel have to forget. */
#pragma once

#include "fs/base/fs.h"

/* Says to the kernel what to forget (forget_thread.c). */
struct ward_forget_calls {
	/* Attributes of node number; of a directory, its listing too. */
	void (*attr)(void *arg, uint64_t number);
	/* The entry name of directory dir. */
	void (*entry)(void *arg, uint64_t dir, const char *name);
	/* The entry name of directory dir, where a file of one name was, node `gone`. Who watches
	 * that file inside hears of its end. */
	void (*removed)(void *arg, uint64_t dir, uint64_t gone, const char *name);
	/* Everything beneath directory dir. */
	void (*beneath)(void *arg, uint64_t dir);
	void *arg;
};

struct ward_watch_change;

/*
 * Directory c->dir, or what is called c->name in it, was changed by somebody else. Looks at the
 * backing; takes renames_lock for reading, and for what is replayed (replay.h) a turn. others: the
 * content, too, was surely not changed by a process in here.
 */
void ward_outside_change(struct ward_fs_tree *tree, const struct ward_forget_calls *forget,
	const struct ward_watch_change *c, bool others);
