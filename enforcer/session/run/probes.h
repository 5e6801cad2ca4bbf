/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The start-up probes of a session (enforcer/sandbox/probe.h): what they are made with, and their
 * records.
 */
#pragma once

#include "enforcer/modes/modes.h"
#include "enforcer/session/guard/guard.h"
#include "enforcer/session/plan/plan.h"

struct ward_probes {
	char *outside;	 /* the session's runtime directory, owned */
	char *hidden;	 /* in a tree; NULL: nothing at the top of any is hidden */
	char *write;	 /* in a tree; NULL: nothing is refused that the owner could make */
	int listener;	 /* abstract socket of this network namespace; -1 */
	char socket[64]; /* its address without the leading NUL */
};
#define WARD_PROBES_INIT ((struct ward_probes){.listener = -1})

/*
 * Finds and makes what probes need. session: the name; its runtime directory exists
 * (ward_control_listen()). Looks at the names at the top of the trees, with the owner's rights; a
 * tree that cannot be listed offers none. Changes nothing on the host.
 */
int ward_probes_open(const struct ward_run_plan *p, const char *session, struct ward_probes *ret,
	struct ward_err *err) ward_must_check;
/* Hands them to the description; borrowed from w. */
void ward_probes_offer(const struct ward_probes *w, struct ward_sandbox_spec *spec);
void ward_probes_close(struct ward_probes *w);

/*
 * Has the sandbox probed and records every verdict, also of those that failed. Returns 0 where all
 * held and were recorded, -EPERM with the text of the first that did not, or why they could not be
 * made or recorded.
 */
int ward_probes_make(
	struct ward_guard *g, struct ward_confined *c, struct ward_err *err) ward_must_check;
