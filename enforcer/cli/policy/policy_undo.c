/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs policy undo: one step back in the history of the owner's file. */
#include <argp.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/out.h"
#include "enforcer/base/plural.h"
#include "enforcer/cli/base/arguments.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/cli/place/owner_file.h"
#include "enforcer/cli/place/owner_history.h"
#include "enforcer/cli/place/policy_place.h"
#include "enforcer/cli/policy/policy_lines.h"
#include "enforcer/cli/policy/policy_now.h"
#include "enforcer/cli/policy/policy_verbs.h"
#include "enforcer/session/owner/as_owner.h"

/* Of a difference that would fill a screen, so many lines that are no comments are shown. */
#define LINES_MAX 20U
#define SHOWN_MAX 8U

struct args {
	bool now, dry, all;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	(void)arg;
	switch (key) {
	case 'n':
		a->dry = true;
		return 0;
	case 'v':
		a->all = true;
		return 0;
	case POLICY_OPT_NOW:
		a->now = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option options[] = {
	{"dry-run", 'n', NULL, 0, "Print the difference, change nothing", 0},
	{"verbose", 'v', NULL, 0, "Print all of a long difference", 0},
	POLICY_OPTION_NOW,
	{0},
};
static const struct argp argp = {options, parse, NULL,
	"Undoes the last change that init, learn --write or a verb of 'wardfs policy' made to "
	"your file for this project, and prints the difference. Of a long one it prints some "
	"lines; -v prints all. Each call goes one step further "
	"back, up to 20.\vExit status: 0 undone; 1 undone, but --now could not change a "
	"session; 2 not undone.",
	NULL, NULL, NULL};

static int last(const struct ward_policy_place *place, struct ward_buf *ret, struct ward_err *err)
{
	struct ward_as_owner owner;
	int r = ward_as_owner_begin(&place->id, &owner, err);
	if (r < 0)
		return r;
	r = ward_owner_history_last(place->owner_file, ret, err);
	ward_as_owner_end(&owner);
	return r;
}

static unsigned count(const char *lines)
{
	unsigned n = 0;
	for (; *lines; lines++)
		n += *lines == '\n';
	return n;
}

/* Each line of a difference begins with its sign and a blank. */
static void print_difference(const struct ward_buf *lines, bool all)
{
	const char *s = ward_buf_str(lines);
	const unsigned n = count(s);
	unsigned shown = 0;
	if (all || n <= LINES_MAX) {
		ward_out_lines(s, lines->len);
		return;
	}
	while (*s && shown < SHOWN_MAX) {
		const size_t len = strcspn(s, "\n");
		if (len > 2 && s[2] != ';' && s[2] != '[') {
			ward_out_lines(s, len + (s[len] == '\n'));
			shown++;
		}
		s += len + (s[len] == '\n');
	}
	ward_outf("  and %u more line%s (-v prints all)\n", n - shown, ward_s(n - shown));
}

static int undo(const struct args *a, const struct ward_policy_place *place, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf now = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf before = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf lines = WARD_BUF_INIT;
	ward_cleanup(ward_policy_place_clear) struct ward_policy_place after = {
		.project = {.fd = -1}};
	if (ward_policy_place_need(place, err) < 0)
		return -ENOENT;
	int r = last(place, &before, err);
	if (r == 0)
		return ward_err_set(
			err, -ENOENT, "no change of %s is left to undo", place->owner_file);
	if (r > 0)
		r = ward_owner_file_get(place->owner_file, &place->id, &now, err);
	if (r < 0)
		return r;
	policy_lines_difference(&now, &before, &lines);
	const struct ward_owner_change c = {
		.text = before.len ? &before : NULL, .was = &now, .replace = true, .undo = true};
	if (!a->dry)
		r = ward_owner_file_change(place, &c, &after, err);
	if (r < 0)
		return r;
	ward_cleanup(ward_buf_clear) struct ward_buf word = WARD_BUF_INIT;
	ward_outf("%s %s%s\n", a->dry ? "this would go from" : "undone in",
		ward_shell_quoted(&word, place->owner_file),
		before.len ? "" : ": there was no such file before");
	print_difference(&lines, a->all);
	r = a->now && !a->dry ? policy_now(place) : 0;
	return ward_out_flush() < 0 ? ward_err_sys(err, -EIO, "stdout") : r;
}

int ward_policy_cmd_undo(int argc, char **argv)
{
	struct args a = {0};
	if (ward_arguments_parse(&argp, argc, argv, 0, &a))
		return 2;
	struct ward_err err = WARD_ERR_INIT;
	ward_cleanup(ward_policy_place_clear) struct ward_policy_place place;
	/* a file that does not load is one of the reasons to go back */
	int r = ward_policy_place_look("medium", WARD_PROJECT_OWNERS, &place, &err);
	ward_project_say(&place.project);
	if (r >= 0)
		r = undo(&a, &place, &err);
	if (r < 0)
		ward_say(err.text);
	return r < 0 ? 2 : r;
}
