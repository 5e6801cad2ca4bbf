/* SPDX-License-Identifier: Apache-2.0 */
/* A time stamp of RFC 3161, from a command that asks an authority. */
#pragma once

#include <stddef.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/err.h"

/* An answer has some certificates. */
#define WARD_TSA_ANSWER_MAX ((size_t)256 << 10)
/* The command's whole life. */
#define WARD_TSA_SECONDS 120

/*
 * Runs the program at this absolute path, without arguments, as the caller: it gets the request
 * (DER, application/timestamp-query) on stdin and writes the answer (DER,
 * application/timestamp-reply) to stdout. The answer is added to ret where it says that the stamp
 * was granted and has the digest of data and the number that was asked with. Whose signature it
 * has, openssl-ts(1) verifies. -EACCES: the authority refused; -EBADMSG: it is no such answer;
 * -ETIMEDOUT; -ECANCELED: the command failed.
 */
int ward_tsa_ask(const char *command, const void *data, size_t len, struct ward_buf *ret,
	struct ward_err *err) ward_must_check;
