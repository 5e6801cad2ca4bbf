/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run will be, before anything is started: owner, project, policy, trees, environment,
 * command. Everything that can be wrong about the request is found here.
 */
#pragma once

#include "enforcer/image/image.h"
#include "enforcer/modes/modes.h"
#include "enforcer/policy/known.h"
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

struct ward_prepared;  /* run/run_warm.h */
struct ward_run_notes; /* run/run.h */

/* As the command line gives them; all borrowed. */
struct ward_run_options {
	const char *policy;
	const char *stand_in; /* a shipped profile in place of `medium` (policy/load.h), or NULL */
	const char *mode;
	const char *image;  /* of --image, or NULL */
	const char *engine; /* of --engine, or NULL */
	bool of_image;	    /* argv stands for the command that the image names */
	const char *trust;  /* of --trust, or NULL (weigh.h) */
	const char *user;
	const char *session;
	struct ward_guard_early *early; /* helpers that the session takes, or NULL (guard.h) */
	int status_fd;			/* of --status-fd, > 2; 0: none */
	const char *verb;		/* of wardfs, which a scope of systemd's is to call again */
	bool trial;   /* the policy is a proposal: a line for it belongs into the owner's file */
	bool learn;   /* names that are not reached are asked for, and stand in the trail */
	bool weigh;   /* whatever the mode is, and whatever the answer is */
	bool verbose; /* what is the same at each start is said, too */
	bool discard; /* changes are staged, and thrown away at the end */
	bool review;  /* changes are staged, whatever the policy says that is less */
	const char *from; /* SESSION[@STEP] whose staged changes the session begins with, or NULL */
	/* What `policy` would name, from another session; floor and project file are today's.
	 * Or NULL. */
	const struct ward_base *base;
	char *ran;   /* gets the session's name (WARD_SESSION_NAME_MAX + 1), or is NULL */
	bool dry;    /* nothing is made on the host, nothing locked */
	bool keep;   /* the session goes on after its command */
	int keep_fd; /* with keep: gets the command's status as an int, when we let go of it */
	struct ward_prepared *prepared;	     /* waits for its command (run/run_warm.h), or NULL */
	void (*say_taken)(const char *text); /* with prepared: as say, once it was taken */
	/* With prepared, or NULL: called when all but the control groups is closed. Whoever took
	 * the session need not wait for those. err->code == 0: nothing to say. */
	void (*over)(void *user, int status, const struct ward_run_notes *notes,
		const struct ward_err *err);
	void *over_user;
	struct ward_strs labels;	/* KEY=VALUE, of the session (records/session_about.h) */
	struct ward_strs tokens;	/* texts of tokens (grants/grant_token.h) */
	struct ward_strs allow_missing; /* names of guarantees (enforcer/modes/table/mode.h) */
	struct ward_env_args env;
	struct ward_strs read;
	struct ward_strs write;
	struct ward_strs hide;
	struct ward_strs shown;	  /* paths of the host that [system] read is to have besides */
	struct ward_strs net;	  /* destinations, as [network] allow has them */
	const char *sign_in_port; /* the one of `publish` that nobody typed; NULL: all were */
	struct ward_strs publish; /* ports, as [network] publish has them */
	struct ward_strs forward; /* ports, as [network] forward has them */
	char *const *argv;
	char *const *given; /* where the command stands in the vector of the command line */
	/* What must be read before the command starts, a line each. */
	void (*say)(const char *text);
};

struct ward_weighed; /* weigh.h */

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
	const char *served_at;	 /* `wardfs mount`: where its only tree is, borrowed; or NULL */
	struct ward_known known; /* repositories that are guarded */
	const struct ward_settings *settings; /* policy's */
	const struct ward_mode *mode;	      /* const table */
	const struct ward_mode *picked;	      /* by mode auto; NULL: not so, or not yet */
	struct ward_weighed *weighed;	      /* for mode auto, owned, or NULL (weigh.h) */
	struct ward_mode_found found;	      /* the mode's runtime on the host */
	const char *via; /* the engine that makes accesses for the command, or NULL; static */
	struct ward_image image; /* fd -1: none, the host's programs */
	bool image_fetched; /* of a dry run: the run would fetch the image, so .image has none */
	uint32_t allow_missing;		    /* set of WARD_GUARANTEE_BIT() */
	struct ward_run_plan_tree trees[8]; /* WARD_POLICY_TREES_MAX */
	size_t n_trees;
	enum ward_changes changes;    /* of all trees that are directories of the host */
	struct ward_tree_spots spots; /* of the trees; empty where the host is in plain view */
	char **reads; /* [system] read as absolute host paths, owned; what is absent is left out */
	char **reads_at;	       /* each once more in the agent's home, owned; NULL: not */
	struct ward_shown_file *shown; /* what each is on the host, owned (shown.h) */
	size_t n_reads;
	int single_files;   /* backing of the tree that serves some of them, owned; -1: none does */
	const char *ca[16]; /* variables that name certificates and are passed on; ends with NULL */
	char *git_settings; /* of the owner's, for inside (git_settings.h); NULL: none */
	char **sockets;	    /* [network] socket, the same */
	size_t n_sockets;
	struct ward_programs programs; /* of [process] exec */
	char **noexec; /* paths inside that a noexec rule closes as a whole, owned; ends with NULL
			*/
	/*
	 * Seconds that the trail is kept at least: a trail of root's binds the owner, whose own
	 * file shall not end it. 0: the policy comes from the user who keeps the trail.
	 */
	uint64_t keep_min_s;
	struct ward_kept_home home; /* kept; .dir NULL: none */
	bool home_other;  /* one is kept for another directory of the project's path: not taken */
	char *state;	  /* state directory */
	char *runtime;	  /* runtime directory */
	char *cwd;	  /* start directory inside */
	char *entered;	  /* the project's other path, by symbolic links (project.h), or NULL */
	char *pwd;	  /* the start directory by that path; NULL: cwd */
	char *config;	  /* the owner's wardfs/ in the configuration directory, or NULL */
	char *own_guards; /* policy text for our own places in trees, or NULL */
	/* the file to write rules into: that of --policy, else the owner's for this project,
	 * whether it exists or not */
	char *owner_policy;
	bool given;	      /* --policy was */
	const char *stand_in; /* of the options; static */
	char *shared; /* owned: the owner's file of another project that also applies here, or NULL
		       */
	char *main_checkout; /* owned: the owner may want to share the policy of that, or NULL */
};

#define WARD_RUN_PLAN_INIT                                                                         \
	((struct ward_run_plan){.project = {.fd = -1},                                             \
		.single_files = -1,                                                                \
		.home = WARD_HOME_INIT,                                                            \
		.image = WARD_IMAGE_INIT})

/*
 * err->code is -EINVAL for what the user can fix in a policy or command line (exit 2), other codes
 * for a sandbox that cannot be set up (exit 125).
 */
int ward_run_plan_make(const struct ward_run_options *o, struct ward_run_plan *ret,
	struct ward_err *err) ward_must_check;
void ward_run_plan_clear(struct ward_run_plan *p);
