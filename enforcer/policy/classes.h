/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All possible names, as far as patterns distinguish them: one name for each set of components that
 * match exactly this name. What is true for one name of each class, at every step, is true for all
 * paths.
 *
 * Names of 1 to 255 bytes but "." and "..", without '/' and NUL, are gone through byte by byte, the
 * shortest first, in the globs' automaton and the tree of literals at once: a class is named here
 * only if such a name exists, and every one that does is.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "enforcer/base/buf.h"
#include "enforcer/policy/name_match.h"

/* Steps of a byte; a policy of 10,000 rules takes a tenth. Past it the list is not whole. */
#define WARD_CLASSES_STEPS_MAX (UINT32_C(1) << 23)
/* Sets of positions, and numbers in all of them together. */
#define WARD_CLASSES_SETS_MAX (UINT32_C(1) << 16)
#define WARD_CLASSES_POSITIONS_MAX (UINT32_C(1) << 24)

/* Numbers of positions that all steps together go through: some seconds. */
#define WARD_CLASSES_WORK_MAX (UINT64_C(1) << 29)

struct ward_classes;

/* What looks for classes ends at this time (CLOCK_MONOTONIC); 0: at its bounds alone. */
void ward_classes_until(struct ward_classes *c, uint64_t until_ns);

/* A component of an added pattern. */
struct ward_class_component {
	uint32_t id; /* among literals or among globs */
	bool literal;
	bool loop;
};

struct ward_class {
	char name[WARD_NAME_MAX + 1]; /* one name of it, a short one; NUL-terminated */
	size_t len;
	uint32_t literal; /* the literal that is this name, or WARD_NAMES_NO_LITERAL */
	uint32_t n_globs;
	const uint32_t *globs; /* that match, ascending */
};

int ward_classes_new(struct ward_classes **ret) ward_must_check;
void ward_classes_free(struct ward_classes *c);

/* Adds a pattern (borrowed); patterns count from 0. -ENOMEM. */
int ward_classes_add(struct ward_classes *c, const struct ward_pattern *p) ward_must_check;

/* After the last pattern: finds the classes. *ret_whole false: a bound was met. -ENOMEM. */
int ward_classes_find(struct ward_classes *c, bool *ret_whole) ward_must_check;

size_t ward_classes_count(const struct ward_classes *c);
const struct ward_class *ward_classes_at(const struct ward_classes *c, size_t i);

/* The components of pattern i. */
const struct ward_class_component *ward_classes_pattern(
	const struct ward_classes *c, size_t i, size_t *ret_n);

/*
 * The least classes among those that the component, a glob, matches (NULL: among all): what matches
 * any other one of them includes all that matches one of these. Numbers of classes into *ret,
 * borrowed. -ENOMEM; -E2BIG: there are too many classes to tell.
 */
int ward_classes_least(struct ward_classes *c, const struct ward_class_component *of,
	const uint32_t **ret, size_t *ret_n) ward_must_check;

/* How a class is shown to people: a literal, the one glob that matches it, "*", else the name. */
void ward_classes_show(const struct ward_classes *c, size_t i, struct ward_buf *b);
