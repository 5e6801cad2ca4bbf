/* SPDX-License-Identifier: Apache-2.0 */
/* The environment of the command: an allowlist of the owner's, what the policy sets, and ours. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "enforcer/base/err.h"
#include "enforcer/policy/settings.h"

/* One NAME (pass it on) or NAME=VALUE (set it) of --env. */
struct ward_env_args {
	const char **v;
	size_t n;
};

struct ward_env_ours {
	const char *home; /* sandbox path or NULL */
	const char *user;
	const char *session;
	bool proxied;	 /* the session has wardfs-net (enforcer/net/front.h) */
	const char *pwd; /* start directory inside */
};

/*
 * Builds a NULL-terminated vector, to be freed with ward_environment_free(). Later sources win:
 * [env] pass, [env] set, the proxy's, --env, ours (HOME USER LOGNAME PWD WARDFS_SESSION). A name
 * that is no identifier is -EINVAL.
 */
int ward_environment_build(const struct ward_settings *s, const struct ward_env_args *args,
	const struct ward_env_ours *ours, char ***ret, struct ward_err *err) ward_must_check;
void ward_environment_free(char **envp);
