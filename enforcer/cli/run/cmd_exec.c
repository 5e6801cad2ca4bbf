/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs exec: one more command in a running session. */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/cli/base/arguments.h"
#include "enforcer/cli/base/cli.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/cli/base/sessions.h"
#include "enforcer/session/exec/join.h"

enum { OPT_CWD = 0x100 };

static const struct argp_option options[] = {
	{"env", 'e', "NAME=VALUE", 0, "Set a variable besides the session's; repeats", 0},
	{"cwd", OPT_CWD, "DIR", 0, "Start there, a path inside the sandbox", 0},
	{0},
};

struct args {
	struct ward_join join;
	const char **env;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	switch (key) {
	case 'e': {
		const char **more = realloc(a->env, (a->join.n_env + 1) * sizeof(*more));
		if (!more)
			return ENOMEM;
		a->env = more;
		a->env[a->join.n_env++] = arg;
		if (arg[0] == '=' || !strchr(arg, '='))
			ward_arguments_wrong(state, "--env %s: give NAME=VALUE", arg);
		return 0;
	}
	case OPT_CWD:
		a->join.cwd = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (!a->join.session) {
			a->join.session = arg;
			return 0;
		}
		/* The command begins; its options are its own. */
		a->join.argv = state->argv + state->next - 1;
		state->next = state->argc;
		return 0;
	case ARGP_KEY_END:
		ward_sessions_need(state, a->join.session);
		if (!a->join.argv)
			ward_arguments_wrong(state,
				"a command is needed behind the session; wardfs ps lists sessions");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {options, parse, "SESSION [--] CMD [ARG...]",
	"Runs CMD in the sandbox of a running session: same files, policy, limits and trail as its first "
	"command. For the session's owner and root; a process inside cannot ask for it. SESSION is "
	"its name, or latest: the last of this project.\v"
	"Exit status: CMD's own; 2 usage, or no such session; 124 [limits] command; 125 it could not "
	"be started; 126 CMD cannot be executed; 127 CMD was not found; 128+N ended by signal N; 137 also "
	"where the session ended first.",
	NULL, NULL, NULL};

int ward_cmd_exec(int argc, char **argv)
{
	struct args a = {0};
	struct ward_err err = WARD_ERR_INIT;
	int status = 2;
	if (ward_arguments_parse(&argp, argc, argv, ARGP_IN_ORDER, &a) == 0) {
		ward_cleanup_free char *session = ward_sessions_meant(a.join.session);
		a.join.env = a.env;
		a.join.session = session;
		if (session)
			status = ward_join(&a.join, &err);
		if (err.code)
			ward_say(err.text);
	}
	free(a.env);
	return status;
}
