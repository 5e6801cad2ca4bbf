/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Container engines of mode docker: which there are, where one lies on this host, and its command
 * line and configuration. An engine runs within the sandbox (enforcer/sandbox/sandbox.h, struct
 * ward_sandbox_engine); this part starts nothing.
 *
 * An engine is a program of the host that runs with rights over the session. So it is found in the
 * directories of the system alone, or by a path that the owner's policy gives; if anybody else
 * could change the program, the start is refused.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/err.h"
#include "enforcer/sandbox/sandbox.h"

/* A row of engines.def. */
struct ward_engine;

/* The word for policies: "runc"; NULL past the last. */
const struct ward_engine *ward_engine_at(size_t i);
const char *ward_engine_word(const struct ward_engine *e);
/* NULL: wardfs can start it. Else why it does not. */
const char *ward_engine_why_not(const struct ward_engine *e);
/* What to do instead where it cannot be started; may be NULL. */
const char *ward_engine_instead(const struct ward_engine *e);
/* It manages containers, and so has a runtime of its own beneath: it is none itself. */
bool ward_engine_manages(const struct ward_engine *e);
/* What its container lacks of a session's walls and records, for people; ends with NULL. */
const char *const *ward_engine_lacks(const struct ward_engine *e);
/* It can be started by root alone. */
bool ward_engine_needs_root(const struct ward_engine *e);
/* The container has a kernel of its own: no Landlock, no list of programs, no records of them. */
bool ward_engine_own_kernel(const struct ward_engine *e);
/* By word, or by the last part of a path. NULL: neither. */
const struct ward_engine *ward_engine_find(const char *named);
/* The word of the engine whose processes stand for the command's in records (`via`), because its
 * container has a kernel of its own. NULL: the command's own do. named as above; may be NULL. */
const char *ward_engine_via(const char *named);

struct ward_engine_found {
	const struct ward_engine *engine;
	char *program; /* host path without links; owned */
	dev_t dev;
	ino_t ino;
};
#define WARD_ENGINE_FOUND_INIT ((struct ward_engine_found){.engine = NULL})
/*
 * named: a word, a path, or NULL for the first that this host has. uid: of the owner, who besides
 * root may be able to change a program given by path. -EINVAL: not a name of an engine; -ENOTSUP:
 * it is not there, not safe, or not supported, with the fix.
 */
int ward_engine_look(const char *named, uid_t uid, struct ward_engine_found *ret,
	struct ward_err *err) ward_must_check;
/* Looks in the directories of the system, also for an engine that wardfs does not start. -ENOENT:
 * not installed; -ENOTSUP: others can change the program. */
int ward_engine_locate(const struct ward_engine *e, struct ward_engine_found *ret,
	struct ward_err *err) ward_must_check;
void ward_engine_found_clear(struct ward_engine_found *f);

/* A word for the program of an engine to answer about itself. */
struct ward_engine_question {
	const char *program; /* host path, of an engine that was found */
	dev_t dev;	     /* of it: refused if it is another file by now */
	ino_t ino;	     /* 0: any */
	const char *word;
	bool errors; /* what it prints as errors is part of the answer */
	uid_t uid;   /* who it runs as if root asks */
	gid_t gid;
};
/*
 * Appends what it prints. It runs in "/", with no variable but PATH, for 10 seconds at most.
 * -ETIMEDOUT; -ENOEXEC: it failed; -EFBIG; -ESTALE; or what starting it fails with.
 */
int ward_engine_ask(const struct ward_engine_question *q, struct ward_buf *ret) ward_must_check;

/* The configuration of an engine, and the memory behind it. */
struct ward_container {
	struct ward_sandbox_engine engine;
	char *config;
	struct ward_sandbox_engine_file files[4]; /* the last one has no name */
	char *argv[48], *exec_argv[48];		  /* owned strings */
	struct ward_buf offers;			  /* what the program says that it offers */
};
/*
 * Of spec the descriptors, ids, trees and labels count. *ret is the caller's:
 * ward_container_free(). Asks the program what it offers, if the engine has versions that differ.
 * -ENOTSUP: the host lacks something, or the program does not answer, with the fix.
 */
int ward_container_make(const struct ward_engine_found *f, const struct ward_sandbox_spec *spec,
	struct ward_container **ret, struct ward_err *err) ward_must_check;
void ward_container_free(struct ward_container *c);

/* The list of system calls of a command as the member `seccomp` of config.json has it: for a
 * container without a pid 1 of ours. */
extern const char ward_container_seccomp[];
/* The same, with the calls that wardfs needs to make its own walls inside of a container. */
extern const char ward_devcontainer_seccomp[];
