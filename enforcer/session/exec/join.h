/* SPDX-License-Identifier: Apache-2.0 */
/* The client of `wardfs exec` (execs.h): one more command in a running session. */
#pragma once

#include <stddef.h>

#include "enforcer/base/err.h"

struct ward_join {
	const char *session;
	char *const *argv;
	const char *cwd;	/* inside; NULL: where the session began */
	const char *const *env; /* NAME=VALUE each, n_env of them */
	size_t n_env;
};

/*
 * Runs it with our 0, 1, 2, as wardfs run does; signals that reach us are passed on. Returns the
 * exit status for our caller: the command's, 128+signal, 124 for [limits] command, 125, 126,
 * 127, 2; err has text where it is one of ours and there is something to say.
 */
int ward_join(const struct ward_join *j, struct ward_err *err);
