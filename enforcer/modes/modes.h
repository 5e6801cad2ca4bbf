/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running a command in a mode. The supervisor, `--dry-run` and `wardfs doctor` call these
 * functions; each calls the operation of the same name in the mode's row (operations.h). Nobody
 * starts, signals or ends a command beside them.
 *
 * Every mode stands in the walls of a sandbox (enforcer/sandbox/sandbox.h), whose order of steps
 * holds here too: begin, STAGED, MAPPED, READY, probe, start, next and exec, stop, free. Between
 * the steps a caller may do other things.
 */
#pragma once

#include <sys/types.h>

#include "enforcer/base/buf.h"
#include "enforcer/modes/table/mode.h"
#include "enforcer/policy/policy.h"
#include "enforcer/sandbox/sandbox.h"

/* A command, and what its mode puts around it. */
struct ward_confined;

/*
 * Can this mode run a command on this host, now, for this caller? 0, else -ENOTSUP with the reason
 * and, where there is one, the fix. Looks only; costs microseconds.
 */
int ward_mode_usable(const struct ward_mode *m, struct ward_err *err) ward_must_check;

/*
 * A mode may put a runtime of its own in front of the command (docs/modes.md). That takes two
 * steps. While the policy is loaded, ward_mode_look() finds the runtime on the host and says what
 * the policy needs for it. With the loaded policy, ward_mode_command() makes the command line. A
 * mode without a runtime does nothing in either.
 */
struct ward_mode_host {
	const struct ward_policy *policy; /* as far as it is loaded; NULL: only find the runtime */
	const char *home;		  /* the owner's, or NULL */
	const char *path;		  /* PATH of the caller, or NULL */
	const char *own;     /* where wardfs' own programs lie, with a slash at the end */
	const char *state;   /* the caller's state directory */
	const char *project; /* a runtime in there is the agent's to change */
	char *const *argv;   /* as the caller gave it; NULL with policy */
	bool escalates;	     /* mode auto asks for it: the strictest runtime, not the first */
	uid_t owner;	     /* the user id of the session's owner, not of the caller */
};
/* The runtime that was found. WARD_RUNTIME_FOUND_INIT: none; ward_mode_found_clear(). */
struct ward_mode_found {
	char *program; /* host path without links, owned; NULL: the mode has no runtime */
	char *name;    /* how it was found: links may lead from here to it; owned; NULL: program */
	char *way;     /* one more name that links may lead from; owned; NULL: none */
	/* A program that the runtime loads, made once and kept in the state directory; NULL: none.
	 * module: as the caller wrote what it is made from; module_at: where that was read, without
	 * links. All owned. */
	char *module, *module_at, *object;
	const char *note; /* for the person at the terminal, %s: program; static; NULL: nothing */
	void *source;	  /* what the object is made from */
	size_t source_len;
	int kind;	    /* the mode's own word for what the session runs */
	char *library;	    /* a directory or file that the runtime loads; owned; NULL: none */
	char *library_name; /* as name, of a library outside of the project; owned; or NULL */
	bool in_project;    /* the library lies there */
	char *launcher;	    /* the script of ours that the runtime runs; owned; NULL: none */
	char *about;  /* what the runtime is, for people and the trail; owned; NULL: no more to say
		       */
	bool asks;    /* for each permission, at WARD_RUNTIME_ASKS_PATH */
	bool no_wall; /* it confines nothing by itself: the walls of the mode alone hold what it
			 runs */
};
#define WARD_RUNTIME_FOUND_INIT ((struct ward_mode_found){.program = NULL})
/*
 * Call it with the rights of the session's owner. Appends lines of a policy to ret_text; without a
 * policy in h, what more there is to know of the runtime. -ENOTSUP:
 * the runtime is not on this host, with where it was looked for; -EINVAL: not a command for this
 * mode.
 */
int ward_mode_look(const struct ward_mode *m, const struct ward_mode_host *h,
	struct ward_mode_found *ret, struct ward_buf *ret_text,
	struct ward_err *err) ward_must_check;
void ward_mode_found_clear(struct ward_mode_found *f);
/* Where a session sees the object, read-only. */
#define WARD_RUNTIME_OBJECT_PATH "/wardfs-module.so"
/* Where a session has the socket at which a runtime asks for permissions. */
#define WARD_RUNTIME_ASKS_PATH "/wardfs-permission"
/*
 * Makes the object that was found, if there is one and it is missing. Of `as` the identities,
 * covers, guarded directories, groups and limits count. Runs what it needs in a sandbox of its own.
 * Errors are the mode's.
 */
