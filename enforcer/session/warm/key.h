/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The key of a run: a digest of everything that a session depends on but what a take carries
 * (argv, environment, directory, descriptors, labels). Two runs with the same key would get the
 * same session.
 */
#pragma once

#include "enforcer/session/plan/plan.h"

/* SHA-256 as hexadecimal digits, with the final zero. */
#define WARD_WARM_KEY_SIZE 65

struct ward_warm_key {
	char group[WARD_WARM_KEY_SIZE]; /* of owner, project, options and context */
	char whole[WARD_WARM_KEY_SIZE];
};

/*
 * What the caller's process passes on to a session: ids, namespaces, limits, control groups, umask
 * and so on. A process that the caller starts for itself in another control group is told it.
 */
int ward_warm_context(char ret[WARD_WARM_KEY_SIZE], struct ward_err *err) ward_must_check;

/* context: of the process that runs the command. Reads the host's mounts now. */
int ward_warm_key(const struct ward_run_plan *p, const struct ward_run_options *o,
	const char *context, struct ward_warm_key *ret, struct ward_err *err) ward_must_check;
