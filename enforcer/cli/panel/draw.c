/* SPDX-License-Identifier: Apache-2.0 */
/* Draws a question, and what each answer would give. */
#include <limits.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/out.h"
#include "enforcer/base/plural.h"
#include "enforcer/cli/panel/asking.h"

/* Of a field: the width of its name, and how many lines it may have. */
#define NAME_WIDTH 12U
#define LINES_MAX 4U
/* Without as many nobody can read a question. */
#define COLUMNS_MIN 40U

struct drawing {
	struct ward_buf *b;
	unsigned columns, lines;
};

static void end_line(struct drawing *d)
{
	ward_buf_puts(d->b, "\033[K\r\n");
	d->lines++;
}

/*
 * How many bytes of text fill so many columns. Who knows less about a character than the terminal
 * counts it as wide: then a line is too short, and nothing of it is beyond the edge.
 */
static size_t fill(const char *text, unsigned columns)
{
	size_t i = 0;
	for (unsigned used = 0; text[i];) {
		const unsigned char c = (unsigned char)text[i];
		const size_t len = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
		used += c < 0xe1 ? 1 : 2;
		if (used > columns)
			break;
		for (size_t k = 0; k < len && text[i]; k++)
			i++;
	}
	return i;
}

/* Text that is shown already. What has more lines loses its middle, and says so. */
static void put_text(struct drawing *d, const char *name, const char *text, unsigned max)
{
	const unsigned width = d->columns - NAME_WIDTH - 2;
	unsigned n = 0, i = 0;
	for (const char *at = text; *at; at += fill(at, width))
		n++;
	do {
		const size_t len = fill(text, width);
		ward_buf_printf(d->b, " %-*s", (int)NAME_WIDTH, i ? "" : name);
		if (n > max && i == max - 2) {
			const char *from = text;
			for (; i + 1 < n; i++)
				text += fill(text, width);
			ward_buf_printf(
				d->b, "\033[7m[%zu bytes left out]\033[m", (size_t)(text - from));
			end_line(d);
			continue;
		}
		ward_buf_add(d->b, text, len);
		end_line(d);
		text += len;
		i++;
	} while (*text);
}

static void put_lines(struct drawing *d, const char *name, const char *text)
{
	put_text(d, name, text, LINES_MAX);
}

static void put_field(struct drawing *d, const char *name, const char *text)
{
	ward_cleanup(ward_buf_clear) struct ward_buf shown = WARD_BUF_INIT;
	ward_shown(&shown, text);
	put_lines(d, name, ward_buf_str(&shown));
}

static void put_list(struct drawing *d, const char *name, const json_t *list, const char *between)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	size_t i = 0;
	const json_t *v = NULL;
	json_array_foreach(list, i, v)
	{
		if (i)
			ward_buf_puts(&b, between);
		ward_shown(&b, json_string_value(v));
	}
	if (b.len)
		put_lines(d, name, ward_buf_str(&b));
}

static long long integer(const struct panel *p, const char *name)
{
	return (long long)json_integer_value(json_object_get(p->shown, name));
}

static const char *what_of(const struct panel *p)
{
	return *panel_member(p, "host") ? panel_member(p, "host") : panel_member(p, "path");
}

static void put_title(struct drawing *d, const struct panel *p)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	const size_t n = json_array_size(p->list);
	if (p->shown)
		ward_shownf(&b, "wardfs asks you: session %s. %zu question%s open.",
			panel_member(p, "session"), n, ward_s(n));
	else
		ward_shownf(&b, "wardfs asks you");
	ward_buf_puts(d->b, "\033[H\033[7m ");
	ward_buf_add(d->b, ward_buf_str(&b), fill(ward_buf_str(&b), d->columns - 2));
	ward_buf_puts(d->b, " \033[m");
	end_line(d);
}

/*
 * The names of the paths that joined, which are plain and in the directory of the first one. None
 * is left out: if they do not fit, the question does not.
 */
static void put_more(struct drawing *d, const struct panel *p)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	const json_t *one = NULL;
	size_t i = 0;
	json_array_foreach(json_object_get(p->shown, "more"), i, one)
	{
		const char *path = json_string_value(json_object_get(one, "path"));
		const char *action = json_string_value(json_object_get(one, "action"));
		const char *program = json_string_value(json_object_get(one, "program"));
		const json_t *pid = json_object_get(one, "pid");
		const char *path2 = json_string_value(json_object_get(one, "path2"));
		const char *slash = path ? strrchr(path, '/') : NULL;
		const char *slash2 = path2 ? strrchr(path2, '/') : NULL;
		ward_shownf(&b, "%s%s", i ? ", " : "", slash ? slash + 1 : "?");
		if (path2)
			ward_shownf(&b, " -> %s", slash2 ? slash2 + 1 : "?");
		if (action)
			ward_shownf(&b, " (%s)", action);
		if (json_is_integer(pid))
			ward_shownf(&b, " by %s (%lld)", program ? program : "a process",
				(long long)json_integer_value(pid));
	}
	if (b.len)
		put_text(d, "and there", ward_buf_str(&b), UINT_MAX);
	if (p->grown)
		put_lines(d, "", "More paths have joined since. Tab shows them too.");
}

