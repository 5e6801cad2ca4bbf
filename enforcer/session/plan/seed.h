/* SPDX-License-Identifier: Apache-2.0 */
/*
 * [tree P] seed: settings that an agent needs and may not change inside, written before it starts.
 * Only in the directories where agents keep their state (owner/agents.h), which the owner's own
 * programs never read. Agents could write there: what lies there is hostile.
 */
#pragma once

#include "enforcer/base/buf.h"
#include "enforcer/session/plan/plan.h"

/*
 * Makes the files that are missing, and adds what a project's first session adds, with the owner's
 * rights. envp: the command's environment, which lines with a condition ask. note: gets a line
 * about what was written, or could not be, or nothing: a file that cannot be seeded stops no run.
 * -EINVAL: the policy seeds a tree that is no agent's; -ENOMEM.
 */
int ward_seed_write(const struct ward_run_plan *p, char *const *envp, struct ward_buf *note,
	struct ward_err *err) ward_must_check;
