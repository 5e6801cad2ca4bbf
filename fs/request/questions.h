/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the policy leaves to a person (`ask`). Each such refusal is a question, which goes to the
 * supervisor once (WARD_MSG_FS_ASK), however often it is asked meanwhile. OPEN of a file that
 * exists waits for the answer, in the queue of answer_later.h: no thread and no turn waits with it,
 * and when it goes on it is decided again. Whatever else is refused at once, because the kernel
 * holds a lock for it; tried again after the answer, it succeeds.
 *
 * A question ends with its answer, or at its time. What was refused is not asked again for a while.
 */
#pragma once

#include "fs/kernel/answer_later.h"
#include "fs/request/fs_records.h"
#include "fs/request/op.h"

/* Questions that are known at once, also those that rest; one more is refused without one. */
#define WARD_QUESTIONS_MAX 10000U
/* Requests of one process that wait: four fill the pool of threads of libuv. */
#define WARD_QUESTION_OF_PROCESS 2U
/* Requests that wait. */
#define WARD_QUESTION_WAITERS 256U
/* How long a question stays that nothing waits for. */
#define WARD_QUESTION_STAYS_NS (600 * WARD_NS_PER_SEC)

/* How long one rests that nobody answered. */
#define WARD_QUESTION_RESTS_NS (60 * WARD_NS_PER_SEC)

struct ward_questions;

/* -ENOMEM. */
int ward_questions_new(struct ward_questions **ret) ward_must_check;
void ward_questions_free(struct ward_questions *q);

/*
 * The gate refuses: d is WARD_VERDICT_ASK. Puts the question, unless it is there. object: of what
 * exists there, else NULL. Sets op->question, also where it was refused a while ago; 0 where none
 * could be put. True: nothing is refused
 * yet, and the caller waits (ward_question_wait()); only where op->may_wait.
 */
bool ward_question_put(struct ward_op *op, const struct ward_record_paths *paths, uint32_t asked,
	const struct ward_decision *d, const struct ward_file_id *object);

/*
 * op->req waits for the answer to op->question: fn(req, data, error) then, or at the question's
 * time, or with -EINTR. place is taken. fn calls ward_question_waited() first. False: too many
 * wait; nothing was taken.
 */
bool ward_question_wait(struct ward_op *op, struct ward_delayed *place, ward_delayed_fn *fn);
void ward_question_waited(struct ward_fs *fs, const void *data);

/*
 * The grant that is to come answers a question. any: for whatever it covers. Else, where that is
 * about an object, the grant gives nothing at any other one. A grant whose binding there was no
 * room for gives nothing.
 */
void ward_question_bind(struct ward_fs *fs, uint32_t id, bool any, const char *grant);
/* Does this grant answer a question? */
bool ward_question_answers(struct ward_fs *fs, const char *grant);
/* May this grant give something at this object? */
bool ward_question_bound(struct ward_fs *fs, const char *grant, const struct ward_file_id *object);

/*
 * soon: the host is about to sleep. A process that waits for us cannot be frozen, so those that
 * wait for a person are refused, and until the host is awake none waits. The questions stay.
 * Returns when none waits any more, after WARD_QUESTION_SLEEP_MS at the latest.
 */
#define WARD_QUESTION_SLEEP_MS 1000U
void ward_question_sleep(struct ward_fs *fs, bool soon);

/*
 * The supervisor says that a question has an answer: waiting requests go on. A question that was
 * refused is not asked again for rest_ms. id 0: all waiting requests are decided again.
 */
void ward_question_ended(struct ward_fs *fs, uint32_t id, bool refused, uint32_t rest_ms);
