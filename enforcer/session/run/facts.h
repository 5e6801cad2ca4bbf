/* SPDX-License-Identifier: Apache-2.0 */
/* What was applied to a sandbox, for session.start. */
#pragma once

#include "enforcer/sandbox/sandbox.h"
#include "enforcer/session/limits/limits.h"
#include "enforcer/session/plan/plan.h"

/*
 * seccomp: name of the list. A JSON object: namespaces, filters, guarantees, limits. What the mode
 * or the host does not have is false. *ret is the caller's; NULL without memory.
 */
char *ward_sandbox_facts_text(const struct ward_run_plan *p, const struct ward_sandbox *sb,
	const struct ward_limits *l, const char *seccomp) ward_must_check;

/* The sandbox's list of system calls that a policy names. */
enum ward_seccomp ward_fact_seccomp(enum ward_seccomp_list list);
