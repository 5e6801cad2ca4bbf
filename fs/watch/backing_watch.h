/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watches on the directories of a backing, so that the kernel may keep what it was told for long:
 * one fanotify group a tree (fanotify(7), names by FAN_REPORT_DFID_NAME: Linux 5.9, for ordinary
 * users 5.13). The pid of an event tells our own changes from others. Where there can be no
 * watch (another kind of file system, no room, an unreadable directory), nothing is kept for long.
 *
 * What no watch sees: stores into shared mappings of other programs (no event exists for them).
 */
#pragma once

#include "fs/node/node.h"

struct ward_watch;

/*
 * Makes the tree's group in tree->watch; NULL stays where the kernel or the backing's kind has no
 * use for it. Before confinement, with the privileges that the group is to have.
 */
int ward_watch_open(struct ward_fs_tree *tree, struct ward_err *err) ward_must_check;

/* How far the tree is watched, for `wardfs doctor`. */
struct ward_watch_report {
	uint64_t watched; /* directories */
	uint64_t refused; /* directories for which there was no watch: seen after a second */
	const char *why;  /* static: why none is watched, or the last refusal; NULL: all are */
};
struct ward_watch_report ward_watch_report(const struct ward_fs_tree *tree);
void ward_watch_free(struct ward_watch *w);

/*
 * Is it time to watch? The end of a watch takes the kernel some 15 ms: a session that asks for next
 * to nothing, and does not set tree->watch_now, has none.
 */
bool ward_watch_due(const struct ward_fs_tree *tree);
/*
 * Watches directory node, whose open descriptor is fd, from now on; the first call for a node
 * counts. Failure is no error: the node is not watched then.
 */
void ward_watch_dir(struct ward_fs_tree *tree, struct ward_node *node, int fd);
/* Locked (nodes->lock): the node goes; dir->fd, if open, still leads to it. */
void ward_watch_drop(struct ward_fs_tree *tree, struct ward_node *node);

/* Others did something in the directory: an answer for which the backing was looked at before this
 * is not covered. */
void ward_watch_changed(struct ward_fs_tree *tree, struct ward_node *dir);
/*
 * Is the directory watched, was it before number `since` (tree->watch_seq as it was before the
 * backing was looked at), and did nothing change in it from then on that was seen already? Locked.
 */
bool ward_watch_covers(const struct ward_node *dir, uint64_t since);

/* No events for writes to the open file fd any more: who writes in here is known. */
void ward_watch_mute(struct ward_fs_tree *tree, int fd);
void ward_watch_unmute(struct ward_fs_tree *tree, int fd);

/* For poll(2). */
int ward_watch_fd(const struct ward_watch *w);

/*
 * One change that was not ours. mask: FAN_* of <linux/fanotify.h>; name: "." is dir itself; pid:
 * the process, 0: not told (to ordinary users); empty: the round in which the queue was last empty;
 * sure: nobody in here wrote in passthrough since then.
 */
struct ward_watch_change {
	uint64_t dir, mask, empty;
	const char *name;
	uint32_t pid;
	bool sure;
};
typedef void ward_watch_fn(void *arg, const struct ward_watch_change *c);
/*
 * For a caller that has to know what others did up to now: reads the queue dry. Names are heeded
 * (links_known.h) before it returns; the rest is left for who reads: true, wake him.
 */
bool ward_watch_pull(struct ward_fs_tree *tree);
/* Is something left for who reads? */
bool ward_watch_left(struct ward_watch *w);
/* How often the queue was asked so far: a later look, or an event of it, has what is done now.
 */
uint64_t ward_watch_round(const struct ward_watch *w);
/* Hands out what there is. -EOVERFLOW: some was lost, anything may have changed. */
int ward_watch_read(struct ward_fs_tree *tree, ward_watch_fn *fn, void *arg) ward_must_check;
