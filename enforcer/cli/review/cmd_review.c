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

enum {
	OPT_JSON = 0x100,
	OPT_STAT,
	OPT_NAME_STATUS,
	OPT_PATCH,
	OPT_MANIFEST,
	OPT_MERGE,
	OPT_REQUIRE_CHECK,
	OPT_REQUIRE_SIGN,
	OPT_KEY,
	OPT_SIGNED
};

static const struct argp_option options[] = {
	{"session", 's', "NAME", 0,
		"NAME or NAME@STEP, not the last session of this project that staged changes", 0},
	{"dry-run", 'n', NULL, 0, "apply, undo: say what would be done; change nothing", 0},
	{"interactive", 'i', NULL, 0, "apply: ask about each change, and each hunk of it", 0},
	{"merge", OPT_MERGE, NULL, 0, "apply: with what the host has changed, where both fit", 0},
	{"manifest", OPT_MANIFEST, "DIGEST", 0, "apply: only if that is what review printed", 0},
	{"require-check", OPT_REQUIRE_CHECK, "CMD", OPTION_ARG_OPTIONAL,
		"apply: only if a check of these changes, of CMD if it is given, ended with 0", 0},
	{"require-sign", OPT_REQUIRE_SIGN, NULL, 0, "apply: only if approvers signed them", 0},
	{"policy", 'p', "FILE|PROFILE", 0, "check: in place of that of the session", 0},
	{"key", OPT_KEY, "KEY", 0, "sign: with this key of wardfs", 0},
	{"output", 'o', "FILE", 0, "sign: write what is to be signed into this new file", 0},
	{"signed", OPT_SIGNED, "FILE", 0, "sign: hand in FILE, with its signature or FILE.sig", 0},
	{"name-status", OPT_NAME_STATUS, NULL, 0, "diff: a letter and a path for each change", 0},
	{"stat", OPT_STAT, NULL, 0, "diff: sizes before and after", 0},
	{"patch", OPT_PATCH, NULL, 0, "diff: bytes as they are, for `git apply`", 0},
	{"json", OPT_JSON, NULL, 0, "diff: one JSON object", 0},
	{0},
};

static void take_first(struct review_args *a, const char *arg)
{
	static const char *const words[] = {[REVIEW_SHOW] = "show",
		[REVIEW_DIFF] = "diff",
		[REVIEW_APPLY] = "apply",
		[REVIEW_DISCARD] = "discard",
		[REVIEW_UNDO] = "undo",
		[REVIEW_EXPORT] = "export",
		[REVIEW_CHECK] = "check",
		[REVIEW_SIGN] = "sign",
		[REVIEW_MARK] = "mark",
		[REVIEW_LOG] = "log",
		[REVIEW_BACK] = "back",
		[REVIEW_COMPARE] = "compare"};
	a->chosen = true;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strcmp(arg, words[i]) == 0) {
			a->word = (enum review_word)i;
			return;
		}
	a->session = arg;
}

static void take_argument(struct review_args *a, char *arg)
{
	if (!a->chosen)
		take_first(a, arg);
	else if (a->word == REVIEW_SHOW || a->word == REVIEW_CHECK || a->word == REVIEW_SIGN)
		a->session = arg;
	else
		a->paths[a->n_paths++] = arg;
}

/* Behind "--": the command of check, or paths of the others. */
static void take_rest(struct review_args *a, struct argp_state *state)
{
	char **rest = a->command;
	if (a->word == REVIEW_CHECK) {
		if (!rest || !*rest)
			ward_arguments_wrong(state,
				"review check takes a command: wardfs review check [SESSION] -- CMD");
		return;
	}
	for (; rest && *rest; rest++)
		take_argument(a, *rest);
}

