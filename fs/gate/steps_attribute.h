/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps of a review session for those inside: attributes user.wardfs.* of any visible path, in no
 * list and stored nowhere, as user.wardfs.why. Nothing here applies or throws away what is staged.
 *
 * mark and back wait in a queue for the main thread: a request must not wait for the turn of all.
 */
#pragma once

#include "fs/request/op.h"
#include "fs/review/steps.h"

/* Requests that wait at once. One more is refused. */
#define WARD_STEPS_WAITERS 16U

struct ward_steps_waiter {
	fuse_req_t req; /* to be answered */
	struct ward_stepper by;
	bool back;
	char text[WARD_STEP_NAME_MAX + 1];
};

struct ward_steps_queue;
int ward_steps_queue_new(struct ward_steps_queue **ret) ward_must_check;
void ward_steps_queue_free(struct ward_steps_queue *q);
/* Readable when somebody waits; -1: there is no queue. */
int ward_steps_queue_fd(const struct ward_steps_queue *q);
/* The next one; false: nobody waits. */
bool ward_steps_take(struct ward_steps_queue *q, struct ward_steps_waiter *ret);

/* Appends the text of the attribute. -ENODATA: this session has no such one. */
int ward_steps_get(struct ward_fs *fs, const char *name, struct ward_buf *ret) ward_must_check;
/*
 * Sets the attribute. 0: the request is taken, and will be answered. -EPERM: no such attribute can
 * be set; -EAGAIN: too many wait; -EINVAL: the value is no text.
 */
int ward_steps_ask(
	struct ward_op *op, const char *name, const char *value, size_t size) ward_must_check;

/*
 * The gate of struct ward_back_calls, user is the struct ward_fs: what the session itself could do
 * by the policy of now, without a grant, is done for it. -EACCES, -EXDEV, -ENOMEM.
 */
int ward_gate_back(void *user, const struct ward_back_ask *a) ward_must_check;
