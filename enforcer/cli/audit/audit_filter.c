/* SPDX-License-Identifier: Apache-2.0 */
/* Takes the options that select records, and checks their words and times. */
#include "enforcer/cli/audit/audit_filter.h"

#include <errno.h>
#include <string.h>

#include "audit/event.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/quantity.h"
#include "enforcer/base/timestamp.h"
#include "enforcer/cli/audit/audit_cmd.h"
#include "enforcer/cli/base/say.h"

const struct argp_option audit_filter_options[] = {
	{"kind", AUDIT_FILTER_KIND, "KIND", 0,
		"open, create, close, rename, link, remove, deny, ...", 0},
	{"verdict", AUDIT_FILTER_VERDICT, "VERDICT", 0,
		"allow, deny, hide or ask. With this, --path or --rule, and without --kind, the "
		"attempts of wardfs at the start (kind probe) are left out",
		0},
	{"path", AUDIT_FILTER_PATH, "PATH", 0,
		"A path and everything beneath it, or a pattern ('*' matches '/' too)", 0},
	{"rule", AUDIT_FILTER_RULE, "FILE:LINE", 0, "The deciding rule", 0},
	{"comm", AUDIT_FILTER_COMM, "NAME", 0, "The name that the program gives itself (comm)", 0},
	{"exe", AUDIT_FILTER_EXE, "PATH", 0,
		"The file of the program, as for --path. Without a '/': its last component", 0},
	{"descendants", AUDIT_FILTER_DESCENDANTS, NULL, 0,
		"With --pid: also all descendants of the process", 0},
	{"since", AUDIT_FILTER_SINCE, "TIME", 0,
		"Records from TIME on. In UTC: 2026-01-02T03:04, or a date; today, yesterday; "
		"or an age: 90s, 30m, 12h, 2d, 1w",
		0},
	{"until", AUDIT_FILTER_UNTIL, "TIME", 0,
		"Records up to and including that second, minute or day", 0},
	{0},
};
const struct argp_option audit_filter_pid[] = {
	{"pid", AUDIT_FILTER_PID, "PID", 0, "A process and its threads, or one thread", 0},
	{0},
};

/* The option as it is typed, without the dashes; NULL: the key is none of a filter. */
static const char *name_of(int key)
{
	for (const struct argp_option *o = audit_filter_options; o->name; o++)
		if (o->key == key)
			return o->name;
	return key == AUDIT_FILTER_PID ? audit_filter_pid[0].name : NULL;
}

static bool given(const struct ward_filter *f, int key)
{
	switch (key) {
	case AUDIT_FILTER_KIND:
		return f->kind;
	case AUDIT_FILTER_VERDICT:
		return f->verdict;
	case AUDIT_FILTER_PATH:
		return f->path;
	case AUDIT_FILTER_RULE:
		return f->rule;
	case AUDIT_FILTER_COMM:
		return f->comm;
	case AUDIT_FILTER_EXE:
		return f->exe;
	case AUDIT_FILTER_PID:
		return f->pid;
	case AUDIT_FILTER_DESCENDANTS:
		return f->descendants;
	case AUDIT_FILTER_SINCE:
		return f->since;
	default:
		return f->until;
	}
}

static const char *escaped(struct ward_buf *b, const char *text)
{
	ward_escape(b, text, strlen(text));
	return ward_buf_str(b);
}

static int take_pid(struct ward_filter *f, const char *arg)
{
	if (ward_quantity_whole(arg, 1, INT32_MAX, &f->pid, NULL) == 0)
		return 1;
	ward_sayf("audit: --pid %s: this is not a process number", arg);
	return -EINVAL;
}

int audit_filter_take(struct audit_filter *g, int key, const char *arg)
{
	struct ward_filter *f = &g->f;
	const char *name = name_of(key);
	if (!name)
		return 0;
	/* Only one of them could count: better said than guessed. */
	if (given(f, key)) {
		ward_sayf("audit: --%s is given twice", name);
		return -EINVAL;
	}
	ward_buf_printf(&g->said, "%s--%s%s%s", g->said.len ? " " : "", name, arg ? " " : "",
		arg ? arg : "");
	switch (key) {
	case AUDIT_FILTER_KIND:
		f->kind = arg;
		return 1;
	case AUDIT_FILTER_VERDICT:
		f->verdict = arg;
		return 1;
	case AUDIT_FILTER_RULE:
		f->rule = escaped(&g->rule, arg);
		return 1;
	case AUDIT_FILTER_COMM:
		f->comm = arg;
		return 1;
	case AUDIT_FILTER_SINCE:
		f->since = arg;
		return 1;
	case AUDIT_FILTER_UNTIL:
		f->until = arg;
		return 1;
	case AUDIT_FILTER_PATH:
		f->path = escaped(&g->path, arg);
		return 1;
	case AUDIT_FILTER_EXE:
		f->exe = escaped(&g->exe, arg);
		return 1;
	case AUDIT_FILTER_DESCENDANTS:
		f->descendants = true;
		return 1;
	default:
		return take_pid(f, arg);
	}
}

/* A word of a fixed set, or a usage error that names the nearest. */
static int check_word(const char *option, const char *word, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(words[i], word) == 0)
			return 0;
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	const char *near = ward_near(word, words, n, sizeof(*words));
	ward_buf_printf(
		&b, "%s %s: %s", option, word, near ? "did you mean " : "unknown; the words are");
	if (near)
		ward_buf_printf(&b, "%s?", near);
	for (size_t i = 0; !near && i < n; i++)
		ward_buf_printf(&b, " %s", words[i]);
	ward_sayf("audit: %s", ward_buf_str(&b));
	return -EINVAL;
}

/* --since, --until: *from becomes the beginning of a time as records have it, in ret. */
static int take_time(
	const char *option, const char **from, uint64_t now_ns, char ret[WARD_CLOCK_TEXT_MAX])
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	if (!*from)
		return 0;
	struct ward_err err = WARD_ERR_INIT;
	if (ward_timestamp_beginning(*from, now_ns, ret, &err) == 0) {
		*from = ret;
		return 0;
	}
	ward_buf_printf(&b, "%s %s: %s", option, *from, err.text);
	ward_sayf("audit: %s", ward_buf_str(&b));
	return -EINVAL;
}

/* A misspelt value would match nothing, so it is an error. */
int audit_filter_check(struct audit_filter *g)
{
	const uint64_t now = ward_clock_real_ns();
	static const char *const verdicts[] = {"allow", "deny", "hide", "ask"};
	struct ward_filter *f = &g->f;
	const char *kinds[WARD_EVENT_COUNT_];
	size_t n = 0;
	for (unsigned k = 0; k < WARD_EVENT_COUNT_; k++)
		if (k != WARD_EVENT_NONE)
			kinds[n++] = ward_event_kind_name((enum ward_event_kind)k);
	int r = f->kind ? check_word("--kind", f->kind, kinds, n) : 0;
	if (r == 0 && f->verdict)
		r = check_word(
			"--verdict", f->verdict, verdicts, sizeof(verdicts) / sizeof(*verdicts));
	if (r == 0)
		r = take_time("--since", &f->since, now, g->since);
	if (r == 0)
		r = take_time("--until", &f->until, now, g->until);
	return r;
}

void audit_filter_clear(struct audit_filter *g)
{
	ward_filter_clear(&g->f);
	ward_buf_clear(&g->path);
	ward_buf_clear(&g->exe);
	ward_buf_clear(&g->rule);
	ward_buf_clear(&g->said);
}
