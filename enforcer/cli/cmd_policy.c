/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs policy: finds the verb and hands over; show. */
#include <argp.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/cli/cli.h"
#include "enforcer/cli/policy_place.h"
#include "enforcer/cli/policy_verbs.h"
#include "enforcer/policy/explain.h"

static const struct verb {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *full;
	const char *what;
} verbs[] = {
	{"explain", ward_policy_cmd_explain, "wardfs policy explain",
		"tell what an action on a path would answer, and why"},
	{"check", ward_policy_cmd_check, "wardfs policy check",
		"look for errors and for rules that do not do what they seem to"},
	{"test", ward_policy_cmd_test, "wardfs policy test",
		"run the expectations that a policy holds in [test]"},
	{"add", ward_policy_cmd_add, "wardfs policy add",
		"add a rule to your file for this project"},
	{"show", ward_policy_cmd_show, "wardfs policy show",
		"print the policy in force after all its sources"},
	{"diff", ward_policy_cmd_diff, "wardfs policy diff",
		"tell what one policy gives and another does not"},
};
#define N_VERBS (sizeof(verbs) / sizeof(*verbs))

static void usage(FILE *f)
{
	fputs("Usage: wardfs policy VERB [OPTION...] [ARGUMENT...]\n"
	      "What a policy permits, and why.\n\nVerbs:\n",
		f);
	for (size_t i = 0; i < N_VERBS; i++)
		fprintf(f, "  %-8s %s\n", verbs[i].name, verbs[i].what);
	fputs("\nwardfs policy VERB --help tells the options of a verb.\n", f);
}

int ward_cmd_policy(int argc, char **argv)
{
	if (argc < 2) {
		usage(stderr);
		return 2;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
		strcmp(argv[1], "-?") == 0) {
		usage(stdout);
		return 0;
	}
	for (size_t i = 0; i < N_VERBS; i++) {
		if (strcmp(argv[1], verbs[i].name) != 0)
			continue;
		argv[1] = (char *)verbs[i].full;
		return verbs[i].run(argc - 1, argv + 1);
	}
	fprintf(stderr, "wardfs policy: no verb '%s'\n", argv[1]);
	usage(stderr);
	return 2;
}

/* --- show --- */

struct show_args {
	const char *policy;
	bool json;
};

static error_t parse_show(int key, char *arg, struct argp_state *state)
{
	struct show_args *a = state->input;
	switch (key) {
	case 'p':
		a->policy = arg;
		return 0;
	case 'j':
		a->json = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option show_options[] = {
	{"policy", 'p', "FILE|PROFILE", 0, "Base policy, as for wardfs run", 0},
	{"json", 'j', NULL, 0, "One JSON object: digest and text", 0},
	{0},
};
static const struct argp show_argp = {show_options, parse_show, NULL,
	"Prints the policy that holds here after all its sources, as one text. Loaded as a base it "
	"means the same and has the same digest.",
	NULL, NULL, NULL};

int ward_policy_cmd_show(int argc, char **argv)
{
	struct show_args a = {0};
	if (argp_parse(&show_argp, argc, argv, 0, NULL, &a))
		return 2;
	struct ward_err err = WARD_ERR_INIT;
	ward_cleanup(ward_place_clear) struct ward_place place;
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	int r = ward_place_find(a.policy, &place, &err);
	if (r == 0) {
		r = ward_policy_show(place.policy, &text);
		if (r < 0)
			ward_err_sys(&err, r, "show");
	}
	if (r < 0) {
		fprintf(stderr, "wardfs: %s\n", err.text);
		return 2;
	}
	const char *digest = ward_policy_digest(place.policy);
	if (!a.json) {
		printf("; digest %s\n%s", digest, ward_buf_str(&text));
		return 0;
	}
	json_t *o =
		json_pack("{s:s, s:s%}", "digest", digest, "text", ward_buf_str(&text), text.len);
	if (!o)
		return fprintf(stderr, "wardfs: the policy is not valid UTF-8\n"), 2;
	json_dumpf(o, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(o);
	return 0;
}
