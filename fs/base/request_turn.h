/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A request's turn: each is served under one policy, and holds fs->turn for reading from its
 * arrival to its answer. The thread that exchanges the policy (policy_swap.h) takes it for writing.
 */
#pragma once

#include "fs/base/fs.h"

int ward_turn_init(struct ward_fs *fs) ward_must_check;

/* Not within another one of the same thread. */
void ward_turn_begin(struct ward_fs *fs);
/* False: somebody exchanges the policy, or waits to. */
bool ward_turn_try(struct ward_fs *fs);
void ward_turn_end(struct ward_fs *fs);

/*
 * Takes the turn of all: no request is under way then. -ETIMEDOUT: some were for ms milliseconds;
 * meanwhile no other one begins. ward_turn_end() gives it back.
 */
int ward_turn_all(struct ward_fs *fs, unsigned ms) ward_must_check;
