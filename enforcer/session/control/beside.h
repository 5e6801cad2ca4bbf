/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running sessions that serve the same directories under other rules. Each guards what its own
 * rules name, so two sessions together can do what neither may do alone (SECURITY.md).
 */
#pragma once

#include "enforcer/session/plan/plan.h"

/*
 * Looks at the running sessions in the runtime directory. Says one line if one of them has a tree
 * with the same directory, or one above or beneath it, and other rules for paths, or another file
 * than `moves` (ward_guard_share()), and one for each session that does not answer: at once if its
 * supervisor is stopped, else within seconds. say may be NULL. Call it before the session listens.
 */
void ward_beside_say(
	const struct ward_run_plan *p, const char *moves, void (*say)(const char *text));
