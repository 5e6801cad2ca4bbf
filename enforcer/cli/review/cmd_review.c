/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs review: what a session of run --review has changed, and what becomes of it. */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/out.h"
#include "enforcer/base/plural.h"
#include "enforcer/cli/base/arguments.h"
#include "enforcer/cli/base/cli.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/cli/review/review_cli.h"

enum { OPT_JSON = 0x100, OPT_STAT, OPT_NAME_STATUS, OPT_PATCH, OPT_MANIFEST };

static const struct argp_option options[] = {
	{"session", 's', "NAME", 0, "Not the last session of this project that staged changes", 0},
	{"dry-run", 'n', NULL, 0, "apply, undo: say what would be done; change nothing", 0},
	{"manifest", OPT_MANIFEST, "DIGEST", 0, "apply: only if that is what review printed", 0},
	{"name-status", OPT_NAME_STATUS, NULL, 0, "diff: a letter and a path for each change", 0},
	{"stat", OPT_STAT, NULL, 0, "diff: sizes before and after", 0},
	{"patch", OPT_PATCH, NULL, 0, "diff: bytes as they are, for `git apply`", 0},
	{"json", OPT_JSON, NULL, 0, "diff: one JSON object", 0},
	{0},
};

/* Planned, and refused by name until it is there. */
static const char *const later[] = {"log", "mark", "back", "compare", "check", NULL};

static void take_first(struct review_args *a, const char *arg, struct argp_state *state)
{
	static const char *const words[] = {[REVIEW_SHOW] = "show",
		[REVIEW_DIFF] = "diff",
		[REVIEW_APPLY] = "apply",
		[REVIEW_DISCARD] = "discard",
		[REVIEW_UNDO] = "undo",
		[REVIEW_EXPORT] = "export"};
	a->chosen = true;
	for (size_t i = 0; later[i]; i++)
		if (strcmp(arg, later[i]) == 0)
			ward_arguments_wrong(state, "review %s is not available yet", arg);
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strcmp(arg, words[i]) == 0) {
			a->word = (enum review_word)i;
			return;
		}
	a->session = arg;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct review_args *a = state->input;
	switch (key) {
	case 's':
		a->session = arg;
		return 0;
	case 'n':
		a->dry = true;
		return 0;
	case OPT_MANIFEST:
		a->manifest = arg;
		return 0;
	case OPT_JSON:
		a->json = true;
		return 0;
	case OPT_STAT:
		a->stat = true;
		return 0;
	case OPT_PATCH:
		a->patch = true;
		return 0;
	case OPT_NAME_STATUS:
		a->name_status = true;
		return 0;
	case ARGP_KEY_ARG:
		if (!a->chosen)
			take_first(a, arg, state);
		else if (a->word == REVIEW_SHOW)
			a->session = arg;
		else
			a->paths[a->n_paths++] = arg;
		return 0;
	case ARGP_KEY_END:
		if (a->word == REVIEW_EXPORT && a->n_paths != 1)
			ward_arguments_wrong(state, "review export takes the new directory");
		if (a->json + a->stat + a->name_status + a->patch > 1)
			ward_arguments_wrong(
				state, "of --name-status, --stat, --json and --patch give one");
		if (a->word != REVIEW_DIFF && a->json + a->stat + a->name_status + a->patch)
			ward_arguments_wrong(state,
				"--name-status, --stat, --json and --patch go with review diff");
		if (a->word != REVIEW_APPLY && a->word != REVIEW_UNDO && a->dry)
			ward_arguments_wrong(state, "--dry-run goes with review apply and undo");
		if (a->word != REVIEW_APPLY && a->manifest)
			ward_arguments_wrong(state, "--manifest goes with review apply");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {options, parse,
	"[SESSION]\ndiff [PATH...]\napply [PATH...]\nundo [PATH...]\ndiscard [PATH...]\nexport DIR",
	"Shows what a session of `run --review` changed, and applies it to the project or throws it "
	"away. Until then the project is as it was.\n\n"
	"    wardfs review                      what changed, what needs a look first\n"
	"    wardfs review diff [--stat]        each change, or each file\n"
	"    wardfs review apply --dry-run      what would be done\n"
	"    wardfs review apply src README.md  these alone\n"
	"    wardfs review undo                 the project as it was before\n"
	"    wardfs review discard              nothing of it\v"
	"PATH is relative to the project; a directory means all beneath it, and *, ? and [...] stand "
	"for names, but not behind ./ at the beginning. Files that this host may execute later, parts of "
	"git repositories, links that lead out of the project, and setuid files are applied only where "
	"PATH names the very file.\n\n"
	"Exit status: 0; 1 something was not applied or undone; 2 usage; 125 the session or the "
	"project cannot be read.",
	NULL, NULL, NULL};

int ward_cmd_review(int argc, char **argv)
{
	struct review_args a = {.word = REVIEW_SHOW};
	struct ward_err err = WARD_ERR_INIT;
	ward_cleanup(ward_review_meant_clear) struct ward_review_meant m = {.dir_fd = -1};
	ward_review_meant_init(&m);
	ward_cleanup_free char **paths = calloc((size_t)argc + 1, sizeof(*paths));
	if (!paths)
		return 125;
	a.paths = paths;
	if (ward_arguments_parse(&argp, argc, argv, 0, &a))
		return 2;
	static int (*const words[])(const struct review_args *, struct ward_review_meant *,
		struct ward_err *) = {[REVIEW_SHOW] = review_show,
		[REVIEW_DIFF] = review_diff,
		[REVIEW_APPLY] = review_apply,
		[REVIEW_DISCARD] = review_discard,
		[REVIEW_UNDO] = review_undo,
		[REVIEW_EXPORT] = review_export};
	int r = ward_review_meant_find(a.session, a.word == REVIEW_UNDO, &m, &err);
	if (r == 0)
		r = words[a.word](&a, &m, &err);
	if (r < 0)
		ward_say(err.text);
	return r < 0 ? 125 : r;
}
