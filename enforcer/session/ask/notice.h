/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The line on standard error that says that a question waits. It is a notice: where the command
 * writes to the same place, it can print a line like it. `wardfs approve` shows the question.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/clock.h"
#include "enforcer/session/ask/asks.h"

/* At most so many lines within such a time. Questions beyond are counted. */
#define WARD_NOTICE_LINES 3U
#define WARD_NOTICE_NS (30 * WARD_NS_PER_SEC)
/* Bytes of a path that a line has. */
#define WARD_NOTICE_PATH_MAX 160U

/* Zero: nothing was said. The members are the module's own. */
struct ward_notice {
	uint64_t said_ns[WARD_NOTICE_LINES]; /* CLOCK_MONOTONIC; the oldest one at `next` */
	unsigned next;
	uint64_t left_out;
};

/*
 * q is new; is_signed: the policy takes signed answers alone. True: *b has its line, without a
 * newline. False: it is counted.
 */
bool ward_notice_question(struct ward_notice *n, const struct ward_asked *q, bool is_signed,
	uint64_t now_ns, struct ward_buf *b);
/* The same for those that were counted: one line for all, of `waiting` questions. */
bool ward_notice_rest(struct ward_notice *n, size_t waiting, uint64_t now_ns, struct ward_buf *b);
/* Milliseconds until ward_notice_rest() has something to say; -1: never. */
int ward_notice_timeout(const struct ward_notice *n, uint64_t now_ns);
