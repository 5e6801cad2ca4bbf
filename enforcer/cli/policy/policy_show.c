/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs policy show: the policy that holds here, as one text. */
#include <argp.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/out.h"
#include "enforcer/cli/base/arguments.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/cli/place/policy_place.h"
#include "enforcer/cli/policy/policy_options.h"
#include "enforcer/cli/policy/policy_verbs.h"
#include "enforcer/policy/explain.h"

static error_t parse(int key, char *arg, struct argp_state *state)
{
	return policy_option_take(key, arg, state->input);
}

static const struct argp_option options[] = {
	POLICY_OPTION,
	{"json", 'j', NULL, 0, "One JSON object: digest and text", 0},
	{0},
};
static const struct argp argp = {options, parse, NULL,
	"Prints the policy in force here as one text, merged from all its sources. The text is "
	"itself a policy with the same meaning and the same digest.",
	NULL, NULL, NULL};

int ward_policy_cmd_show(int argc, char **argv)
{
	struct policy_options a = {0};
	if (ward_arguments_parse(&argp, argc, argv, 0, &a))
		return 2;
	struct ward_err err = WARD_ERR_INIT;
	ward_cleanup(ward_policy_place_clear) struct ward_policy_place place;
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	int r = ward_policy_place_find(a.policy, &place, &err);
	if (r == 0) {
		r = ward_policy_show(place.policy, &text);
		if (r < 0)
			ward_err_sys(&err, r, "show");
	}
	if (r < 0) {
		ward_say(err.text);
		return 2;
	}
	const char *digest = ward_policy_digest(place.policy);
	if (!a.json) {
		ward_outf("; digest %s\n", digest);
		ward_print_policy(text.data, text.len);
		return 0;
	}
	/* A pattern may hold any bytes. */
	json_t *o = json_object();
	json_object_set_new(o, "digest", json_string(digest));
	json_t *plain = json_stringn(ward_buf_str(&text), text.len);
	json_object_set_new(o, "text", plain ? plain : ward_json_text(ward_buf_str(&text)));
	ward_print_json(o);
	return 0;
}