int ward_mode_build(const struct ward_mode *m, const struct ward_mode_found *f,
	const struct ward_sandbox_spec *as, struct ward_err *err) ward_must_check;

struct ward_mode_asked {
	const struct ward_policy *policy;
	const struct ward_mode_found *found;
	const struct ward_sandbox_tree *trees;
	size_t n_trees;
	const char *home; /* inside; NULL: none */
	char *const *argv;
	char *const *envp;
};
/* A part of the command line, and which line of the policy or which fact it comes from. */
struct ward_mode_flag {
	char *text; /* owned */
	char *from; /* owned */
};
struct ward_mode_command {
	char **argv; /* owned vector and strings; NULL: as it was asked */
	char **envp; /* owned vector of strings that are those asked or constants; NULL: as asked */
	struct ward_mode_flag *flags;
	size_t n_flags;
	/* What a program of mode wasm reaches: a path in each text, once; and the bytes of its own
	 * memory, with a static text on where the number comes from. 0: what the session has. */
	struct ward_mode_flag *reaches;
	size_t n_reaches;
	uint64_t memory;
	const char *memory_from;
	/* Bytes of addresses that the runtime keeps for itself as data and leaves unused: they come
	 * on top where memory is limited by the data of each process. starved: the signal by which
	 * it ends itself where it gets no more; 0: not known. */
	uint64_t reserved;
	int starved;
	bool asks;	      /* for each permission, at WARD_RUNTIME_ASKS_PATH */
	const char *asks_why; /* for people: what asks means, or why not; static; NULL: the mode has
				 no such thing */
};
#define WARD_RUNTIME_COMMAND_INIT ((struct ward_mode_command){.argv = NULL})
/* Of the command, or of one more of `wardfs exec`. -EINVAL: not a command for this mode. */
int ward_mode_command(const struct ward_mode *m, const struct ward_mode_asked *a,
	struct ward_mode_command *ret, struct ward_err *err) ward_must_check;
void ward_mode_command_clear(struct ward_mode_command *c);

/*
 * Starts to build what the mode puts around the command. spec is borrowed during the call; its
 * layers do not count, those of the mode's row do. Errors as ward_mode_usable() and
 * ward_sandbox_begin(). *ret is the caller's: ward_mode_free().
 */
int ward_mode_begin(const struct ward_mode *m, const struct ward_sandbox_spec *spec,
	struct ward_confined **ret, struct ward_err *err) ward_must_check;

/* How far the walls stand: ward_sandbox_staged(), ward_sandbox_mapped(), ward_sandbox_ready(). */
enum ward_stage { WARD_STAGE_STAGED = 0, WARD_STAGE_MAPPED, WARD_STAGE_READY };
/* Waits until this stage is reached. Each once, in this order. */
int ward_mode_reach(
	struct ward_confined *c, enum ward_stage stage, struct ward_err *err) ward_must_check;
/* ward_mode_begin() and all stages. */
int ward_mode_create(const struct ward_mode *m, const struct ward_sandbox_spec *spec,
	struct ward_confined **ret, struct ward_err *err) ward_must_check;

/* The walls: for their descriptors, namespaces, terminal and facts. Borrowed; NULL of NULL. */
struct ward_sandbox *ward_mode_sandbox(const struct ward_confined *c);

/* As ward_sandbox_probe(). */
int ward_mode_probe(struct ward_confined *c, struct ward_probe_result ret[WARD_PROBE_COUNT_],
	enum ward_probe_verdict ret_verdicts[WARD_PROBE_COUNT_],
	struct ward_err *err) ward_must_check;
/* As ward_sandbox_start(). */
int ward_mode_start(struct ward_confined *c, struct ward_err *err) ward_must_check;
/* As ward_sandbox_next(), once ward_sandbox_fd() of the walls is readable. */
int ward_mode_next(struct ward_confined *c, struct ward_sandbox_event *ret) ward_must_check;
/* One more command, as ward_sandbox_exec(); id > 0. */
int ward_mode_exec(struct ward_confined *c, uint32_t id, const struct ward_sandbox_exec *e,
	struct ward_err *err) ward_must_check;
/* To the first command (id 0), as ward_sandbox_signal(); else to that of ward_mode_exec(). */
int ward_mode_signal(struct ward_confined *c, uint32_t id, int sig) ward_must_check;
/* Ends everything inside and waits until it is gone, as ward_sandbox_kill(). */
void ward_mode_stop(struct ward_confined *c);
/* Stops, and frees. NULL is fine. */
void ward_mode_free(struct ward_confined *c);
