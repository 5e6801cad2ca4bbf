/* SPDX-License-Identifier: Apache-2.0 */
/* Which records of a trail are asked for. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/log/log.h"
#include "audit/query/actors.h"
#include "audit/query/query.h"
#include "enforcer/base/err.h"

/* All borrowed; NULL, 0 or false asks for everything. */
struct ward_filter {
	const char *kind;    /* exact */
	const char *verdict; /* exact */
	const char *rule;    /* exact: FILE:LINE */
	const char *comm;    /* exact */
	/*
	 * The object or what lies beneath it, escaped (enforcer/base/escape.h); or a pattern, in
	 * which
	 * '*' stands for any bytes, '/' too. Compared with path and path2.
	 */
	const char *path;
	const char *since; /* beginning of a time as records have it: "2026-01-02T03:04" */
	const char *until; /* the same; what begins with it is still taken */
	/* As in struct ward_actors_ask; they count once `actors` knows the trail's processes. */
	uint64_t pid;
	bool descendants;
	const char *exe;
	struct ward_actors *actors;
};

/* True if nothing is asked for: every record matches. */
bool ward_filter_empty(const struct ward_filter *f);
/*
 * True if a question is about what the session did, by a verdict, a path or a rule, and names no
 * kind. The attempts that wardfs makes at the start (kind probe) are then no answer.
 */
bool ward_filter_passes_probes(const struct ward_filter *f);
/* True if the trail has to be looked through for its processes first: ward_filter_prepare(). */
bool ward_filter_asks_actors(const struct ward_filter *f);
/*
 * f->actors becomes those of this trail, where it asks for them; in the place of those of another
 * one. lines: as for ward_actors_find(). Ended by ward_filter_clear().
 */
int ward_filter_prepare(struct ward_filter *f, struct ward_log *log,
	const struct ward_query_lines *lines, struct ward_err *err) ward_must_check;
/* Frees f->actors. */
void ward_filter_clear(struct ward_filter *f);
/* Whether a record is asked for. Of pid without `actors`, only that very thread's. */
bool ward_filter_match(const struct ward_filter *f, const json_t *record);

/* Which records of a trail to look at. */
struct ward_select {
	const struct ward_filter *filter;
	const struct ward_query_lines *lines; /* these and all from `end` on, as an index says */
};
/*
 * Walks the records that match; s NULL: all lines. A line that is no record comes with record NULL
 * where nothing is asked for, and not otherwise.
 */
int ward_select_walk(struct ward_log *log, const struct ward_select *s, ward_query_fn *fn,
	void *ctx, struct ward_err *err) ward_must_check;

/*
 * The names of one file over the time of a session: renames of it and of directories above it,
 * links to it, and the names that it had before it got this one (an atomic save).
 */
struct ward_file_names;
/* Names that are followed at most; a trail in which one file had more says so (-E2BIG). */
#define WARD_FILE_NAMES_MAX 10000

/*
 * path: escaped, a name at any time of the session, in either place where a tree is seen. *ret is
 * the caller's.
 */
int ward_file_names_find(struct ward_log *log, const char *path, struct ward_file_names **ret,
	struct ward_err *err) ward_must_check;
/* The same, from these lines alone: they must hold every rename and link. */
int ward_file_names_find_in(struct ward_log *log, const struct ward_query_lines *lines,
	const char *path, struct ward_file_names **ret, struct ward_err *err) ward_must_check;
void ward_file_names_free(struct ward_file_names *n);
/* True if the record is about the file. */
bool ward_file_names_match(const struct ward_file_names *n, const json_t *record);
/* The i-th name (0 is the one asked for), NULL past the end (or of NULL). Borrowed. */
const char *ward_file_names_get(const struct ward_file_names *n, size_t i);
/* True for a name that is another one of them, where the tree is seen once more ([tree] at). */
bool ward_file_names_elsewhere(const struct ward_file_names *n, size_t i);
