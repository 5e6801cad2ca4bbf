/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The segments of a session's trail (audit/log/segments.h), on the supervisor's side: the writer
 * may open nothing, so it asks for the next one; a finished one is compressed by a process of its
 * own (wardfs-audit with WARD_AUDIT_PACK), which has the two files and nothing else. One at a time,
 * and never waited for: what is not compressed when the session ends, the last one in any case,
 * stays plain until somebody runs `wardfs audit prune`; wardfs-auditd, which does not end with the
 * session, does it then.
 */
#pragma once

#include "enforcer/ipc/msg.h"
#include "enforcer/session/guard/guard.h"

/* A message of the writer. False: it is not about segments. */
bool ward_segments_message(struct ward_guard *g, struct ward_msg_reader *m);
/* After anything happened: a compressed segment gets its name, the next one is begun. */
void ward_segments_tick(struct ward_guard *g);
/* Ends what is under way, and what was made for nothing. Before the store is closed. */
void ward_segments_end(struct ward_guard *g);
