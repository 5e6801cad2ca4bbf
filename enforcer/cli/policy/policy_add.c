/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs policy add: one more rule in the owner's file for this project, where it decides. */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/out.h"
#include "enforcer/cli/base/arguments.h"
#include "enforcer/cli/base/progress.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/cli/place/owner_file.h"
#include "enforcer/cli/place/policy_place.h"
#include "enforcer/cli/policy/policy_difference.h"
#include "enforcer/cli/policy/policy_verbs.h"
#include "enforcer/policy/check.h"
#include "enforcer/policy/explain.h"
#include "enforcer/policy/settings.h"

struct args {
	bool guard;
	const char *words[2]; /* VERB PATTERN */
	unsigned n;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	switch (key) {
	case 'g':
		a->guard = true;
		return 0;
	case ARGP_KEY_ARG:
		if (a->n == 2)
			ward_arguments_wrong(state, "too many arguments");
		a->words[a->n++] = arg;
		return 0;
	case ARGP_KEY_END:
		if (a->n < 2)
			ward_arguments_wrong(state, "a verb and a pattern are needed");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option options[] = {
	{"guard", 'g', NULL, 0, "Add it as a guard, which nothing lifts", 0},
	{0},
};
static const struct argp argp = {options, parse, "VERB PATTERN|HOST",
	"Adds the line 'VERB = PATTERN' at the end of your file for this project, where it decides, and "
	"tells what it changes and where it is too wide. Without such a file yet, one that extends medium "
	"is begun.\v"
	"VERB is one of: hide deny read append write ask noexec, with a pattern; allow, with HOST[:PORT]: "
	"that is for the network, with 'mode = allowlist' where there was none.",
	NULL, NULL, NULL};

static int check_verb(const char *verb, struct ward_err *err)
{
	static const char *const verbs[] = {
		"hide", "deny", "read", "append", "write", "ask", "noexec", "allow"};
	const size_t n = sizeof(verbs) / sizeof(*verbs);
	for (size_t i = 0; i < n; i++)
		if (strcmp(verb, verbs[i]) == 0)
			return 0;
	const char *near = ward_near(verb, verbs, n, sizeof(*verbs));
	return ward_err_set(err, -EINVAL, "no verb '%s'%s%s%s", verb,
		near ? ": did you mean '" : ": hide deny read append write ask noexec allow",
		near ? near : "", near ? "'?" : "");
}

static bool is_allow(const struct args *a)
{
	return strcmp(a->words[0], "allow") == 0;
}

static const char *section_of(const struct args *a)
{
	return a->guard ? "[guard]" : is_allow(a) ? "[network]" : "[files]";
}

/* The file's text, or that of a new one, with the line behind it. closed: there is no network so
 * far. */
static int make_text(const struct ward_policy_place *place, const struct args *a, bool closed,
	struct ward_buf *b, struct ward_err *err)
{
	const char *file = place->owner_file;
	int r = ward_owner_file_get(file, &place->id, b, err);
	if (r < 0)
		return r;
	if (r == 0)
		ward_buf_puts(b, "[policy]\nversion = 1\nextends = medium\n");
	if (b->len && b->data[b->len - 1] != '\n')
		ward_buf_putc(b, '\n');
	/* a section may stand more than once: the line is in the right one whatever was before */
	const char *section = section_of(a), *last = NULL;
	for (const char *s = ward_buf_str(b); s; s = strchr(s, '\n')) {
		s += *s == '\n';
		if (*s == '[')
			last = s;
	}
	if (!last || strncmp(last, section, strlen(section)) != 0 ||
		(last[strlen(section)] != '\n' && last[strlen(section)] != ' '))
		ward_buf_printf(b, "\n%s\n", section);
	if (is_allow(a) && closed)
		ward_buf_puts(b, "mode = allowlist\n");
	ward_buf_printf(b, "%s = %s\n", a->words[0], a->words[1]);
	r = ward_buf_error(b);
	return r < 0 ? ward_err_sys(err, r, "%s", file) : 0;
}

static void print_rights(const char *when, const struct ward_policy *p, const char *path)
{
	const struct ward_state *s = NULL;
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	if (ward_policy_walk(p, path, strlen(path), &s) < 0)
		return;
	ward_rights_format(&b, ward_policy_rights(p, s));
	ward_policy_state_put(p, s);
	ward_outf("  %-7s %s\n", when, ward_buf_str(&b));
}

/* Of what changes, as much as fits on a screen; the rest is counted. */
#define EFFECTS_MAX 8

struct effects {
	size_t n;
	struct ward_progress progress;
};

static void put_effect(void *user, const struct ward_difference *d)
{
	struct effects *e = user;
	if (!d->path || e->n++ >= EFFECTS_MAX)
		return;
	ward_progress_end(&e->progress); /* its place is this line's */
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_difference_show(d, false, &b);
	ward_outf("  %s\n", ward_buf_str(&b));
}

static void tell(void *user, uint64_t steps)
{
	struct effects *e = user;
	ward_progress_tell(&e->progress, steps);
}

/* Which paths lose or gain what. A rule that changes nothing is a slip more often than not. */
static int print_effect(
	const struct ward_policy *before, const struct ward_policy *after, struct ward_err *err)
{
	enum ward_diff_reach reach = WARD_DIFF_CUT;
	struct effects e = {0};
	ward_progress_begin(&e.progress, "comparing", "steps");
	int r = ward_policy_diff_rights(before, after, put_effect, tell, &e, &reach);
	ward_progress_end(&e.progress);
	if (r < 0)
		return ward_err_sys(err, r, "comparing");
	if (e.n > EFFECTS_MAX)
		ward_outf("  and %zu more\n", e.n - EFFECTS_MAX);
	if (reach == WARD_DIFF_CUT)
		ward_outf("  there are too many rules to compare all paths\n");
	else if (e.n == 0)
		ward_outf(
			"  no path gains or loses a right: other rules decide (wardfs policy check)\n");
	return 0;
}

/* Nothing lies beneath a file: what the rule would do to names there is of no interest. */
static bool is_file(const struct ward_policy_place *place, const char *path)
{
	static const char top[] = "/workspace/";
	struct stat st;
	return place->project.fd >= 0 && strncmp(path, top, strlen(top)) == 0 &&
	       fstatat(place->project.fd, path + strlen(top), &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       !S_ISDIR(st.st_mode);
}

static bool is_path(const char *pattern)
{
	return pattern[0] == '/' && !strpbrk(pattern, "*?[\\");
}

/* The line that was added: the file's last, while it still had another name. */
struct added {
	const char *file;
	unsigned line;
};

/* What `wardfs policy check` would say of it. */
static void tell_finding(void *user, const struct ward_finding *f)
{
	const struct added *a = user;
	if (f->note || f->line != a->line || strncmp(f->file, a->file, strlen(a->file)) != 0)
		return;
	ward_sayf("%s:%u: %s: %s%s%s%s", a->file, f->line, f->what, f->why, f->fix ? " (" : "",
		f->fix ? f->fix : "", f->fix ? ")" : "");
}

static int print_findings(const char *file, const struct ward_buf *text,
	const struct ward_policy *after, struct ward_err *err)
{
	struct added a = {.file = file};
	for (size_t i = 0; i < text->len; i++)
		a.line += text->data[i] == '\n';
	int r = ward_policy_check(after, tell_finding, &a);
	return r < 0 ? ward_err_sys(err, r, "checking") : 0;
}

static int add(const struct ward_policy_place *place, const struct args *a, struct ward_err *err)
{
	const char *file = place->owner_file;
	if (!file)
		return ward_err_set(err, -ENOENT, "no project here, or no home: %s",
			"a file can be given with --policy");
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	bool closed = ward_policy_settings(place->policy)->net == WARD_NET_NONE;
	int r = make_text(place, a, closed, &text, err);
	ward_cleanup(ward_policy_place_clear) struct ward_policy_place after = {
		.project = {.fd = -1}};
	if (r == 0)
		r = ward_owner_file_put(place, &text, true, &after, err);
	if (r < 0)
		return r;
	ward_outf("%s: %s %s = %s\n", file, section_of(a), a->words[0], a->words[1]);
	bool exact = is_path(a->words[1]);
	if (exact) {
		print_rights("before", place->policy, a->words[1]);
		print_rights("now", after.policy, a->words[1]);
	}
	if (!is_allow(a) && !(exact && is_file(place, a->words[1])))
		r = print_effect(place->policy, after.policy, err);
	if (r == 0 && ward_out_flush() < 0)
		r = ward_err_sys(err, -EIO, "stdout");
	return r == 0 ? print_findings(file, &text, after.policy, err) : r;
}

int ward_policy_cmd_add(int argc, char **argv)
{
	struct args a = {0};
	if (ward_arguments_parse(&argp, argc, argv, 0, &a))
		return 2;
	struct ward_err err = WARD_ERR_INIT;
	ward_cleanup(ward_policy_place_clear) struct ward_policy_place place;
	int r = 0;
	if (strpbrk(a.words[1], "\n\r"))
		r = ward_err_set(&err, -EINVAL, "a rule is one line");
	else
		r = check_verb(a.words[0], &err);
	if (r == 0 && a.guard && is_allow(&a))
		r = ward_err_set(&err, -EINVAL, "a guard allows nothing");
	place = (struct ward_policy_place){.project = {.fd = -1}};
	if (r == 0)
		r = ward_policy_place_find(NULL, &place, &err);
	if (r == 0)
		r = add(&place, &a, &err);
	if (r < 0)
		ward_say(err.text);
	return r < 0 ? 2 : 0;
}
