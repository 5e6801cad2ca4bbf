/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers that are given later ([quota] rate): what was asked for is done, and whoever asked waits.
 * No thread waits with them but one for all. An interrupted request is answered at once, so that a
 * process that is killed does not outlive it.
 */
#pragma once

#include <fuse3/fuse_lowlevel.h>

#include "enforcer/base/err.h"

struct ward_delay;

int ward_delay_new(struct ward_delay **ret, struct ward_err *err) ward_must_check;
/* Answers what still waits. The sessions of the requests must exist. */
void ward_delay_free(struct ward_delay *d);
/* fuse_reply_write(req, n) in ns nanoseconds; at once where memory or the thread fails. */
void ward_delay_reply_write(struct ward_delay *d, fuse_req_t req, size_t n, uint64_t ns);
