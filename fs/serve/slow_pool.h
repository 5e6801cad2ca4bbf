/* SPDX-License-Identifier: Apache-2.0 */
/* Threads for requests that may take long, so that the others do not wait for them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "fs/base/fs.h"

struct ward_pool;

/* What every thread that serves requests does first: an umask of its own. */
int ward_pool_thread_init(void) ward_must_check;

/* Whether a message asks for what may take long. */
bool ward_pool_slow(const struct ward_fs *fs, const char *msg, size_t len);

/* The threads for slow requests. */
int ward_pool_new(struct ward_pool **ret, struct ward_err *err) ward_must_check;
/* Waits for what is under way. */
void ward_pool_free(struct ward_pool *pool);
/* Queues msg, or a copy of it: the original must stay until it is answered. -ENOMEM. */
int ward_pool_push(struct ward_pool *pool, struct ward_fs_tree *tree, char *msg, size_t len,
	bool copy) ward_must_check;
