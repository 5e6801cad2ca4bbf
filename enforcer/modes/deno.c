/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mode deno: a script under Deno, within the walls of restricted. Deno's own permissions are one
 * more layer, and a coarser one: it compares paths as they are spelled, and asks for nothing when
 * it loads a module. The walls decide each open.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/modes/deno.h"
#include "enforcer/modes/operations.h"

/* Subcommands that run code under the permissions of the flags. `eval` and `repl` give all. */
static const char *const subcommands[] = {"run", "test", "bench"};
static const char *const endings[] = {".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx"};

static bool ends_in(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);
	return n > m && strcmp(s + n - m, end) == 0;
}

static bool is_script(const char *s)
{
	if (strcmp(s, "-") == 0)
		return true;
	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
		if (ends_in(s, endings[i]))
			return true;
	return false;
}

/* "deno" or "/usr/bin/deno". */
static bool is_deno(const char *s)
{
	const char *slash = strrchr(s, '/');
	return strcmp(slash ? slash + 1 : s, "deno") == 0;
}

static bool is_subcommand(const char *s)
{
	for (size_t i = 0; s && i < sizeof(subcommands) / sizeof(subcommands[0]); i++)
		if (strcmp(s, subcommands[i]) == 0)
			return true;
	return false;
}

static int find_script(char *const *argv, size_t *ret, struct ward_err *err)
{
	size_t at = 0;
	if (argv[0] && is_deno(argv[0])) {
		if (argv[1] && is_script(argv[1]))
			return ward_err_set(err, -EINVAL,
				"mode deno runs 'deno run', 'deno test' and 'deno bench', not 'deno %s'; fix: "
				"deno run %s",
				argv[1], argv[1]);
		if (!is_subcommand(argv[1]))
			return ward_err_set(err, -EINVAL,
				"mode deno runs 'deno run', 'deno test' and 'deno bench', not 'deno %s'",
				argv[1] ? argv[1] : "");
		at = 2;
	}
	if (!argv[at])
		return ward_err_set(
			err, -EINVAL, "mode deno needs a script: wardfs run --mode deno script.ts");
	/* Deno takes such a name for a flag, whatever it ends in. */
	if (argv[at][0] == '-' && argv[at][1])
		return ward_err_set(err, -EINVAL,
			"mode deno computes Deno's flags from the policy: leave %s away; wardfs run "
			"--mode deno --dry-run prints the flags. A script of that name is ./%s",
			argv[at], argv[at]);
	if (!is_script(argv[at]))
		return ward_err_set(err, -EINVAL,
			"mode deno runs JavaScript and TypeScript: %s does not end in .js, .mjs, .cjs, "
			".ts, .mts, .cts, .jsx or .tsx; for another program leave --mode deno away",
			argv[at]);
	*ret = at;
	return 0;
}

/* Deno's program is shown, and nothing else is executed, unless the policy lists programs. */
static int look(const struct ward_mode_host *h, struct ward_mode_found *ret,
	struct ward_buf *ret_text, struct ward_err *err)
{
	size_t at = 0;
	/* Nothing is asked for yet where only the mode is weighed. */
	int r = h->policy && h->argv ? find_script(h->argv, &at, err) : 0;
	if (r == 0)
		r = ward_deno_find(h, ret, err);
	if (r < 0 || !h->policy)
		return r;
	if (strpbrk(ret->program, ";#\\*?[\n"))
		return ward_err_set(err, -EINVAL,
			"mode deno: a policy cannot name %s: it has one of ; # * ? [ \\ in it",
			ret->program);
	ward_buf_printf(ret_text, "[system]\nread = %s\n", ret->program);
	if (!ward_policy_has_programs(h->policy))
		ward_buf_printf(ret_text, "[process]\nexec = %s\n", ret->program);
	/* V8 needs nothing that the list `strict` lacks. */
	if (ward_policy_settings(h->policy)->seccomp == WARD_LIST_DEFAULT)
		ward_buf_puts(ret_text, "[process]\nseccomp = strict\n");
	ret->asks = true;
	ret->about = strdup("JavaScript and TypeScript on Deno");
	r = ret->about ? ward_buf_error(ret_text) : -ENOMEM;
	return r < 0 ? ward_err_sys(err, r, "mode deno") : 0;
}

