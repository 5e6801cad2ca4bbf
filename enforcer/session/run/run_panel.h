/* SPDX-License-Identifier: Apache-2.0 */
/* Who hears of questions, and the panel at the terminal of the run in which they are answered. */
#pragma once

#include "enforcer/session/run/running.h"

/* The command runs at its terminal: from here on WARD_ESCAPE_KEY opens the panel there, while the
 * policy asks. rank: of its descriptor in r->set. */
void ward_run_panel_begin(struct ward_running *r, unsigned rank);
/* In each round: opens it, if the key was typed. */
void ward_run_panel_look(struct ward_running *r);
/* Before anything else is done with the terminal: closes it, if it is open. */
void ward_run_panel_close(struct ward_running *r);

/* A question came. */
void ward_run_panel_question(struct ward_running *r, const struct ward_asked *q);
/* A question ended (struct ward_asks, ended). */
void ward_run_panel_answer(
	void *arg, const struct ward_asked *q, const struct ward_asks_answer *how);
/* Every terminal that shows the session rings, and says so in its title; or has its title back. */
void ward_run_panel_ring(struct ward_running *r, bool on);
