/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs review: what a session of run --review has changed, and what becomes of it. */
#include <argp.h>
#include <errno.h>
#include <fnmatch.h>
#include <jansson.h>
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
#include "enforcer/cli/review/review_find.h"
#include "enforcer/session/owner/as_owner.h"

enum what { SHOW = 0, DIFF, APPLY, DISCARD };
enum { OPT_JSON = 0x100, OPT_STAT, OPT_NAME_STATUS, OPT_MANIFEST };

struct args {
	enum what what;
	bool chosen; /* the verb was given */
	const char *session, *manifest;
	char **paths;
	size_t n_paths;
	bool json, stat, name_status, dry;
};

static const struct argp_option options[] = {
	{"session", 's', "NAME", 0, "Not the last session of this project that staged changes", 0},
	{"dry-run", 'n', NULL, 0, "apply: say what would be done; change nothing", 0},
	{"manifest", OPT_MANIFEST, "DIGEST", 0, "apply: only if that is what review printed", 0},
	{"name-status", OPT_NAME_STATUS, NULL, 0, "diff: a letter and a path for each change", 0},
	{"stat", OPT_STAT, NULL, 0, "diff: sizes before and after", 0},
	{"json", OPT_JSON, NULL, 0, "diff: one JSON object", 0},
	{0},
};

/* Planned, and refused by name until it is there. */
static const char *const later[] = {
	"undo", "log", "mark", "back", "export", "compare", "check", NULL};

static void take_first(struct args *a, const char *arg, struct argp_state *state)
{
	static const char *const words[] = {
		[SHOW] = "show", [DIFF] = "diff", [APPLY] = "apply", [DISCARD] = "discard"};
	a->chosen = true;
	for (size_t i = 0; later[i]; i++)
		if (strcmp(arg, later[i]) == 0)
			ward_arguments_wrong(state, "review %s is not available yet", arg);
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strcmp(arg, words[i]) == 0) {
			a->what = (enum what)i;
			return;
		}
	a->session = arg;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
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
	case OPT_NAME_STATUS:
		a->name_status = true;
		return 0;
	case ARGP_KEY_ARG:
		if (!a->chosen)
			take_first(a, arg, state);
		else if (a->what == SHOW)
			a->session = arg;
		else
			a->paths[a->n_paths++] = arg;
		return 0;
	case ARGP_KEY_END:
		if (a->what == DISCARD && a->n_paths)
			ward_arguments_wrong(state,
				"review discard takes no PATH yet: it throws away all of a session");
		if (a->what == DIFF && a->json + a->stat + a->name_status != 1)
			ward_arguments_wrong(state,
				"review diff needs one of --name-status, --stat and --json: it cannot "
				"show content yet");
		if (a->what != APPLY && (a->dry || a->manifest))
			ward_arguments_wrong(
				state, "--dry-run and --manifest go with review apply");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {options, parse,
	"[SESSION]\ndiff [PATH...]\napply [PATH...]\ndiscard",
	"Shows what a session of `run --review` changed, and applies it to the project or throws it "
	"away. Until then the project is as it was.\n\n"
	"    wardfs review                      what changed, what needs a look first\n"
	"    wardfs review diff --stat          each file\n"
	"    wardfs review apply --dry-run      what would be done\n"
	"    wardfs review apply src README.md  these alone\n"
	"    wardfs review discard              nothing of it\v"
	"PATH is relative to the project; a directory means all beneath it, and *, ? and [...] stand "
	"for names. Files that this host may execute later, links that lead out of the project, and "
	"setuid files are applied only where PATH names the very file.\n\n"
	"Exit status: 0; 1 something was not applied; 2 usage; 125 the session or the project cannot be "
	"read.",
	NULL, NULL, NULL};

/* PATH names the change itself; *ret_beneath: it names a directory above, or fits. */
static bool names(const char *arg, const struct ward_change *c, bool *ret_beneath)
{
	size_t len = strlen(arg);
	while (len && arg[len - 1] == '/')
		len--;
	if (len > 1 && !strncmp(arg, "./", 2)) {
		arg += 2;
		len -= 2;
	}
	const char *paths[] = {c->path, c->from};
	bool itself = false;
	for (size_t i = 0; i < 2 && paths[i]; i++) {
		itself = itself || (strlen(paths[i]) == len && !strncmp(paths[i], arg, len));
		*ret_beneath = *ret_beneath || (len == 1 && *arg == '.') ||
			       (!strncmp(paths[i], arg, len) && paths[i][len] == '/') ||
			       fnmatch(arg, paths[i], FNM_LEADING_DIR) == 0;
	}
	return itself;
}

