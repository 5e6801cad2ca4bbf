/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The small processes beside wardfs-net, each with one right that the broker itself has given up:
 * making sockets in a namespace (maker.h), connecting to unix sockets (reach.h), looking at
 * processes (looker.h). Forked before anything of the project's was read, confined, then asked over
 * a channel (SOCK_SEQPACKET, the encoding of enforcer/ipc/msg.h) until that ends. They never see a
 * byte of the agent's.
 *
 *   WARD_CHILD_QUESTION {as its header says}
 *   WARD_CHILD_ANSWER   {u32 positive errno or 0, u32 number, str text}, perhaps one descriptor
 *   WARD_CHILD_JOIN     {u32 number}, with namespaces: before the first question, where it has to
 *                       wait for these
 */
#pragma once

#include <linux/filter.h>
#include <stddef.h>
#include <stdint.h>

#include "enforcer/base/err.h"
#include "enforcer/ipc/msg.h"

enum ward_child_type { WARD_CHILD_QUESTION = 96, WARD_CHILD_ANSWER, WARD_CHILD_JOIN };

/* TASK_COMM_LEN of the kernel, with its NUL: the longest text. */
#define WARD_CHILD_TEXT_SIZE 16

struct ward_child_answer {
	int fd; /* -1: none */
	uint32_t number;
	char text[WARD_CHILD_TEXT_SIZE];
};

#define WARD_CHILD_ANSWER_INIT ((struct ward_child_answer){.fd = -1})

struct ward_net_filter;

/*
 * Forks: life(channel, user) in the child, whose return is its end. *ret_channel, close-on-exec, is
 * the caller's.
 */
int ward_child_fork(void (*life)(int channel, void *user), void *user, int *ret_channel,
	struct ward_err *err) ward_must_check;

/* Gives a child what it waits for; fds stay the caller's. -EPIPE: it is dead. */
int ward_child_join(int channel, const int *fds, size_t n, uint32_t number) ward_must_check;
/* In the child: waits for that. ret_fds and *ret_number are set if it is 0; else it is to end. */
int ward_child_await(int channel, int *ret_fds, size_t n, uint32_t *ret_number) ward_must_check;

/* In the child: closes all descriptors from 3 on but these, in any order (sorted on return). */
int ward_child_keep_only(int *fds, size_t n) ward_must_check;

/*
 * In the child: gives up everything but these capabilities (1 << CAP_…), for good. The filter ends
 * it at any other system call; not where sanitizers are compiled in, which map and trace as they
 * like.
 */
int ward_child_confine(
	uint64_t caps, const struct ward_net_filter *filter, struct ward_err *err) ward_must_check;

/*
 * In the child: answers questions until the channel ends. answer returns 0 or a negative errno, and
 * reads q whole (ward_msg_done()); ret is WARD_CHILD_ANSWER_INIT, its descriptor is taken.
 */
typedef int (*ward_child_fn)(void *user, struct ward_msg_reader *q, struct ward_child_answer *ret);
void ward_child_serve(int channel, ward_child_fn answer, void *user);

/*
 * Asks q and waits so long for the answer. Its negative errno; -EPIPE: the child is dead or hangs
 * and is not to be asked again; -EMFILE: our own descriptors are used up. ret->fd is the caller's.
 */
int ward_child_ask(int channel, const struct ward_msg *q, int patience_ms,
	struct ward_child_answer *ret) ward_must_check;
