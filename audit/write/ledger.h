/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Appending to the host's ledger (audit/format.h). Several writers share it: each takes flock(2) on
 * it, reads its end, appends one line, syncs, signs a checkpoint over all lines, unlocks. A
 * checkpoint is signed only over a ledger that begins with what the one before covers.
 */
#pragma once

#include <stdint.h>

#include "audit/format.h"
#include "audit/log/tlog.h"
#include "audit/write/ledger_tree.h"
#include "enforcer/base/buf.h"
#include "enforcer/base/err.h"

/*
 * Locks a ledger to read it (LOCK_SH), or for an entry of a reader's (LOCK_EX). It may be another
 * user's, who can hold the lock as long as they like. -EBUSY: so it was, for some seconds.
 */
int ward_ledger_lock(int fd, int op, struct ward_err *err) ward_must_check;

/* The keys of the entries of one session. */
struct ward_ledger_keys {
	uint8_t start[WARD_KEY_BYTES];
	uint8_t end[WARD_KEY_BYTES];
	uint8_t torn[WARD_KEY_BYTES];
};
void ward_ledger_keys_derive(
	const uint8_t root[WARD_KEY_BYTES], const char *session, struct ward_ledger_keys *ret);

struct ward_ledger_start {
	const char *key;	/* ward_public_key_print() of the key that signs */
	const char *checkpoint; /* the note over nothing */
	uint64_t keep_s;	/* how many seconds to keep the trail; 0: not given */
};
struct ward_ledger_end {
	uint64_t records;
	uint64_t bytes;
	uint8_t last[WARD_MAC_BYTES];
	const char *verdict; /* "complete", "incomplete" */
	const char *cause;   /* complete: what the end record says of it, "" if the command ended */
	const char *key;     /* as in the start; another one after the key was changed */
	const char *checkpoint; /* the last note */
};

/*
 * Appends the entry "start" of a session (end NULL) or its "end" (start NULL) to the ledger, to
 * disk, and then a checkpoint signed by `sign`, which is not waited for. What is
 * left of a line that its writer did not finish is removed first, and an entry "torn" says so.
 */
int ward_ledger_append(const struct ward_ledger_files *f, const struct ward_tlog_key *sign,
	const char *session, const struct ward_ledger_keys *keys,
	const struct ward_ledger_start *start, const struct ward_ledger_end *end,
	struct ward_err *err) ward_must_check;
/*
 * Signs a checkpoint over the ledger as it stands, unless the last one covers all of it. -EBADMSG:
 * the ledger is not the one that the last checkpoint covers, or its last line is damaged.
 */
int ward_ledger_checkpoint(const struct ward_ledger_files *f, const uint8_t root[WARD_KEY_BYTES],
	struct ward_err *err) ward_must_check;

/*
 * What the signature of an entry "rotate" is over: the key that gave way (and signs), and the one
 * that took its place.
 */
void ward_ledger_rotate_text(struct ward_buf *b, const char *from, const char *to);
/* Appends the entry "rotate" of the host: the signing key `from` gave way to `to`. */
int ward_ledger_rotate(const struct ward_ledger_files *f, const uint8_t root[WARD_KEY_BYTES],
	const char *from, const char *to, const char *signature,
	struct ward_err *err) ward_must_check;
/* Appends "enroll" or "revoke" (kind) of the host: a public key, by a user. */
int ward_ledger_key(const struct ward_ledger_files *f, const uint8_t root[WARD_KEY_BYTES],
	const char *kind, const char *key, uint32_t by, struct ward_err *err) ward_must_check;

/* Appends "read": somebody (by: user id) looked at the session's trail with this verb. */
int ward_ledger_read(const struct ward_ledger_files *f, const uint8_t root[WARD_KEY_BYTES],
	const char *session, const char *verb, uint32_t by, struct ward_err *err) ward_must_check;

/*
 * Appends "question" of the host: somebody asked all trails at once. text: the question; the ledger
 * keeps its first WARD_LEDGER_QUESTION_MAX bytes.
 */
#define WARD_LEDGER_QUESTION_MAX 2048U
int ward_ledger_question(const struct ward_ledger_files *f, const uint8_t root[WARD_KEY_BYTES],
	const char *verb, const char *text, uint32_t by, struct ward_err *err) ward_must_check;

/*
 * What the signature of an entry "removed" or "expired" (kind) is over: that, the session, the
 * number of its records, and the mac of the last one, as its end in the ledger has them.
 */
void ward_ledger_gone_text(struct ward_buf *b, const char *kind, const char *session,
	uint64_t records, const uint8_t last[WARD_MAC_BYTES]);
/*
 * Appends "removed": the trail is about to be deleted. signature: base64, by key. reason: why, of
 * which the first WARD_LEDGER_REASON_MAX bytes are kept; NULL: its time was over.
 */
#define WARD_LEDGER_REASON_MAX 1024U
int ward_ledger_removed(const struct ward_ledger_files *f, const uint8_t root[WARD_KEY_BYTES],
	const char *session, uint64_t records, const char *key, const char *signature,
	const char *reason, uint32_t by, struct ward_err *err) ward_must_check;
/* Appends "hold" or "release" (kind): the trail is not to be deleted, or may be again, and why. */
int ward_ledger_hold(const struct ward_ledger_files *f, const uint8_t root[WARD_KEY_BYTES],
	const char *session, const char *kind, const char *reason, uint32_t by,
	struct ward_err *err) ward_must_check;
/*
 * Appends "review": what somebody did with the changes that the session staged. digest: SHA-256 of
 * the file review.FILE in the session's directory, in hexadecimal; file 0: there is none.
 */
struct ward_ledger_review {
	const char *verb;     /* "show", "apply", "applied", … */
	const char *manifest; /* of what was staged, as `wardfs review` prints it; "": nothing is */
	uint64_t changes;     /* so many of them */
	uint64_t left;	      /* and so many that were wanted and not done */
	unsigned file;
	const char *digest;
};
int ward_ledger_review(const struct ward_ledger_files *f, const uint8_t root[WARD_KEY_BYTES],
	const char *session, const struct ward_ledger_review *w, uint32_t by,
	struct ward_err *err) ward_must_check;
/* Appends "expired": the same, because it was kept as long as the policy wants. */
int ward_ledger_expired(const struct ward_ledger_files *f, const uint8_t root[WARD_KEY_BYTES],
	const char *session, uint64_t records, const char *key, const char *signature,
	struct ward_err *err) ward_must_check;
