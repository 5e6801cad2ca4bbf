/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One pattern of a rule, taken apart.
 *
 * A pattern is a sequence of components, matched against the names of a path from its root. It
 * covers the path that it names and everything beneath. `**` stands for any number of names: it
 * becomes a mark on the component after it ("any names may come before"). A pattern without a
 * leading '/' has this mark on its first component. At the end, "X/" "**" is what lies beneath X:
 * one more component that every name matches.
 *
 * Within a name '*' is any run of bytes (none included), '?' one byte, [a-z] and [!a-z] a set of
 * bytes; '\' takes the next byte literally. Leading dots are bytes like others.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "enforcer/base/err.h"

/* Deeper than any path of PATH_MAX that people write rules for; bounds an automaton position. */
#define WARD_PATTERN_COMPONENTS_MAX 128
/* NAME_MAX: no longer name exists. */
#define WARD_NAME_MAX 255

enum ward_glob_kind {
	WARD_GLOB_BYTE = 0,
	WARD_GLOB_ANY,	/* '?' */
	WARD_GLOB_SET,	/* [..] */
	WARD_GLOB_STAR, /* '*' */
	WARD_GLOB_END,	/* the whole name was matched */
};

struct ward_glob_elem {
	uint8_t kind;
	uint8_t byte;
	uint32_t set; /* index into ward_pattern.sets */
};

struct ward_byte_set {
	uint64_t bits[4];
};

struct ward_component {
	bool loop;    /* any names may come before */
	bool literal; /* all elements are WARD_GLOB_BYTE */
	size_t first; /* first element */
	size_t n;     /* number of elements, without an end */
};

struct ward_pattern {
	struct ward_component *components;
	size_t n;
	struct ward_glob_elem *elems;
	size_t n_elems;
	struct ward_byte_set *sets;
	size_t n_sets;
};

static inline bool ward_byte_set_has(const struct ward_byte_set *s, uint8_t b)
{
	return s->bits[b >> 6] >> (b & 63) & 1;
}

/*
 * Takes text apart. fold: letters of ASCII match both cases. *ret is filled afresh and must be
 * cleared. -EINVAL with what is wrong, -ENOMEM.
 */
int ward_pattern_parse(const char *text, bool fold, struct ward_pattern *ret,
	struct ward_err *err) ward_must_check;
void ward_pattern_clear(struct ward_pattern *p);

/* Does one component match the name of len bytes? What may come before it plays no part. */
bool ward_component_matches(const struct ward_pattern *p, const struct ward_component *c,
	const uint8_t *name, size_t len);
/*
 * Does the pattern cover the absolute path of len bytes? One walk over one path, for what is asked
 * seldom; the automaton (automaton.h) asks all patterns at once.
 */
bool ward_pattern_covers_path(const struct ward_pattern *p, const char *path, size_t len);
