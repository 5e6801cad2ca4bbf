/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs risk: what a run would cost in points, row by row, and the mode that auto would pick. */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/out.h"
#include "enforcer/cli/base/arguments.h"
#include "enforcer/cli/base/cli.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/cli/place/agent_profile.h"
#include "enforcer/cli/run/risk_text.h"
#include "enforcer/session/owner/exit_status.h"
#include "enforcer/session/plan/plan.h"
#include "enforcer/session/records/weighed_json.h"

/* No mode suffices. */
#define EXIT_REFUSED 1

struct args {
	struct ward_run_options o;
	bool json, verbose;
};

static const struct argp_option options[] = {
	{"policy", 'p', "FILE|PROFILE", 0,
		"Base policy, as for run. Default: your file for this project, else medium", 0},
	{"user", 'u', "USER", 0, "Whose session it would be; as root only", 0},
	{"trust", 't', "LEVEL", 0, "How far you trust CMD: low, medium, high", 0},
	{"env", 'e', "NAME[=VALUE]", 0, "A variable that run would pass on or set; repeats", 0},
	{"json", 'j', NULL, 0, "One JSON object", 0},
	{"verbose", 'v', NULL, 0, "Also the rows that cost nothing", 0},
	{0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	struct ward_run_options *o = &a->o;
	switch (key) {
	case 'p':
		o->policy = arg;
		return 0;
	case 'u':
		o->user = arg;
		return 0;
	case 't':
		o->trust = arg;
		return 0;
	case 'e': {
		const char **more = realloc(o->env.v, (o->env.n + 1) * sizeof(*more));
		if (!more)
			return ENOMEM;
		more[o->env.n++] = arg;
		o->env.v = more;
		return 0;
	}
	case 'j':
		a->json = true;
		return 0;
	case 'v':
		a->verbose = true;
		return 0;
	case ARGP_KEY_ARG:
		/* The command begins; its options are its own. */
		o->argv = state->argv + state->next - 1;
		state->next = state->argc;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {options, parse, "[[--] CMD [ARG...]]",
	"Shows how mode auto weighs a run of CMD here: each row of the table that costs points, with the line of the policy or the fact behind it; then the mode that auto would pick. Starts nothing.\vExit status: 0; 1 no mode of this host suffices; 2 usage or policy; 125 the rest.",
	NULL, NULL, NULL};

static int weigh(struct args *a, struct ward_err *err)
{
	ward_cleanup(ward_agent_clear) struct ward_agent agent = {0};
	ward_cleanup(ward_run_plan_clear) struct ward_run_plan plan = WARD_RUN_PLAN_INIT;
	int r = a->o.argv ? ward_agent_find(&a->o, &agent, err) : 0;
	if (r == 0)
		r = ward_run_plan_make(&a->o, &plan, err);
	if (r < 0)
		return r;
	json_t *o = ward_weighed_json(plan.weighed, true, plan.settings);
	const bool refused = !plan.weighed->choice.mode;
	if (a->json)
		ward_print_json(o);
	json_t *shown = a->json ? NULL : ward_json_shown(o);
	if (shown)
		ward_risk_print(shown, a->verbose);
	json_decref(shown);
	if (!a->json)
		json_decref(o);
	return refused ? EXIT_REFUSED : 0;
}

int ward_cmd_risk(int argc, char **argv)
{
	struct args a = {.o = {.say = NULL, .verb = "risk", .dry = true, .weigh = true}};
	struct ward_err err = WARD_ERR_INIT;
	int status = WARD_EXIT_USAGE;
	if (ward_arguments_parse(&argp, argc, argv, ARGP_IN_ORDER, &a) == 0) {
		int r = weigh(&a, &err);
		if (r < 0)
			ward_say(err.text);
		status = r == -EINVAL || r == -ENOENT ? WARD_EXIT_USAGE
			 : r < 0		      ? WARD_EXIT_SETUP
						      : r;
	}
	free(a.o.env.v);
	return status;
}
