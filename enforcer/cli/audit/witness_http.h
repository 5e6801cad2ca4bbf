/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends a checkpoint to a witness: one POST of C2SP tlog-witness, over HTTP. The answer is taken
 * apart by a process of its own that has the connection, and may read, write and end (seccomp(2),
 * strict mode).
 */
#pragma once

#include "enforcer/base/buf.h"
#include "enforcer/base/err.h"

/* An answer is some signature lines; post-quantum ones have nearly 7 kB. */
#define WARD_WITNESS_BODY_MAX 65536U
/* The whole exchange. */
#define WARD_WITNESS_SECONDS 30

/*
 * POST URL/add-checkpoint. url: "http://HOST[:PORT][/PREFIX]". Returns the status of the answer
 * (100 to 999), whose body is added to ret; or a negative errno: -EINVAL: no such URL, -ETIMEDOUT,
 * -EBADMSG: what came is no answer, or a longer one.
 */
int ward_witness_post(const char *url, const struct ward_buf *request, struct ward_buf *ret,
	struct ward_err *err) ward_must_check;
