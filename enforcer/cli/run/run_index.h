/* SPDX-License-Identifier: Apache-2.0 */
/* The index over the trails gets a session when it ends (audit/query/index.h). */
#pragma once

/*
 * Adds the session of this state directory to the index there. A short trail at once, which takes a
 * few milliseconds; of a long one a process of its own does it behind us, when nobody else wants a
 * processor. A failure is no error of the run: the next question brings the index up to date.
 */
void ward_run_index(const char *state, const char *session);
