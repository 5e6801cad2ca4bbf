/* SPDX-License-Identifier: Apache-2.0 */
/* The environment of the command: an allowlist of the owner's, what the policy sets, and ours. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/err.h"
#include "enforcer/policy/settings.h"
#include "enforcer/session/owner/identity.h"

/* One NAME (pass it on) or NAME=VALUE (set it) of --env. */
struct ward_env_args {
	const char **v;
	size_t n;
};

/* How much of the caller's environment [env] pass may give to the owner. */
enum ward_env_trust {
	WARD_ENV_HARMLESS = 0, /* what is always passed, PATH and the like: the caller is another */
	WARD_ENV_NAMES,	       /* also what it names without wildcards: the owner, by sudo(8) */
	WARD_ENV_ALL,	       /* the caller is the owner, or the policy is the caller's word */
};

struct ward_env_ours {
	const char *home; /* sandbox path or NULL */
	const char *user;
	const char *session;
	bool proxied;	       /* the session has wardfs-net (enforcer/net/entry/front.h) */
	bool offline;	       /* no network at all: no program need try twice */
	const char *const *ca; /* variables that name certificates (ca_files.h); ends with NULL */
	const char *pwd;       /* start directory inside */
	bool of_image;	    /* the programs are an image's: the host's PATH means nothing there */
	char *const *image; /* what that sets, NAME=VALUE; NULL or NULL at the end */
	enum ward_env_trust trust;
};

/* policy: that of --policy, or NULL. */
enum ward_env_trust ward_environment_trust(const struct ward_identity *id, const char *policy);

/* "NAME=VALUE" of the proxies of a session with wardfs-net; ends with NULL, static. */
const char *const *ward_environment_proxies(void);

/*
 * Builds a NULL-terminated vector, to be freed with ward_environment_free(). Later sources win:
 * what offline sets, ca, the image's (of names that are always passed it has the last word), [env]
 * pass, [env] set, the proxy's, --env, ours (HOME USER LOGNAME PWD
 * WARDFS_SESSION). A name that is no identifier is -EINVAL. note: gets a line about what trust held
 * back and what --env found unset, or nothing.
 */
int ward_environment_build(const struct ward_settings *s, const struct ward_env_args *args,
	const struct ward_env_ours *ours, char ***ret, struct ward_buf *note,
	struct ward_err *err) ward_must_check;
void ward_environment_free(char **envp);
