/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An index over the trails of a state directory, in SQLite: answers questions about one file among
 * many records at once. wardfs makes it from the trails, and can make it again at any time. The
 * index proves nothing, and no decision depends on it. The file index.sqlite, 0600, beside the
 * ledger.
 *
 *   word     id, text: each text of a record once. Texts of trails that are gone stay.
 *   session  id, name, bytes and records that are in the index, mac of the last of them, lines that
 *            no row can hold (odd), what its files looked like then (stamp), whether it has ended
 *            (settled: index_today.h), sum of its name and records (ward_chain_session_sum())
 *   today    up to which entry the index followed the ledger, what "sessions" looked like then
 *   record   session, seq, at (offset of its line in the trail), time (ns since 1970), pid,
 *            process, parent, read, written; words: kind, verdict, action, path, path2, comm, rule,
 *            errno
 *   net      session, seq, port, sent, received, duration; words: host, addr, proto
 *   tally    session, kind, verdict (0: none), n: how many records
 *   label    session; words: key, value, of session.start
 *   about    session; started (ns since 1970), login, audit_session; words: verb, mode, project,
 *            owner, agent, command (argv, JSON), of session.start; status, signal of session.end
 *            where that is the last record; walls: which boundaries held and why others were
 *            missing (JSON), failed: probes that found a boundary open
 *   labels   a view of label: session (its name), key, value
 *   sessions a view of session and about
 *   records  a view of record and net as in the trail, escaped, with the name of the session, its
 *            login and audit_session
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "audit/query/query.h"
#include "audit/query/record_filter.h"
#include "audit/store/store.h"
#include "enforcer/base/err.h"

struct ward_index_result {
	uint64_t sessions;
	uint64_t records; /* in the index now */
	uint64_t added;	  /* by this update */
	/*
	 * Set before: no trail is read. What is in the index already becomes of today; what is not
	 * stays out of it.
	 */
	bool light;
	/* Or NULL; set before: told now and then how many were added so far. */
	void (*tell)(void *user, uint64_t added);
	void *user;
};

/*
 * Brings the index up to date. It adds new records of trails, indexes a replaced trail again, and
 * removes a trail that no longer exists. The caller sets `light`, `tell` and `user` of *ret;
 * the rest is filled. rebuild: starts from nothing. An index that SQLite cannot read, or that has
 * other tables than those above, is made again. -EPERM: the directory belongs to another user, and
 * only that user makes the index.
 */
int ward_index_update(struct ward_store *st, bool rebuild, struct ward_index_result *ret,
	struct ward_err *err) ward_must_check;

/*
 * The same for one session, whose writer has ended: nothing is looked at but its trail. What was in
 * the index of others stays as it is.
 */
int ward_index_add(
	struct ward_store *st, const char *session, struct ward_err *err) ward_must_check;

enum ward_index_which {
	WARD_INDEX_NONE = 0,
	WARD_INDEX_MATCHES, /* what the filter asks for */
	WARD_INDEX_MOVES,   /* renames and links, whatever it asks for */
	WARD_INDEX_ACTORS,  /* lines that describe processes (audit/query/actors.h), whatever the
			     * filter
			     */
};

/*
 * Where to look in the trail log of a session: the lines whose columns match the filter (prepared,
 * if it asks for processes) and, if names is not NULL, have one of these names as a path; or one of
 * the others of `which`. More than match may be among them; behind `end` nothing was indexed. The
 * index is believed for where to look: each line is the trail's, and the caller filters again.
 * -ENODATA: there is no index, it is not that of this trail, or the trail has lines that it cannot
 * hold; then look at all.
 */
int ward_index_find(struct ward_store *st, const char *session, struct ward_log *log,
	const struct ward_filter *f, const struct ward_file_names *names,
	enum ward_index_which which, struct ward_query_lines *ret,
	struct ward_err *err) ward_must_check;

/*
 * The same of an index that stays open for several sessions. NULL: there is none, and
 * ward_index_find_in() answers -ENODATA. ward_index_close().
 */
struct ward_index;
struct ward_index *ward_index_open(struct ward_store *st);
void ward_index_close(struct ward_index *x);
int ward_index_find_in(struct ward_index *x, const char *session, struct ward_log *log,
	const struct ward_filter *f, const struct ward_file_names *names,
	enum ward_index_which which, struct ward_query_lines *ret,
	struct ward_err *err) ward_must_check;

/* How many records of a session match, by the index alone. */
struct ward_index_count {
	char *name; /* owned */
	uint64_t n;
};
struct ward_index_counts {
	struct ward_index_count *v; /* by name */
	size_t n;
	bool exact; /* false: n is at least as many as match, and 0 where none does */
	/*
	 * complete: the index is of today. Of a session that is not in v none match, unless it is
	 * one of `unknown`, or has no trail; `sessions` have one.
	 */
	bool complete;
	struct ward_store_names unknown; /* their trails must be read */
	uint64_t sessions;
};
void ward_index_counts_clear(struct ward_index_counts *c);
/* False: the index does not answer for this session. */
bool ward_index_counts_find(const struct ward_index_counts *c, const char *session, uint64_t *ret);
/*
 * Of each session whose trail is as it was when it was indexed how many records match. Of settled
 * ones (index_today.h) no trail is looked at. -ENODATA:
 * there is no index, or the filter asks for a program. ret is the caller's to clear in any case.
 */
int ward_index_count(struct ward_store *st, const struct ward_filter *f,
	struct ward_index_counts *ret, struct ward_err *err) ward_must_check;

/*
 * One row of an answer: n columns, their names, their texts (NULL: null) and whether they are
 * numbers. All borrowed. Returns 0 to continue, anything else ends the query and is returned.
 */
typedef int ward_index_row_fn(
	void *ctx, int n, const char *const *names, const char *const *values, const bool *numbers);
/*
 * Answers one SELECT. The index is opened read-only, other files cannot be attached. -EINVAL:
 * SQLite does not understand it, or it would write; err says what it says.
 */
int ward_index_query(struct ward_store *st, const char *sql, ward_index_row_fn *fn, void *ctx,
	struct ward_err *err) ward_must_check;
