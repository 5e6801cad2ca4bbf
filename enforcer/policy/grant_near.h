/* SPDX-License-Identifier: Apache-2.0 */
/*
 * May one of many patterns say anything about a path? Most paths are far from every grant, and for
 * them this answers "no" in a few nanoseconds, without a lock, a clock or the automaton.
 *
 * What counts of a pattern is its beginning without wildcards. A path is near a pattern if one of
 * the two is a beginning of the other, byte by byte. So the path, all beneath it and all above it
 * (which a grant lets pass) are near. "Near" may be said too often, never too seldom.
 *
 * A trie over these beginnings, as words in memory that readers may read while it is written anew:
 * a reader that meets a writer says "near". Memory is reused, and grows by doubling; what became
 * too small stays until ward_grant_near_clear(), because a reader may still look at it.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "enforcer/policy/pattern.h"

struct ward_grant_near_words;

/* Zero: near nothing. */
struct ward_grant_near {
	_Atomic uint64_t turn; /* odd: somebody writes */
	_Atomic(struct ward_grant_near_words *) words;
};

/*
 * From now on these n patterns count, each anchored. One thread at a time. -ENOMEM: whatever
 * counted before counts still, so the caller must not add the new pattern; one that is there
 * needlessly does no harm.
 */
int ward_grant_near_set(
	struct ward_grant_near *t, const struct ward_pattern *patterns, size_t n) ward_must_check;
/* Nobody reads any more. Frees all memory; t is zero again. */
void ward_grant_near_clear(struct ward_grant_near *t);
/* Is the absolute path of len bytes near one of them? Any thread. */
bool ward_grant_near(const struct ward_grant_near *t, const char *path, size_t len);
