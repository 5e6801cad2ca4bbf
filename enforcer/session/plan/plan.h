/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run will be, before anything is started: owner, project, policy, trees, environment,
 * command. Everything that can be wrong about the request is found here.
 */
#pragma once

#include "enforcer/modes/table/mode.h"
#include "enforcer/policy/load.h"
#include "enforcer/session/home/home.h"
#include "enforcer/session/owner/identity.h"
#include "enforcer/session/owner/project.h"
#include "enforcer/session/plan/environment.h"
#include "enforcer/session/plan/exec_programs.h"
#include "enforcer/session/plan/shown.h"
#include "enforcer/session/plan/tree_spots.h"

struct ward_strs {
	const char **v; /* owned vector of borrowed strings */
	size_t n;
};

/* As the command line gives them; all borrowed. */
struct ward_run_options {
	const char *policy;
	const char *stand_in; /* a shipped profile in place of `medium` (policy/load.h), or NULL */
	const char *mode;
	const char *user;
	const char *session;
	struct ward_guard_early *early; /* helpers that the session takes, or NULL (guard.h) */
	int status_fd;			/* of --status-fd, > 2; 0: none */
	const char *verb;		/* of wardfs, which a scope of systemd's is to call again */
	bool learn;  /* names that are not reached are asked for, and stand in the trail */
	bool dry;    /* nothing is made on the host, nothing locked */
	bool keep;   /* the session goes on after its command */
	int keep_fd; /* with keep: gets the command's status as an int, when we let go of it */
	struct ward_strs allow_missing; /* names of guarantees (enforcer/modes/table/mode.h) */
	struct ward_env_args env;
	struct ward_strs read;
	struct ward_strs write;
	struct ward_strs hide;
	struct ward_strs shown; /* paths of the host that [system] read is to have besides */
	struct ward_strs net;	/* destinations, as [network] allow has them */
	char *const *argv;
	/* What must be read before the command starts, a line each. */
	void (*say)(const char *text);
};

struct ward_run_plan_tree {
	const char *path; /* sandbox path; the policy's */
	char *at;	  /* second path, owned, or NULL */
	char *source;	  /* host path, owned, or NULL: ephemeral */
	int backing;	  /* O_PATH directory, owned */
};

struct ward_run_plan {
	struct ward_identity id;
	struct ward_project project;
	struct ward_policy *policy;
	const struct ward_settings *settings; /* policy's */
	const struct ward_mode *mode;	      /* const table */
	uint32_t allow_missing;		      /* set of WARD_GUARANTEE_BIT() */
	struct ward_run_plan_tree trees[8];   /* WARD_TREES_MAX */
	size_t n_trees;
	struct ward_tree_spots spots; /* of the trees; empty where the host is in plain view */
	char **reads; /* [system] read as absolute host paths, owned; what is absent is left out */
	char **reads_at;	       /* each once more in the agent's home, owned; NULL: not */
	struct ward_shown_file *shown; /* what each is on the host, owned (shown.h) */
	size_t n_reads;
	char *git_settings; /* of the owner's, for inside (git_settings.h); NULL: none */
	char **sockets;	    /* [network] socket, the same */
	size_t n_sockets;
	struct ward_programs programs; /* of [process] exec */
	char **noexec; /* paths inside that a noexec rule closes as a whole, owned; ends with NULL
			*/
	struct ward_kept_home home; /* kept; .dir NULL: none */
	char *state;		    /* state directory */
	char *runtime;		    /* runtime directory */
	char *cwd;		    /* start directory inside */
	char *entered; /* the project's other path, by symbolic links (project.h), or NULL */
	char *pwd;     /* the start directory by that path; NULL: cwd */
	char *config;  /* the owner's wardfs/ in the configuration directory, or NULL */
	/* the file to write rules into: that of --policy, else the owner's for this project,
	 * whether it exists or not */
	char *owner_policy;
};

#define WARD_RUN_PLAN_INIT ((struct ward_run_plan){.project = {.fd = -1}, .home = WARD_HOME_INIT})

/*
 * err->code is -EINVAL for what the user can mend in a policy or command line (exit 2), other codes
 * for a sandbox that cannot be set up (exit 125).
 */
int ward_run_plan_make(const struct ward_run_options *o, struct ward_run_plan *ret,
	struct ward_err *err) ward_must_check;
void ward_run_plan_clear(struct ward_run_plan *p);
