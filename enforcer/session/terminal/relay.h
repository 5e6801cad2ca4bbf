/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between what the user gave as 0, 1, 2 and the sandbox: bytes, and for a terminal window size, raw
 * mode, stopping.
 *
 * The command never gets the user's terminal itself. In the foreground with input and output on it,
 * the terminal is raw and every key goes through; else (in a pipeline, say) it stays as it is, and
 * Ctrl-C reaches us as a signal that the caller passes on.
 *
 * Nor does it get a file, a socket or a device of the host (given.h): it has pipes, and we read and
 * write. That is almost as if it had them.
 *  - A file that was given as 0 is read ahead. In the end its place is set back by what was not
 *    read (ward_relay_let_go(), ward_relay_close()).
 *  - Where 1 and 2 are one open file, they are one pipe: the order stays.
 *  - A regular file is read and written by a thread (slow_file.h): who serves it may not answer.
 *  - What cannot be written is an error for the command (EPIPE) and for us (ward_relay_failed()).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/types.h>

#include "enforcer/base/err.h"
#include "enforcer/base/buf.h"
#include "enforcer/base/pollset.h"
#include "enforcer/session/terminal/escape_key.h"
#include "enforcer/session/terminal/given.h"

struct ward_relay;

enum ward_relay_flag {
	/* [process] terminal; without it the command gets no pty: its input is /dev/null, its
	   output goes through pipes. */
	WARD_RELAY_TERMINAL = 1,
	/* All output goes through us, also where it is no terminal, so that ward_relay_moved()
	   knows of it. */
	WARD_RELAY_COUNT = 2,
};

struct ward_relay_spec {
	unsigned flags; /* set of ward_relay_flag */
	unsigned apart; /* set of ward_given_apart: what goes through pipes */
	uid_t owner;	/* whose the pipes are: the command's user on the host */
};

/* What of 0, 1, 2 is a terminal, a file or a socket decides, and spec. -EINVAL: as
 * ward_given_look(). */
int ward_relay_open(const struct ward_relay_spec *spec, struct ward_relay **ret,
	struct ward_err *err) ward_must_check;
/* No file grows beyond so many bytes: [limits] file. Without it, none is bounded. */
void ward_relay_bound(struct ward_relay *r, uint64_t bytes);
/* What could not be read or written for the command, NULL: nothing. Borrowed. */
const struct ward_err *ward_relay_failed(const struct ward_relay *r);
/* Bytes that went through us, in both directions. */
uint64_t ward_relay_moved(const struct ward_relay *r);
/* Restores the terminal. */
void ward_relay_close(struct ward_relay *r);

/* True if the sandbox is to make a pty. */
bool ward_relay_wants_pty(const struct ward_relay *r);
/* Descriptors for the command's 0, 1, 2; -1: the pty. Borrowed. */
void ward_relay_stdio(const struct ward_relay *r, int ret_stdio[3]);
/* Bit i: descriptor i is a pipe that wardfs made, and the command's user must own it. */
unsigned ward_relay_pipes(const struct ward_relay *r);
/* The terminal's window size; zeros if there is none. */
struct winsize ward_relay_winsize(const struct ward_relay *r);

/* Typed twice in a row, where ward_relay_detachable() was called (escape_key.h). */
#define WARD_RELAY_DETACH WARD_ESCAPE_KEY
void ward_relay_detachable(struct ward_relay *r);
/* Was it? Neither went to the command. */
bool ward_relay_wants_away(const struct ward_relay *r);
/* As if it was. */
void ward_relay_leave(struct ward_relay *r);
/*
 * From now on, where the terminal is raw, WARD_ESCAPE_KEY typed once asks for the panel, and never
 * goes to the command; nor does it for leaving, which is the panel's then.
 */
void ward_relay_reserve(struct ward_relay *r, bool on);
bool ward_relay_is_reserved(const struct ward_relay *r);
/* Was it typed since the last call? *ret_typed, the caller's to clear: what came behind it. */
bool ward_relay_wants_panel(struct ward_relay *r, struct ward_buf *ret_typed);
/*
 * Another process of ours has the terminal until ward_relay_uncover(): keys are not read, and what
 * the command writes is not shown; with keep it is not even read. The terminal gets data before.
 */
void ward_relay_cover(struct ward_relay *r, bool keep, const char *data, size_t n);
/* It has it no more: the terminal gets data, and then what the command writes. */
void ward_relay_uncover(struct ward_relay *r, const char *data, size_t n);
/* Has programs that draw the whole screen draw it. */
void ward_relay_redraw(struct ward_relay *r);
/* These bytes go to the command as if typed. What there is no room for is lost. */
void ward_relay_type(struct ward_relay *r, const char *data, size_t n);
/*
 * Terminals and pipes at 0, 1, 2 are no more held than by their numbers, which the caller may now
 * replace. Input that pipes carry ends. Files, sockets and devices for output are written on.
 */
void ward_relay_let_go(struct ward_relay *r);
/* The user's terminal is restored and let go of; the pty is still read, for attached clients. */
void ward_relay_away(struct ward_relay *r);
/* Is there a terminal that shows what is read from the pty? */
bool ward_relay_shows(const struct ward_relay *r);
/*
 * The terminal, where it is raw, gets what waits to be written to it, and then these bytes: what
 * brings it back. One that takes nothing for a second gets no more.
 */
void ward_relay_put_back(struct ward_relay *r, const char *data, size_t n);
/*
 * A line of wardfs' own for standard error, without its newline: as soon as what the command wrote
 * there is written, and never on a terminal that the command has, whose screen it draws. Nobody is
 * waited for. False: the line before still waits, or there is no such place.
 */
bool ward_relay_say(struct ward_relay *r, const char *line);
/*
 * Rings at the terminal that the command has, and changes the window's title, where the terminal
 * has one; NULL: puts the title before back, silently. Between what the command writes, or, where
 * it leaves a control sequence open, after a second in its place.
 */
void ward_relay_ring(struct ward_relay *r, const char *title);
/* fn gets what is read from the pty. */
void ward_relay_tap(
	struct ward_relay *r, void (*fn)(void *user, const char *data, size_t n), void *user);
/* Bytes that went to the pty by another way count as moved. */
void ward_relay_count(struct ward_relay *r, size_t n);

/* The command runs: closes our copies of its ends, takes the pty (borrowed), enters raw mode. */
int ward_relay_start(struct ward_relay *r, int pty, struct ward_err *err) ward_must_check;
/*
 * Until ward_relay_close() the rounds of set (borrowed) move bytes. What to wait for changes from
 * round to round: in the background nobody reads keys, and what waits to be written goes first.
 */
int ward_relay_watch(struct ward_relay *r, struct ward_pollset *set, unsigned rank,
	struct ward_err *err) ward_must_check;
/* The window changed: passes its size on. */
void ward_relay_resize(struct ward_relay *r);
/* We have the user's terminal, whole: `fg` gives it to a job that was stopped. */
bool ward_relay_in_front(const struct ward_relay *r);
/* Before we stop ourselves / after we were continued. */
void ward_relay_suspend(struct ward_relay *r);
void ward_relay_resume(struct ward_relay *r);
/* Writes out what is in the pty and the pipes now; a reader that stalls is given ms. */
void ward_relay_drain(struct ward_relay *r, int ms);
/* The same at the end of all. A file gets a minute in which nothing is written; then the rest is
 * lost, and ward_relay_failed() says so. */
void ward_relay_finish(struct ward_relay *r, int ms);
