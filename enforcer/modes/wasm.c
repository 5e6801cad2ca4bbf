/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mode wasm: a program in WebAssembly, within the walls of restricted. What it computes stays in
 * memory of its own; what it opens, it opens beneath the trees, where the guard decides.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/modes/operations.h"
#include "enforcer/modes/wasm.h"

/* --- what is asked for --- */

static bool ends_in_one_of(const char *s, const char *const *ends)
{
	for (; *ends; ends++) {
		size_t n = strlen(s), m = strlen(*ends);
		if (n > m && strcmp(s + n - m, *ends) == 0)
			return true;
	}
	return false;
}

/* Which one, and where its arguments begin. */
static int find_kind(
	char *const *argv, enum ward_wasm_kind *ret, size_t *ret_first, struct ward_err *err)
{
	static const char *const scripts[] = {".js", ".mjs", ".cjs", NULL};
	static const char *const modules[] = {".wasm", NULL}, *const python[] = {".py", NULL};
	const char *s = argv[0];
	*ret_first = 1;
	if (!s)
		return ward_err_set(err, -EINVAL,
			"mode wasm needs a program: wardfs run --mode wasm script.js");
	if (strcmp(s, "-e") == 0) {
		if (!argv[1])
			return ward_err_set(err, -EINVAL, "mode wasm: -e needs JavaScript");
		*ret_first = 2;
		*ret = WARD_WASM_SCRIPT;
		return 0;
	}
	if (s[0] == '-' && s[1])
		return ward_err_set(err, -EINVAL,
			"mode wasm takes no flag but -e CODE: leave %s away. A script of that name "
			"is ./%s",
			s, s);
	if (ends_in_one_of(s, python)) {
		*ret = WARD_WASM_PYTHON;
		return 0;
	}
	if (ends_in_one_of(s, modules)) {
		*ret = WARD_WASM_MODULE;
		return 0;
	}
	if (strcmp(s, "-") != 0 && !ends_in_one_of(s, scripts))
		return ward_err_set(err, -EINVAL,
			"mode wasm runs JavaScript, Python and WebAssembly: %s does not end in .js, "
			".mjs, .cjs, .py or .wasm; for another program leave --mode wasm away",
			s);
	*ret = WARD_WASM_SCRIPT;
	return 0;
}

/* --- where the runtime is --- */

/* A helper of ours, for JavaScript or for what wasm2c made. */
static int find_helper(const struct ward_mode_host *h, const char *name, const char *what,
	struct ward_mode_found *ret, struct ward_err *err)
{
	int r = ward_wasm_find_own(h, name, &ret->program);
	if (r == -ENOMEM)
		return ward_err_sys(err, r, "mode wasm");
	if (r < 0)
		return ward_err_set(err, -ENOTSUP,
			"mode wasm: wardfs was built without its part for %s (%s is missing from "
			"%s); fix: install wabt and npm, and build again with ./bootstrap",
			what, name, h->own ? h->own : "its directory");
	if (ward_mode_emptied(ret->program))
		return ward_err_set(err, -ENOTSUP,
			"mode wasm: %s lies beneath %s, which is empty when a session starts; fix: install "
			"wardfs (meson install -C build), or move its sources elsewhere, and build again",
			ret->program, ward_mode_emptied(ret->program));
	if (asprintf(&ret->about, "%s in WebAssembly", what) < 0) {
		ret->about = NULL;
		return ward_err_sys(err, -ENOMEM, "mode wasm");
	}
	return 0;
}

/* Reads the module, and finds what runs it: a runtime of the host's, else wasm2c, else Node. */
static int look_for_module(
	const struct ward_mode_host *h, struct ward_mode_found *ret, struct ward_err *err)
{
	struct ward_err why = WARD_ERR_INIT;
	bool reactor = false;
	ret->kind = WARD_WASM_MODULE;
	ret->module = strdup(h->argv[0]);
	if (!ret->module)
		return ward_err_sys(err, -ENOMEM, "mode wasm");
	/* Whatever runs it: what it asks for is known first. */
	int r = ward_wasm_read(h->argv[0], h, ret, &reactor, err);
	if (r < 0)
		return r;
	/* The runtimes of the host start commands; what they do with a reactor differs. */
	if (!reactor && ward_wasm_runtime_look(h, ret))
		return 0;
	r = find_helper(h, "wardfs-wasi", "programs", ret, &why);
	if (r == 0)
		r = ward_wasm_check_tools(&why);
	if (r == -ENOTSUP) {
		struct ward_err of_node = WARD_ERR_INIT;
		free(ret->program);
		free(ret->about);
		ret->program = ret->about = NULL;
		if (ward_wasm_runtime_node(h, ret, &of_node) == 0)
			return 0;
	}
	if (r < 0)
		*err = why;
	return r;
}

