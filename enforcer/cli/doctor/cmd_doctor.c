/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs doctor: prints what this host offers and lacks. */
#include <argp.h>
#include <jansson.h>
#include <stdbool.h>

#include "enforcer/base/out.h"
#include "enforcer/cli/base/arguments.h"
#include "enforcer/cli/base/cli.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/cli/doctor/doctor_list.h"

static const char *status_name(enum ward_check_status s)
{
	switch (s) {
	case WARD_CHECK_OK:
		return "ok";
	case WARD_CHECK_UNUSABLE:
		return "unusable";
	case WARD_CHECK_OPTIONAL:
		return "optional";
	case WARD_CHECK_MISSING:
		break;
	}
	return "missing";
}

static void print_text(const struct ward_check *c, size_t n, bool fit)
{
	for (size_t i = 0; i < n; i++) {
		ward_outf("%-8s %-17s %s\n", status_name(c[i].status), c[i].name, c[i].tried);
		if (c[i].fix)
			ward_outf("%-8s %-17s fix: %s\n", "", "", c[i].fix);
	}
	size_t unusable = 0, optional = 0;
	for (size_t i = 0; i < n; i++) {
		unusable += c[i].status == WARD_CHECK_UNUSABLE;
		optional += c[i].status == WARD_CHECK_OPTIONAL;
	}
	if (unusable)
		ward_outf(
			"unusable: does not work here as it is; what builds on it is refused or slower.\n");
	if (optional)
		ward_outf("optional: not set up here, and nothing needs it.\n");
	ward_outf("%s\n", fit ? "This host can run the default policy."
			      : "This host cannot run the default policy: fix what is missing.");
}

static void print_json(const struct ward_check *c, size_t n, bool fit)
{
	json_t *list = json_array();
	for (size_t i = 0; i < n; i++)
		json_array_append_new(
			list, json_pack("{s:s, s:s, s:b, s:s, s:s?}", "name", c[i].name, "status",
				      status_name(c[i].status), "required", c[i].required, "tried",
				      c[i].tried, "fix", c[i].fix));
	ward_print_json(json_pack("{s:b, s:o}", "ok", fit, "checks", list));
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	bool *json = state->input;
	(void)arg;
	if (key != 'j')
		return ARGP_ERR_UNKNOWN;
	*json = true;
	return 0;
}

static const struct argp_option options[] = {
	{"json", 'j', NULL, 0, "One JSON object", 0},
	{0},
};
static const struct argp argp = {options, parse, NULL,
	"Tries what a guarded run needs on this host, as the caller, and names the fix for what is "
	"missing.\v"
	"Exit status: 0 the default policy can be run here, 1 it cannot, 2 usage.",
	NULL, NULL, NULL};

int ward_cmd_doctor(int argc, char **argv)
{
	struct ward_check report[WARD_DOCTOR_MAX];
	bool json = false;
	bool fit = false;
	if (ward_arguments_parse(&argp, argc, argv, 0, &json))
		return 2;
	size_t n = ward_doctor_try(report, &fit);
	if (json)
		print_json(report, n, fit);
	else
		print_text(report, n, fit);
	return fit ? 0 : 1;
}
