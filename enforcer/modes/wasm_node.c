/* SPDX-License-Identifier: Apache-2.0 */
/* Node or Deno as what runs a launcher of ours, which runs WebAssembly. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/modes/deno.h"
#include "enforcer/modes/find.h"
#include "enforcer/modes/operations.h"
#include "enforcer/modes/wasm.h"

static const char *const in_home[] = {
	".local/bin/node", ".npm-global/bin/node", ".volta/bin/node", "bin/node", NULL};
static const char *const in_system[] = {"usr/local/bin/node", "usr/bin/node", NULL};

bool ward_wasm_is_deno(const char *program)
{
	const char *slash = strrchr(program, '/');
	return strcmp(slash ? slash + 1 : program, "deno") == 0;
}

static int find(const struct ward_mode_host *h, bool deno_too, struct ward_mode_found *ret,
	struct ward_err *err)
{
	struct ward_mode_found deno = WARD_RUNTIME_FOUND_INIT;
	struct ward_err why = WARD_ERR_INIT;
	struct ward_find f;
	ward_find_begin(&f, ward_find_look_program);
	const bool node = ward_find_in_path(&f, h->path, "/node") ||
			  ward_find_in(&f, h->home, in_home) || ward_find_in(&f, "", in_system);
	const bool ours = node && !(h->project && ward_find_lies_in(f.found.program, h->project)) &&
			  !ward_mode_emptied(f.found.program);
	if (ours) {
		ret->program = f.found.program;
		ret->name = f.found.name;
		return 0;
	}
	ward_mode_found_clear(&f.found);
	if (!deno_too || ward_deno_find(h, &deno, &why) < 0)
		return ward_err_set(err, -ENOTSUP,
			"mode wasm: no Node%s was found in PATH, ~/.local/bin or /usr/bin, outside of "
			"the project and of directories that a session begins with empty; fix: apt "
			"install nodejs",
			deno_too ? " and no Deno" : "");
	ret->program = deno.program;
	ret->name = deno.name;
	ret->way = deno.way;
	return 0;
}

int ward_wasm_find_node(const struct ward_mode_host *h, bool deno_too, const char *launcher,
	struct ward_mode_found *ret, char **ret_launcher, struct ward_err *err)
{
	ward_cleanup_free char *path = NULL;
	int r = ward_wasm_find_own(h, launcher, &path);
	if (r == -ENOMEM)
		return ward_err_sys(err, r, "mode wasm");
	if (r < 0)
		return ward_err_set(err, -ENOTSUP,
			"mode wasm: %s is missing from %s; fix: install wardfs again", launcher,
			h->own ? h->own : "its directory");
	if (ward_mode_emptied(path))
		return ward_err_set(err, -ENOTSUP,
			"mode wasm: %s lies beneath %s, which is empty when a session starts; fix: "
			"install wardfs (meson install -C build)",
			path, ward_mode_emptied(path));
	r = find(h, deno_too, ret, err);
	if (r < 0)
		return r;
	*ret_launcher = ward_steal_ptr(&path);
	return 0;
}

/* NODE_OPTIONS, NODE_PATH and their like load code or change what Node checks. */
int ward_wasm_node_env(const struct ward_mode_asked *a, struct ward_mode_command *ret)
{
	int r = ward_deno_env(a->envp, ret);
	size_t kept = 0;
	for (size_t i = 0; r == 0 && ret->envp[i]; i++)
		if (strncmp(ret->envp[i], "NODE_", 5) != 0)
			ret->envp[kept++] = ret->envp[i];
	if (r == 0)
		ret->envp[kept] = NULL;
	return r;
}

int ward_wasm_node_flags(const struct ward_mode_asked *a, struct ward_mode_command *ret)
{
	struct ward_err why = WARD_ERR_INIT;
	if (!ward_wasm_is_deno(a->found->program))
		return ward_mode_put_flag(ret, "--no-warnings", "mode wasm");
	int r = ward_mode_put_flag(ret, "run", "mode wasm");
	return r < 0 ? r : ward_deno_flags(a, ret, &why);
}
