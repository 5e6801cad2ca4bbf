/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel is to forget, queued for the thread that says so (forget_thread.h). The thread
 * that asks may hold locks, and serve a request whose caller holds a lock that the kernel needs for
 * it: so nothing here waits, but ward_forget_wait().
 *
 * Nothing is dropped: where there is no room for an item, the kernel forgets everything.
 */
#pragma once

#include "fs/base/fs.h"

struct ward_forget_queue;

/* The tree must outlive it. */
int ward_forget_queue_new(struct ward_fs_tree *tree, struct ward_forget_queue **ret,
	struct ward_err *err) ward_must_check;
void ward_forget_queue_free(struct ward_forget_queue *q);

/* What lies beneath the directory with that number is not what the kernel knows: who may search it
 * changed, or its state. */
void ward_forget_dir(struct ward_forget_queue *q, uint64_t number);
/*
 * The same for who may search it, at a request that is not answered yet, whose caller holds the
 * lock of that directory: where the kernel has epochs, names are forgotten when this returns.
 * Elsewhere what it keeps of them is found for a moment more.
 */
void ward_forget_search(struct ward_forget_queue *q, uint64_t number);
/* The attributes of the node with that number. */
void ward_forget_attr(struct ward_forget_queue *q, uint64_t number);
/*
 * Everything: names, absent ones too, attributes, listings, and pages of files that are not mapped
 * past us. Returns a ticket for ward_forget_wait(): true once the kernel has forgotten, and what
 * was under way then has been forgotten again; false at until_ns (CLOCK_MONOTONIC).
 */
uint64_t ward_forget_everything(struct ward_forget_queue *q);
bool ward_forget_wait(
	struct ward_forget_queue *q, uint64_t ticket, uint64_t until_ns) ward_must_check;
/* There is something else for the thread to do: read the watch, close what was held. */
void ward_forget_wake(struct ward_forget_queue *q);

/* Every entry the kernel has, also those of names that do not exist, is forgotten: Linux 6.16.
 * False: this kernel cannot. */
bool ward_forget_epoch(struct ward_fs_tree *tree);

/* --- for the thread --- */

struct ward_forget_item {
	uint64_t number;
	bool beneath; /* else its attributes */
};
/* What was asked for beside the items. */
struct ward_forget_rest {
	bool all;	 /* everything */
	bool pages;	 /* with the pages of files */
	uint64_t ticket; /* the last one given out */
};
/* Readable when there is something to do. */
int ward_forget_fd(const struct ward_forget_queue *q);
/* Makes it unreadable until it is woken again. */
void ward_forget_awake(struct ward_forget_queue *q);
/* Takes the next item; false: the queue is empty, and *ret_rest is taken. */
bool ward_forget_next(struct ward_forget_queue *q, struct ward_forget_item *ret,
	struct ward_forget_rest *ret_rest);
/* The thread itself has no room, or lost sight: everything, the next time that it looks. */
void ward_forget_lost(struct ward_forget_queue *q);
/* Up to this ticket all is forgotten. */
void ward_forget_done(struct ward_forget_queue *q, uint64_t ticket);
