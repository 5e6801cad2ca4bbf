/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proofs that can be taken away from a trail: that one record is in it (C2SP tlog-proof, the record
 * itself in its line "extra"), and that an earlier checkpoint is the beginning of a later one
 * (docs/audit-format.md). Anybody with a public key can check them, without the trail.
 */
#pragma once

#include "audit/log/log.h"
#include "audit/log/tlog.h"
#include "audit/query/record_filter.h"
#include "audit/verify/verify.h"
#include "audit/write/checkpoint.h"

/* A proof is no longer: a record in base64, 65 nodes, two checkpoints, and room. */
#define WARD_PROOF_TEXT_MAX ((size_t)256 << 10)

/*
 * Appends the proof that record seq is in the tree of the checkpoint of `size` records; size 0: of
 * the last one. -ENODATA: there is no such checkpoint, or it does not cover the record. -EBADMSG:
 * the trail is not that of the checkpoint.
 */
int ward_prove_record(struct ward_log *log, const struct ward_checkpoint_list *notes, uint64_t seq,
	uint64_t size, struct ward_buf *ret, struct ward_err *err) ward_must_check;
/* That the checkpoint of `from` records is the beginning of that of `size` (0: the last one). */
int ward_prove_consistency(struct ward_log *log, const struct ward_checkpoint_list *notes,
	uint64_t from, uint64_t size, struct ward_buf *ret, struct ward_err *err) ward_must_check;

/* Records that one call proves, and bytes of the text that their proofs are. */
#define WARD_PROOF_RECORDS_MAX 16384
#define WARD_PROOFS_TEXT_MAX ((size_t)64 << 20)
/* What to prove. */
struct ward_proof_want {
	/* Which records: all that a filter matches, and that are of the file. Either may be NULL.
	 * names: of ward_file_names_find() over the same log. */
	const struct ward_filter *filter;
	const struct ward_file_names *names;
	uint64_t size; /* with the checkpoint over this many records; 0: the last one */
	bool pairs;    /* each record beside its proof (below), not the proofs alone */
};
/*
 * Appends the proofs of those records that the checkpoint covers, one behind the other. *ret_n: how
 * many; *ret_behind: how many of the wanted records come after the checkpoint. -ENOMSG: no record
 * to prove. -E2BIG: more than the limits above.
 */
int ward_prove_records(struct ward_log *log, const struct ward_checkpoint_list *notes,
	const struct ward_proof_want *want, struct ward_buf *ret, size_t *ret_n,
	uint64_t *ret_behind, struct ward_err *err) ward_must_check;

/*
 * Pairs: one JSON object a line, "record" (the trail's own line) and "proof" (its text). True if
 * the text begins as they do.
 */
bool ward_proof_pairs_are(const char *text, size_t len);
/*
 * Appends the proofs of all pairs, as they would stand without their records. False: a line is no
 * such object, or its record is not that of its proof; memory is short. Verifies nothing else.
 */
bool ward_proof_pairs_take(const char *text, size_t len, struct ward_buf *ret) ward_must_check;

/* The last checkpoint over this many records; 0: the last one of all. -ENODATA: none. */
int ward_proof_choose(const struct ward_checkpoint_list *l, uint64_t size, size_t *ret,
	struct ward_err *err) ward_must_check;
/* For the files of proof: the proof of a record, as its nodes are. */
void ward_proof_put(struct ward_buf *b, uint64_t seq, const void *line, size_t len,
	const uint8_t (*path)[WARD_HASH_BYTES], size_t path_n,
	const struct ward_checkpoint_list *notes, size_t at);

/* A walk over the lines that computes the nodes of a plan. Zero but for the plan. */
struct ward_proof_nodes {
	const struct ward_merkle_plan *plan;
	uint8_t node[WARD_PROOF_MAX][WARD_HASH_BYTES];
	struct ward_merkle all;
	struct ward_merkle part; /* of the range in hand */
};
/*
 * n->node becomes those of n->plan in the tree over the first `size` lines, whose root must be
 * `root`: else -EBADMSG. The line of record seq is added to `line` (0: of none).
 */
int ward_proof_nodes_compute(struct ward_log *log, uint64_t size,
	const uint8_t root[WARD_HASH_BYTES], uint64_t seq, struct ward_proof_nodes *n,
	struct ward_buf *line, struct ward_err *err) ward_must_check;
/* A line for each, in base64, and an empty one. */
void ward_proof_put_nodes(struct ward_buf *b, const uint8_t (*node)[WARD_HASH_BYTES], size_t n);

/*
 * Appends the proof that entry seq of the ledger (read-only) is in the tree of the note, which was
 * taken from text. -ENODATA: the note does not cover it; -EBADMSG: it is of another ledger.
 */
int ward_prove_entry(int ledger_fd, const char *text, const struct ward_tlog_note *note,
	uint64_t seq, struct ward_buf *ret, struct ward_err *err) ward_must_check;
/* True if the text is a proof up to its checkpoint, and that is a ledger's. */
bool ward_proof_is_entry(const char *text, size_t len);
/* Checks such a proof: INTACT, EDITED or FOREIGN; records: the size of its checkpoint. */
void ward_proof_check_entry(const char *text, size_t len, const struct ward_note_key *key,
	struct ward_verify_result *ret);

/* True if the text begins as a proof does. */
bool ward_proof_is(const char *text, size_t len);
/* How long the proof at the beginning of the text is; 0: it has not the form. Verifies nothing. */
size_t ward_proof_length(const char *text, size_t len);
/* Session of the first checkpoint in it; false if there is none. Verifies nothing. */
bool ward_proof_session(const char *text, size_t len, char ret[WARD_SESSION_NAME_MAX + 1]);
/*
 * Checks a proof, or proofs of records one behind the other: INTACT, EDITED (one is not valid, or
 * they are not of one session and in order) or FOREIGN. records: the size of the (last) checkpoint;
 * text says what is proved. *ret_record, if not NULL, becomes the (last) record (empty for
 * consistency), the caller's to clear.
 */
void ward_proof_check(const char *text, size_t len, const struct ward_public_key *keys,
	size_t n_keys, struct ward_verify_result *ret, struct ward_buf *ret_record);
