/* SPDX-License-Identifier: Apache-2.0 */
/* What the ledger says, as verify.h reads it: sessions and keys. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/format.h"
#include "audit/log/note.h"
#include "audit/verify/result.h"

/* [audit] keep where the ledger does not say it, as wardfs 0.1 had it by default: 90 days. */
#define WARD_KEEP_UNSAID_SECONDS ((uint64_t)90 * 24 * 60 * 60)
/* [audit] keep by default: 200 days. Regulation (EU) 2024/1689, article 26 (6), asks for logs of
 * at least six months. */
#define WARD_KEEP_SECONDS ((uint64_t)200 * 24 * 60 * 60)

#define WARD_REVIEW_FILE_DIGEST 65U
/* A file review.N beside the trail, and its SHA-256 in hexadecimal. */
struct ward_ledger_review_file {
	unsigned n;
	char digest[WARD_REVIEW_FILE_DIGEST];
};

/* What the ledger's genuine entries say about one session. */
struct ward_ledger_session {
	char name[WARD_SESSION_NAME_MAX + 1];
	bool started;
	bool ended;
	bool complete; /* verdict of the end */
	uint64_t records;
	uint64_t bytes;
	uint8_t last[WARD_MAC_BYTES];
	char start_time[40];
	char end_time[40];
	uint64_t keep_s; /* how long to keep it; 0: not given */
	bool expired;	 /* it was, and went; the entry's signature and its time are good */
	char expired_time[40];
	bool removed; /* the last thing that was done to it; the entry's signature is good */
	char removed_time[40];
	uint64_t removed_by;  /* user id */
	char *removed_reason; /* owned, escaped; NULL: never removed */
	/* "hold" without a later "release": neither removed nor expired counts meanwhile. */
	bool held;
	char held_time[40];
	uint64_t held_by;  /* user id */
	char *held_reason; /* owned, escaped; NULL: never held */
	/* An earlier session had this name and an end, and nothing says that its trail was to go:
	 * what is there is not all that there was. */
	bool lost;
	char *cause; /* owned; NULL without an end */
	/* The files that entries "review" name, in their order. Owned. */
	struct ward_ledger_review_file *reviews;
	size_t n_reviews;
	json_t *review_entries; /* all of them, as they are; owned, or NULL: there is none */
	/* The keys that its entries name, and the last checkpoint, if it is signed by one. */
	struct ward_public_key keys[2];
	size_t n_keys;
	bool has_checkpoint;
	struct {
		uint64_t size, number;
		uint8_t root[WARD_HASH_BYTES];
		uint8_t signature[WARD_SIGN_BYTES];
	} checkpoint;
};
/* A key that gave way to another: from, to, signature, each a text without spaces. */
#define WARD_ROTATION_MAX (2 * WARD_VKEY_MAX + WARD_SIGNATURE_TEXT_MAX + 4)
struct ward_ledger_view {
	/*
	 * Keys of other hosts that were enrolled, and every key that was revoked, each with `until`
	 * where it was. Of a key the last entry counts.
	 */
	struct ward_public_key *host_keys;
	bool *enrolled; /* host_keys[i] is, or was */
	size_t n_host_keys;
	char (*rotations)[WARD_ROTATION_MAX]; /* "FROM TO SIGNATURE", in their order */
	size_t n_rotations;
	struct ward_verify_result result; /* of the ledger itself */
	/* Its own checkpoints: sizes of the first and the last one, 0 where there is none. */
	uint64_t covered_from;
	uint64_t covered_to;
	uint64_t claimed; /* the largest one that an entry says was there */
	uint64_t before;  /* entries that an earlier verification took (ledger_resume.h) */
	struct ward_ledger_session *v; /* in the order in which they started */
	size_t n;
	/* Of a view of some sessions (ledger_seen.h): how many are not in v, and where they stand.
	 */
	size_t left_out;
	uint64_t left_out_sum; /* ward_chain_session_sum() of these */
	size_t seen_at;
	size_t *slots; /* place in v plus one, by name; 0: free. Of a power of two */
	size_t n_slots;
};

void ward_ledger_view_free(struct ward_ledger_view *v);
/* Room for n sessions at once. */
int ward_ledger_view_reserve(struct ward_ledger_view *v, size_t n) ward_must_check;
/* That of the name, made if need be; NULL: no memory. Valid until the next one is made. */
struct ward_ledger_session *ward_ledger_view_take(
	struct ward_ledger_view *v, const char *name, size_t len);
/* When the time of its trail is over, in seconds since 1970; 0: it has no end. */
uint64_t ward_ledger_kept_until(const struct ward_ledger_session *s);
/* Says in the verdict of the ledger, if it is INTACT, that its first entries were not read now. */
void ward_ledger_say_before(struct ward_ledger_view *v);
/* The enrolled ones into ret, at most max. Returns how many. */
size_t ward_ledger_view_enrolled(
	const struct ward_ledger_view *v, struct ward_public_key *ret, size_t max);
/* The place of the session of this name in v, from 1; 0: there is none. */
size_t ward_ledger_view_has(const struct ward_ledger_view *v, const char *name, size_t len);
/* NULL if the ledger does not know the session. Borrowed. */
const struct ward_ledger_session *ward_ledger_view_find(
	const struct ward_ledger_view *v, const char *session);
