/* SPDX-License-Identifier: Apache-2.0 */
/*
 * [audit] anchor: checkpoints of a trail go where the owner's processes cannot take them back: the
 * journal, syslog, a file elsewhere, a command. The first one has to arrive before the command
 * starts, else nothing starts. While the session runs a thread looks at the file of checkpoints and
 * delivers what is new; nobody waits for it. What is left is delivered at the end. An anchor that
 * fails later is tried again with the next checkpoint, and named at the end.
 */
#pragma once

#include "enforcer/policy/settings.h"
#include "enforcer/session/owner/identity.h"

struct ward_anchors;

/*
 * Where the policy names none: "journald", if there is one on this host, else NULL. It then gets
 * the first and the last checkpoint of each session, so that one that vanished with its entries of
 * the ledger is known there; a journal that does not take them keeps nobody from anything.
 */
const char *ward_anchors_unasked(const struct ward_strings *what);

/*
 * s: its anchors count. checkpoints_fd, and ledger_fd of the ledger's checkpoints (-1: they are
 * another's): borrowed until ward_anchors_finish(), their positions are not used. Of the ledger the
 * anchors get the last one at the start, and the last one at the end. Files are opened, and
 * commands run, with the owner's rights; those of the floor with this process's, which in a session
 * of root's are root's (anchor_place.h says from where). *ret NULL: there are none. Call before
 * there are other threads.
 */
int ward_anchors_start(const struct ward_settings *s, const struct ward_identity *id,
	int checkpoints_fd, int ledger_fd, struct ward_anchors **ret,
	struct ward_err *err) ward_must_check;
/*
 * After the trail has its end. Returns 0, or the error of the first anchor that does not have the
 * last checkpoint (its name in err). Frees x; NULL is fine.
 */
int ward_anchors_finish(struct ward_anchors *x, struct ward_err *err);
/* The same as a line for stderr, owned; NULL: nothing to say. */
char *ward_anchors_note(struct ward_anchors *x, const char *session);
