/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one table of sections and keys (key_table.c), and what their types do (key_types.c). Reading,
 * merging, filling struct ward_settings, reloading and the documents follow them: wardfs-policy(5)
 * has their rows (static/keys compares them), and wardfs-policy(5) is made from them. No other code
 * compares the word of a key or of a section.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "enforcer/base/err.h"
#include "enforcer/policy/policy.h"

struct ward_entry;

enum ward_section_id {
	WARD_SECTION_POLICY = 0,
	WARD_SECTION_TREE,
	WARD_SECTION_GUARD,
	WARD_SECTION_FILES,
	WARD_SECTION_LIFT,
	WARD_SECTION_QUOTA,
	WARD_SECTION_LIMITS,
	WARD_SECTION_HOME,
	WARD_SECTION_SYSTEM,
	WARD_SECTION_CONTAINER,
	WARD_SECTION_ENV,
	WARD_SECTION_PROCESS,
	WARD_SECTION_AGENT,
	WARD_SECTION_AUTO,
	WARD_SECTION_NETWORK,
	WARD_SECTION_APPROVALS,
	WARD_SECTION_REVIEW,
	WARD_SECTION_SESSION,
	WARD_SECTION_AUDIT,
	WARD_SECTION_EXPECT,
	WARD_SECTION_TEST,
	WARD_SECTION_COUNT_,
};

struct ward_section {
	const char *name;
	bool path; /* stands with a path: [tree P] */
	bool run;  /* the command line of a run speaks of it */
};

/* By enum ward_section_id. */
extern const struct ward_section ward_sections[WARD_SECTION_COUNT_];

enum ward_key_type {
	WARD_KEY_TYPE_NONE = 0,
	WARD_KEY_TYPE_VERSION,
	WARD_KEY_TYPE_TEXT,
	WARD_KEY_TYPE_EXTENDS,
	WARD_KEY_TYPE_WORD, /* one of words, the strictest first */
	WARD_KEY_TYPE_RULE, /* a pattern; the key is the verb */
	WARD_KEY_TYPE_LIFT, /* the same, of one absolute path */
	WARD_KEY_TYPE_SIZE,
	WARD_KEY_TYPE_COUNT,
	WARD_KEY_TYPE_TIME,
	WARD_KEY_TYPE_SIZE_RATE,
	WARD_KEY_TYPE_COUNT_RATE,
	WARD_KEY_TYPE_SIZE_SHARE, /* a size, or a percentage of the host's memory */
	WARD_KEY_TYPE_CPUS,	  /* tenths, a percentage or all-N of the host's */
	WARD_KEY_TYPE_CPU_TIME,	  /* a time, or one for each of the host's CPUs */
	WARD_KEY_TYPE_HOST_PATH,  /* absolute, ~/ or relative to the file */
	WARD_KEY_TYPE_IMAGE,	  /* a reference, or such a path (image_name.h) */
	WARD_KEY_TYPE_ENGINE,	  /* a word, or an absolute path */
	WARD_KEY_TYPE_TREE_SOURCE,
	WARD_KEY_TYPE_TREE_AT,
	WARD_KEY_TYPE_ENV_PASS,
	WARD_KEY_TYPE_ENV_SET,
	WARD_KEY_TYPE_SEED,    /* FILE[ if NAME]: TEXT */
	WARD_KEY_TYPE_PROGRAM, /* absolute path or pattern */
	WARD_KEY_TYPE_SHELL,   /* words: the name of a program, and arguments */
	WARD_KEY_TYPE_MODULE,  /* of Python: words with dots */
	WARD_KEY_TYPE_ALLOW,   /* a destination */
	WARD_KEY_TYPE_DENY,
	WARD_KEY_TYPE_ASK_HOST, /* a destination */
	WARD_KEY_TYPE_PORTS,
	WARD_KEY_TYPE_URL,	  /* of a proxy */
	WARD_KEY_TYPE_HEADER,	  /* the name of one */
	WARD_KEY_TYPE_CHECKPOINT, /* count or time */
	WARD_KEY_TYPE_ANCHOR,
	WARD_KEY_TYPE_PUBLIC_KEY, /* of Ed25519 (approver_key.h) */
	WARD_KEY_TYPE_APPROVERS,  /* how many of them */
	WARD_KEY_TYPE_WARM,	  /* how many prepared sessions */
	WARD_KEY_TYPE_EXPECT,
	WARD_KEY_TYPE_LEAST,	   /* a mode that is a wall by itself */
	WARD_KEY_TYPE_RISK_POINTS, /* a row of conf/risk.table, and points */
	WARD_KEY_TYPE_RISK_FROM,   /* a mode, and points */
	WARD_KEY_TYPE_SIGNER,	   /* a public key of minisign or signify */
	WARD_KEY_TYPE_TOOLS,
	WARD_KEY_TYPE_MONEY,
	WARD_KEY_TYPE_EXPECTED_PATH, /* absolute path or pattern */
	WARD_KEY_TYPE_EXPECTED_LOOK, /* the same */
	WARD_KEY_TYPE_EXPECTED_HOST, /* a destination */
	WARD_KEY_TYPE_COUNT_,
};

