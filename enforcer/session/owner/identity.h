/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose session it is, and as whom the agent runs.
 *
 * The owner is --user, else the user behind sudo, else (as root) the owner of the source, else the
 * caller. If that is root, the agent gets an unprivileged id of its own and the guard maps
 * ownership both ways: the agent never runs as uid 0 of the host.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "enforcer/base/err.h"

/* Linux' NGROUPS_MAX is 65536; more than this is cut nowhere: it is an error. */
#define WARD_GROUPS_MAX 1024

/*
 * Ids for agents of a root-owned session: the range that systemd reserves for dynamic users
 * (systemd.io/UIDS-GIDS: 61184..65519), so no account owns files under them.
 */
#define WARD_AGENT_UID_FIRST 61184U
#define WARD_AGENT_UID_COUNT 4336U

struct ward_identity {
	bool root; /* we have the rights of root in the initial user namespace */
	uid_t owner_uid;
	gid_t owner_gid;
	gid_t *groups; /* owned */
	size_t n_groups;
	bool sudo;  /* the owner called us by sudo(8) */
	char *name; /* owned: the owner's login name, or "uid<N>" */
	char *home; /* owned: the owner's home on the host, or NULL */
	uid_t agent_uid;
	gid_t agent_gid;
	char *agent_name; /* owned */
	char *agent_home; /* owned: sandbox path of the home */
};

/*
 * Fills *ret. user: --user or NULL. source_uid: owner of the project directory. salt: spreads the
 * agent ids of root-owned projects; the same salt gives the same id. Errors: -EPERM (another user
 * asked for without root), -ENOENT (no such user).
 */
int ward_identity_find(const char *user, uid_t source_uid, unsigned salt, struct ward_identity *ret,
	struct ward_err *err) ward_must_check;
void ward_identity_clear(struct ward_identity *id);

/* $XDG_CONFIG_HOME if the caller is the owner and it is set, else HOME/.config; NULL without a
 * home. */
int ward_config_home(
	const char *home, bool caller_is_owner, char **ret, struct ward_err *err) ward_must_check;
