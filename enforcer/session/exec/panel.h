/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The panel in which a person answers questions, at the user's terminal: for the supervisor and for
 * the client of `wardfs attach`. It is a process of its own, `wardfs approve --panel`, so that
 * neither the command's terminal nor a person who does not answer holds up the session.
 *
 * It has the terminal at 0 and 1, and at WARD_PANEL_FD a SOCK_SEQPACKET socket. A message is a
 * letter and bytes:
 *
 *   to it    q        questions came or ended
 *            t BYTES  typed behind the key that opened it
 *   from it  r BYTES  for the command: what its terminal answered it
 *            l        the key was typed again: the user leaves
 *
 * It ends when the person closes it. Whoever opened it draws what was there before.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "enforcer/base/pollset.h"
#include "enforcer/session/terminal/relay.h"

#define WARD_PANEL_FD 3
#define WARD_PANEL_MESSAGE_MAX 8192

enum ward_panel_says {
	WARD_PANEL_QUESTIONS = 'q',
	WARD_PANEL_TYPED = 't',
	WARD_PANEL_REPORT = 'r',
	WARD_PANEL_LEAVE = 'l',
};

struct ward_panel {
	struct ward_relay *relay; /* borrowed */
	struct ward_pollset *set;
	ward_pollset_id id;
	pid_t pid; /* 0: it is not open */
	int channel;
	bool leave;
	void (*closed)(void *user, bool leave);
	void *user;
};

/*
 * The relay's terminal is covered already. In *p, closed and user are the caller's; closed is
 * called when the process has ended. -errno: it does not come about.
 */
int ward_panel_open(struct ward_panel *p, struct ward_relay *relay, struct ward_pollset *set,
	unsigned rank, const char *session, const struct ward_buf *typed) ward_must_check;
bool ward_panel_is_open(const struct ward_panel *p);
/* Questions came or ended. */
void ward_panel_changed(const struct ward_panel *p);
/* Ends it, if it is open; closed is called. */
void ward_panel_close(struct ward_panel *p);