/* How floor and project file combine with the base. */
enum ward_merge {
	WARD_MERGE_BASE = 0, /* only the base may set it */
	WARD_MERGE_MIN,	     /* the smaller number; of words the stricter */
	WARD_MERGE_MIN_OPEN, /* so, and the command line of a run only opens what is closed */
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

/*
 * How a key fills its member: of struct ward_settings, or in a section with a path, of the struct
 * of that path (struct ward_tree, struct ward_quota).
 */
enum ward_key_fill {
	WARD_FILL_NONE = 0, /* no member: the rules, the check or one file asks for its type */
	WARD_FILL_NUMBER,   /* uint64_t; WARD_UNLIMITED: neither set nor a default */
	WARD_FILL_FLAG,	    /* bool: the second of two words */
	WARD_FILL_WORD,	    /* an enum: the index of the word */
	WARD_FILL_WORDS,    /* struct ward_word_set: all that were said */
	WARD_FILL_MODE,	    /* a row of the table of modes */
	WARD_FILL_TEXT,	    /* char *; NULL: neither set nor a default */
	WARD_FILL_STRINGS,  /* struct ward_strings: one a line */
	WARD_FILL_PROXY,    /* struct ward_proxy */
	WARD_FILL_READER,   /* read() does */
};

struct ward_key;

/*
 * Fills what a key says after the merge into `base`, where the member begins that the row names.
 * instance: the path of [tree P] and [quota P], else "".
 */
typedef int (*ward_key_read_fn)(struct ward_policy *p, const struct ward_key *k,
	const char *instance, void *base, struct ward_err *err);

struct ward_key {
	const struct ward_section *section;
	const char *name;
	enum ward_key_type type;
	bool repeats;
	const char *const *words; /* WARD_KEY_TYPE_WORD */
	enum ward_verb verb;	  /* WARD_KEY_TYPE_RULE */
	enum ward_merge merge;
	unsigned by; /* set of ward_key_setter */
	enum ward_key_live live;
	uint32_t ready;
	const char *fallback; /* default as text; NULL: none */
	struct {
		enum ward_key_fill fill;
		size_t offset;
		ward_key_read_fn read; /* WARD_FILL_READER */
	} into;
	const char *doc; /* what it says, in a sentence or two; `word` as in Markdown */
};

/* What all keys of a type have in common. */
struct ward_key_type_ops {
	const char *name;    /* what the documents call a value; NULL: they list the words */
	const char *example; /* a value; NULL: the first word */
	bool any_case;	     /* values that differ in case alone are one (RFC 4343) */
	bool host_path;	     /* a relative path belongs to the directory of its file */
	/* Checks a value; *ret_number: what it counts, 0 where it counts nothing. */
	int (*parse)(const struct ward_key *k, const char *value, uint64_t *ret_number,
		struct ward_err *err);
	/*
	 * Adds to p->effective what holds of the n > 0 entries of one key and path. NULL: the row's
	 * merge says it. -ENOMEM.
	 */
	int (*merge)(struct ward_policy *p, const struct ward_entry *const *v, size_t n);
};

/* By enum ward_key_type. */
extern const struct ward_key_type_ops ward_key_types[WARD_KEY_TYPE_COUNT_];

/* All keys, ended by a NULL section. */
extern const struct ward_key ward_keys[];

static inline bool ward_key_in(const struct ward_key *k, enum ward_section_id id)
{
	return k->section == &ward_sections[id];
}

/* Does it fill the member of struct ward_settings at this offset? */
static inline bool ward_key_fills(const struct ward_key *k, size_t offset)
{
	return !k->section->path && k->into.fill != WARD_FILL_NONE && k->into.offset == offset &&
	       k->into.fill != WARD_FILL_READER;
}

/* Does the section hold a key that a project file may set? */
bool ward_section_of_project(const struct ward_section *section);

/* -EINVAL naming the nearest spelling. */
int ward_section_find(
	const char *name, const struct ward_section **ret, struct ward_err *err) ward_must_check;
int ward_key_find(const struct ward_section *section, const char *name, const struct ward_key **ret,
	struct ward_err *err) ward_must_check;

/* Does this word of the key have its machinery? For [policy] mode the table of modes says so. */
bool ward_key_word_ready(const struct ward_key *k, uint64_t word);

/* Checks value; *ret_number is what it counts (0 where it counts nothing). */
int ward_key_check(const struct ward_key *k, const char *value, uint64_t *ret_number,
	struct ward_err *err) ward_must_check;

/* What stands where nothing is set: the number of the default, else WARD_UNLIMITED. */
uint64_t ward_key_fallback(const struct ward_key *k);

/* Do two texts say the same in a list of this key? */
bool ward_key_same_text(const struct ward_key *k, const char *a, const char *b);
