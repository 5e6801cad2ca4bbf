/* SPDX-License-Identifier: Apache-2.0 */
/* Which records of a trail are asked for. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/log.h"
#include "audit/query.h"
#include "audit/threads.h"
#include "enforcer/base/err.h"

/* All borrowed; NULL or 0 asks for everything. */
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
	uint64_t pid;	   /* of a process, or of a thread */
	struct ward_threads *threads; /* of pid: its other threads count too */
};

/* With `threads`: for each record of the trail once, in their order. */
bool ward_filter_match(const struct ward_filter *f, const json_t *record);

/*
 * The names of one file over the time of a session: renames of it and of directories above it,
 * links to it, and the names that it had before it got this one (an atomic save).
 */
struct ward_file_names;
/* Names that are followed at most; a trail in which one file had more says so (-E2BIG). */
#define WARD_FILE_NAMES_MAX 1000

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
