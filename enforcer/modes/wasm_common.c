/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of mode wasm share: our own files, lines of a policy, the trees as flags. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/modes/operations.h"
#include "enforcer/modes/wasm.h"

int ward_wasm_find_own(const struct ward_mode_host *h, const char *name, char **ret)
{
	ward_cleanup_free char *path = NULL;
	struct stat st;
	if (!h->own)
		return -ENOENT;
	if (asprintf(&path, "%s%s", h->own, name) < 0)
		return -ENOMEM;
	char *real = realpath(path, NULL);
	if (!real)
		return -errno;
	if (stat(real, &st) < 0 || !S_ISREG(st.st_mode)) {
		free(real);
		return -ENOENT;
	}
	*ret = real;
	return 0;
}

static int name_in_policy(const char *path, struct ward_err *err)
{
	if (strpbrk(path, ";#\\*?[\n"))
		return ward_err_set(err, -EINVAL,
			"mode wasm: a policy cannot name %s: it has one of ; # * ? [ \\ in it",
			path);
	return 0;
}

int ward_wasm_say_program(
	const struct ward_mode_host *h, const char *path, struct ward_buf *b, struct ward_err *err)
{
	int r = name_in_policy(path, err);
	if (r < 0)
		return r;
	ward_buf_printf(b, "[system]\nread = %s\n", path);
	if (!ward_policy_has_programs(h->policy))
		ward_buf_printf(b, "[process]\nexec = %s\n", path);
	if (ward_policy_settings(h->policy)->seccomp == WARD_LIST_DEFAULT)
		ward_buf_puts(b, "[process]\nseccomp = strict\n");
	r = ward_buf_error(b);
	return r < 0 ? ward_err_sys(err, r, "mode wasm") : 0;
}

int ward_wasm_say_library(const char *path, struct ward_buf *b, struct ward_err *err)
{
	int r = name_in_policy(path, err);
	if (r < 0)
		return r;
	ward_buf_printf(b, "[system]\nread = %s\n", path);
	r = ward_buf_error(b);
	return r < 0 ? ward_err_sys(err, r, "mode wasm") : 0;
}

/* What WebAssembly can address, but for its last page (enforcer/wasm/host/options.c). */
#define ADDRESSES ((UINT64_C(1) << 32) - (UINT64_C(1) << 16))

int ward_wasm_reach(const struct ward_mode_asked *a, struct ward_mode_command *ret)
{
	int r = 0;
	for (size_t i = 0; r == 0 && i < a->n_trees; i++) {
		const struct ward_sandbox_tree *t = &a->trees[i];
		if (a->home && strcmp(t->path, a->home) == 0)
			continue;
		r = ward_mode_put_reached(ret, t->path, "a tree of the policy");
		if (r == 0 && t->at)
			r = ward_mode_put_reached(ret, t->at, "a tree of the policy");
	}
	if (r == 0)
		r = ward_mode_put_reached(ret, "/tmp", "/tmp of the session");
	if (r == 0 && a->home)
		r = ward_mode_put_reached(ret, a->home, "the session's home");
	return r;
}

void ward_wasm_say_memory(const struct ward_settings *s, struct ward_mode_command *ret)
{
	const uint64_t most = s->memory == WARD_UNLIMITED ? ADDRESSES : s->memory / 4 * 3;
	ret->memory = most < ADDRESSES ? most : ADDRESSES;
	ret->memory_from = most < ADDRESSES ? "three quarters of [limits] memory"
					    : "what WebAssembly can address";
}

int ward_wasm_put_trees(
	const struct ward_mode_asked *a, const char *flag, struct ward_mode_command *ret)
{
	int r = ward_wasm_reach(a, ret);
	for (size_t i = 0; r == 0 && i < ret->n_reaches; i++)
		r = ward_wasm_put_pair(ret, flag, ret->reaches[i].text, ret->reaches[i].from);
	return r;
}

int ward_wasm_put_pair(
	struct ward_mode_command *c, const char *flag, const char *value, const char *from)
{
	int r = ward_mode_put_flag(c, flag, from);
	return r < 0 ? r : ward_mode_put_flag(c, value, from);
}
