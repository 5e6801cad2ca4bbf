/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out who owns the session, and as whom the agent runs. */
#include "enforcer/session/owner/identity.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/patient.h"
#include "enforcer/base/quantity.h"

/* A decimal id from the environment (SUDO_UID), or false. */
static bool env_id(const char *name, uint32_t *ret)
{
	const char *s = getenv(name);
	uint64_t v = 0;
	if (!s || ward_quantity_whole(s, 0, UINT32_MAX - 1, &v, NULL) < 0)
		return false;
	*ret = (uint32_t)v;
	return true;
}

/* All groups of the account, the primary one among them. */
static int account_groups(const char *name, gid_t gid, struct ward_identity *id)
{
	int n = WARD_GROUPS_MAX;
	id->groups = calloc(WARD_GROUPS_MAX, sizeof(gid_t));
	if (!id->groups)
		return -ENOMEM;
	if (getgrouplist(name, gid, id->groups, &n) < 0)
		return -E2BIG;
	id->n_groups = (size_t)n;
	return 0;
}

static int own_groups(struct ward_identity *id)
{
	int n = getgroups(0, NULL);
	if (n < 0)
		return -errno;
	id->groups = calloc((size_t)n + 1, sizeof(gid_t));
	if (!id->groups)
		return -ENOMEM;
	n = getgroups(n, id->groups);
	if (n < 0)
		return -errno;
	id->n_groups = (size_t)n;
	return 0;
}

static int numbered_name(uid_t uid, char **ret)
{
	return asprintf(ret, "uid%u", (unsigned)uid) < 0 ? -ENOMEM : 0;
}

/* The owner as another account than the caller's: its groups and home come from the databases. */
static int fill_account(uid_t uid, gid_t gid, struct ward_identity *id)
{
	const struct passwd *pw = getpwuid(uid);
	id->owner_uid = uid;
	id->owner_gid = pw ? pw->pw_gid : gid;
	if (!pw)
		return numbered_name(uid, &id->name);
	id->name = strdup(pw->pw_name);
	id->home = strdup(pw->pw_dir);
	if (!id->name || !id->home)
		return -ENOMEM;
	return account_groups(id->name, id->owner_gid, id);
}

/* The owner is the caller: what the process has now is what counts. */
static int fill_caller(struct ward_identity *id)
{
	id->owner_uid = getuid();
	id->owner_gid = getgid();
	const struct passwd *pw = getpwuid(id->owner_uid);
	const char *home = getenv("HOME");
	if (!home || home[0] != '/')
		home = pw ? pw->pw_dir : NULL;
	if (home && !(id->home = strdup(home)))
		return -ENOMEM;
	int r = 0;
	if (!pw)
		r = numbered_name(id->owner_uid, &id->name);
	else if (!(id->name = strdup(pw->pw_name)))
		r = -ENOMEM;
	return r < 0 ? r : own_groups(id);
}

static int fill_owner(
	const char *user, uid_t source_uid, struct ward_identity *id, struct ward_err *err)
{
	uint32_t sudo_uid = 0;
	uint32_t sudo_gid = 0;
	if (user) {
		const struct passwd *pw = getpwnam(user);
		if (!pw)
			return ward_err_set(err, -ENOENT, "--user: there is no user '%s'", user);
		if (!id->root && pw->pw_uid != getuid())
			return ward_err_set(err, -EPERM,
				"--user %s: only root can start a session for another user", user);
		return pw->pw_uid == getuid() ? fill_caller(id)
					      : fill_account(pw->pw_uid, pw->pw_gid, id);
	}
	if (!id->root)
		return fill_caller(id);
	if (env_id("SUDO_UID", &sudo_uid) && sudo_uid != 0) {
		if (!env_id("SUDO_GID", &sudo_gid))
			sudo_gid = sudo_uid;
		return fill_account(sudo_uid, sudo_gid, id);
	}
	if (source_uid != 0)
		return fill_account(source_uid, source_uid, id);
	return fill_caller(id);
}

/* The agent's id inside: the owner's, or if the owner is root, an id that nobody else has. */
static int fill_agent(unsigned salt, struct ward_identity *id)
{
	id->agent_uid = id->owner_uid;
	id->agent_gid = id->owner_gid;
	const char *name = id->name;
	const char *home = id->home;
	if (id->owner_uid == 0) {
		id->agent_uid = WARD_AGENT_UID_FIRST + salt % WARD_AGENT_UID_COUNT;
		id->agent_gid = id->agent_uid;
		name = "agent";
		home = NULL;
	}
	/* An account may have "/" or a system directory as its home: never mounted over. */
	bool usable = home && home[0] == '/' && strncmp(home, "/home/", 6) == 0 && home[6];
	id->agent_name = strdup(name);
	id->agent_home = strdup(usable ? home : "/home/agent");
	if (!id->agent_name || !id->agent_home)
		return -ENOMEM;
	for (size_t n = strlen(id->agent_home); n > 1 && id->agent_home[n - 1] == '/'; n--)
		id->agent_home[n - 1] = '\0';
	return 0;
}

int ward_identity_find(const char *user, uid_t source_uid, unsigned salt, struct ward_identity *ret,
	struct ward_err *err)
{
	ward_cleanup(ward_identity_clear) struct ward_identity id = {.root = geteuid() == 0};
	int r = fill_owner(user, source_uid, &id, err);
	if (r < 0 && (!err || !err->code))
		return ward_err_sys(err, r, "finding the owner of the session");
	if (r < 0)
		return r;
	uint32_t sudo_uid = 0;
	id.sudo = id.root && env_id("SUDO_UID", &sudo_uid) && sudo_uid == id.owner_uid;
	r = fill_agent(salt, &id);
	if (r < 0)
		return ward_err_sys(err, r, "finding the agent's identity");
	*ret = id;
	id = (struct ward_identity){0};
	return 0;
}

int ward_config_home(const char *home, bool caller_is_owner, char **ret, struct ward_err *err)
{
	const char *xdg = getenv("XDG_CONFIG_HOME");
	int n = 0;
	*ret = NULL;
	if (caller_is_owner && xdg && xdg[0] == '/')
		n = asprintf(ret, "%s", xdg);
	else if (home)
		n = asprintf(ret, "%s/.config", home);
	if (n < 0) {
		*ret = NULL;
		return ward_err_sys(err, -ENOMEM, "configuration directory");
	}
	/* All else is looked for beneath it. */
	ward_cleanup_free char *in = NULL;
	int r = *ret && asprintf(&in, "%s/wardfs/projects", *ret) < 0 ? -ENOMEM : 0;
	if (r < 0)
		in = NULL;
	r = r < 0 ? ward_err_sys(err, r, "configuration directory")
	    : in  ? ward_patient_reach(in, err)
		  : 0;
	if (r < 0) {
		free(*ret);
		*ret = NULL;
	}
	return r;
}

void ward_identity_clear(struct ward_identity *id)
{
	free(id->groups);
	free(id->name);
	free(id->home);
	free(id->agent_name);
	free(id->agent_home);
	*id = (struct ward_identity){0};
}
