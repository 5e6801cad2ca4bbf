/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For the unit tests of the trail: a session as the supervisor makes it, with the writer in the
 * test's own process, in a state directory that trail_setup() makes. Failures abort the test.
 */
#pragma once

#include <check.h>

#include "audit/log/chain.h"
#include "audit/store/store.h"
#include "audit/verify/verify.h"
#include "audit/write/writer.h"
#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"

struct session {
	struct ward_store_session st;
	int wake;
	int ring_fd[2];
	struct ward_ring *in[2];  /* producers' */
	struct ward_ring *out[2]; /* the writer's */
	struct ward_writer *w;
	uint8_t root[WARD_KEY_BYTES];
	uint8_t seed[WARD_KEY_BYTES];
	enum ward_audit_sync sync;
};

/* A log taken apart, with what the ledger says. */
#define LINES_MAX 64
struct sample {
	struct session s;
	struct ward_buf log;
	struct ward_buf ledger;
	struct ward_ledger_view view;
	const struct ward_ledger_session *known;
	const char *line[LINES_MAX + 1]; /* line[n] is the end */
	size_t n;
};

/* The state directory of this test, between trail_setup() and trail_teardown(). */
struct ward_store *trail_store(void);
void trail_setup(void);
void trail_teardown(void);
/* A second (recover) or first writer on the session's log. */
void writer_start(struct session *s, bool recover, const char *cause);
/* As if the writer had been killed: nothing is finished. */
void writer_dies(struct session *s);
/* A session with its first writer; name NULL: a generated one. */
struct session session_new(const char *name);
void session_free(struct session *s);
/* An event without fields into ring 0 or 1. */
void put_kind(struct session *s, int ring, enum ward_event_kind kind);
/* An access to /workspace/file-N with hostile bytes behind; every third is refused. Ring 1. */
void put_access(struct session *s, int n);
/* Writes all that the rings hold. */
void drain(struct session *s);
void finish(struct session *s, const char *cause);
/* start, n accesses, end: finished. */
struct session whole_session(const char *name, int n);
/* The whole file; the caller's to clear. */
struct ward_buf slurp(int fd);
struct ward_buf log_of(struct session *s);
/* Verifies these bytes as a ledger, as a trail. */
/* The file as a trail, until the next call. */
struct ward_log *trail_of(int fd);
struct ward_ledger_view ledger_of(const struct ward_buf *text, const uint8_t *root);
struct ward_verify_result verify_bytes(const char *data, size_t len, const char *name,
	const uint8_t *root, const struct ward_ledger_session *known);
/* line[0..n-1] begin the n lines of b, line[n] is their end. */
void split(const struct ward_buf *b, const char **line, size_t *ret_n);
/* A finished session of n accesses, taken apart. */
struct sample sample_new(const char *name, int n);
void sample_free(struct sample *x);
/* A log of the n lines of x whose numbers are in order[]; the caller's to clear. */
struct ward_buf sample_pick(const struct sample *x, const size_t *order, size_t n);
struct ward_verify_result sample_verify(const struct sample *x, const struct ward_buf *b);
/* what and where name the attempt in the message of a failure. */
void expect(const struct ward_verify_result *r, enum ward_verify_state state, uint64_t first_bad,
	const char *what, uint64_t where);
