/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the policy leaves to a person (`ask`). Each such refusal is a question, which goes to the
 * supervisor once (WARD_MSG_FS_ASK), however often it is asked meanwhile. OPEN of a file that
 * exists waits for the answer, in the queue of answer_later.h: no thread and no turn waits with it,
 * and when it goes on it is decided again. Whatever else is refused at once, because the kernel
 * holds a lock for it; tried again after the answer, it succeeds.
 *
 * A question can be about several paths of one directory: what the same rule leaves to a person,
 * for the same rights, joins the question that waits there. Operations on two paths join those on
 * two paths, from the same directory to the same directory. An answer is about the paths that the
 * person was shown, which are the first ones. What it gives to several renames does not serve a
 * rename of one's source to another's target.
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

/* A path joins a question if its name is plain, it is not longer, and the names that joined have no
 * more bytes together: they fit into a panel of 24 lines, and the question into its record. */
#define WARD_QUESTION_JOIN_PATH 512U
#define WARD_QUESTION_JOIN_NAMES 160U

/* How long one rests that nobody answered. */
#define WARD_QUESTION_RESTS_NS (60 * WARD_NS_PER_SEC)

struct ward_questions;

/* -ENOMEM; -EIO: no random key. */
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
 * The grant that is to come answers a question about its path at index (0: the first). any: for
 * whatever it covers. Else, where that path has an object, the grant gives nothing at any other
 * one. A grant whose binding there was no room for gives nothing.
 */
void ward_question_bind(
	struct ward_fs *fs, uint32_t id, uint32_t index, bool any, const char *grant);
/* Does this grant answer a question? */
bool ward_question_answers(struct ward_fs *fs, const char *grant);
/*
 * Can these two grants serve the two names of one operation? Not if they answer one question, about
 * several operations on two paths, and belong to different ones. two NULL: whether `one` can serve
 * with any other grant.
 */
bool ward_question_pairs(struct ward_fs *fs, const char *one, const char *two);
/* May this grant give something at this object? */
bool ward_question_bound(struct ward_fs *fs, const char *grant, const struct ward_file_id *object);

/* Does a request wait for a person? */
bool ward_questions_wait(struct ward_fs *fs);

/*
 * soon: the host is about to sleep. A process that waits for us cannot be frozen, so those that
 * wait for a person are refused, and until the host is awake none waits. The questions stay.
 * Returns when none waits any more, after WARD_QUESTION_SLEEP_MS at the latest.
 */
#define WARD_QUESTION_SLEEP_MS 1000U
void ward_question_sleep(struct ward_fs *fs, bool soon);

/*
 * The supervisor says that a question has an answer, about its first n paths: waiting requests go
 * on. What was refused is not asked again for rest_ms. The other paths are asked about anew. id 0:
 * all waiting requests are decided again.
 */
void ward_question_ended(
	struct ward_fs *fs, uint32_t id, uint32_t n, bool refused, uint32_t rest_ms);
