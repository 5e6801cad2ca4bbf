/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs policy remove: takes one line of the owner's file for this project away. */
#include <argp.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/out.h"
#include "enforcer/base/quantity.h"
#include "enforcer/cli/base/arguments.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/cli/place/owner_file.h"
#include "enforcer/cli/place/policy_place.h"
#include "enforcer/cli/policy/policy_effect.h"
#include "enforcer/cli/policy/policy_lines.h"
#include "enforcer/cli/policy/policy_now.h"
#include "enforcer/cli/policy/policy_rule.h"
#include "enforcer/cli/policy/policy_verbs.h"

struct args {
	bool guard, lift, now;
	const char *words[2]; /* LINE, or VERB PATTERN; none: the lines are listed */
	unsigned n;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	switch (key) {
	case 'g':
		a->guard = true;
		return 0;
	case 'L':
		a->lift = true;
		return 0;
	case POLICY_OPT_NOW:
		a->now = true;
		return 0;
	case ARGP_KEY_ARG:
		if (a->n == 2)
			ward_arguments_wrong(state, "too many arguments");
		a->words[a->n++] = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option options[] = {
	{"guard", 'g', NULL, 0, "The line is a guard", 0},
	{"lift-guard", 'L', NULL, 0, "The line lifts a guard ('policy add --lift-guard' wrote it)",
		0},
	POLICY_OPTION_NOW,
	{0},
};
static const struct argp argp = {options, parse, "[LINE | VERB PATTERN|HOST|PROGRAM]",
	"Removes a line from your file for this project, and prints what that changes. Name the "
	"line as you gave it to 'wardfs policy add', or by its number. Without arguments this "
	"lists the lines with their numbers. 'wardfs policy undo' brings the line back.\vExit "
	"status: 0 removed, or listed; 1 removed, but --now could not change a session; 2 not "
	"removed.",
	NULL, NULL, NULL};

static void list(const char *file, const struct policy_lines *lines)
{
	const char *section = "";
	ward_outf("%s\n", file);
	for (size_t i = 0; i < lines->n; i++) {
		const struct policy_line *l = &lines->v[i];
		if (strcmp(section, l->section) != 0)
			ward_outf("      %s\n", l->section);
		section = l->section;
		ward_outf("%4u  %s = %s\n", l->line, l->key, l->value);
	}
}

static const struct policy_line *by_number(
	const struct policy_lines *lines, const char *word, struct ward_err *err)
{
	const char *s = word;
	uint64_t n = 0;
	if (!ward_quantity_digits(&s, &n) || *s) {
		ward_err_set(err, -EINVAL,
			"'%s' is not a line number; a rule is two words, such as 'read "
			"/workspace/doc'",
			word);
		return NULL;
	}
	for (size_t i = 0; i < lines->n; i++)
		if (lines->v[i].line == n)
			return &lines->v[i];
	ward_err_set(err, -ENOENT,
		"line %s holds no rule; 'wardfs policy remove' lists the lines that do", word);
	return NULL;
}

/* The last such line; *ret_same: the one before it, or NULL. */
static const struct policy_line *last_of(const struct policy_lines *lines,
	const struct policy_rule *rule, const struct policy_line **ret_same)
{
	const struct policy_line *found = NULL;
	for (size_t i = 0; i < lines->n; i++) {
		if (!policy_line_is(&lines->v[i], rule->section, rule->verb, rule->value))
			continue;
		*ret_same = found;
		found = &lines->v[i];
	}
	return found;
}

/* The line that `policy add` wrote for these words. */
static const struct policy_line *by_rule(const struct policy_lines *lines, const struct args *a,
	const struct ward_policy_place *place, const struct policy_line **ret_same,
	struct ward_err *err)
{
	struct policy_rule rule;
	const struct policy_line *same = NULL;
	ward_cleanup_free char *inside = NULL;
	bool dir = false;
	if (policy_rule_make(a->words[0], a->words[1], a->guard, &rule, err) < 0)
		return NULL;
	struct policy_rule lift = {rule.verb, rule.value, "[lift]", true};
	if (rule.files && !a->guard) {
		if (ward_policy_place_path(place, rule.value, &inside, &dir, err) < 0)
			return NULL;
		lift.value = inside ? inside : rule.value;
	}
	const struct policy_rule *sought = a->lift ? &lift : &rule;
	const struct policy_line *found = last_of(lines, sought, ret_same);
	if (found)
		return found;
	const bool lifted = !a->lift && last_of(lines, &lift, &same);
	ward_err_set(err, -ENOENT, "your file for this project has no line '%s = %s' under %s; %s",
		sought->verb, sought->value, sought->section,
		lifted ? "--lift-guard takes the one under [lift]"
		       : "'wardfs policy remove' lists its lines, 'wardfs policy show' also those "
			 "of other sources");
	return NULL;
}

/* A line for which add opens the network. */
static bool opens(const struct policy_line *l)
{
	return strcmp(l->section, "[network]") == 0 &&
	       (strcmp(l->key, "allow") == 0 || strcmp(l->key, "publish") == 0 ||
		       strcmp(l->key, "forward") == 0);
}

/* The `mode = allowlist` that add put before the first of them goes with the last one. */
static unsigned opened_by(const struct policy_lines *lines, const struct policy_line *l)
{
	size_t n = 0;
	for (size_t i = 0; i < lines->n; i++)
		n += opens(&lines->v[i]);
	const size_t at = (size_t)(l - lines->v);
	return opens(l) && n == 1 && at > 0 && l[-1].line + 1 == l->line &&
			       policy_line_is(&l[-1], "[network]", "mode", "allowlist")
		       ? l[-1].line
		       : 0;
}

struct removing {
	const struct ward_policy_place *place;
	struct policy_effect effect;
};

static int judge(void *user, const struct ward_policy_place *after, struct ward_err *err)
{
	struct removing *x = user;
	return policy_effect_find(x->place, after->policy, &x->effect, err);
}

static int take_away(const struct args *a, struct removing *x, const struct ward_buf *was,
	const struct policy_lines *lines, struct ward_err *err)
{
	const char *file = x->place->owner_file;
	const struct policy_line *same = NULL;
	const struct policy_line *l = a->n == 1 ? by_number(lines, a->words[0], err)
						: by_rule(lines, a, x->place, &same, err);
	if (!l)
		return err->code;
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	ward_cleanup(ward_policy_place_clear) struct ward_policy_place after = {
		.project = {.fd = -1}};
	const unsigned opened = opened_by(lines, l);
	ward_buf_add(&text, was->data, was->len);
	int r = policy_lines_remove(&text, l->line);
	if (r == 0 && opened)
		r = policy_lines_remove(&text, opened);
	if (r == 0)
		r = ward_buf_error(&text);
	if (r < 0)
		return ward_err_sys(err, r, "%s:%u", file, l->line);
	const struct ward_owner_change c = {
		.text = &text, .was = was, .replace = true, .judge = judge, .user = x};
	r = ward_owner_file_change(x->place, &c, &after, err);
	if (r < 0)
		return ward_err_wrap(err, "without line %u the file is not a policy", l->line);
	ward_cleanup(ward_buf_clear) struct ward_buf word = WARD_BUF_INIT;
	const char *shown = ward_shell_quoted(&word, file);
	ward_outf("%s: removed %s %s = %s\n", shown, l->section, l->key, l->value);
	if (opened)
		ward_outf("%s: removed [network] mode = allowlist: no host is left\n", shown);
	policy_effect_print(&x->effect, l->value);
	if (same)
		ward_sayf("the same line is also at %s:%u", file, same->line);
	r = a->now ? policy_now(x->place) : 0;
	return ward_out_flush() < 0 ? ward_err_sys(err, -EIO, "stdout") : r;
}

static int change(const struct args *a, struct removing *x, struct ward_err *err)
{
	const struct ward_policy_place *place = x->place;
	ward_cleanup(ward_buf_clear) struct ward_buf was = WARD_BUF_INIT;
	ward_cleanup(policy_lines_clear) struct policy_lines lines = POLICY_LINES_INIT;
	if (ward_policy_place_need(place, err) < 0)
		return -ENOENT;
	int r = ward_owner_file_get(place->owner_file, &place->id, &was, err);
	if (r == 0)
		return ward_err_set(err, -ENOENT,
			"%s does not exist: you have no line of your own for this project "
			"('wardfs policy show' prints the lines in force)",
			place->owner_file);
	if (r > 0)
		r = policy_lines_read(place->owner_file, &was, &lines, err);
	if (r < 0)
		return r;
	if (a->n == 0) {
		list(place->owner_file, &lines);
		return ward_out_flush() < 0 ? ward_err_sys(err, -EIO, "stdout") : 0;
	}
	return take_away(a, x, &was, &lines, err);
}

int ward_policy_cmd_remove(int argc, char **argv)
{
	struct args a = {0};
	if (ward_arguments_parse(&argp, argc, argv, 0, &a))
		return 2;
	struct ward_err err = WARD_ERR_INIT;
	ward_cleanup(ward_policy_place_clear) struct ward_policy_place place = {
		.project = {.fd = -1}};
	struct removing x = {.place = &place, .effect = POLICY_EFFECT_INIT};
	int r = a.guard && a.lift
			? ward_err_set(&err, -EINVAL, "--guard and --lift-guard exclude each other")
			: ward_policy_place_find(NULL, &place, &err);
	if (r == 0)
		r = change(&a, &x, &err);
	policy_effect_clear(&x.effect);
	if (r < 0)
		ward_say(err.text);
	return r < 0 ? 2 : r;
}
