/* SPDX-License-Identifier: Apache-2.0 */
/* The index over the trails gets a long session when it ends (audit/query/index.h). */
#pragma once

/*
 * Adds the session of this state directory to the index there, if its trail is long: in a process
 * of its own that this run does not wait for, when nobody else wants a processor. A short trail is
 * left to the next question, which brings the index up to date first (audit/query/index_today.h):
 * it takes less than a millisecond for each. A failure is no error of the run, either.
 */
void ward_run_index(const char *state, const char *session);
