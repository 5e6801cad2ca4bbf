/* SPDX-License-Identifier: Apache-2.0 */
/* The index over the trails gets a session when it ends (audit/query/index.h). */
#pragma once

/*
 * Adds the session of this state directory to the index there, in a process of its own that this
 * run does not wait for: a long trail always, when nobody else wants a processor. Of runs with a
 * short one, one in sixteen brings the index up to date. A failure is no error of the run: a
 * question that needs the index brings it up to date first (audit/query/index_today.h).
 */
void ward_run_index(const char *state, const char *session);
