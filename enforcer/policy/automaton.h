/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The automaton over path components: which patterns cover a path.
 *
 * A position is (pattern, components matched so far). A state is the set of positions where a path
 * stands ("live"), and the set of patterns that cover it ("hits": they cover everything beneath, so
 * hits only grow on the way down). Patterns that may begin at every depth are live everywhere and
 * therefore not stored. States are made when a path first leads to them and found again by content:
 * the policy treats two paths in the same state alike, and everything beneath them.
 *
 * Up to the memory bound states live as long as the automaton, and a step is two look-ups without a
 * lock. Past it, states are single objects with a count, computed afresh: slower, the same answer.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "enforcer/base/err.h"
#include "enforcer/policy/name_match.h"

struct ward_automaton;

#define WARD_RIGHT_BITS 9

/* What the policy makes of a state's hits; computed once (outcome.c). */
struct ward_outcome {
	uint32_t give; /* rights given */
	uint32_t may;  /* rights given or left to a person (`ask`) */
	/* What a grant may give at most: all that guards, floor, project file, `noexec` and the
	 * list of programs leave, to a person where they ask. */
	uint32_t grantable;
	bool passage; /* something beneath may be visible */
	bool open;    /* no rule hides it or anything beneath, whatever the names are */
	/* 1 + number of the rule of `secret` in force there, 0: none. The rest applies to a file
	 * that is no secret. A secret has only these rights ([lift]). */
	uint32_t secret, secret_give;
	/* per right: 1 + number of the rule that gives or refuses it; 0: the default */
	uint32_t rule[WARD_RIGHT_BITS];
};

struct ward_state {
	struct ward_outcome outcome;
	uint64_t hash;
	struct ward_state *chain;
	struct ward_state *older; /* of all that are kept */
	bool kept;		  /* lives as long as the automaton */
	_Atomic uint32_t refs;	  /* of a single state */
	uint32_t n_live, n_hits;
	uint32_t ids[]; /* live positions, ascending; then hit patterns, ascending */
};

static inline const uint32_t *ward_state_hits(const struct ward_state *s)
{
	return s->ids + s->n_live;
}

/* Called once for each new state, before anyone sees it. */
typedef void (*ward_outcome_fn)(const void *ctx, const struct ward_automaton *a,
	const struct ward_state *s, struct ward_outcome *ret);

/* Positions of all patterns together; 10,000 rules of 20 names are a fifth of it. */
#define WARD_AUTOMATON_POSITIONS_MAX (1U << 20)

/*
 * Takes n patterns (borrowed during the call). ctx and outcome_fn as above; memory_max: bytes of
 * all that is built lazily. -ENOMEM, -E2BIG (too many positions).
 */
int ward_automaton_new(const struct ward_pattern *patterns, size_t n, ward_outcome_fn outcome_fn,
	const void *ctx, size_t memory_max, struct ward_automaton **ret) ward_must_check;
void ward_automaton_free(struct ward_automaton *a);

/* The state of "/"; borrowed. */
const struct ward_state *ward_automaton_root(const struct ward_automaton *a);

/* The state of child name; one reference. Thread-safe. -ENOMEM, -EINVAL (no name). */
int ward_automaton_step(struct ward_automaton *a, const struct ward_state *s, const char *name,
	size_t len, const struct ward_state **ret) ward_must_check;

const struct ward_state *ward_state_get(const struct ward_state *s);
void ward_state_put(const struct ward_state *s);

/* The pattern of a live position. */
uint32_t ward_automaton_pattern(const struct ward_automaton *a, uint32_t position);
/* Does its next component stand for any number of names (`**`)? Is it the pattern's last? */
bool ward_automaton_loops(const struct ward_automaton *a, uint32_t position);
bool ward_automaton_last(const struct ward_automaton *a, uint32_t position);

/* Bytes that the lazily built parts take now. */
size_t ward_automaton_memory(struct ward_automaton *a);
