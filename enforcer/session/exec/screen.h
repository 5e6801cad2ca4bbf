/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The supervisor's side of wardfs-screen (enforcer/screen): it gets what is read from the session's
 * terminal, and draws for those who join, splits off what the program asks its terminal, and says
 * how a terminal is brought back.
 *
 * The session does without it: one that dies, or does nothing for a second while there is work, is
 * ended, and nothing is drawn from then on.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/pollset.h"
#include "enforcer/ipc/msg.h"
#include "enforcer/session/guard/helper.h"

/* Messages that wait for wardfs-screen. More wait for it to take some. */
#define WARD_SCREEN_QUEUE 16

/* Its answers, in the order of its input. data is borrowed for the call. */
struct ward_screen_events {
	/* Whole pieces of what was written, without questions; flags: set of ward_screen_flag. */
	void (*shown)(void *user, unsigned flags, const char *data, size_t n);
	/* A question, and an answer for the case that no terminal gives one. */
	void (*asked)(void *user, const char *data, size_t n, const char *answer, size_t n_answer);
	void (*picture)(void *user, uint32_t who, unsigned flags, const char *data, size_t n);
	/* It is gone. */
	void (*gone)(void *user);
};

struct ward_screen {
	struct ward_helper helper;
	bool up;
	int pty; /* borrowed; -1: not yet */
	const struct ward_screen_events *events;
	void *user;
	struct ward_pollset *set;
	ward_pollset_id id;
	struct ward_msg queue[WARD_SCREEN_QUEUE];
	size_t n_queue;
	uint16_t rows, columns; /* as it was told */
	struct ward_buf undo;	/* the answer to ward_screen_undo() */
	bool undone;		/* it is whole */
	uint8_t *room;		/* WARD_MSG_MAX, owned */
};

#define WARD_SCREEN_INIT ((struct ward_screen){.helper = WARD_HELPER_INIT, .pty = -1})

/* Starts it. Where that cannot be, the session goes on without (ward_screen_is_up()). */
void ward_screen_start(struct ward_screen *s);
bool ward_screen_is_up(const struct ward_screen *s);
/* Who hears it; the terminal whose window counts (borrowed). Before anything is written. */
void ward_screen_hear(
	struct ward_screen *s, int pty, const struct ward_screen_events *events, void *user);
/* The rounds of set (borrowed) hear it. */
int ward_screen_watch(struct ward_screen *s, struct ward_pollset *set, unsigned rank,
	struct ward_err *err) ward_must_check;

/* This was read from the terminal. */
void ward_screen_wrote(struct ward_screen *s, const char *data, size_t n);
/* Draw for who; first: they saw nothing yet. What is written from then on is shown. */
void ward_screen_draw(struct ward_screen *s, uint32_t who, bool first);
/* Nobody needs what is written any more. */
void ward_screen_quiet(struct ward_screen *s);
/*
 * What brings a terminal back that showed all so far. Waits a second at most; where nothing is
 * known it is what does no harm. The caller's to clear.
 */
void ward_screen_undo(struct ward_screen *s, struct ward_buf *ret);
/* The same for what draws all of it again, lines that went off the top left out; false: nothing is
 * known. */
bool ward_screen_redraw(struct ward_screen *s, struct ward_buf *ret);
/* Ends it. Again: nothing. */
void ward_screen_close(struct ward_screen *s);
