/* SPDX-License-Identifier: Apache-2.0 */
/* The one table of sections and keys; docs/policy.md says the same in prose. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "enforcer/base/err.h"

enum ward_key_type {
	WARD_TYPE_NONE = 0,
	WARD_TYPE_VERSION,
	WARD_TYPE_TEXT,
	WARD_TYPE_EXTENDS,
	WARD_TYPE_WORD, /* one of words, the strictest first */
	WARD_TYPE_RULE, /* a pattern; the key is the verb */
	WARD_TYPE_SIZE,
	WARD_TYPE_COUNT,
	WARD_TYPE_TIME,
	WARD_TYPE_SIZE_RATE,
	WARD_TYPE_COUNT_RATE,
	WARD_TYPE_TENTHS,
	WARD_TYPE_HOST_PATH, /* absolute, ~/ or relative to the file */
	WARD_TYPE_TREE_SOURCE,
	WARD_TYPE_TREE_AT,
	WARD_TYPE_ENV_PASS,
	WARD_TYPE_ENV_SET,
	WARD_TYPE_PROGRAM, /* absolute path or pattern */
	WARD_TYPE_HOST,
	WARD_TYPE_PORTS,
	WARD_TYPE_URL,	      /* of a proxy */
	WARD_TYPE_HEADER,     /* the name of one */
	WARD_TYPE_CHECKPOINT, /* count or time */
	WARD_TYPE_ANCHOR,
	WARD_TYPE_EXPECT,
};

/* How floor and project file combine with the base. */
enum ward_merge {
	WARD_MERGE_BASE = 0, /* only the base may set it */
	WARD_MERGE_MIN,	     /* the smaller number; of words the stricter */
	WARD_MERGE_MAX,	     /* the later word (flags: yes wins) */
	WARD_MERGE_ADD,	     /* lists: all entries hold */
	WARD_MERGE_COMMON,   /* lists: what both have */
};

/* Which values have their machinery: a set of indices into words, or one of these. */
#define WARD_READY_ALL UINT32_MAX
#define WARD_READY_NONE 0U /* the default alone */

struct ward_key {
	const char *section;
	const char *name;
	enum ward_key_type type;
	enum ward_merge merge;
	uint32_t ready;
	bool repeats;
	bool project;		  /* a project file may hold it */
	const char *fallback;	  /* default as text; NULL: none */
	const char *const *words; /* WARD_TYPE_WORD */
};

/* All keys, ended by a NULL section. */
extern const struct ward_key ward_keys[];

/* "tree" and "quota" stand with a path. NULL-terminated. */
extern const char *const ward_sections[];
bool ward_section_has_path(const char *section);

/* -EINVAL naming the nearest spelling. */
int ward_section_find(const char *name, const char **ret, struct ward_err *err) ward_must_check;
int ward_key_find(const char *section, const char *name, const struct ward_key **ret,
	struct ward_err *err) ward_must_check;

/* Checks value; *ret_number is what it counts (0 where it counts nothing). */
int ward_key_check(const struct ward_key *k, const char *value, uint64_t *ret_number,
	struct ward_err *err) ward_must_check;
