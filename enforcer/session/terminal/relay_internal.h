/* SPDX-License-Identifier: Apache-2.0 */
/* What a relay is made of. For relay.c and relay_open.c alone. */
#pragma once

#include <termios.h>

#include "enforcer/base/buf.h"
#include "enforcer/screen/pieces.h"
#include "enforcer/session/terminal/relay.h"
#include "enforcer/session/terminal/slow_file.h"

/* A terminal takes this much at once without making us wait long. */
#define WARD_RELAY_CHUNK 4096

/* Bytes on their way from one descriptor to another. */
struct ward_relay_stream {
	int from; /* -1: not used or at its end */
	int to;
	struct ward_relay *relay;
	ward_pollset_id id;
	short asked; /* POLLIN of from, or POLLOUT of to */
	size_t start;
	size_t end;		     /* data[start..end) wait to be written */
	size_t owed;		     /* ward_relay_drain(): what the pipe held at its start */
	size_t room;		     /* of data */
	char *data;		     /* few, slow's, or owned */
	struct ward_slow_file *slow; /* what was given, if it is a regular file; it owns apart[] */
	bool socket; /* what was given is one: it is asked not to wait in each call */
	char few[WARD_RELAY_CHUNK];
};

/* Input first: what drains begins at SCREEN. */
enum ward_relay_stream_name { KEYS = 0, PIPE_IN, SCREEN, PIPE_OUT, PIPE_ERR, STREAMS };

/* Of wardfs itself, for a person: what waits until the stream that leads there is empty. */
struct ward_relay_notes {
	struct ward_buf line;	  /* for standard error */
	int line_by;		  /* the stream that writes to 2; -1: it is that terminal */
	bool line_open;		  /* what the command wrote there last has no newline */
	struct ward_buf screen;	  /* for the terminal, as it takes it */
	uint64_t screen_at;	  /* CLOCK_MONOTONIC ns: since then it waits */
	struct ward_pieces shown; /* what the command wrote to its terminal */
	bool titled;		  /* the window has a title of ours */
	bool titles;		  /* it has, once screen is written */
	bool off;		  /* their reader has left */
};

/* While another process of ours has the terminal, and after it. */
struct ward_relay_covered {
	bool on;
	bool keep;	     /* what the command writes stays in its pty meanwhile */
	bool whole;	     /* only whole pieces are shown, until none is under way */
	struct ward_buf out; /* from `sent` on: for the terminal, before what the pty has */
	size_t sent;
	struct ward_buf typed; /* behind the key that asks for it */
};

struct ward_relay {
	struct ward_relay_spec spec;
	enum ward_given given[3];
	bool tty[3];
	int apart[3]; /* 0, 1, 2 again, where pipes stand in for them; owned, -1: not so */
	bool pty_wanted;
	bool raw_wanted; /* keys and screen are on the terminal: raw while in the foreground */
	bool raw_now;
	int terminal; /* 0, 1, 2 or -1: the descriptor whose modes and size count */
	int pty;      /* borrowed; -1 without */
	int ours[3];  /* 0, 1, 2 opened again, so as never to wait in write(2); -1: not so */
	int child[3]; /* ends for the command, owned; -1: inherited as they are or the pty */
	int unread;   /* of the pipe for 0: a read end, to look at what is left; owned, -1: none */
	uint64_t taken; /* bytes read of what was given as 0 */
	uint64_t file_max;
	struct ward_err failed; /* what could not be read or written, with its code; 0: nothing */
	struct termios saved;
	struct ward_relay_stream stream[STREAMS];
	struct ward_pollset *set; /* borrowed; NULL: not watched */
	ward_pollset_id each;
	uint64_t moved; /* bytes read from any stream */
	void (*tap)(void *user, const char *data, size_t n);
	void *tap_user;
	struct ward_relay_notes notes;
	struct ward_relay_covered cover;
	bool reserved, wants_panel;
	bool detachable, wants_away;
	bool held; /* the first of two keys that mean leaving, since held_at (CLOCK_MONOTONIC ns) */
	uint64_t held_at;
};

/* Of 0, 1, 2, for people. */
extern const char *const ward_relay_names[3];

/*
 * Where to write what goes to descriptor i, which is no file: it is opened again, so as not to wait
 * there, if it may be; else i itself.
 */
int ward_relay_output(struct ward_relay *r, int i);

/* The command wrote this to a stream. */
void ward_relay_note_wrote(struct ward_relay *r, int which, const char *data, size_t n);
/* Before a round: what can be written of notes stands in its stream now. */
void ward_relay_note_give(struct ward_relay *r);
/* Milliseconds until that has more to do by itself; -1: never. */
int ward_relay_note_timeout(const struct ward_relay *r);
/* What takes our title from the window, if it has one. */
const char *ward_relay_note_undo(struct ward_relay *r);
void ward_relay_note_clear(struct ward_relay *r);

/* Keys were read: those behind WARD_ESCAPE_KEY are not the command's. */
void ward_relay_cover_keys(struct ward_relay *r, const char *data, size_t *n);
/* A piece of what the command wrote to its terminal (ward_piece_fn, user: the relay). */
void ward_relay_cover_piece(void *user, enum ward_piece kind, const char *data, size_t n);
/* Is what was read from the pty, and cut into pieces, not to be written as it is? */
bool ward_relay_cover_takes(struct ward_relay *r);
/* Is there something to be written before what the pty has? */
bool ward_relay_cover_busy(const struct ward_relay *r);
/* Before a round: the next part of that stands in its stream now. */
void ward_relay_cover_give(struct ward_relay *r);
