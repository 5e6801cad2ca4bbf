/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `wardfs attach`, in the supervisor: others at the terminal of the session's first command. All
 * see the same screen, and all type into the same program, as does the user who started the
 * session, unless that user left (`--keep`, WARD_RELAY_DETACH twice). At the control socket
 * (control.h):
 *
 *   client     {"verb":"attach","rows":N,"columns":N,"watch":BOOL}
 *   supervisor {"attached":true,"drawn":BOOL,"asks":BOOL}, with a stream socket: what the screen
 * shows, drawn (screen.h; not, where wardfs-screen is gone), and what comes from now on, and the
 * other way what is typed (of one that watches it is dropped); or
 *              {"error":TEXT,"status":N}
 *   client     {"rows":N,"columns":N}, when its window changes
 *   client     {"panel":BOOL}: it shows something else, or again the session, which is drawn then
 *   supervisor {"ring":BOOL}: a question waits, or none does any more
 *   supervisor {"exited":N} or {"signaled":N}: the command is over; or {"error":TEXT,"status":N}
 *
 * What the program asks its terminal reaches one of those that see it: the first terminal, else the
 * first attached client that types. Where there is none, wardfs-screen answers: the program goes
 * on.
 *
 * Who comes and who goes is in the trail (kind `exec`).
 */
#pragma once

#include <jansson.h>

#include "enforcer/base/pollset.h"
#include "enforcer/modes/modes.h"
#include "enforcer/session/exec/screen.h"
#include "enforcer/session/guard/guard.h"
#include "enforcer/session/terminal/relay.h"

#define WARD_ATTACH_MAX 4

struct ward_attached; /* somebody at the terminal */

struct ward_attach {
	/* Borrowed, for as long as this lives. */
	struct ward_confined *confined;
	struct ward_guard *guard;
	struct ward_relay *relay;
	struct ward_screen *screen;
	struct ward_pollset *set;
	unsigned rank;
	struct ward_attached *v[WARD_ATTACH_MAX]; /* NULL: free */
	uint32_t last_id;
	bool over; /* the command is */
	bool asks; /* the policy has questions: WARD_ESCAPE_KEY opens the panel (panel.h) */
	bool rung; /* one waits */
};

/* The command runs. *ret must not move from here on. */
void ward_attach_start(struct ward_attach *ret, struct ward_confined *c, struct ward_guard *g,
	struct ward_relay *relay, struct ward_screen *screen);
/* Before the first request: the rounds of set (borrowed) serve who is attached. */
int ward_attach_watch(struct ward_attach *a, struct ward_pollset *set, unsigned rank,
	struct ward_err *err) ward_must_check;
/* A request came on fd, which is taken. Answers errors itself. */
void ward_attach_request(struct ward_attach *a, int fd, const json_t *request);
/* May there be questions? For those who join from now on. */
void ward_attach_reserve(struct ward_attach *a, bool asks);
/* Tells everybody that one waits, or that none does. */
void ward_attach_ring(struct ward_attach *a, bool on);
/* Is somebody attached now? */
bool ward_attach_somebody(const struct ward_attach *a);
/* The command is over, and what it left on the screen was moved: tells everybody, and lets go. With
 * status < 0 it was ended by signal. */
void ward_attach_end(struct ward_attach *a, int status, int signal);
