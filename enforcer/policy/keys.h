/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one table of sections and keys (key_table.c). Reading, merging, filling struct ward_settings,
 * reloading and the documents follow it: docs/policy.md has its rows (static/keys compares them),
 * and wardfs-policy(5) is made from it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "enforcer/base/err.h"

enum ward_key_type {
	WARD_KEY_TYPE_NONE = 0,
	WARD_KEY_TYPE_VERSION,
	WARD_KEY_TYPE_TEXT,
	WARD_KEY_TYPE_EXTENDS,
	WARD_KEY_TYPE_WORD, /* one of words, the strictest first */
	WARD_KEY_TYPE_RULE, /* a pattern; the key is the verb */
	WARD_KEY_TYPE_SIZE,
	WARD_KEY_TYPE_COUNT,
	WARD_KEY_TYPE_TIME,
	WARD_KEY_TYPE_SIZE_RATE,
	WARD_KEY_TYPE_COUNT_RATE,
	WARD_KEY_TYPE_TENTHS,
	WARD_KEY_TYPE_HOST_PATH, /* absolute, ~/ or relative to the file */
	WARD_KEY_TYPE_TREE_SOURCE,
	WARD_KEY_TYPE_TREE_AT,
	WARD_KEY_TYPE_ENV_PASS,
	WARD_KEY_TYPE_ENV_SET,
	WARD_KEY_TYPE_PROGRAM, /* absolute path or pattern */
	WARD_KEY_TYPE_HOST,
	WARD_KEY_TYPE_PORTS,
	WARD_KEY_TYPE_URL,	  /* of a proxy */
	WARD_KEY_TYPE_HEADER,	  /* the name of one */
	WARD_KEY_TYPE_CHECKPOINT, /* count or time */
	WARD_KEY_TYPE_ANCHOR,
	WARD_KEY_TYPE_EXPECT,
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

/* Who may set a key; a set. */
enum ward_key_setter {
	WARD_BY_BASE = 1U << 0, /* the base, what it extends, and the command line of a run */
	WARD_BY_FLOOR = 1U << 1,
	WARD_BY_PROJECT = 1U << 2,
};

/* May a reload change it while a session runs? */
enum ward_key_live {
	WARD_LIVE_NO = 0,
	WARD_LIVE_VALUE, /* its value; a reload neither adds it nor takes it away */
	WARD_LIVE_YES,
};

/* How a key fills its member of struct ward_settings. */
enum ward_key_fill {
	WARD_FILL_NONE = 0, /* code of its own does */
	WARD_FILL_NUMBER,   /* uint64_t; WARD_UNLIMITED: neither set nor a default */
	WARD_FILL_FLAG,	    /* bool: the second of two words */
	WARD_FILL_WORD,	    /* an enum: the index of the word */
	WARD_FILL_STRINGS,  /* struct ward_strings: one a line */
};

struct ward_key {
	const char *section;
	const char *name;
	enum ward_key_type type;
	bool repeats;
	const char *const *words; /* WARD_KEY_TYPE_WORD */
	enum ward_merge merge;
	unsigned by; /* set of ward_key_setter */
	enum ward_key_live live;
	uint32_t ready;
	const char *fallback; /* default as text; NULL: none */
	struct {
		enum ward_key_fill fill;
		size_t offset; /* in struct ward_settings */
	} into;
	const char *doc; /* what it says, in a sentence or two; `word` as in Markdown */
};

/* All keys, ended by a NULL section. */
extern const struct ward_key ward_keys[];

/* "tree" and "quota" stand with a path. NULL-terminated. */
extern const char *const ward_sections[];
bool ward_section_has_path(const char *section);
/* Does the section hold a key that a project file may set? */
bool ward_section_of_project(const char *section);

/* -EINVAL naming the nearest spelling. */
int ward_section_find(const char *name, const char **ret, struct ward_err *err) ward_must_check;
int ward_key_find(const char *section, const char *name, const struct ward_key **ret,
	struct ward_err *err) ward_must_check;

/* Does this word of the key have its machinery? For [policy] mode the table of modes says so. */
bool ward_key_word_ready(const struct ward_key *k, uint64_t word);

/* Checks value; *ret_number is what it counts (0 where it counts nothing). */
int ward_key_check(const struct ward_key *k, const char *value, uint64_t *ret_number,
	struct ward_err *err) ward_must_check;

/* Of WARD_KEY_TYPE_CHECKPOINT: a time, or a count? */
bool ward_checkpoint_is_time(const char *value);
