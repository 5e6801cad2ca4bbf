/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The listing that will be asked for next, made while the client is busy with the last one: a walk
 * through a tree then waits for little more than the wake-ups. Guessed as a depth-first walk goes:
 * the first directory of the listing just given, else the next one beside it, else beside those
 * above. What is ready is used only if nothing was changed meanwhile, by the agent or by others,
 * and nobody had a file of it open for writing.
 *
 * NULL for a struct ward_ahead: nothing happens.
 */
#pragma once

#include "fs/listing.h"

struct ward_ahead;

int ward_ahead_new(
	struct ward_fs_tree *tree, struct ward_ahead **ret, struct ward_err *err) ward_must_check;
/* Before the nodes go. */
void ward_ahead_free(struct ward_ahead *a);

/* A request arrived: one that changes something spoils what is ready. */
void ward_ahead_note(struct ward_ahead *a, const char *msg, size_t len);
/* The first part of node's listing was given, size bytes at most. */
void ward_ahead_guess(struct ward_ahead *a, struct ward_node *node, size_t size);
/* There is time: a few entries more (some 10 µs). false: there is nothing to do. */
bool ward_ahead_step(struct ward_ahead *a);
/*
 * Is the answer l that is asked for through h ready? Then it is put into l; l->buf is the caller's,
 * with the lookups in it.
 */
bool ward_ahead_take(struct ward_ahead *a, const struct ward_handle *h, struct ward_listing *l);
