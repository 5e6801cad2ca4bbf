/* SPDX-License-Identifier: Apache-2.0 */
/* Questions to a person, while the command runs: from wardfs-fs to who answers, and back. */
#pragma once

#include "enforcer/session/control/control_verbs.h"
#include "enforcer/session/run/running.h"

/* How long the end of a session waits for what wardfs-fs says of an answer. */
#define WARD_RUN_ASKS_END_MS 2000

/* The longest time of an answer `for`, in seconds. */
#define WARD_RUN_ASKS_FOR_MAX 86400

/* wardfs-fs serves, and the sandbox has its first process. */
void ward_run_asks_begin(struct ward_running *r);

/* A message WARD_MSG_NET_ASK, behind its type. -EPIPE: no such message. */
int ward_run_asks_net(struct ward_running *r, struct ward_msg_reader *m) ward_must_check;

/* Requests of the control socket: which questions wait, and an answer to one. */
void ward_run_asks_list(void *arg, struct ward_control_request *q);
void ward_run_asks_answer(void *arg, struct ward_control_request *q);

/* The program of [approvals] command is heard from here on. */
void ward_run_asks_watch(struct ward_running *r, unsigned rank);
/* For poll(2): milliseconds until ward_run_asks_tick() has something to do, -1: never. */
int ward_run_asks_timeout(const struct ward_running *r);
void ward_run_asks_tick(struct ward_running *r);

/*
 * The command is over: hears what became of answers that are under way, for some seconds at most,
 * and ends all questions.
 */
void ward_run_asks_end(struct ward_running *r);
