/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers the questions of a runtime that asks a broker for each permission (Deno 2.5 and later:
 * DENO_PERMISSION_BROKER_PATH, experimental; docs.deno.com/go/permission-broker). A thread of the
 * supervisor listens at a socket that stands inside. On a connection each line is a question, and
 * each answer is a line:
 *
 *   {"v":1,"pid":7,"id":1,"datetime":"…","permission":"read","value":"../x"}
 *   {"id":1,"result":"deny","reason":"…"}
 *
 * value is as the script spelled it, or null for everything. Paths go to ward_policy_decide(),
 * hosts to ward_policy_connect_inside(). A refusal is recorded before it is answered. What is no
 * such question, or cannot be recorded, ends the connection, and Deno ends with status 87.
 *
 * The policy is the one in force, also after a reload. Answers take a part of the session's CPU
 * time, which no control group counts; a faster asker waits.
 *
 * It only refuses: a process that gets a "yes" by lying still meets all layers of the sandbox.
 */
#pragma once

#include "enforcer/session/guard/guard.h"
#include "enforcer/session/plan/plan.h"

struct ward_permission;

/*
 * Listens, if the mode's runtime asks a broker; else *ret is NULL. dir, session: of the session's
 * runtime directory. plan and g are borrowed until ward_permission_free().
 */
int ward_permission_open(const struct ward_run_plan *plan, int dir, const char *session,
	struct ward_guard *g, struct ward_permission **ret, struct ward_err *err) ward_must_check;
/* The socket's path on the host, for the sandbox to show. NULL of NULL. */
const char *ward_permission_path(const struct ward_permission *x);
/* Begins to answer. x may be NULL. */
int ward_permission_start(struct ward_permission *x, struct ward_err *err) ward_must_check;
/* From now on this policy decides. Takes a reference of it. By the thread that opened it. */
void ward_permission_use(struct ward_permission *x, struct ward_policy *policy);
/* After everything inside was killed. NULL is fine. */
void ward_permission_free(struct ward_permission *x);