static bool is_meant(const struct args *a, const struct ward_change *c, bool *ret_itself)
{
	bool meant = !a->n_paths, beneath = false;
	*ret_itself = false;
	for (size_t i = 0; i < a->n_paths; i++) {
		bool itself = names(a->paths[i], c, &beneath);
		*ret_itself = *ret_itself || itself;
		meant = meant || itself || beneath;
	}
	return meant;
}

static char letter(const struct ward_change *c)
{
	switch (c->kind) {
	case WARD_CHANGE_NONE:
		return '?';
	case WARD_CHANGE_ADDED:
	case WARD_CHANGE_LINKED:
		return 'A';
	case WARD_CHANGE_MODIFIED:
	case WARD_CHANGE_MODE:
		return 'M';
	case WARD_CHANGE_REMOVED:
		return 'D';
	case WARD_CHANGE_RENAMED:
		return 'R';
	}
	return '?';
}

static void print_path(const struct ward_change *c)
{
	if (c->from)
		ward_outf("%s -> %s%s", c->from, c->path, S_ISDIR(c->type) ? "/" : "");
	else
		ward_outf("%s%s", c->path, S_ISDIR(c->type) ? "/" : "");
}

/* Flagged ones first. */
static void show(const struct ward_review_meant *m)
{
	ward_cleanup_free char *line = ward_changes_line(&m->changes);
	ward_outf("session %s: %s\n", m->session, line ? line : "?");
	for (size_t pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < m->changes.n; i++) {
			const struct ward_change *c = &m->changes.v[i];
			const char *flag = ward_review_flag(m, c);
			if ((*flag != 0) != (pass == 0))
				continue;
			ward_outf("%c %c ", *flag ? '!' : ' ', letter(c));
			print_path(c);
			ward_outf(*flag ? "   (%s)\n" : "%s\n", flag);
		}
	ward_outf("manifest %s\n", m->digest);
}

static json_t *change_json(const struct ward_review_meant *m, const struct ward_change *c)
{
	const char *flag = ward_review_flag(m, c);
	char mode[16];
	snprintf(mode, sizeof(mode), "%06o", (unsigned)(c->type | c->mode));
	json_t *o = json_pack("{s:s, s:o, s:s, s:I}", "kind", ward_change_word(c->kind), "path",
		ward_json_text(c->path), "mode", mode, "size", (json_int_t)c->size);
	if (c->from)
		json_object_set_new(o, "from", ward_json_text(c->from));
	if (c->has_base)
		json_object_set_new(o, "old_size", json_integer((json_int_t)c->base.size));
	if (*flag)
		json_object_set_new(o, "flag", json_string(flag));
	return o;
}

static void diff(const struct args *a, const struct ward_review_meant *m)
{
	json_t *all = a->json ? json_array() : NULL;
	bool itself;
	for (size_t i = 0; i < m->changes.n; i++) {
		const struct ward_change *c = &m->changes.v[i];
		if (!is_meant(a, c, &itself))
			continue;
		if (a->json) {
			json_array_append_new(all, change_json(m, c));
			continue;
		}
		if (a->name_status)
			ward_outf("%c\t", letter(c));
		print_path(c);
		if (a->stat && S_ISREG(c->type))
			ward_outf(" | %llu -> %llu bytes",
				(unsigned long long)(c->has_base ? c->base.size : 0),
				(unsigned long long)(c->kind == WARD_CHANGE_REMOVED ? 0 : c->size));
		ward_outf("\n");
	}
	if (a->json)
		ward_print_json(json_pack("{s:s, s:s, s:o}", "session", m->session, "manifest",
			m->digest, "changes", all));
}

