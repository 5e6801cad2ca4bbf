/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the clients of `wardfs exec` (join.h) and `wardfs attach` (attach_client.h) share: the
 * connection to the session's supervisor, our terminal, our signals, the answers, the exit status.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "enforcer/base/err.h"
#include "enforcer/base/pollset.h"
#include "enforcer/screen/tty_modes.h"
#include "enforcer/screen/pieces.h"
#include "enforcer/session/exec/panel.h"
#include "enforcer/session/terminal/relay.h"

struct ward_client;

struct ward_client_kind {
	const char *begun;   /* the member of the answer that says that it has begun */
	const char *refused; /* what silence before that means, for the user */
	const int *signals;  /* that reach `signal` */
	size_t n_signals;
	void (*signal)(struct ward_client *c, int signo);
	/* Without a descriptor it has not begun; WARD_RELAY_DETACH twice leaves; and our terminal
	 * shows that of another one, whose modes are undone in the end. */
	bool screen;
};

struct ward_client {
	const struct ward_client_kind *kind;
	const char *session;
	struct ward_err *err; /* the caller's; why the status is one of ours */
	struct ward_relay *relay;
	struct ward_pollset set;
	int sock;
	int signals;
	int screen;		     /* where keys go and output comes from; -1: not yet, or none */
	struct ward_pieces tokens;   /* of what our terminal is shown, */
	struct ward_tty_modes modes; /* and what that left it in */
	struct ward_panel panel;     /* that it shows in place of the session */
	bool rung;		     /* a question waits */
	uint64_t look_ns;	     /* CLOCK_MONOTONIC: it has not begun, so look who is silent; */
	int beside;		     /* asked on a connection of its own; -1: not now */
	ward_pollset_id heard;	     /* the answer to that */
	bool begun, over, put_back;
	int status; /* exit status for our caller */
};

/*
 * Connects, catches the signals, looks at 0, 1, 2 (apart: a set of ward_given_apart). *c is
 * initialised here, also on failure; ward_client_close() releases it.
 */
int ward_client_open(const struct ward_client_kind *kind, const char *session, unsigned apart,
	struct ward_client *c, struct ward_err *err) ward_must_check;
/*
 * The request was sent: until the end. If nothing has begun for a while, it says once what it
 * waits for. A supervisor that does not answer is the end.
 */
void ward_client_loop(struct ward_client *c);
/* It is over, with this exit status. What else is ready in the same round waits for nobody. */
void ward_client_finish(struct ward_client *c, int status);
/* Writes out what came last, restores the terminal. r: of what was done before the loop, or 0.
 * Returns the exit status. */
int ward_client_close(struct ward_client *c, int r);
