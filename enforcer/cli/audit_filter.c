/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/cli/audit_filter.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "audit/event.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"
#include "enforcer/cli/audit_time.h"
#include "enforcer/cli/cmd_audit.h"
#include "enforcer/cli/say.h"

#define USAGE 2

static const struct option {
	char letter;
	const char *name;
} names[] = {{'K', "--kind"}, {'V', "--verdict"}, {'P', "--path"}, {'R', "--rule"}, {'C', "--comm"},
	{'E', "--exe"}, {'I', "--pid"}, {'D', "--descendants"}, {'S', "--since"}, {'U', "--until"}};

static const char *name_of(int letter)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (names[i].letter == letter)
			return names[i].name;
	return NULL;
}

static bool given(const struct ward_filter *f, int letter)
{
	switch (letter) {
	case 'K':
		return f->kind;
	case 'V':
		return f->verdict;
	case 'P':
		return f->path;
	case 'R':
		return f->rule;
	case 'C':
		return f->comm;
	case 'E':
		return f->exe;
	case 'I':
		return f->pid;
	case 'D':
		return f->descendants;
	case 'S':
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
	char *end = NULL;
	errno = 0;
	f->pid = strtoull(arg, &end, 10);
	if (!errno && !*end && isdigit((unsigned char)*arg) && f->pid > 0)
		return 1;
	ward_sayf("audit: --pid %s: that is no process number", arg);
	return USAGE;
}

int audit_filter_take(struct audit_filter *g, int letter, const char *arg)
{
	struct ward_filter *f = &g->f;
	const char *name = name_of(letter);
	if (!name)
		return 0;
	/* Only one of them could count: better said than guessed. */
	if (given(f, letter)) {
		ward_sayf("audit: %s is given twice; wardfs audit --help tells more", name);
		return USAGE;
	}
	ward_buf_printf(
		&g->said, "%s%s%s%s", g->said.len ? " " : "", name, arg ? " " : "", arg ? arg : "");
	switch (letter) {
	case 'K':
		f->kind = arg;
		return 1;
	case 'V':
		f->verdict = arg;
		return 1;
	case 'R':
		f->rule = arg;
		return 1;
	case 'C':
		f->comm = arg;
		return 1;
	case 'S':
		f->since = arg;
		return 1;
	case 'U':
		f->until = arg;
		return 1;
	case 'P':
		f->path = escaped(&g->path, arg);
		return 1;
	case 'E':
		f->exe = escaped(&g->exe, arg);
		return 1;
	case 'D':
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
	ward_buf_printf(&b, "%s %s: %s", option, word, near ? "did you mean " : "there are");
	if (near)
		ward_buf_printf(&b, "%s?", near);
	for (size_t i = 0; !near && i < n; i++)
		ward_buf_printf(&b, " %s", words[i]);
	return audit_cmd_usage("", ward_buf_str(&b));
}

/* --since, --until: *from becomes the beginning of a time as records have it, in ret. */
static int take_time(
	const char *option, const char **from, uint64_t now_ns, char ret[WARD_CLOCK_TEXT_MAX])
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	if (!*from)
		return 0;
	if (audit_time_parse(*from, now_ns, ret) == 0) {
		*from = ret;
		return 0;
	}
	ward_buf_printf(&b, "%s %s: " AUDIT_TIME_FORMS, option, *from);
	return audit_cmd_usage("", ward_buf_str(&b));
}

/* What would match nothing because it is misspelt is said, not answered with nothing. */
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
	ward_buf_clear(&g->said);
}

/* --- in one trail --- */

int audit_filter_prepare(
	struct audit_cmd *c, const char *session, struct ward_log *log, struct ward_err *err)
{
	struct ward_filter *f = &c->filter->f;
	ward_cleanup(ward_query_lines_clear) struct ward_query_lines lines = {0};
	ward_filter_clear(f);
	if (!ward_filter_asks_actors(f))
		return 0;
	int r = c->no_index ? -ENODATA
			    : ward_index_find(c->store, session, log, f, NULL, WARD_INDEX_ACTORS,
				      &lines, err);
	if (r < 0 && r != -ENODATA)
		return r;
	return ward_filter_prepare(f, log, &lines, err);
}

int audit_select(struct audit_cmd *c, const char *session, struct ward_log *log,
	struct audit_selected *ret, struct ward_err *err)
{
	const struct ward_filter *f = &c->filter->f;
	*ret = (struct audit_selected){0};
	if (ward_filter_empty(f))
		return 0;
	int r = audit_filter_prepare(c, session, log, err);
	if (r < 0)
		return r;
	r = c->no_index ? -ENODATA
			: ward_index_find(c->store, session, log, f, NULL, WARD_INDEX_MATCHES,
				  &ret->lines, err);
	if (r < 0 && r != -ENODATA)
		return r;
	ret->indexed = r == 0;
	ret->select = (struct ward_select){.filter = f, .lines = &ret->lines};
	ret->sel = &ret->select;
	return 0;
}

void audit_selected_clear(struct audit_selected *s)
{
	ward_query_lines_clear(&s->lines);
	*s = (struct audit_selected){0};
}

void audit_select_warn(struct audit_cmd *c, const char *session, struct ward_log *log, bool indexed)
{
	/* Verifying looks at every line, which the index is there to spare. */
	if (indexed && !c->verify)
		ward_sayf(
			"found by the index: nothing of this trail was verified, nor that the index "
			"names every record; --verify and --no-index do");
	else
		audit_cmd_warn(c, session, log);
}