/* Options that go with some words. */
static void check_options(const struct review_args *a, struct argp_state *state)
{
	if (a->json + a->stat + a->name_status + a->patch > 1)
		ward_arguments_wrong(
			state, "of --name-status, --stat, --json and --patch give one");
	if (a->word != REVIEW_DIFF &&
		a->json + a->stat + (a->name_status && a->word != REVIEW_COMPARE) + a->patch)
		ward_arguments_wrong(
			state, "--name-status, --stat, --json and --patch go with review diff");
	if (a->word != REVIEW_APPLY && a->word != REVIEW_UNDO && a->dry)
		ward_arguments_wrong(state, "--dry-run goes with review apply and undo");
	if (a->word != REVIEW_APPLY && (a->manifest || a->interactive))
		ward_arguments_wrong(state, "--manifest and --interactive go with review apply");
	if (a->word != REVIEW_APPLY && (a->require_check || a->require_sign))
		ward_arguments_wrong(
			state, "--require-check and --require-sign go with review apply");
	if (a->dry && a->interactive)
		ward_arguments_wrong(state, "of --dry-run and --interactive give one");
	if (a->session && strchr(a->session, '@') &&
		(a->word == REVIEW_UNDO || a->word == REVIEW_DISCARD || a->word == REVIEW_MARK ||
			a->word == REVIEW_LOG || a->word == REVIEW_BACK))
		ward_arguments_wrong(
			state, "undo, discard, mark, log and back take a session without a step");
	if (a->word != REVIEW_CHECK && a->policy)
		ward_arguments_wrong(state, "--policy goes with review check");
	if (a->word != REVIEW_SIGN && (a->key || a->output || a->signed_file))
		ward_arguments_wrong(state, "--key, --output and --signed go with review sign");
	if (a->word == REVIEW_SIGN && !a->key + !a->output + !a->signed_file != 2)
		ward_arguments_wrong(
			state, "review sign takes one of --key, --output and --signed");
}

static void check_arguments(struct review_args *a, struct argp_state *state)
{
	take_rest(a, state);
	if (a->word == REVIEW_EXPORT && a->n_paths != 1)
		ward_arguments_wrong(state, "review export takes the new directory");
	if (a->word == REVIEW_COMPARE && a->n_paths != 2)
		ward_arguments_wrong(state, "review compare takes two sessions");
	if (a->word == REVIEW_BACK && a->n_paths != 1)
		ward_arguments_wrong(state, "review back takes one step: a number or a name");
	if ((a->word == REVIEW_MARK && a->n_paths > 1) || (a->word == REVIEW_LOG && a->n_paths))
		ward_arguments_wrong(state, "review mark takes one name, review log none");
	check_options(a, state);
}

/* Options with a word behind them. */
static bool take_value(struct review_args *a, int key, char *arg)
{
	const char **const values[] = {key == 's' ? &a->session : NULL,
		key == OPT_MANIFEST ? &a->manifest : NULL, key == 'p' ? &a->policy : NULL,
		key == OPT_KEY ? &a->key : NULL, key == 'o' ? &a->output : NULL,
		key == OPT_SIGNED ? &a->signed_file : NULL};
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
		if (values[i]) {
			*values[i] = arg;
			return true;
		}
	return false;
}

