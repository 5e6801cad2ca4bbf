/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands around the sandbox: a directory with secrets and targets, servers, a victim process,
 * a workspace. All of it is made for one run and taken away again.
 */
#pragma once

#include "enforcer/attack/attack.h"
#include "enforcer/attack/terminal.h"
#include "enforcer/attack/tree.h"

#define WARD_SECRETS_MAX 40

/* What the sandbox is started with beyond its three descriptors. */
enum ward_passed_on {
	WARD_PASSED_FILE,
	WARD_PASSED_DIRECTORY,
	WARD_PASSED_WRITE,
	WARD_PASSED_REOPEN,
	WARD_PASSED_MEMORY,
	WARD_PASSED_SOCKET,
	WARD_PASSED_PROCESS,
	WARD_PASSED_COUNT
};

struct ward_world {
	struct ward_facts facts;
	/* The two directories that were made, and those that they were made in. What is beneath
	   them is reached by these descriptors alone (tree.h): a session beside may change names.
	 */
	int base_fd, work_fd, above[2];
	char work_name[WARD_TREE_NAME];
	char *base;	  /* the directory around `outside`, in TMPDIR or /var/tmp */
	char session[24]; /* what a session of wardfs is called, if one is attacked */
	char *program;	  /* wardfs-attack in the workspace */
	char *own_facts;  /* the same, where only the caller writes: for the controls */
	char *facts_file; /* facts.h, in the workspace */
	char *home;	  /* the caller's */
	char secrets[WARD_SECRETS_MAX][WARD_PROOF_SIZE];
	size_t n_secrets;
	char *victim_page; /* shared with the victim */
	pid_t server;
	int left[WARD_PASSED_COUNT], other_end; /* other_end: of the socket */
	const char *typed, *before;    /* secrets: typed at terminals; in the file of errors */
	struct ward_terminal other;    /* another session's terminal */
	int runtime_fd, above_runtime; /* the directory of f->runtime, and what is above it */
	char runtime_name[WARD_TREE_NAME];
	char *own_script;   /* script.h: the script where only the caller writes; NULL: no script */
	char *engine;	    /* what runs it outside; NULL: the caller has none */
	bool deno;	    /* it is Deno, else node */
	const char *wardfs; /* borrowed: the program whose trails are read; NULL: none */
};

/* Nothing is made yet. */
#define WARD_WORLD_NONE                                                                            \
	{                                                                                          \
		.base_fd = -1, .work_fd = -1, .above = {-1, -1},                                   \
		.left = {-1, -1, -1, -1, -1, -1, -1}, .other_end = -1,                             \
		.other = WARD_TERMINAL_NONE, .runtime_fd = -1, .above_runtime = -1                 \
	}

/*
 * Makes all of it; the workspace in the current directory. On failure says what could not be made
 * in why, and takes back what was: 0 or -1.
 */
int ward_world_make(struct ward_world *w, char *why, size_t size);
void ward_world_clear(struct ward_world *w);

/*
 * Takes facts of the sandbox from the caller's file (facts.h): lines that take the place of the
 * observer's for the inside alone. `work` says where the sandbox has the workspace, and so where it
 * finds the program. 0, or -1 with what is wrong in why.
 */
int ward_world_tell(struct ward_world *w, const char *file, char *why, size_t size) ward_must_check;

/* Is this text one of the secrets? */
bool ward_world_told(const struct ward_world *w, const char *proof);

/*
 * Puts the targets of an attempt in their first state. Repositories of the workspace stay as they
 * are before the sandbox's attempts (outside is false): none has been touched, and a file system
 * between would show the change late.
 */
void ward_world_prepare(struct ward_world *w, const struct ward_attempt *a, bool outside);

/* A number that differs if a target of the attempt, or the workspace's repository, has changed. */
uint64_t ward_world_scene(const struct ward_world *w, const struct ward_attempt *a);

/* A number that differs if the victim is not as it was. */
uint64_t ward_world_victim(const struct ward_world *w);

/* Removes what the attempts leave in places that every program shares (/tmp, /dev/shm, the home).
 */
void ward_world_sweep(const struct ward_world *w);
