/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The questions of a session that wait for a person. wardfs-fs puts them (WARD_MSG_FS_ASK); they
 * end with an answer, at their time, or with the session. Each has a record `ask` when it is put,
 * with all that a person is shown, and a record `answer` when it ends.
 *
 * A question can be about several paths: they join it one after another. What is shown is then a
 * longer text, with a digest of its own and another record `ask`. An answer names the digest of
 * what the person saw, and is about the paths in that text: always the first ones. Operations on
 * two paths are counted like paths.
 *
 * Bounded: so many questions, so many bytes. What is beyond is refused at once.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "enforcer/base/question_id.h"
#include "enforcer/ipc/msg.h"
#include "enforcer/session/ask/answerer.h"
#include "enforcer/session/guard/guard.h"

#define WARD_ASKS_MAX 10000U
#define WARD_ASKS_BYTES ((size_t)16 << 20)
/* Of more than these at once the command line is not read: reading it takes a process. */
#define WARD_ASKS_LOOKED 64U
/* What a person refused is not asked again for so long; what nobody answered, for this long. */
#define WARD_ASKS_RESTS_MS 300000U
#define WARD_ASKS_EXPIRED_RESTS_MS 60000U

/* A path that joined a question, or two of one operation. */
struct ward_asked_path {
	char *path;
	char *path2; /* ""; or the second one */
	char *action;
	pid_t process;
	uint64_t dev, ino; /* as below */
};

struct ward_asked {
	TAILQ_ENTRY(ward_asked) at;
	uint32_t id;
	char name[WARD_QUESTION_NAME_SIZE];
	uint64_t put_ns;   /* CLOCK_MONOTONIC */
	uint64_t due_ns;   /* until then a request waits; 0: none */
	uint64_t until_ns; /* then it ends by itself */
	pid_t process;
	uid_t uid;
	uint32_t rights;
	bool host;	   /* wardfs-net asks, and path is HOST:PORT */
	uint64_t dev, ino; /* of what exists there; 0: nothing does */
	char *action, *path, *path2, *rule, *rule_text;
	uint32_t source;
	struct ward_asked_path more[WARD_QUESTION_PATHS - 1]; /* behind path */
	uint32_t n;  /* all its paths, or pairs of them, or 1 */
	char *shown; /* JSON: all that a person is shown */
	/* SHA-256 of what was shown of the first path, of the first two, …, of all. */
	uint8_t sums[WARD_QUESTION_PATHS][32];
	size_t bytes;
	json_t *signed_by; /* array of signed answers, as texts; NULL: none yet */
	bool answering;	   /* an answer is on its way to wardfs-fs */
	bool told;	   /* the program of [approvals] command knows it, or cannot be started */
};
TAILQ_HEAD(ward_asked_list, ward_asked);

/* One that ended without a grant, for the line at the end of a run. */
struct ward_asks_missed {
	char name[WARD_QUESTION_NAME_SIZE];
	char *action, *path; /* owned */
};
#define WARD_ASKS_MISSED_MAX 3

struct ward_asks_answer;

struct ward_asks {
	struct ward_guard *guard; /* borrowed */
	/* A question ends: called once for each, before it is forgotten. NULL: nobody is told. */
	void (*ended)(void *arg, const struct ward_asked *q, const struct ward_asks_answer *how);
	void *ended_arg;
	int net_control; /* of wardfs-net; -1: there is none */
	pid_t top;	 /* pid 1 of the sandbox: ancestors end there */
	struct ward_asked_list list;
	size_t n, bytes;
	uint64_t approvers; /* signed answers that it takes to give something */
	uint64_t count;	    /* that were put */
	uint64_t left_out;
	const char *failed; /* why nobody was told of a question; borrowed, NULL: nothing failed */
	const char *nobody; /* NULL; or the mode in which something was refused unasked; static */
	/* How many were refused, and how many nobody answered; the first of each. */
	uint64_t n_refused, n_missed;
	struct ward_asks_missed refused[WARD_ASKS_MISSED_MAX], missed[WARD_ASKS_MISSED_MAX];
};

void ward_asks_init(struct ward_asks *a, struct ward_guard *g, int net_control);
/* Ends all: those whose time is over as `expired`, the others as `ended`. Nobody can answer
 * any more. */
void ward_asks_end(struct ward_asks *a);
void ward_asks_clear(struct ward_asks *a);

/*
 * A message WARD_MSG_FS_ASK or WARD_MSG_NET_ASK, behind its type. *ret_new: the question, if it is
 * a new one or shows another path from now on (n > 1), else NULL. -EBADMSG: no such message; -EIO:
 * the trail failed.
 */
int ward_asks_take(struct ward_asks *a, struct ward_msg_reader *m,
	const struct ward_asked **ret_new) ward_must_check;
/* A session that has nobody who answers: refuses the question of such a message. */
int ward_asks_refuse(int control, struct ward_msg_reader *m) ward_must_check;

/* Is there a request that waits? */
bool ward_asks_waiting(const struct ward_asks *a);
/* For poll(2): milliseconds until ward_asks_tick() has something to do, -1: never. */
int ward_asks_timeout(const struct ward_asks *a);
/* -EIO: the trail failed. */
int ward_asks_tick(struct ward_asks *a) ward_must_check;

struct ward_asked *ward_asks_find(const struct ward_asks *a, const char *name);
/* {"questions":[…],"more":N}: each what was shown, and its digest. Those that wait come first. */
json_t *ward_asks_list(const struct ward_asks *a);

/*
 * How many paths of q the text with this digest (hexadecimal) shows; 0: it is of none of its texts.
 */
uint32_t ward_asks_shown(const struct ward_asked *q, const char *digest);
/* The digest of what shows the first n paths, hexadecimal. */
void ward_asks_digest(const struct ward_asked *q, uint32_t n, char ret[65]);
/* The path at index, below n, and the rest of what is known of it. */
struct ward_asked_path ward_asks_path(const struct ward_asked *q, uint32_t index);

/* One of them, as in that list; NULL: no memory. */
json_t *ward_asks_one(const struct ward_asks *a, const struct ward_asked *q);
/* q has these signed answers from now on (an array of texts, taken). -ENOSPC: too much of them. */
int ward_asks_set_signed(
	struct ward_asks *a, struct ward_asked *q, json_t *signed_by) ward_must_check;

/* How a question ends. */
struct ward_asks_answer {
	const char *result;		 /* "granted", "refused", "expired", "ended" */
	const char *scope;		 /* "once", "path", …; NULL */
	const char *how;		 /* "terminal", "approve", "command"; NULL */
	const char *grant;		 /* ids, or NULL */
	const char *key;		 /* names of the keys that signed it, or NULL */
	const char *text;		 /* or NULL */
	uint32_t n;			 /* paths of the question that it is about; 0: all */
	const struct ward_answerer *who; /* NULL: nobody */
};
/*
 * Before the grant `id` that answers q, of its path at index, is in force: unless it is for any
 * object that it covers, wardfs-fs keeps it to the object of the question. -EAGAIN: wardfs-fs does
 * not read just now.
 */
int ward_asks_bind(struct ward_asks *a, const struct ward_asked *q, uint32_t index, const char *id,
	bool any) ward_must_check;
/* All requests that wait are decided again: some may have what they asked for. */
void ward_asks_again(const struct ward_asks *a);

/*
 * Ends q: writes the record, then tells wardfs-fs, and forgets it. -EIO: the trail failed, and the
 * question is refused.
 */
int ward_asks_answer(struct ward_asks *a, struct ward_asked *q,
	const struct ward_asks_answer *how) ward_must_check;
