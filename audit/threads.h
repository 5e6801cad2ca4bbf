/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which records are of one process: those of its threads, too. A record has `pid`, the thread; the
 * first of a thread in a ring, and the first after that changed, has `parent`, and `process` where
 * the thread is not its process' first (docs/audit-format.md, "Who"). So records are looked at in
 * their order, from the first of those that can be meant.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct ward_threads;

/* pid: of the process, or one thread's. NULL: out of memory. */
struct ward_threads *ward_threads_new(uint64_t pid);
void ward_threads_free(struct ward_threads *t);
/* The next record: is it of the process? Call it once for each, whatever else is asked of it. */
bool ward_threads_take(struct ward_threads *t, const json_t *record);
/* 0, or -ENOMEM: a thread could not be kept, and its records were passed over. */
int ward_threads_error(const struct ward_threads *t);