/* What several of them are called. */
static const char *path_word(const struct panel *p)
{
	return *panel_member(p, "path2") ? "pairs of paths" : "paths";
}

/* "this path", or how many. */
static void put_paths(const struct panel *p, struct ward_buf *b)
{
	if (*panel_member(p, "host"))
		ward_shownf(b, "this host");
	else if (panel_paths(p) > 1)
		ward_shownf(b, "these %zu %s", panel_paths(p), path_word(p));
	else
		ward_shownf(b, "%s", *panel_member(p, "path2") ? "these 2 paths" : "this path");
}

static void put_question(struct drawing *d, const struct panel *p, uint64_t now_ns)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	const bool waits = json_is_true(json_object_get(p->shown, "waits"));
	const long long left =
		integer(p, "left") - (long long)((now_ns - p->list_ns) / WARD_NS_PER_SEC);
	put_field(d, panel_member(p, "action"), what_of(p));
	if (*panel_member(p, "path2"))
		put_field(d, "to", panel_member(p, "path2"));
	put_more(d, p);
	put_field(d, "wants", panel_member(p, "rights"));
	ward_shownf(&b, "%s (%lld)",
		*panel_member(p, "program") ? panel_member(p, "program") : "a process",
		integer(p, "pid"));
	put_lines(d, "program", ward_buf_str(&b));
	put_list(d, "started by", json_object_get(p->shown, "ancestors"), " < ");
	put_list(d, "command", json_object_get(p->shown, "argv"), " ");
	ward_buf_clear(&b);
	ward_shownf(&b, "%s (%s)", panel_member(p, "rule_text"), panel_member(p, "rule"));
	put_lines(d, "rule", ward_buf_str(&b));
	ward_buf_clear(&b);
	ward_shownf(&b, "%s %lld s",
		waits ? "it waits for another" : "refused for now; open for another",
		left > 0 ? left : 0);
	put_lines(d, "time", ward_buf_str(&b));
}

static void put_answer(struct drawing *d, const struct panel *p, enum panel_answer a,
	const char *key, const char *text)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_shownf(&b, " %s  %s", key, text);
	ward_buf_puts(d->b, p->chosen == a ? "\033[7m>" : " ");
	ward_buf_add(d->b, ward_buf_str(&b), fill(ward_buf_str(&b), d->columns - 2));
	if (p->chosen == a)
		ward_buf_puts(d->b, "\033[m");
	end_line(d);
}

static void put_answers(struct drawing *d, const struct panel *p)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf what = WARD_BUF_INIT;
	put_paths(p, &what);
	end_line(d);
	put_answer(d, p, PANEL_NO, "n", "no: refuse; not asked again for five minutes");
	if (panel_signers(p) > 0)
		return;
	put_answer(d, p, PANEL_ONCE, "o", "once");
	ward_shownf(&b, "%s, until the session ends", ward_buf_str(&what));
	put_answer(d, p, PANEL_PATH, "y", ward_buf_str(&b));
	ward_buf_clear(&b);
	ward_shownf(&b, "pattern %s%s, until the session ends (p: another one, e: edit)",
		*p->pattern || p->editing ? p->pattern : "(none proposed)", p->editing ? "_" : "");
	put_answer(d, p, PANEL_PATTERN, "p", ward_buf_str(&b));
	ward_buf_clear(&b);
	ward_shownf(&b, "%s for %s (f: another time)", ward_buf_str(&what), panel_time(p));
	put_answer(d, p, PANEL_FOR, "f", ward_buf_str(&b));
	if (*panel_member(p, "host"))
		return;
	ward_buf_clear(&b);
	ward_shownf(
		&b, "always: %s, by a line in your policy for the project", ward_buf_str(&what));
	put_answer(d, p, PANEL_ALWAYS, "a", ward_buf_str(&b));
}

/* Where approvers have to sign: the panel takes no other answer than no. */
static void put_signers(struct drawing *d, const struct panel *p)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	if (panel_signers(p) <= 0)
		return;
	ward_shownf(&b, "needs %lld signed answer%s, has %lld: wardfs approve sign",
		panel_signers(p), ward_s((uint64_t)panel_signers(p)), integer(p, "signed"));
	put_lines(d, "signatures", ward_buf_str(&b));
	if (p->refused)
		put_lines(d, "refused", "The panel cannot sign. Only no needs no signature.");
}

