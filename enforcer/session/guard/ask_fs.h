/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions of clients of the control socket that wardfs-fs answers (WARD_MSG_FS_QUERY): they wait
 * here, one of them is under way, and neither side ever waits for the other. If an answer does not
 * come in time, the client gets an error, and the late answer is dropped.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/err.h"

/* Clients that wait at once; one more is refused. */
#define WARD_ASK_FS_MAX 8
/* Messages of the supervisor's own, one of them for its policy. */
#define WARD_ASK_FS_OWN 64
/* Shorter than a client's own patience (ward_control_ask()), so that it reads why. */
#define WARD_ASK_FS_MS 4000

/*
 * The answer to a question of the supervisor's own; once. NULL: the session ends, or it cannot be
 * asked.
 */
typedef void ward_ask_fs_fn(void *arg, const char *json);

struct ward_ask_fs_item {
	int client;    /* -1: gave up, but the daemon owes an answer; or nobody's but fn's */
	uint32_t what; /* enum ward_fs_query */
	int policy;    /* a descriptor: WARD_MSG_FS_POLICY, not a query; else -1 */
	struct ward_buf message; /* in place of either; empty: none */
	uint64_t until_ns;	 /* CLOCK_MONOTONIC; of fn's: never */
	ward_ask_fs_fn *fn;
	void *arg;
};

/* A message of wardfs-fs that answers nothing: its question to a person (WARD_MSG_FS_ASK). */
struct ward_msg_reader;
typedef int ward_ask_fs_question_fn(void *arg, struct ward_msg_reader *m);

/* Zero is an empty queue. The first item is under way if `sent`. */
struct ward_ask_fs {
	struct ward_ask_fs_item v[WARD_ASK_FS_MAX + WARD_ASK_FS_OWN];
	size_t n;
	bool sent;
	uint64_t sent_ns; /* CLOCK_MONOTONIC: when */
	/* A negative errno: the session is to end. Never NULL once wardfs-fs serves. */
	ward_ask_fs_question_fn *question;
	void *question_arg;
};

/* Has wardfs-fs owed an answer for half of what a client waits? */
bool ward_ask_fs_silent(const struct ward_ask_fs *q);

/*
 * A client asks for `what` (enum ward_fs_query): takes *client (leaves -1) and asks, over
 * fs_control, when its turn comes.
 */
void ward_ask_fs_client(struct ward_ask_fs *q, int fs_control, uint32_t what, int *client);

/*
 * For the supervisor itself, however long it takes: policy (taken) is handed over, or, where it is
 * -1, `what` asked. fn is called from ward_ask_fs_message(), _clear() or here.
 */
void ward_ask_fs_own(struct ward_ask_fs *q, int fs_control, uint32_t what, int policy,
	ward_ask_fs_fn *fn, void *arg);

/*
 * The same with a message of its own, which wardfs-fs answers with WARD_MSG_FS_ANSWER (m is taken).
 * -EBUSY: too many are on their way; fn is not called.
 */
struct ward_msg;
int ward_ask_fs_message_own(struct ward_ask_fs *q, int fs_control, struct ward_msg *m,
	ward_ask_fs_fn *fn, void *arg) ward_must_check;

/* For poll(2): milliseconds until ward_ask_fs_tick() has something to do, -1: never. */
int ward_ask_fs_timeout(const struct ward_ask_fs *q);
void ward_ask_fs_tick(struct ward_ask_fs *q, int fs_control);

/* fs_control has something: passes an answer on. -EPIPE: wardfs-fs is gone. */
int ward_ask_fs_message(struct ward_ask_fs *q, int fs_control) ward_must_check;

/*
 * wardfs-fs has ended: its last word (WARD_MSG_FS_ENDED). *ret: the bytes that were added beneath
 * path, which has a quota of its own. -ENOENT: it said nothing of that.
 */
int ward_ask_fs_added(int fs_control, const char *path, uint64_t *ret) ward_must_check;

/* The session ends: clients that still wait get an error. */
void ward_ask_fs_clear(struct ward_ask_fs *q);