/* PROGRAM SUBCOMMAND FLAGS… SCRIPT ARGUMENTS… */
static int join(const struct ward_mode_asked *a, size_t script, struct ward_mode_command *ret)
{
	size_t n = 0, at = 0;
	while (a->argv[n])
		n++;
	ret->argv = calloc(2 + ret->n_flags + n - script + 1, sizeof(*ret->argv));
	if (!ret->argv)
		return -ENOMEM;
	ret->argv[at++] = strdup(a->found->program);
	ret->argv[at++] = strdup(script ? a->argv[script - 1] : subcommands[0]);
	for (size_t i = 0; i < ret->n_flags; i++)
		ret->argv[at++] = strdup(ret->flags[i].text);
	for (size_t i = script; i < n; i++)
		ret->argv[at++] = strdup(a->argv[i]);
	for (size_t i = 0; i < at; i++)
		if (!ret->argv[i])
			return -ENOMEM;
	return 0;
}

/* A DENO_ variable may change what the flags mean (DENO_PERMISSION_BROKER_PATH, DENO_UNSTABLE_…).
 * These only say where caches, certificates and tokens are. */
static bool passes(const char *variable)
{
	static const char *const harmless[] = {
		"DENO_AUTH_TOKENS=", "DENO_CERT=", "DENO_DIR=", "DENO_TLS_CA_STORE="};
	if (strncmp(variable, "DENO_", 5) != 0)
		return true;
	for (size_t i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++)
		if (strncmp(variable, harmless[i], strlen(harmless[i])) == 0)
			return true;
	return false;
}

/* V8's range for machine code: the kernel counts it as data, and with less V8 does not start. */
#define CODE_RANGE (UINT64_C(512) << 20)

/* Deno is not to look for updates or ask at a terminal. */
int ward_deno_env(char *const *envp, struct ward_mode_command *ret)
{
	static char no_update[] = "DENO_NO_UPDATE_CHECK=1", no_prompt[] = "DENO_NO_PROMPT=1";
	size_t n = 0, kept = 0;
	while (envp[n])
		n++;
	ret->envp = calloc(n + 4, sizeof(*ret->envp));
	if (!ret->envp)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (passes(envp[i]))
			ret->envp[kept++] = envp[i];
	ret->envp[kept++] = no_update;
	ret->envp[kept] = no_prompt;
	ret->reserved = CODE_RANGE;
	ret->starved = SIGTRAP;
	return 0;
}

/*
 * A release that has a broker of permissions asks it, and leaves the flags aside. It does not say
 * which program it wants to run: where the policy lists some for the script, the flags are finer.
 */
static void set_broker(const struct ward_mode_found *found, struct ward_mode_command *ret)
{
	static char broker[] = "DENO_PERMISSION_BROKER_PATH=" WARD_RUNTIME_ASKS_PATH;
	size_t n = 0;
	if (!found->asks)
		return;
	ret->asks_why = "[process] exec lists programs, and Deno does not say which one it wants: "
			"the flags decide";
	for (size_t i = 0; i < ret->n_flags; i++)
		if (strncmp(ret->flags[i].text, "--allow-run", 11) == 0)
			return;
	ret->asks_why = "Deno 2.5 and later ask wardfs for each permission and leave the flags "
			"aside; an older Deno goes by the flags";
	ret->asks = true;
	while (ret->envp[n])
		n++;
	ret->envp[n] = broker;
}

static int command(
	const struct ward_mode_asked *a, struct ward_mode_command *ret, struct ward_err *err)
{
	size_t script = 0;
	int r = find_script(a->argv, &script, err);
	if (r == 0)
		r = ward_deno_flags(a, ret, err);
	if (r < 0)
		return r;
	r = join(a, script, ret);
	if (r == 0)
		r = ward_deno_env(a->envp, ret);
	if (r == 0)
		set_broker(a->found, ret);
	return r < 0 ? ward_err_sys(err, r, "mode deno") : 0;
}

const struct ward_mode_ops ward_mode_ops_deno = {.usable = ward_walls_usable,
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
