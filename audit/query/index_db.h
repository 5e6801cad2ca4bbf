/* SPDX-License-Identifier: Apache-2.0 */
/* Part of the index: the database, its tables, and errors of SQLite as ours. */
#pragma once

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "audit/log/log.h"
#include "audit/store/store.h"
#include "enforcer/base/err.h"

/* PRAGMA user_version. An index with another number has another schema, and is made again. */
#define WARD_INDEX_SCHEMA 10

/*
 * SQL: rows of sessions that have ended and are in the index whole; all others. Partial indexes
 * have these terms, and SQLite takes them where a question has the same text.
 */
#define WARD_INDEX_WHOLE "settled = 2 AND odd = 0 AND records > 0"
#define WARD_INDEX_PART "(settled < 2 OR odd > 0 OR records = 0)"

struct ward_index_db {
	sqlite3 *db; /* NULL: closed */
};
void ward_index_db_close(struct ward_index_db *x);
/* Opens the file of a store. flags: of sqlite3_open_v2(). */
int ward_index_db_open(struct ward_store *st, int flags, struct ward_index_db *ret,
	struct ward_err *err) ward_must_check;
/* From now on nothing but reading. */
void ward_index_db_only_read(const struct ward_index_db *x);
/* Opens it for a question: nothing but reading. -ENODATA: there is no index that can be asked. */
int ward_index_open_asked(
	struct ward_store *st, struct ward_index_db *x, struct ward_err *err) ward_must_check;
/* Makes the tables in an empty database. */
int ward_index_db_make(const struct ward_index_db *x, struct ward_err *err) ward_must_check;
/* -EBADMSG: a table or an index is gone, changed, or one too many (a trigger would run in here). */
int ward_index_db_check(const struct ward_index_db *x, struct ward_err *err) ward_must_check;

/* A result of SQLite as a negative errno; 0 for results that are no errors. */
int ward_index_db_error(int rc) ward_must_check;
/* The same, with what SQLite says of the last call. Never 0. */
int ward_index_db_fail(const struct ward_index_db *x, int rc, struct ward_err *err) ward_must_check;
int ward_index_db_run(
	const struct ward_index_db *x, const char *sql, struct ward_err *err) ward_must_check;
/* The same for one statement whose parameter is the number of a session. */
int ward_index_db_run_for(const struct ward_index_db *x, const char *sql, int64_t session,
	struct ward_err *err) ward_must_check;
/* The number that a SELECT answers. */
int ward_index_db_number(const struct ward_index_db *x, const char *sql, uint64_t *ret,
	struct ward_err *err) ward_must_check;

/*
 * Beginnings of times (NULL: none) as ns since 1970, all moments between that they cover. False:
 * moments that are not meant are among these.
 */
bool ward_index_times(
	const char *since, const char *until, int64_t *ret_from, int64_t *ret_to) ward_must_check;

/*
 * What the files of a session look like from outside: names, inodes, sizes, times. Where it is what
 * it was, the trail is the one that was indexed, and nothing of it need be read. Empty: none.
 */
#define WARD_INDEX_STAMP_MAX 33
void ward_index_stamp(struct ward_store *st, const char *session, char ret[WARD_INDEX_STAMP_MAX]);
/* True if a line with the mac `last` (hexadecimal) ends at `bytes`; of 0 bytes always. */
bool ward_index_same(struct ward_log *log, uint64_t bytes, const char *last);
