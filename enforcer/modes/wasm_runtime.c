/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runtimes of the host for programs of WASI preview 1. wardfs looks at the module first, in any
 * case. wasmtime, wasmer and iwasm hold a module beneath the directories that they are given;
 * Node's WASI may not, and comes last.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/modes/find.h"
#include "enforcer/modes/operations.h"
#include "enforcer/modes/wasm.h"

#define LAUNCHER "wardfs-node-wasi.mjs"

/* In the order in which wardfs takes them, with the options for what a module gets. */
static const struct runtime {
	const char *name, *in_path;
	const char *const in_home[4];
	const char *const in_system[3];
	const char *const start[3]; /* in front of everything */
	const char *tree;	    /* "--dir", and then the path */
	bool twice;		    /* the path is HOST::GUEST, else one path */
	const char *env;	    /* "--env", and then NAME=VALUE */
	const char *memory;	    /* a prefix of the bytes; NULL: it has no word for that */
} runtimes[] = {
	{.name = "wasmtime",
		.in_path = "/wasmtime",
		.in_home = {".wasmtime/bin/wasmtime", ".cargo/bin/wasmtime", ".local/bin/wasmtime"},
		.in_system = {"usr/local/bin/wasmtime", "usr/bin/wasmtime"},
		.start = {"run"},
		.tree = "--dir",
		.twice = true,
		.env = "--env",
		.memory = "-Wmax-memory-size="},
	{.name = "wasmer",
		.in_path = "/wasmer",
		.in_home = {".wasmer/bin/wasmer", ".cargo/bin/wasmer", ".local/bin/wasmer"},
		.in_system = {"usr/local/bin/wasmer", "usr/bin/wasmer"},
		.start = {"run"},
		.tree = "--dir",
		.env = "--env"},
	{.name = "iwasm",
		.in_path = "/iwasm",
		.in_home = {".local/bin/iwasm"},
		.in_system = {"usr/local/bin/iwasm", "usr/bin/iwasm"},
		.tree = "--dir=",
		.env = "--env="},
};
#define RUNTIMES (sizeof(runtimes) / sizeof(runtimes[0]))

/* The row of the runtime at this path. NULL: Node. */
static const struct runtime *row_of(const char *name)
{
	const char *slash = strrchr(name, '/');
	for (size_t i = 0; i < RUNTIMES; i++)
		if (strcmp(runtimes[i].name, slash ? slash + 1 : name) == 0)
			return &runtimes[i];
	return NULL;
}

/* The module is run as it is: nothing is made of it. */
static void take(struct ward_mode_found *ret)
{
	free(ret->object);
	free(ret->source);
	ret->object = NULL;
	ret->source = NULL;
	ret->kind = WARD_WASM_RUNTIME;
}

bool ward_wasm_runtime_look(const struct ward_mode_host *h, struct ward_mode_found *ret)
{
	struct ward_find f;
	for (size_t i = 0; i < RUNTIMES; i++) {
		ward_find_begin(&f, ward_find_look_program);
		if (!ward_find_in_path(&f, h->path, runtimes[i].in_path) &&
			!ward_find_in(&f, h->home, runtimes[i].in_home) &&
			!ward_find_in(&f, "", runtimes[i].in_system))
			continue;
		/* A session could replace the one, and would not see the other. */
		if ((h->project && ward_find_lies_in(f.found.program, h->project)) ||
			ward_mode_emptied(f.found.program) ||
			!(ret->about = strdup(runtimes[i].name))) {
			ward_mode_found_clear(&f.found);
			continue;
		}
		ret->program = f.found.program;
		ret->name = f.found.name;
		take(ret);
		return true;
	}
	return false;
}

int ward_wasm_runtime_node(
	const struct ward_mode_host *h, struct ward_mode_found *ret, struct ward_err *err)
{
	ward_cleanup_free char *launcher = NULL;
	int r = ward_wasm_find_node(h, false, LAUNCHER, ret, &launcher, err);
	if (r < 0)
		return r;
	ret->about = strdup("WASI of Node, for wasm2c or gcc is missing");
	if (!ret->about)
		return ward_err_sys(err, -ENOMEM, "mode wasm");
	ret->library = strdup(launcher);
	if (!ret->library)
		return ward_err_sys(err, -ENOMEM, "mode wasm");
	ret->launcher = ward_steal_ptr(&launcher);
	ret->no_wall = true;
	take(ret);
	return 0;
}

/* FLAG VALUE, or FLAGVALUE where the flag ends in "=". */
static int put(struct ward_mode_command *c, const char *flag, const char *value, const char *from)
{
	ward_cleanup_free char *text = NULL;
	if (flag[strlen(flag) - 1] != '=')
		return ward_wasm_put_pair(c, flag, value, from);
	if (asprintf(&text, "%s%s", flag, value) < 0) {
		text = NULL;
		return -ENOMEM;
	}
	return ward_mode_put_flag(c, text, from);
}

static int put_dir(
	const struct runtime *t, struct ward_mode_command *c, const char *path, const char *from)
{
	ward_cleanup_free char *both = NULL;
	if (t->twice && asprintf(&both, "%s::%s", path, path) < 0) {
		both = NULL;
		return -ENOMEM;
	}
	return put(c, t->tree, both ? both : path, from);
}

static int put_dirs(
	const struct runtime *t, const struct ward_mode_asked *a, struct ward_mode_command *c)
{
	int r = ward_wasm_reach(a, c);
	for (size_t i = 0; r == 0 && i < c->n_reaches; i++)
		r = put_dir(t, c, c->reaches[i].text, c->reaches[i].from);
	return r < 0 ? r : put_dir(t, c, ".", "the working directory");
}

static int flags_of(
	const struct runtime *t, const struct ward_mode_asked *a, struct ward_mode_command *c)
{
	const uint64_t memory = ward_policy_settings(a->policy)->memory;
	char bytes[32];
	int r = 0;
	for (size_t i = 0; r == 0 && t->start[i]; i++)
		r = ward_mode_put_flag(c, t->start[i], "mode wasm");
	if (r == 0)
		r = put_dirs(t, a, c);
	for (size_t i = 0; r == 0 && a->envp[i]; i++)
		r = put(c, t->env, a->envp[i], "what [env] passes");
	if (r == 0 && t->memory && memory != WARD_UNLIMITED) {
		ward_wasm_say_memory(ward_policy_settings(a->policy), c);
		snprintf(bytes, sizeof(bytes), "%llu", (unsigned long long)c->memory);
		r = put(c, t->memory, bytes, "[limits] memory");
	}
	return r;
}

int ward_wasm_runtime_flags(const struct ward_mode_asked *a, struct ward_mode_command *ret)
{
	const struct runtime *t = a->found->launcher ? NULL : row_of(a->found->about);
	if (t)
		return flags_of(t, a, ret);
	int r = ward_wasm_node_flags(a, ret);
	if (r == 0)
		r = ward_mode_put_flag(ret, a->found->launcher, "mode wasm");
	if (r == 0)
		r = ward_wasm_put_trees(a, "--tree", ret);
	return r < 0 ? r : ward_wasm_node_env(a, ret);
}
