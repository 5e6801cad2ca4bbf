/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What sessions were, by the index alone: what a listing would read in the first and the last line
 * of each trail.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/store/store.h"
#include "enforcer/base/err.h"

/* One session whose trail is as it was indexed. What the trail does not have is NULL. */
struct ward_index_about {
	char *name;				/* owned */
	const json_t *mode, *project, *command; /* borrowed from the list */
	bool has_status, has_signal;
	int64_t status, signal;
	int64_t started; /* ns since 1970; 0: the trail does not say */
	bool wanted;	 /* it has the labels and the login that were asked for */
};

/* Zero it; ward_index_abouts_clear(). */
struct ward_index_abouts {
	struct ward_index_about *v; /* by name */
	size_t n;
	/*
	 * complete: each directory of a session that the ledger does not say has ended is one of
	 * `open`.
	 */
	bool complete;
	bool filled; /* v has the sessions */
	bool only;   /* v has the wanted ones alone */
	struct ward_store_names open;
	struct ward_index_texts *texts;
};

/* Which sessions are wanted: those with all of it. */
struct ward_index_wanted {
	const char *const *labels; /* "KEY=VALUE" */
	size_t n_labels;
	bool has_login, has_audit_session;
	uint64_t login, audit_session;
	/* Of an index that is complete fill v with those alone, and `open`. */
	bool only;
};

/*
 * wanted NULL: nothing but `complete` and `open` is filled. -ENODATA: there is no index. A session
 * that is missing in the answer may have a trail all the same.
 */
int ward_index_about_all(struct ward_store *st, const struct ward_index_wanted *wanted,
	struct ward_index_abouts *ret, struct ward_err *err) ward_must_check;
/* The same of these sessions alone; what is missing in the index is missing in the answer. */
int ward_index_about_some(struct ward_store *st, const struct ward_index_wanted *wanted,
	const struct ward_store_names *names, struct ward_index_abouts *ret,
	struct ward_err *err) ward_must_check;
/*
 * Which boundaries sessions had. start: {"detail": {"mode": …, "sandbox": …}} of sessions that have
 * that alike, the sandbox with guarantees, missing, network and limits. all: of n sessions, name
 * NULL; returns 1 to be called for each of these too, with its name, and its time in start. Returns
 * a negative errno to end it, which is returned.
 */
typedef int ward_index_walls_fn(void *ctx, const json_t *start, uint64_t n, const char *name);
/*
 * Of the wanted ones that started between since and until (beginnings of times, or NULL), where the
 * index has them whole and no probe failed. ret_others: sessions whose trails must be read, the
 * caller's (ward_store_names_free()). -ENODATA, before the first call: there is no index, or it is
 * not complete.
 */
int ward_index_walls(struct ward_store *st, const struct ward_index_wanted *wanted,
	const char *since, const char *until, ward_index_walls_fn *fn, void *ctx,
	struct ward_store_names *ret_others, struct ward_err *err) ward_must_check;

/*
 * How many sessions have ended and are in the index whole, and the sum of
 * ward_chain_session_sum() of these. Sessions that the ledger has in the same number and with the
 * same sum are those: the index has a session as ended only by the ledger. complete: as of struct
 * ward_index_abouts. -ENODATA: there is no index.
 */
struct ward_index_whole {
	bool complete;
	uint64_t n, sum;
};
int ward_index_whole(
	struct ward_store *st, struct ward_index_whole *ret, struct ward_err *err) ward_must_check;
void ward_index_abouts_clear(struct ward_index_abouts *a);
/* NULL: there is none. *hint, 0 at first, makes asking in the order of names fast. */
const struct ward_index_about *ward_index_abouts_find(
	const struct ward_index_abouts *a, const char *session, size_t *hint);