/* Those that are asked for, less those that may not be: what becomes of them stands in ends. */
static void choose(const struct args *a, const struct ward_review_meant *m, struct ward_apply *ap,
	bool *wanted)
{
	for (size_t i = 0; i < m->changes.n; i++) {
		const struct ward_change *c = &m->changes.v[i];
		char rule[128];
		bool itself;
		wanted[i] = is_meant(a, c, &itself);
		const char *flag = wanted[i] && !itself ? ward_review_flag(m, c) : "";
		int error = wanted[i] ? ward_review_decide(m, c, rule) : 0;
		if (error) {
			snprintf(ap->why[i], sizeof(ap->why[i]),
				"today's policy refuses it (%.80s)", rule);
		} else if (*flag) {
			snprintf(ap->why[i], sizeof(ap->why[i]), "%s: name it itself to apply it",
				flag);
		} else {
			continue;
		}
		ap->ends[i] = WARD_APPLY_REFUSED;
		wanted[i] = false;
	}
}

static int tell(const struct ward_review_meant *m, const struct ward_apply *ap)
{
	size_t done = 0, left = 0;
	for (size_t i = 0; i < m->changes.n; i++) {
		const struct ward_change *c = &m->changes.v[i];
		switch (ap->ends[i]) {
		case WARD_APPLY_NONE:
			break;
		case WARD_APPLY_DONE:
		case WARD_APPLY_ALREADY:
			done++;
			if (!ap->dry)
				break;
			ward_outf("%s: %s\n", c->path, ap->why[i]);
			break;
		case WARD_APPLY_CONFLICT:
		case WARD_APPLY_REFUSED:
		case WARD_APPLY_FAILED:
			left++;
			ward_sayf("%s: not applied: %s", c->path, ap->why[i]);
			break;
		}
	}
	ward_outf(ap->dry ? "%zu would be applied, %zu would not\n" : "%zu applied, %zu not\n",
		done, left);
	return left ? 1 : 0;
}

static int apply(const struct args *a, const struct ward_review_meant *m, struct ward_err *err)
{
	const size_t n = m->changes.n ? m->changes.n : 1;
	struct ward_apply ap = {.dir_fd = m->dir_fd, .changes = &m->changes, .dry = a->dry};
	struct ward_as_owner as;
	memcpy(ap.roots, m->roots, sizeof(ap.roots));
	if (a->manifest && strcmp(a->manifest, m->digest) != 0)
		return ward_err_set(err, -EINVAL,
			"what is staged is not what --manifest says: it is %s", m->digest);
	ward_cleanup_free bool *wanted = calloc(n, sizeof(*wanted));
	ap.ends = calloc(n, sizeof(*ap.ends));
	ap.why = calloc(n, sizeof(*ap.why));
	int r = wanted && ap.ends && ap.why ? 0 : ward_err_sys(err, -ENOMEM, "apply");
	if (r == 0) {
		choose(a, m, &ap, wanted);
		r = ward_as_owner_begin(&m->place.id, &as, err);
	}
	if (r == 0) {
		r = ward_apply(&ap, wanted, err);
		ward_as_owner_end(&as);
	}
	if (r == 0)
		r = tell(m, &ap);
	free(ap.ends);
	free(ap.why);
	return r;
}

int ward_cmd_review(int argc, char **argv)
{
	struct args a = {.what = SHOW};
	struct ward_err err = WARD_ERR_INIT;
	ward_cleanup(ward_review_meant_clear) struct ward_review_meant m = {.dir_fd = -1};
	for (size_t i = 0; i < 16; i++)
		m.roots[i] = -1;
	ward_cleanup_free char **paths = calloc((size_t)argc + 1, sizeof(*paths));
	if (!paths)
		return 125;
	a.paths = paths;
	if (ward_arguments_parse(&argp, argc, argv, 0, &a))
		return 2;
	int r = ward_review_meant_find(a.session, &m, &err);
	if (r == 0 && a.what == SHOW)
		show(&m);
	else if (r == 0 && a.what == DIFF)
		diff(&a, &m);
	else if (r == 0 && a.what == APPLY)
		r = apply(&a, &m, &err);
	else if (r == 0)
		r = ward_reviews_remove(ward_store_dir(m.store), m.session, &err);
	if (r < 0)
		ward_say(err.text);
	return r < 0 ? 125 : r;
}
