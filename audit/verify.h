/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verification of trails and of the ledger: needs the files and the root key, no daemon. Streams;
 * memory grows only when something is wrong (up to WARD_VERIFY_WINDOW lines are then compared).
 * docs/audit-format.md gives the rules in words; tests/support/verify.py is a second
 * implementation of them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/checkpoint.h"
#include "audit/format.h"
#include "audit/log.h"
#include "enforcer/base/err.h"

enum ward_verify_state {
	WARD_VERIFY_UNREAD = 0, /* not verified: it could not be read */
	WARD_VERIFY_FOREIGN,	/* written under another root key; nothing can be said */
	WARD_VERIFY_MISSING,	/* the ledger knows the session, its trail is not there */
	WARD_VERIFY_EDITED,	/* a line was changed or added */
	WARD_VERIFY_REORDERED,	/* every line is genuine, their order is not */
	WARD_VERIFY_DELETED,	/* lines are missing in between, or the ledger's entries are */
	WARD_VERIFY_TRUNCATED,	/* the end is missing, and the ledger knows that there was one */
	WARD_VERIFY_INCOMPLETE, /* genuine, but without a regular end: running, or something died */
	WARD_VERIFY_UNSTARTED,	/* unknown to the ledger and without a record: it never began */
	WARD_VERIFY_REMOVED, /* deleted by its owner, and the ledger says when, and what it was */
	WARD_VERIFY_EXPIRED, /* deleted when it had been kept long enough, and the ledger says so */
	WARD_VERIFY_GAP,     /* genuine and ended, and it says itself that something is missing */
	WARD_VERIFY_INTACT,
};
/* "intact", "foreign key", …; "?" out of range. */
const char *ward_verify_state_name(enum ward_verify_state s);

#define WARD_VERIFY_TEXT_MAX 400
struct ward_verify_result {
	enum ward_verify_state state;
	uint64_t records;   /* genuine lines from the beginning, in order */
	uint64_t first_bad; /* seq of the first record that is wrong or missing; 0: none */
	uint64_t gaps;	    /* records of kind gap among the genuine ones */
	bool running;	    /* INCOMPLETE: a writer holds the log */
	char text[WARD_VERIFY_TEXT_MAX]; /* one line for people; "" when there is nothing to say */
};

/* Lines that are compared behind the first wrong one; 48 bytes each. */
#define WARD_VERIFY_WINDOW ((size_t)1 << 20)
/* Steps of the ratchet that are tried for what such lines claim to be: some seconds at worst. */
#define WARD_VERIFY_STEPS ((uint64_t)1 << 24)

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
	uint64_t keep_s; /* how long it is to be kept; 0: nothing is said */
	bool expired;	 /* it was, and went; the entry's signature and its time are good */
	char expired_time[40];
	bool removed; /* the last thing that was done to it; the entry's signature is good */
	char removed_time[40];
	uint64_t removed_by; /* user id */
	/* An earlier session had this name and an end, and nothing says that its trail was to go:
	 * what is there is not all that there was. */
	bool lost;
	char *cause; /* owned; NULL without an end */
	/* The keys that its entries name, and the last checkpoint, if it is signed by one. */
	struct ward_public_key keys[2];
	size_t n_keys;
	bool has_checkpoint;
	struct ward_checkpoint checkpoint;
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
	struct ward_ledger_session *v;	  /* in the order in which they started */
	size_t n;
};

/*
 * Reads and verifies the whole ledger (fd: read-only, own open file: it is locked for the time of
 * the reading). fd -1: there is none, an empty view. ward_ledger_view_free().
 */
int ward_verify_ledger(int fd, const uint8_t root[WARD_KEY_BYTES], struct ward_ledger_view *ret,
	struct ward_err *err) ward_must_check;
void ward_ledger_view_free(struct ward_ledger_view *v);
/* The enrolled ones into ret, at most max. Returns how many. */
size_t ward_ledger_view_enrolled(
	const struct ward_ledger_view *v, struct ward_public_key *ret, size_t max);
/* NULL if the ledger does not know the session. Borrowed. */
const struct ward_ledger_session *ward_ledger_view_find(
	const struct ward_ledger_view *v, const char *session);

/*
 * Verifies the trail of a session. known: what the ledger says,
 * NULL if it does not know the session. notes: its checkpoints, read before; NULL if they shall not
 * be looked at (a trail without them; the ledger's own checkpoint is compared all the same). Errors
 * are those of reading; what is wrong with the trail is in *ret.
 */
int ward_verify_trail(struct ward_log *log, const char *session, const uint8_t root[WARD_KEY_BYTES],
	const struct ward_ledger_session *known, const struct ward_checkpoint_list *notes,
	struct ward_verify_result *ret, struct ward_err *err) ward_must_check;

/* Keys that one verification may be given. */
#define WARD_VERIFY_KEYS_MAX 64
/*
 * Verifies a trail with its checkpoints and public keys alone: no root key, no ledger. `records` is
 * what a checkpoint covers; what stands behind the last one cannot be judged, and the trail then is
 * incomplete.
 */
int ward_verify_public(struct ward_log *log, const struct ward_checkpoint_list *notes,
	const struct ward_public_key *keys, size_t n_keys, struct ward_verify_result *ret,
	struct ward_err *err) ward_must_check;
/*
 * The checkpoints by themselves: form, order, signatures. INTACT, or what is wrong with them, with
 * first_bad 0. session NULL: that of the first.
 */
void ward_verify_notes(const struct ward_checkpoint_list *notes, const char *session,
	const struct ward_public_key *keys, size_t n_keys, struct ward_verify_result *ret);

/* For the files of verify: what is said last stands. */
void ward_verify_say(struct ward_verify_result *ret, enum ward_verify_state state,
	uint64_t first_bad, const char *fmt, ...) ward_printf(4, 5);
