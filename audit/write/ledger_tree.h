/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tree over the ledger's lines, on the side of who appends: as far as the last checkpoint, and
 * on to the end. So that an append does not read the whole ledger, the file "ledger.tree" remembers
 * the tree as it was at the last one. It is never the truth: its root must be that of the
 * checkpoint, else the ledger is read from its beginning.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "audit/log/merkle.h"
#include "audit/log/tlog.h"
#include "enforcer/base/err.h"

/* The files of the ledger, open to be appended to. Who opened them closes them. */
struct ward_ledger_files {
	int fd;	      /* ledger.jsonl, O_RDWR|O_APPEND */
	int notes_fd; /* ledger.checkpoints, O_RDWR|O_APPEND */
	int tree_fd;  /* ledger.tree, O_RDWR */
};
#define WARD_LEDGER_FILES_INIT ((struct ward_ledger_files){.fd = -1, .notes_fd = -1, .tree_fd = -1})
void ward_ledger_files_close(struct ward_ledger_files *f);

struct ward_ledger_tree {
	/* It agrees with the last checkpoint: the next one may be signed. */
	bool good;
	struct ward_merkle tree; /* over all whole lines */
	uint64_t offset;	 /* bytes that they are */
	uint64_t covered;	 /* size of the last checkpoint; 0: none */
	uint64_t synced;	 /* of one that is on disk for sure; 0: of none */
};

/*
 * The tree over the first `whole` bytes of the ledger, which end with a line. A checkpoint that was
 * not written to its end is cut off. A negative errno of reading; that the ledger is not the one of
 * the checkpoint is no error: *ret is not good then. Hold the lock of the ledger.
 */
int ward_ledger_tree_load(const struct ward_ledger_files *f, uint64_t whole,
	const struct ward_note_key *key, struct ward_ledger_tree *ret) ward_must_check;
/* Whole lines were appended: len bytes. */
void ward_ledger_tree_add(struct ward_ledger_tree *t, const char *lines, size_t len);
/*
 * Signs a checkpoint over the tree, and remembers the tree. sync: it is on disk then. To wait for a
 * disk takes longer than all the rest, so sessions leave it to the kernel, mostly.
 */
int ward_ledger_tree_sign(const struct ward_ledger_files *f, struct ward_ledger_tree *t,
	const struct ward_tlog_key *key, bool sync) ward_must_check;
