/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel is told to forget, from a thread of its own that holds no lock: the kernel may
 * need a lock for it that the caller of a request holds. The same thread reads the watches.
 *
 * Each call returns at once and needs no lock; nothing is dropped: where there is no room for it,
 * the kernel forgets everything.
 */
#pragma once

#include "fs/node.h"

struct ward_notify;

/* One thread for a tree. tree->se must exist, the tree must outlive it. */
int ward_notify_new(
	struct ward_fs_tree *tree, struct ward_notify **ret, struct ward_err *err) ward_must_check;
/*
 * The file system is gone: ends the thread, then records what others changed and nobody looked at
 * yet. Nothing but ward_notify_free() may follow.
 */
void ward_notify_end(struct ward_notify *n);
void ward_notify_free(struct ward_notify *n);

/* What lies beneath the directory with that number is not what the kernel knows: who may search it
 * changed, or its state. */
void ward_notify_dir(struct ward_notify *n, uint64_t number);
/*
 * The same for who may search it, at a request that is not answered yet, whose caller holds the
 * lock of that directory: where the kernel has epochs, names are forgotten when this returns.
 * Elsewhere what it keeps of them is found for a moment more.
 */
void ward_notify_search(struct ward_notify *n, uint64_t number);
/*
 * Everything: names, absent ones too, attributes, listings, and pages of files that are not mapped
 * past us. Returns a ticket for ward_notify_wait(): true once the kernel has forgotten, and what
 * was under way then has been forgotten again; false at until_ns (CLOCK_MONOTONIC).
 */
uint64_t ward_notify_everything(struct ward_notify *n);
bool ward_notify_wait(struct ward_notify *n, uint64_t ticket, uint64_t until_ns) ward_must_check;
/* Others did something that ward_watch_read() has yet to hand out. */
void ward_notify_changes(struct ward_notify *n);
/* The attributes of node. */
void ward_notify_attr(struct ward_notify *n, struct ward_node *node);
