/* SPDX-License-Identifier: Apache-2.0 */
/* Between the files of mode wasm alone. */
#pragma once

#include "enforcer/modes/modes.h"

/* What a session of the mode runs (ward_mode_found.kind). */
enum ward_wasm_kind {
	WARD_WASM_NONE = 0,
	WARD_WASM_SCRIPT,  /* JavaScript: a file, `-`, or `-e CODE` */
	WARD_WASM_MODULE,  /* a file in WebAssembly, which wasm2c translates */
	WARD_WASM_RUNTIME, /* the same, under a runtime of the host's */
	WARD_WASM_PYTHON,  /* a file in Python */
};

/* The lines of a policy that let the program at this path be run, and nothing else. -EINVAL: its
 * path cannot stand in a policy. */
int ward_wasm_say_program(const struct ward_mode_host *h, const char *path, struct ward_buf *b,
	struct ward_err *err) ward_must_check;
/* The same for what it loads. */
int ward_wasm_say_library(
	const char *path, struct ward_buf *b, struct ward_err *err) ward_must_check;
/* One of our own files, which a build without its parts does not have: its path without links.
 * -ENOENT, -ENOMEM. */
int ward_wasm_find_own(
	const struct ward_mode_host *h, const char *name, char **ret) ward_must_check;
/* The paths that the program reaches, into reaches of ret. -ENOMEM. */
int ward_wasm_reach(const struct ward_mode_asked *a, struct ward_mode_command *ret) ward_must_check;
/* The bytes that a program gets where its runtime takes a bound, into memory of ret. */
void ward_wasm_say_memory(const struct ward_settings *s, struct ward_mode_command *ret);
/* Two flags of one origin. -ENOMEM. */
int ward_wasm_put_pair(struct ward_mode_command *c, const char *flag, const char *value,
	const char *from) ward_must_check;
/* ward_wasm_reach(), and the flag for each path. -ENOMEM. */
int ward_wasm_put_trees(const struct ward_mode_asked *a, const char *flag,
	struct ward_mode_command *ret) ward_must_check;

/* --- wasm_node.c --- */

/*
 * Node, or with deno_too else Deno, into program and name of ret; and a launcher of ours for it,
 * whose path is for the caller to free. -ENOTSUP: one of them is missing, with the fix.
 */
int ward_wasm_find_node(const struct ward_mode_host *h, bool deno_too, const char *launcher,
	struct ward_mode_found *ret, char **ret_launcher, struct ward_err *err) ward_must_check;
/* Sets ret->envp: envp without variables that change what Node or Deno does. -ENOMEM. */
int ward_wasm_node_env(
	const struct ward_mode_asked *a, struct ward_mode_command *ret) ward_must_check;
/* Is this Deno, and not Node? */
bool ward_wasm_is_deno(const char *program);
/* What the program takes in front of the launcher. -ENOMEM. */
int ward_wasm_node_flags(
	const struct ward_mode_asked *a, struct ward_mode_command *ret) ward_must_check;

/* --- wasm_python.c --- */

/* Finds the runtime and npm's pyodide for scripts in Python. -ENOTSUP, with the fix. */
int ward_wasm_python_look(const struct ward_mode_host *h, struct ward_mode_found *ret,
	struct ward_buf *b, struct ward_err *err) ward_must_check;
/* Appends what runs Python on this host, or the fix. */
void ward_wasm_python_say(const struct ward_mode_host *h, struct ward_buf *b);
/* Is the package seen where the session runs? -EINVAL: not. */
int ward_wasm_python_check(const struct ward_mode_asked *a, struct ward_err *err) ward_must_check;
/* -ENOMEM. */
int ward_wasm_python_flags(
	const struct ward_mode_asked *a, struct ward_mode_command *ret) ward_must_check;
/* Makes found->object: Python as it is after its start. */
int ward_wasm_python_build(const struct ward_mode *m, const struct ward_mode_found *found,
	const struct ward_sandbox_spec *as, struct ward_err *err) ward_must_check;

/* --- wasm_runtime.c --- */

/* Is a runtime for modules on the host? Then it is in ret. */
bool ward_wasm_runtime_look(const struct ward_mode_host *h, struct ward_mode_found *ret);
/* Node in the place of wasm2c and gcc. -ENOTSUP: it is not on the host. */
int ward_wasm_runtime_node(const struct ward_mode_host *h, struct ward_mode_found *ret,
	struct ward_err *err) ward_must_check;
/* -ENOMEM. */
int ward_wasm_runtime_flags(
	const struct ward_mode_asked *a, struct ward_mode_command *ret) ward_must_check;

/* --- wasm_build.c --- */

/*
 * Runs argv in a sandbox of its own, with these as 0, 1, 2, and no tree, home or network. covers,
 * ended by NULL: what of the host it does not see besides. Its exit status, or a negative errno.
 */
struct ward_wasm_tools {
	char *const *argv;
	const char *const *covers;
	const struct ward_sandbox_bind *reads;
	size_t n_reads;
	int fds[3];
};
int ward_wasm_run_tools(const struct ward_mode *m, const struct ward_sandbox_spec *as,
	const struct ward_wasm_tools *t, struct ward_err *err) ward_must_check;
/* 0: all that translates modules is on this host; -ENOTSUP: what is missing, and the fix. */
int ward_wasm_check_tools(struct ward_err *err) ward_must_check;
/*
 * Reads a module that the caller names, and finds out whether it can be run: fills in source,
 * source_len and object of ret, and whether it is a reactor. -EINVAL, -ENOTSUP as
 * ward_wasm_module_look(); or why it cannot be read. Of h the policy, the project and the state
 * directory count.
 */
int ward_wasm_read(const char *path, const struct ward_mode_host *h, struct ward_mode_found *ret,
	bool *ret_reactor, struct ward_err *err) ward_must_check;

/* Appends whether what ward_wasm_build() needs is on this host, and else the fix. */
void ward_wasm_say_tools(struct ward_buf *b);

/*
 * Makes found->object of found->source where it is missing: by wasm2c and a compiler, in a sandbox
 * of its own, for the module is hostile and what is made of it as well. They see the system's
 * directories and a /tmp of their own, and have no network. `as` says who they run as. -ENOTSUP: a
 * tool is missing; -EINVAL: they refused the module.
 */
int ward_wasm_build(const struct ward_mode *m, const struct ward_mode_found *found,
	const struct ward_sandbox_spec *as, struct ward_err *err) ward_must_check;
