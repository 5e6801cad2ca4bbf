/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs policy test: the [test] sections of policies, as TAP. */
#include <argp.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/out.h"
#include "enforcer/cli/base/arguments.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/cli/place/policy_place.h"
#include "enforcer/cli/policy/policy_options.h"
#include "enforcer/cli/policy/policy_verbs.h"
#include "enforcer/policy/explain.h"

struct args {
	struct policy_options o;
	char **files; /* borrowed from argv */
	size_t n_files;
};

struct run {
	bool json;
	json_t *list;
	size_t n, failed;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	switch (key) {
	case ARGP_KEY_ARGS:
		a->files = state->argv + state->next;
		a->n_files = (size_t)(state->argc - state->next);
		return 0;
	default:
		return policy_option_take(key, arg, &a->o);
	}
}

static const struct argp_option options[] = {
	{"json", 'j', NULL, 0, "One JSON array instead of TAP", 0},
	{0},
};
static const struct argp argp = {options, parse, "[FILE|PROFILE]...",
	"Runs the tests of each FILE: the lines 'expect = ACTION PATH [PATH2] VERDICT' in its "
	"section [test]. Without FILE it runs those of the policy in force here.\vExit status: "
	"0 all pass; 1 some fail; 2 usage or policy.",
	NULL, NULL, NULL};

static void on_expectation(void *user, const struct ward_expectation *e)
{
	struct run *run = user;
	run->n++;
	run->failed += !e->met;
	if (run->json) {
		json_t *o = json_object();
		json_object_set_new(o, "file", ward_json_text(e->file));
		json_object_set_new(o, "line", json_integer(e->line));
		json_object_set_new(o, "expect", ward_json_text(e->text));
		json_object_set_new(o, "got", json_string(e->got));
		json_object_set_new(o, "ok", json_boolean(e->met));
		json_array_append_new(run->list, o);
		return;
	}
	ward_outf("%s %zu - %s:%u: %s\n", e->met ? "ok" : "not ok", run->n, e->file, e->line,
		e->text);
	if (!e->met)
		ward_outf("# got: %s\n", e->got);
}

static int test(const struct args *a, struct run *run, struct ward_err *err)
{
	int r = 0;
	if (a->n_files == 0) {
		ward_cleanup(ward_policy_place_clear) struct ward_policy_place place;
		r = ward_policy_place_find(NULL, &place, err);
		return r == 0 ? ward_policy_expectations(place.policy, on_expectation, run) : r;
	}
	for (size_t i = 0; r == 0 && i < a->n_files; i++) {
		struct ward_policy *p = NULL;
		r = ward_policy_load_alone(a->files[i], &p, err);
		if (r == 0)
			r = ward_policy_expectations(p, on_expectation, run);
		ward_policy_unref(p);
	}
	return r;
}

int ward_policy_cmd_test(int argc, char **argv)
{
	struct args a = {0};
	if (ward_arguments_parse(&argp, argc, argv, 0, &a))
		return 2;
	struct ward_err err = WARD_ERR_INIT;
	struct run run = {.json = a.o.json, .list = json_array()};
	if (!a.o.json)
		ward_outf("TAP version 13\n");
	int r = test(&a, &run, &err);
	if (r < 0) {
		const char *why = err.text[0] ? err.text : strerror(-r);
		if (!a.o.json)
			ward_outf("Bail out! %s\n", why);
		ward_say(why);
	} else if (a.o.json) {
		ward_print_json(json_incref(run.list));
	} else {
		ward_outf("1..%zu\n", run.n);
	}
	if (r == 0 && run.n == 0)
		ward_say("nothing was tested: the policy has no line 'expect' in a section [test]");
	else if (run.failed)
		ward_sayf("%zu of %zu tests failed", run.failed, run.n);
	json_decref(run.list);
	return r < 0 ? 2 : run.failed ? 1 : 0;
}
