/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checkpoints of a session on the writer's side, and the file that holds them: notes (note.h)
 * one behind the other. A checkpoint speaks only of records that are on disk: notes are signed when
 * they are due and kept until the log was synced.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "audit/log/merkle.h"
#include "audit/log/note.h"
#include "enforcer/base/buf.h"
#include "enforcer/base/err.h"

/* The default of [audit] checkpoint: after this many records, or this long after a record. */
#define WARD_CHECKPOINT_RECORDS 10000U
#define WARD_CHECKPOINT_MS 10000U
/* A file of checkpoints is read whole: two hundred thousand notes. */
#define WARD_CHECKPOINTS_MAX ((size_t)64 << 20)

struct ward_checkpoints {
	int fd; /* borrowed: O_RDWR|O_APPEND */
	const char *session;
	struct ward_signing_key key;
	struct ward_merkle tree; /* over the lines that were sealed */
	uint64_t every;		 /* records */
	uint64_t every_ns;
	uint64_t at;	/* size of the last one */
	uint64_t at_ns; /* when one came into the file, monotonic */
	uint64_t number;
	struct ward_buf owed;		/* signed, and not in the file yet */
	size_t written;			/* of owed */
	char last[WARD_CHECKPOINT_MAX]; /* the note that was signed last */
};

/*
 * Finds the number of the last note in the file, and cuts off one that was not written to its end.
 */
int ward_checkpoints_resume(struct ward_checkpoints *c) ward_must_check;
/* A line was sealed (without its newline). May sign a note. */
void ward_checkpoints_add(struct ward_checkpoints *c, const char *line, size_t len);
/* Signs a note over all records so far. */
void ward_checkpoints_sign(struct ward_checkpoints *c, enum ward_checkpoint_state state);
/*
 * Nanoseconds until a note is due in the file by time; UINT64_MAX: no record followed the last one,
 * and none is owed.
 */
uint64_t ward_checkpoints_due_ns(const struct ward_checkpoints *c, uint64_t now_ns);
/* After fdatasync(2) of the log: what is owed goes into the file. Can be called again on failure.
 */
int ward_checkpoints_flush(struct ward_checkpoints *c) ward_must_check;
void ward_checkpoints_clear(struct ward_checkpoints *c);

/* --- reading --- */

/* A whole file of notes, none of them verified. */
struct ward_checkpoint_list {
	struct ward_buf text;
	struct ward_checkpoint *v;
	size_t *offset; /* of v[i] in text */
	size_t n;
	size_t rest; /* bytes behind the last whole note */
	bool torn;   /* they are the beginning of a note, or zeros, or zeros behind it */
};
/* fd: read-only. -E2BIG: larger than WARD_CHECKPOINTS_MAX. ward_checkpoint_list_clear(). */
int ward_checkpoint_list_read(int fd, struct ward_checkpoint_list *ret) ward_must_check;
void ward_checkpoint_list_clear(struct ward_checkpoint_list *l);
