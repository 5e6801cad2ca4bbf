/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps of a review session, as people and the session ask for them (review/steps.h has what they
 * are): held still for a moment, decided by the policy, recorded, and told to the kernel.
 *
 * All of it on the main thread, to which the supervisor's messages come. What is asked from inside
 * is queued for it, and answered there: a request must not wait for the turn of all.
 */
#pragma once

#include "enforcer/ipc/msg.h"
#include "fs/base/fs.h"

struct ward_fs_steps;

/* Where changes are staged; else fs->steps stays NULL. */
int ward_fs_steps_new(struct ward_fs *fs, struct ward_err *err) ward_must_check;
void ward_fs_steps_free(struct ward_fs_steps *s);

/* How long the kernel may take to forget what was there before a step back. */
#define WARD_STEPS_FORGET_MS 2000U

/* WARD_MSG_FS_STEP: what follows the head is in r. Appends the answer. */
void ward_fs_steps_message(struct ward_fs *fs, struct ward_msg_reader *r, struct ward_buf *ret);

/* WARD_MSG_FS_FREEZER: takes *fd. */
void ward_fs_steps_freezer(struct ward_fs *fs, uint32_t which, int *fd);

/* Readable when ward_fs_steps_tick() has something to do; -1: never. */
int ward_fs_steps_fd(const struct ward_fs *fs);
/* Milliseconds until then in any case; -1: none. */
int ward_fs_steps_timeout(const struct ward_fs *fs);
void ward_fs_steps_tick(struct ward_fs *fs);
