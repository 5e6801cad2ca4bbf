/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The listing that will be asked for next, made while the client is busy with the last one: a walk
 * through a tree then waits for little more than the wake-ups. While a listing has more entries, it
 * is the next part of that listing. At its end it is guessed as a depth-first walk goes: the first
 * directory of the listing just given, else the next one beside it, else beside those above. What
 * is ready is used only if nothing was changed meanwhile, by the agent or by others, and nobody had
 * a file of it open for writing.
 *
 * NULL for a struct ward_ahead: nothing happens.
 */
#pragma once

#include "fs/ops/listing.h"

struct ward_ahead;

int ward_ahead_new(
	struct ward_fs_tree *tree, struct ward_ahead **ret, struct ward_err *err) ward_must_check;
/* Before the nodes go. */
void ward_ahead_free(struct ward_ahead *a);

/*
 * A request is about to be served. One that changes something spoils what is ready, and nothing is
 * made ready before it is done: true, and ward_ahead_changed() is to follow.
 */
bool ward_ahead_begin(struct ward_ahead *a, const char *msg, size_t len) ward_must_check;
void ward_ahead_changed(struct ward_ahead *a);
/*
 * l, the answer that is about to be given, has entries of node's listing. True: there is something
 * to do for ward_ahead_step().
 */
bool ward_ahead_guess(struct ward_ahead *a, struct ward_node *node, const struct ward_listing *l);
/* There is time: a few entries more (some 10 µs). false: there is nothing to do. */
bool ward_ahead_step(struct ward_ahead *a);
/*
 * Is the answer l that is asked for of node ready? Then it is put into l; l->buf is the caller's,
 * with the lookups in it.
 */
bool ward_ahead_take(struct ward_ahead *a, const struct ward_node *node, struct ward_listing *l);

/*
 * The answer l of node's listing was made. A program that lists a directory asks once more after
 * its end: true if what l asks for is that, known from the answer before it, so that nothing need
 * be opened.
 */
void ward_ahead_made(
	struct ward_ahead *a, const struct ward_node *node, const struct ward_listing *l);
bool ward_ahead_at_end(
	struct ward_ahead *a, const struct ward_node *node, const struct ward_listing *l);