static int look(const struct ward_mode_host *h, struct ward_mode_found *ret,
	struct ward_buf *ret_text, struct ward_err *err)
{
	enum ward_wasm_kind kind = WARD_WASM_SCRIPT;
	size_t first = 0;
	/* Nothing is asked for yet where only the mode is weighed. */
	int r = h->policy && h->argv ? find_kind(h->argv, &kind, &first, err) : 0;
	if (r < 0)
		return r;
	ret->kind = (int)kind;
	if (kind == WARD_WASM_PYTHON)
		return ward_wasm_python_look(h, ret, ret_text, err);
	r = kind == WARD_WASM_MODULE ? look_for_module(h, ret, err)
				     : find_helper(h, "wardfs-quickjs", "JavaScript", ret, err);
	if (r < 0)
		return r;
	if (!h->policy) {
		ward_wasm_say_tools(ret_text);
		ward_wasm_python_say(h, ret_text);
		return 0;
	}
	r = ward_wasm_say_program(h, ret->program, ret_text, err);
	return r == 0 && ret->library ? ward_wasm_say_library(ret->library, ret_text, err) : r;
}

/* --- the command line --- */

/* What our own helpers reach: the trees at each of their paths, the session's own directories. */
static int put_flags(const struct ward_mode_asked *a, struct ward_mode_command *ret)
{
	const struct ward_settings *s = ward_policy_settings(a->policy);
	int r = ward_wasm_put_trees(a, "--tree", ret);
	if (r == 0 && s->memory != WARD_UNLIMITED) {
		char bytes[32];
		snprintf(bytes, sizeof(bytes), "%llu", (unsigned long long)s->memory);
		r = ward_wasm_put_pair(ret, "--memory", bytes, "[limits] memory");
	}
	ward_wasm_say_memory(s, ret);
	return r;
}

/* PROGRAM FLAGS… [OBJECT] (MODULE | SCRIPT | --eval CODE) ARGUMENTS… */
static int join(const struct ward_mode_asked *a, size_t first, struct ward_mode_command *ret)
{
	size_t n = 0, at = 0;
	while (a->argv[n])
		n++;
	ret->argv = calloc(2 + ret->n_flags + n + 1, sizeof(*ret->argv));
	if (!ret->argv)
		return -ENOMEM;
	ret->argv[at++] = strdup(a->found->program);
	for (size_t i = 0; i < ret->n_flags; i++)
		ret->argv[at++] = strdup(ret->flags[i].text);
	if (a->found->kind == WARD_WASM_MODULE)
		ret->argv[at++] = strdup(WARD_RUNTIME_OBJECT_PATH);
	for (size_t i = 0; i < n; i++)
		ret->argv[at++] = strdup(i == 0 && first == 2 ? "--eval" : a->argv[i]);
	for (size_t i = 0; i < at; i++)
		if (!ret->argv[i])
			return -ENOMEM;
	return 0;
}

static int command(
	const struct ward_mode_asked *a, struct ward_mode_command *ret, struct ward_err *err)
{
	enum ward_wasm_kind kind = WARD_WASM_NONE;
	size_t first = 0;
	int r = find_kind(a->argv, &kind, &first, err);
	if (r < 0)
		return r;
	/* What a module or Python needs is made before the session starts. */
	const bool module = kind == WARD_WASM_MODULE;
	const enum ward_wasm_kind runs = (enum ward_wasm_kind)a->found->kind;
	if (module != (a->found->module != NULL) || (!module && kind != runs) ||
		(module && strcmp(a->argv[0], a->found->module) != 0))
		return ward_err_set(err, -EINVAL,
			"mode wasm: this session runs %s, and %s needs a session of its own",
			a->found->module	   ? a->found->module
			: runs == WARD_WASM_PYTHON ? "scripts in Python"
						   : "scripts in JavaScript",
			a->argv[0]);
	if (runs == WARD_WASM_PYTHON && (r = ward_wasm_python_check(a, err)) < 0)
		return r;
	if (runs == WARD_WASM_PYTHON)
		r = ward_wasm_python_flags(a, ret);
	else if (runs == WARD_WASM_RUNTIME)
		r = ward_wasm_runtime_flags(a, ret);
	else
		r = put_flags(a, ret);
	if (r == 0)
		r = join(a, first, ret);
	return r < 0 ? ward_err_sys(err, r, "mode wasm") : 0;
}

static int build(const struct ward_mode *m, const struct ward_mode_found *f,
	const struct ward_sandbox_spec *as, struct ward_err *err)
{
	return f->kind == WARD_WASM_PYTHON ? ward_wasm_python_build(m, f, as, err)
					   : ward_wasm_build(m, f, as, err);
}

const struct ward_mode_ops ward_mode_ops_wasm = {.usable = ward_walls_usable,
	.build = build,
	.look = look,
	.command = command,
	.prepare = ward_walls_prepare,
	.begin = ward_walls_begin,
	.reach = ward_walls_reach,
	.probe = ward_walls_probe,
	.start = ward_walls_start,
	.next = ward_walls_next,
	.exec = ward_walls_exec,
	.signal = ward_walls_signal,
	.stop = ward_walls_stop,
	.free = ward_walls_free};
