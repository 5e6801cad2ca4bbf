/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file that gets new content in the place where it is, because other names of it on the host are
 * to keep it, or because nothing can be exchanged there. That is not one step. So before it begins,
 * two whole copies are on disk among the kept files: N, what the file had, and N.new, what it gets.
 * While N.new is there the file may have something of both. Then it gets what it had.
 *
 * A symbolic link is made anew (in_place_link.c): it waits as the file beside meanwhile.
 */
#pragma once

#include "enforcer/review/swap.h"

/*
 * Makes both copies: `from` in from_dir is what the file gets, with the owner of `was`. digests: of
 * that. -errno: neither is there.
 */
int ward_in_place_prepare(const struct ward_swapping *s, int from_dir, const char *from,
	const struct ward_review_base *was, struct ward_content_digests *digests) ward_must_check;
/* The same of what ward_swap_write() made ready, that cannot be exchanged. */
int ward_in_place_instead(
	const struct ward_swapping *s, const struct ward_review_base *was) ward_must_check;
/* Before it goes back: the copy of what the file has now, beside the one of what it had. */
int ward_in_place_prepare_back(const struct ward_swapping *s) ward_must_check;
/*
 * The file gets what it is to have, or, back, what it had; to disk. was: the very file. -ESTALE:
 * another file stands there, or came there meanwhile: the file has what it had. -errno: it may have
 * something of both.
 */
int ward_in_place_write(const struct ward_swapping *s, const struct ward_review_base *was,
	bool back) ward_must_check;
/*
 * The same of a link, which gets the target of `gets` among the kept files. -EBUSY: somebody made
 * another file of the name; the link is beside.
 */
int ward_in_place_link(const struct ward_swapping *s, const struct ward_review_base *was,
	const char *gets) ward_must_check;
/* N.new goes: the file is whole. */
void ward_in_place_end(const struct ward_swapping *s);
/* Is N.new there? */
bool ward_in_place_is_open(int keep, const char *kept);
/* 1: everything in the file is of one of the two copies. 0: somebody else wrote to it. -errno. */
int ward_in_place_is_ours(const struct ward_swapping *s) ward_must_check;
/*
 * A link whose change was begun has the target again that it had: 1. 0: somebody else has made what
 * stands there. -errno. The second one is for the first: new is the name of N.new.
 */
int ward_in_place_link_back(const struct ward_swapping *s) ward_must_check;
int ward_in_place_restore(const struct ward_swapping *s, const char *new) ward_must_check;
