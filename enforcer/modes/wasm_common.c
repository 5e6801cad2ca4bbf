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

static int put_tree(
	struct ward_mode_command *c, const char *flag, const char *path, const char *from)
{
	int r = ward_mode_put_flag(c, flag, from);
	return r < 0 ? r : ward_mode_put_flag(c, path, from);
}

int ward_wasm_put_trees(
	const struct ward_mode_asked *a, const char *flag, struct ward_mode_command *ret)
{
	int r = 0;
	for (size_t i = 0; r == 0 && i < a->n_trees; i++) {
		r = put_tree(ret, flag, a->trees[i].path, "a tree of the policy");
		if (r == 0 && a->trees[i].at)
			r = put_tree(ret, flag, a->trees[i].at, "a tree of the policy");
	}
	if (r == 0)
		r = put_tree(ret, flag, "/tmp", "/tmp of the session");
	if (r == 0 && a->home)
		r = put_tree(ret, flag, a->home, "the session's home");
	return r;
}