/* What the chosen answer would widen. */
static void put_gives(struct drawing *d, const struct panel *p)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	const char *path2 = panel_member(p, "path2");
	if (p->chosen == PANEL_NO)
		ward_shownf(&b, "nothing");
	else if (p->chosen == PANEL_ONCE && *panel_member(p, "host"))
		ward_shownf(&b, "one connection to %s", what_of(p));
	else if (p->chosen == PANEL_ONCE && panel_paths(p) > 1)
		ward_shownf(&b, "%s on these %zu %s, one use each, by the process that asks",
			panel_member(p, "rights"), panel_paths(p), path_word(p));
	else if (p->chosen != PANEL_PATTERN && panel_paths(p) > 1)
		ward_shownf(&b,
			"%s on these %zu %s and what is beneath; of what exists, this file, "
			"whatever it contains later",
			panel_member(p, "rights"), panel_paths(p), path_word(p));
	else if (p->chosen == PANEL_ONCE)
		ward_shownf(&b, "%s on %s%s%s, one use%s, by process %lld",
			panel_member(p, "rights"), what_of(p), *path2 ? " and on " : "", path2,
			*path2 ? " each" : "", integer(p, "pid"));
	else if (p->chosen == PANEL_PATTERN)
		ward_shownf(&b, "%s on all that %s covers, also what is made later",
			panel_member(p, "rights"), p->pattern);
	else
		ward_shownf(&b, "%s on %s%s%s and what is beneath; %s", panel_member(p, "rights"),
			what_of(p), *path2 ? ", " : "", path2, panel_member(p, "promise"));
	put_lines(d, "would give", ward_buf_str(&b));
	if (p->counted.len)
		put_lines(d, "today", ward_buf_str(&p->counted));
}

static void put_keys(struct drawing *d, const struct panel *p)
{
	const char *escape = p->opened ? "; ]: gives the command Ctrl-]" : "";
	end_line(d);
	if (p->editing)
		put_lines(d, "keys", "Enter: takes the pattern; Esc: the one before");
	else if (p->shown && !p->gone)
		ward_buf_printf(d->b,
			" %-*sEnter: gives the answer marked >; Tab: next; q: closes%s",
			(int)NAME_WIDTH, "keys", escape);
	else
		ward_buf_printf(d->b, " %-*s%sq: closes%s", (int)NAME_WIDTH, "keys",
			p->gone ? "any other key goes on; " : "", escape);
	ward_buf_puts(d->b, "\033[K");
	d->lines++;
}

static void draw(struct drawing *d, struct panel *p, uint64_t now_ns)
{
	put_title(d, p);
	if (p->silent) {
		ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
		ward_shownf(&b, "%u session%s not answer, so their questions are missing here",
			p->silent, p->silent == 1 ? " does" : "s do");
		put_lines(d, "silent", ward_buf_str(&b));
	}
	if (p->result.len)
		put_lines(d, "answered", ward_buf_str(&p->result));
	if (!p->shown) {
		put_lines(d, "",
			p->silent ? "No other session has a question." : "No question waits.");
	} else if (p->gone) {
		put_field(d, panel_member(p, "action"), what_of(p));
		put_lines(d, "", "This question has ended: it has an answer, or its time is over.");
	} else {
		put_question(d, p, now_ns);
		put_answers(d, p);
		put_signers(d, p);
		put_gives(d, p);
	}
	put_keys(d, p);
}

void panel_draw(struct panel *p, uint64_t now_ns, struct ward_buf *b)
{
	ward_cleanup(ward_buf_clear) struct ward_buf all = WARD_BUF_INIT;
	struct drawing d = {.b = &all, .columns = p->columns};
	const bool did_fit = p->fits;
	if (p->columns >= COLUMNS_MIN)
		draw(&d, p, now_ns);
	p->fits = p->columns >= COLUMNS_MIN && d.lines <= p->rows && ward_buf_error(&all) == 0;
	/* From now on it can be read. */
	if (p->fits && !did_fit)
		p->shown_ns = now_ns;
	ward_buf_puts(b, "\033[m\033[H");
	if (p->fits)
		ward_buf_add(b, all.data, all.len);
	else
		ward_buf_printf(b,
			"\033[KThe window is too small to show the question.\033[K\r\nMake it larger, or type in another one:\033[K\r\nwardfs approve\033[K\r\nEsc closes this one.\033[K");
	ward_buf_puts(b, "\033[J");
	p->dirty = false;
}
