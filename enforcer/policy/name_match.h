/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which components of a policy's patterns match a name.
 *
 * The distinct components of all patterns are numbered: literal ones are found by hash; the others
 * run together as one automaton over bytes, built lazily and kept. The result is a class: names of
 * one class are matched by exactly the same components, so what follows is memoised by class.
 * Costs are linear in the name's length; memory is bounded, past the bound the same answer is
 * computed afresh.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "enforcer/policy/pattern.h"

struct ward_names;

/* "No literal component is this name." */
#define WARD_NAMES_NO_LITERAL UINT32_MAX

/* The globs that match, by number, ascending. */
struct ward_globs {
	struct ward_globs *chain;
	uint64_t hash;
	bool kept; /* lives as long as the ward_names, one object for each set */
	uint32_t n;
	uint32_t ids[];
};

struct ward_name_class {
	uint32_t literal; /* number of the literal component, or WARD_NAMES_NO_LITERAL */
	const struct ward_globs *globs;
};

int ward_names_new(struct ward_names **ret) ward_must_check;
void ward_names_free(struct ward_names *nm);

/* Numbers component c of p; equal components get equal numbers. Literals and globs count apart. */
int ward_names_add(struct ward_names *nm, const struct ward_pattern *p,
	const struct ward_component *c, uint32_t *ret_id) ward_must_check;
/* After the last ward_names_add(). budget: bytes the lazily built part may take. */
int ward_names_seal(struct ward_names *nm, size_t budget) ward_must_check;

size_t ward_names_literals(const struct ward_names *nm);
size_t ward_names_globs(const struct ward_names *nm);

/* Thread-safe. Give the result back with ward_names_release(). -ENOMEM. */
int ward_names_classify(struct ward_names *nm, const char *name, size_t len,
	struct ward_name_class *ret) ward_must_check;
void ward_names_release(const struct ward_name_class *c);

/* Bytes that the lazily built part takes now. */
size_t ward_names_memory(struct ward_names *nm);

/*
 * The globs' automaton by hand, for who looks at all names at once (classes.h): a set of positions,
 * sorted, and the set after one more byte. Buffers have room for ward_names_room() numbers. After
 * ward_names_seal().
 */
size_t ward_names_room(const struct ward_names *nm);
size_t ward_names_begin(const struct ward_names *nm, uint32_t *ret_pos);
size_t ward_names_advance(const struct ward_names *nm, const uint32_t *now, size_t n, uint8_t byte,
	uint32_t *ret_pos);
/* The globs that match if the name ends at these positions, ascending; how many. */
size_t ward_names_matched(
	const struct ward_names *nm, const uint32_t *pos, size_t n, uint32_t *ret_globs);
/* Numbers bytes so that no glob tells bytes of one number apart; returns how many numbers. */
unsigned ward_names_alphabet(const struct ward_names *nm, uint8_t ret_number[256]);
