/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The writer: takes events out of rings, numbers, seals and appends them, and says so in the
 * ledger. wardfs-audit (main.c) is a loop round it. Makes no system call but on the descriptors it
 * was given, and no allocation that grows with the session.
 *
 * Order: a record's room in its ring is given back after write(2) took the record: whatever was
 * acknowledged to a producer is in the ring or in the log at any time. A batch that could not be
 * written stays as it is (it is sealed, its keys are gone) and is tried again.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "audit/ring.h"
#include "audit/write/ledger_tree.h"
#include "audit/write/summary.h"
#include "enforcer/base/err.h"
#include "enforcer/ipc/helper.h"
#include "enforcer/policy/settings.h"

struct ward_writer;

struct ward_writer_setup {
	const char *session;
	int log_fd; /* O_RDWR|O_APPEND; borrowed until another follows it, then closed */
	struct ward_ledger_files ledger; /* borrowed */
	const uint8_t *root_key;	 /* WARD_KEY_BYTES; not kept */
	struct ward_ring *const
		*rings; /* borrowed, <= WARD_RINGS_MAX; ring 0 is the supervisor's */
	size_t n_rings;
	int checkpoints_fd;	     /* O_RDWR|O_APPEND; borrowed */
	const uint8_t *sign_seed;    /* WARD_KEY_BYTES; not kept, but what grows from it is */
	enum ward_audit_sync sync;   /* when fdatasync(2) is owed */
	uint64_t checkpoint_records; /* a checkpoint after this many records; 0: the default */
	uint64_t checkpoint_ms;	     /* or this long after a record, 0: the default */
	uint64_t rotate;	     /* another segment is wanted after this many bytes; 0: never */
	uint64_t keep_s;	     /* how many seconds to keep the trail; 0: not given */
	bool recover;		     /* go on with a log that another writer left */
	const char *cause;	     /* recover: why it died */
};

/*
 * Takes the log over: an empty one gets its entry "start" in the ledger; with recover, the log is
 * walked, a last line without end is cut off, the rings are set to where it ends, and a record of
 * kind gap tells the cause. *ret is the caller's.
 */
int ward_writer_new(const struct ward_writer_setup *setup, struct ward_writer **ret,
	struct ward_err *err) ward_must_check;
void ward_writer_free(struct ward_writer *w);

/*
 * Takes at most a batch out of the rings and appends it. Returns the number of records taken, 0 if
 * the rings are empty, negative errno while the log cannot be written: then the rings fail, and
 * calling again tries again.
 */
int ward_writer_step(struct ward_writer *w) ward_must_check;

/*
 * fdatasync(2) if it is owed (record: anything was written; batch: more than a second ago; close: a
 * checkpoint is due by time) or force; then the checkpoints that are due. Tells the producers what
 * is on disk.
 */
int ward_writer_sync(struct ward_writer *w, bool force) ward_must_check;
/* Milliseconds until ward_writer_sync() has something to do; -1: nothing owed. */
int ward_writer_sync_due_ms(const struct ward_writer *w);

/*
 * Segments (audit/log/segments.h). The log is as long as the policy wants it: somebody who may open
 * files makes the next one, and gives it; the writer goes on meanwhile.
 */
bool ward_writer_wants_segment(const struct ward_writer *w);
/*
 * fd (O_RDWR|O_APPEND, empty) becomes the writer's; -1: none is available now. The next
 * ward_writer_step() begins it with a record of kind `segment`.
 */
void ward_writer_give_segment(struct ward_writer *w, int fd, unsigned number);
/* Its number, once, when its first record is on disk: the one before can be compressed. 0: none. */
unsigned ward_writer_begun_segment(struct ward_writer *w);

/*
 * Before the rings are emptied for the last time: producers that still work (the supervisor died
 * before them) get -EIO from now on, for what comes too late to be taken.
 */
void ward_writer_close_rings(struct ward_writer *w);
/*
 * Ends the trail after the rings are empty: if the supervisor's session.end is missing, one with
 * the cause is appended and the verdict is incomplete. Then the ledger's "end". On failure it can
 * be called again.
 */
int ward_writer_finish(
	struct ward_writer *w, const char *cause, struct ward_err *err) ward_must_check;

/* For the end of the run. */
const struct ward_summary *ward_writer_summary(const struct ward_writer *w);
