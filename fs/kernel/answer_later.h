/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers that are given later ([quota] rate): what was asked for is done, and whoever asked waits.
 * No thread waits with them but one for all, which is there as soon as a policy has a rate, and not
 * before. An interrupted request is answered at once, so that a process that is killed does not
 * outlive it.
 *
 * Nothing is done that could not be answered late: the place where an answer waits is had before,
 * and without it, or without the thread, the request fails.
 */
#pragma once

#include <fuse3/fuse_lowlevel.h>

#include "enforcer/base/err.h"
#include "enforcer/policy/settings.h"

struct ward_delay;
/* The place of one answer; given back with free(3) where it was not used. */
struct ward_delayed;

/* Without a thread. -ENOMEM. */
int ward_delay_new(struct ward_delay **ret, struct ward_err *err) ward_must_check;
/* Answers what still waits. The sessions of the requests must exist. */
void ward_delay_free(struct ward_delay *d);
/*
 * Before a policy with these settings comes into force: makes the thread if it has a rate and there
 * is none yet. -EAGAIN, -ENOMEM: it cannot come into force. Once there, the thread stays. Not from
 * two threads at once.
 */
int ward_delay_ready(
	struct ward_delay *d, const struct ward_settings *s, struct ward_err *err) ward_must_check;
/*
 * Before what may have to be answered late is done. *ret is the caller's. -ENOMEM; -EIO: there is
 * no thread.
 */
int ward_delay_place(struct ward_delay *d, struct ward_delayed **ret) ward_must_check;
/* fuse_reply_write(req, n) in ns nanoseconds, by way of place (taken; NULL: there is no rate). */
void ward_delay_reply_write(
	struct ward_delay *d, struct ward_delayed *place, fuse_req_t req, size_t n, uint64_t ns);
