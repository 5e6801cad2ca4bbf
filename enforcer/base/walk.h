/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A walk through directories of a guard, in steps: what was listed once, the kernel looks up by
 * itself. A program that asks for each name on its own, as git does for its index, pays two
 * wake-ups a name otherwise, and a listing brings a directory's names at once
 * (docs/adr/0016-a-walk-beside-the-command.md).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Levels that are gone down. */
#define WARD_WALK_DEPTH 16
struct ward_walk_level {
	int fd;
	char *names; /* of directories in it, NUL-terminated one after the other; NULL: none */
	size_t len;
};

struct ward_walk {
	/* Opens the directory of tree i to list it. Negative: the walk leaves it out. */
	int (*open)(void *user, size_t i);
	void *user;
	/* The trees' own directories, by inode number: the walk enters none from another tree. */
	const uint64_t *tops;
	size_t n_trees;
	uint64_t from_ms; /* CLOCK_MONOTONIC: not before */
	size_t next;	  /* tree */
	unsigned entries; /* that were listed */
	unsigned depth;
	bool over;
	struct ward_walk_level levels[WARD_WALK_DEPTH];
};

/* open, user, tops and n_trees are set. delay_ms: a command that ends at once needs no walk. */
void ward_walk_begin(struct ward_walk *w, unsigned delay_ms);
/* Milliseconds until there is something to do; -1: never again. For poll(2). */
int ward_walk_wait(const struct ward_walk *w);
/* One directory. Whatever fails is left out. */
void ward_walk_step(struct ward_walk *w);