static bool take_flag(struct review_args *a, int key)
{
	bool *const flags[] = {key == 'n' ? &a->dry : NULL, key == 'i' ? &a->interactive : NULL,
		key == OPT_MERGE ? &a->merge : NULL, key == OPT_JSON ? &a->json : NULL,
		key == OPT_STAT ? &a->stat : NULL, key == OPT_PATCH ? &a->patch : NULL,
		key == OPT_NAME_STATUS ? &a->name_status : NULL,
		key == OPT_REQUIRE_SIGN ? &a->require_sign : NULL};
	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++)
		if (flags[i])
			return *flags[i] = true;
	return false;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct review_args *a = state->input;
	if (take_value(a, key, arg) || take_flag(a, key))
		return 0;
	switch (key) {
	case OPT_REQUIRE_CHECK:
		a->require_check = true;
		if (arg)
			a->checks[a->n_checks++] = arg;
		return 0;
	case ARGP_KEY_ARG:
		take_argument(a, arg);
		return 0;
	case ARGP_KEY_END:
		check_arguments(a, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {options, parse,
	"[SESSION]\ndiff [PATH...]\napply [PATH...]\nundo [PATH...]\ndiscard [PATH...]\nexport DIR\n"
	"check [SESSION] -- CMD\nsign [SESSION]\nmark [NAME]\nlog\nback STEP\ncompare SESSION SESSION",
	"Shows what a session of `run --review` changed, and applies it to the project or throws it "
	"away. Until then the project is as it was.\n\n"
	"    wardfs review                      what changed, what needs a look first\n"
	"    wardfs review diff [--stat]        each change, or each file\n"
	"    wardfs review apply --dry-run      what would be done\n"
	"    wardfs review apply src README.md  these alone\n"
	"    wardfs review apply --interactive  hunk by hunk\n"
	"    wardfs review undo                 the project as it was before\n"
	"    wardfs review discard              nothing of it\n"
	"    wardfs review compare one two      what two sessions changed differently\n"
	"    wardfs review check -- make test   a command on it, that cannot change it\n"
	"    wardfs review check one@3 -- make  the same on step 3 of session one\n"
	"    wardfs review sign --key KEY       an approver signs: this change, tested so\n\n"
	"While the session runs:\n\n"
	"    wardfs review mark before-tests    a step, to which the session can be put back\n"
	"    wardfs review log                  the steps so far\n"
	"    wardfs review back before-tests    the session's files as they were\v"
	"PATH is relative to the project; a directory means all beneath it, and *, ? and [...] stand "
	"for names, but not behind ./ at the beginning. Files that this host may execute later, parts of "
	"git repositories, links that lead out of the project, and setuid files are applied only where "
	"PATH names the very file.\n\n"
	"Exit status: 0; 1 something was not applied or undone; 2 usage; that of CMD; 125 the session or the "
	"project cannot be read.",
	NULL, NULL, NULL};

int ward_cmd_review(int argc, char **argv)
{
	struct review_args a = {.word = REVIEW_SHOW};
	struct ward_err err = WARD_ERR_INIT;
	ward_cleanup(ward_review_meant_clear) struct ward_review_meant m = {.dir_fd = -1};
	ward_review_meant_init(&m);
	ward_cleanup_free char **paths = calloc((size_t)argc + 1, sizeof(*paths));
	ward_cleanup_free char **checks = calloc((size_t)argc + 1, sizeof(*checks));
	if (!paths || !checks)
		return 125;
	a.paths = paths;
	a.checks = checks;
	a.argv = argv;
	/* What stands behind "--" is no option: argp(3) would mix it with what stands before. */
	int n = 1;
	while (n < argc && strcmp(argv[n], "--") != 0)
		n++;
	a.command = n < argc ? argv + n + 1 : NULL;
	if (ward_arguments_parse(&argp, n, argv, 0, &a))
		return 2;
	static int (*const words[])(const struct review_args *, struct ward_review_meant *,
		struct ward_err *) = {[REVIEW_SHOW] = review_show,
		[REVIEW_DIFF] = review_diff,
		[REVIEW_APPLY] = review_apply,
		[REVIEW_DISCARD] = review_discard,
		[REVIEW_UNDO] = review_undo,
		[REVIEW_EXPORT] = review_export,
		[REVIEW_CHECK] = review_check,
		[REVIEW_SIGN] = review_sign};
	if (a.word >= REVIEW_MARK) {
		int done = a.word == REVIEW_COMPARE ? review_compare(&a, &err)
						    : review_steps(&a, &err);
		if (done < 0)
			ward_say(err.text);
		return done < 0 ? 125 : done;
	}
	int r = ward_review_meant_find(a.session, a.word == REVIEW_UNDO, &m, &err);
	if (r == 0)
		r = words[a.word](&a, &m, &err);
	if (r < 0)
		ward_say(err.text);
	return r < 0 ? 125 : r;
}
