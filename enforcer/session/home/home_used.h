/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a kept home holds, kept beside it, so that not each start has to count it (ADR 26).
 *
 * homes/UID/NAME-HASH/used is one line, and line feeds up to a length that never changes: what
 * stood when the last session that was alone in the home ended, or that a session has begun since.
 *
 *   used BYTES STARTS BOOT-ID MARK
 *   open MARK
 *
 * Each start puts a MARK of its own there before anything can be written to the home. At its end
 * the session adds what its quota says that it added, but only where it was alone, where the line
 * is still its own, and where no other session has the lock: whatever else happened (a kill, a
 * second session, a stop of the host) leaves a line that the next start cannot use, and that counts
 * again.
 *
 * BYTES is never less than what sessions left: a quota gives nothing for what was there before and
 * is removed (ADR 14). So it is believed for as long as it leaves more than half of the size. What
 * the host adds while no session runs it does not have: it is believed for WARD_HOME_USED_STARTS
 * starts, and on the boot that it was written on.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "enforcer/base/err.h"

#define WARD_HOME_USED_STARTS 16
#define WARD_HOME_USED_MAX 160

struct ward_home_used {
	char line[WARD_HOME_USED_MAX]; /* as it stood when the size was asked for; "": none */
	char mark[40];		       /* of this session; "": it can write no line */
	bool known;
	uint64_t bytes;	 /* if known: what the home held before this session */
	unsigned starts; /* since it was counted */
};

/* The line in the directory dir (-1: none): before anything else. */
void ward_home_used_read(int dir, struct ward_home_used *u);

/* What the line says, where it can be believed under a limit of size bytes. False: count. */
bool ward_home_used_believe(struct ward_home_used *u, uint64_t size);
/* It was counted. */
void ward_home_used_counted(struct ward_home_used *u, uint64_t bytes);

/*
 * The home is locked: alone, or with others. From here on the line says that a session has begun.
 * -errno: it could not be written, and the home must not be used.
 */
int ward_home_used_begin(int dir, bool alone, struct ward_home_used *u) ward_must_check;

/*
 * The session has ended as it should, with that many bytes added; the lock is held alone. Errors
 * leave a line that is not believed.
 */
void ward_home_used_end(int dir, uint64_t added, const struct ward_home_used *u);
