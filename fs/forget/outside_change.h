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
	/* Everything beneath directory dir. */
	void (*beneath)(void *arg, uint64_t dir);
	void *arg;
};

/*
 * Directory dir, or what is called name in it, was changed by somebody else; mask and name as
 * ward_watch_fn() has them. Looks at the backing; takes renames_lock for reading.
 */
void ward_outside_change(struct ward_fs_tree *tree, const struct ward_forget_calls *forget,
	uint64_t dir, const char *name, uint64_t mask);
