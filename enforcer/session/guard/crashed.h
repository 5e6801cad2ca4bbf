/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sessions that ended with the host, or with all of their processes at once: their trails have no
 * end. A mark in the state directory (audit/store/store.h) names each of them; the next start ends
 * them.
 */
#pragma once

#include <stdbool.h>

#include "audit/store/store.h"
#include "enforcer/policy/settings.h"

/*
 * What a mark says: when this host was booted, and [audit] sync. *ret is the caller's to clear.
 * -EIO: the kernel does not tell.
 */
int ward_crashed_mark(
	enum ward_audit_sync sync, struct ward_buf *ret, struct ward_err *err) ward_must_check;

/*
 * Ends the trail `name` with the cause; makes the writer do it.
 */
typedef int ward_crashed_fn(
	struct ward_store *st, const char *name, const char *cause, struct ward_err *err);

/*
 * Does the ledger tell of a start of the session and of no end? Then its trail must have one: what
 * does not exist is missing forever. ledger_fd: the one that its writer had, which is dead: it can
 * have died with that locked, and no other descriptor gets the lock then. Where others keep it
 * locked, it may tell: true. False where it cannot be read.
 */
bool ward_crashed_begun(struct ward_store *st, int ledger_fd, const char *name);

/*
 * Goes through the marks. A session that runs is left alone; of one that has its end only the mark
 * is removed; the others get theirs by end(). What cannot be ended keeps its mark: verify says that
 * it is incomplete, and the next start tries again.
 */
void ward_crashed_sweep(struct ward_store *st, ward_crashed_fn *end);
