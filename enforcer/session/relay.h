/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between the user's terminal and the sandbox's pty: bytes both ways, window size, raw mode,
 * stopping.
 *
 * The command never gets the user's terminal itself. In the foreground with input and output on it,
 * the terminal is raw and every key goes through; else (in a pipeline, say) it stays as it is, and
 * Ctrl-C reaches us as a signal that the caller passes on.
 */
#pragma once

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>

#include "enforcer/base/err.h"

struct ward_relay;

#define WARD_RELAY_POLL_MAX 5

enum ward_relay_flag {
	/* [process] terminal; without it the command gets no pty: its input is /dev/null, its
	   output goes through pipes. */
	WARD_RELAY_TERMINAL = 1,
	/* All output goes through us, also where it is no terminal, so that ward_relay_moved()
	   knows of it. */
	WARD_RELAY_COUNT = 2,
	/*
	 * Files go through pipes: by /proc/self/fd one that was given to be read could be opened
	 * anew to be written, and one to be appended to be read.
	 */
	WARD_RELAY_APART = 4,
};

/* WARD_RELAY_APART where no Landlock refuses that, else 0. */
unsigned ward_relay_apart(void);

/* What of 0, 1, 2 is a terminal decides, and flags, a set of ward_relay_flag. */
int ward_relay_open(unsigned flags, struct ward_relay **ret, struct ward_err *err) ward_must_check;
/* Bytes that went through us, in both directions. */
uint64_t ward_relay_moved(const struct ward_relay *r);
/* Restores the terminal. */
void ward_relay_close(struct ward_relay *r);

/* True if the sandbox is to make a pty. */
bool ward_relay_wants_pty(const struct ward_relay *r);
/* Descriptors for the command's 0, 1, 2; -1: the pty. Borrowed. */
void ward_relay_stdio(const struct ward_relay *r, int ret_stdio[3]);
/* The terminal's window size; zeros if there is none. */
struct winsize ward_relay_winsize(const struct ward_relay *r);

/* Typed twice in a row, where ward_relay_detachable() was called: Ctrl-] (telnet(1), virsh(1)). */
#define WARD_RELAY_DETACH 0x1d
void ward_relay_detachable(struct ward_relay *r);
/* Was it? Neither went to the command. */
bool ward_relay_wants_away(const struct ward_relay *r);
/* Descriptors 0, 1, 2 are no more held than by their numbers, which the caller may now replace. */
void ward_relay_let_go(struct ward_relay *r);
/* The user's terminal is restored and let go of; the pty is still read, for whoever taps it. */
void ward_relay_away(struct ward_relay *r);
/* fn gets what is read from the pty. */
void ward_relay_tap(
	struct ward_relay *r, void (*fn)(void *user, const char *data, size_t n), void *user);
/* Bytes that went to the pty by another way count as moved. */
void ward_relay_count(struct ward_relay *r, size_t n);

/* The command runs: closes our copies of its ends, takes the pty (borrowed), enters raw mode. */
int ward_relay_start(struct ward_relay *r, int pty, struct ward_err *err) ward_must_check;
/* Fills what to wait for; at most WARD_RELAY_POLL_MAX. Returns the number. */
size_t ward_relay_poll(struct ward_relay *r, struct pollfd *ret_fds);
/* How long poll(2) may wait for them, in ms; -1: for ever. */
int ward_relay_timeout(const struct ward_relay *r);
/* Moves bytes after poll(2) (same array). */
void ward_relay_move(struct ward_relay *r, const struct pollfd *fds, size_t n);
/* The window changed: passes its size on. */
void ward_relay_resize(struct ward_relay *r);
/* We have the user's terminal, whole: `fg` gives it to a job that was stopped. */
bool ward_relay_in_front(const struct ward_relay *r);
/* Before we stop ourselves / after we were continued. */
void ward_relay_suspend(struct ward_relay *r);
void ward_relay_resume(struct ward_relay *r);
/* Writes out what the command still has in the pty or the pipes; bounded by ms. */
void ward_relay_drain(struct ward_relay *r, int ms);
