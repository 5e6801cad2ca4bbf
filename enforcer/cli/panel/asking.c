/* SPDX-License-Identifier: Apache-2.0 */
/* Which question is shown, and what keys do. */
#include "enforcer/cli/panel/asking.h"

#include <stdlib.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/out.h"
#include "enforcer/policy/policy.h"

static const struct {
	const char *text;
	int seconds;
} times[] = {{"10m", 600}, {"1h", 3600}, {"8h", 28800}, {"1m", 60}};
#define TIMES (sizeof(times) / sizeof(*times))

static const char *const words[] = {
	[PANEL_NO] = "no",
	[PANEL_ONCE] = "once",
	[PANEL_PATH] = "path",
	[PANEL_PATTERN] = "pattern",
	[PANEL_FOR] = "for",
	[PANEL_ALWAYS] = "always",
};

const char *panel_member(const struct panel *p, const char *name)
{
	const char *s = json_string_value(json_object_get(p->shown, name));
	return s ? s : "";
}

size_t panel_paths(const struct panel *p)
{
	return 1 + json_array_size(json_object_get(p->shown, "more"));
}

const char *panel_time(const struct panel *p)
{
	return times[p->time].text;
}

long long panel_signers(const struct panel *p)
{
	return (long long)json_integer_value(json_object_get(p->shown, "approvers"));
}

void panel_clear(struct panel *p)
{
	json_decref(p->list);
	json_decref(p->shown);
	json_decref(p->answer);
	ward_buf_clear(&p->counted);
	ward_buf_clear(&p->result);
	*p = (struct panel){0};
}

/* --- patterns that are proposed --- */

/* Do the names of all paths end with it? */
static bool all_end_with(const struct panel *p, const char *end)
{
	const json_t *one = NULL;
	size_t i = 0;
	json_array_foreach(json_object_get(p->shown, "more"), i, one)
	{
		const char *path = json_string_value(json_object_get(one, "path"));
		const size_t n = path ? strlen(path) : 0, len = strlen(end);
		if (n <= len || strcmp(path + n - len, end) != 0 || path[n - len - 1] == '/')
			return false;
	}
	return true;
}

/* Of *.EXTENSION in the directory, and of all beneath it. */
static void propose_path(const struct panel *p, unsigned which, struct ward_buf *b)
{
	ward_cleanup(ward_buf_clear) struct ward_buf path = WARD_BUF_INIT;
	const char *shown = panel_member(p, "path");
	if (ward_unescape(&path, shown, strlen(shown)) < 0)
		return;
	const char *text = ward_buf_str(&path);
	const char *slash = strrchr(text, '/');
	const char *dot = slash ? strrchr(slash, '.') : NULL;
	if (!slash || slash == text)
		return;
	ward_pattern_quote(b, text, (size_t)(slash - text));
	if (which == 0 && dot && dot > slash + 1 && dot[1] && all_end_with(p, dot)) {
		ward_buf_puts(b, "/*");
		ward_pattern_quote(b, dot, strlen(dot));
	} else {
		ward_buf_puts(b, "/**");
	}
}

/* The port of all names beneath the one above: *.example.org:443. An address has none. */
static void propose_host(const struct panel *p, struct ward_buf *b)
{
	const char *host = panel_member(p, "host");
	const char *dot = strchr(host, '.');
	if (*host != '[' && dot && strchr(dot + 1, '.') &&
		strspn(host, "0123456789.") <
			(size_t)(strrchr(host, ':') ? strrchr(host, ':') - host : 0))
		ward_buf_printf(b, "*%s", dot);
}

static void propose(struct panel *p)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	if (*panel_member(p, "host"))
		propose_host(p, &b);
	else if (!*panel_member(p, "path2"))
		propose_path(p, p->proposal % 2, &b);
	p->proposal++;
	p->pattern[0] = '\0';
	if (ward_buf_error(&b) == 0 && b.len < sizeof(p->pattern))
		memcpy(p->pattern, ward_buf_str(&b), b.len + 1);
}

/* --- what is shown --- */

/* With more or fewer paths, perhaps. */
static bool same(const json_t *a, const json_t *b)
{
	static const char *const members[] = {"question", "session"};
	for (size_t i = 0; i < 2; i++) {
		const char *x = json_string_value(json_object_get(a, members[i]));
		const char *y = json_string_value(json_object_get(b, members[i]));
		if (!x || !y || strcmp(x, y) != 0)
			return false;
	}
	return true;
}

/* Its place in the list; the list's size: it is not there. */
static size_t place(const struct panel *p)
{
	size_t i = 0;
	const json_t *o = NULL;
	json_array_foreach(p->list, i, o) if (same(o, p->shown)) return i;
	return json_array_size(p->list);
}

/* Did the text that is shown begin the text of now? Another path can have joined since. */
static bool began(const struct panel *p, const json_t *now)
{
	const json_t *v = NULL;
	const char *digest = panel_member(p, "digest");
	size_t i = 0;
	json_array_foreach(json_object_get(now, "digests"), i, v)
	{
		if (json_string_value(v) && strcmp(json_string_value(v), digest) == 0)
			return true;
	}
	const char *whole = json_string_value(json_object_get(now, "digest"));
	return whole && strcmp(whole, digest) == 0;
}

/* Of the question of now: what changes while it waits, with what is shown. */
static void take_now(struct panel *p, const json_t *now)
{
	static const char *const members[] = {"waits", "left", "approvers", "signed"};
	const size_t n = 1 + json_array_size(json_object_get(now, "more"));
	for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++) {
		json_t *v = json_object_get(now, members[i]);
		if (v)
			json_object_set(p->shown, members[i], v);
		else
			json_object_del(p->shown, members[i]);
	}
	p->grown = n > panel_paths(p);
}

static void choose(struct panel *p, enum panel_answer a)
{
	p->chosen = a;
	ward_buf_clear(&p->counted);
	p->count = a == PANEL_PATTERN || a == PANEL_PATH || a == PANEL_FOR || a == PANEL_ALWAYS;
	p->dirty = true;
}

static void show(struct panel *p, json_t *question, uint64_t now_ns)
{
	json_decref(p->shown);
	p->shown = json_deep_copy(question);
	p->gone = p->own = p->editing = p->refused = p->grown = false;
	p->shown_ns = now_ns;
	p->time = p->proposal = 0;
	propose(p);
	choose(p, PANEL_NO);
}

void panel_list(struct panel *p, json_t *list, uint64_t now_ns)
{
	json_decref(p->list);
	p->list = list;
	p->list_ns = now_ns;
	p->dirty = true;
	const size_t i = place(p), n = json_array_size(list);
	if (p->shown && (i == n || !began(p, json_array_get(list, i)))) {
		p->gone = true;
	} else if (p->shown) {
		/* The same paths, with the time that is left. */
		take_now(p, json_array_get(list, i));
		/* The policy may have come to demand signatures. */
		if (panel_signers(p) > 0 && p->chosen != PANEL_NO) {
			p->editing = false;
			p->refused = true;
			choose(p, PANEL_NO);
		}
	} else if (n > 0) {
		show(p, json_array_get(list, 0), now_ns);
	}
}

static void next(struct panel *p, uint64_t now_ns)
{
	size_t i = place(p);
	const size_t n = json_array_size(p->list);
	/* What joined it comes first. */
	if (i < n && p->grown)
		i = i ? i - 1 : n - 1;
	if (n > 0) {
		show(p, json_array_get(p->list, i < n ? (i + 1) % n : 0), now_ns);
	} else {
		json_decref(p->shown);
		p->shown = NULL;
	}
	p->dirty = true;
}

void panel_size(struct panel *p, unsigned rows, unsigned columns, uint64_t now_ns)
{
	p->rows = rows;
	p->columns = columns;
	p->shown_ns = now_ns;
	p->dirty = true;
}

/* --- keys --- */

static void give(struct panel *p)
{
	p->answer = json_pack("{s:s, s:s, s:s, s:s}", "verb", "answer", "question",
		panel_member(p, "question"), "digest", panel_member(p, "digest"), "answer",
		words[p->chosen]);
	if (p->chosen == PANEL_PATTERN)
		json_object_set_new(p->answer, "pattern", json_string(p->pattern));
	if (p->chosen == PANEL_FOR)
		json_object_set_new(p->answer, "seconds", json_integer(times[p->time].seconds));
}

static void edit(struct panel *p, enum panel_key_kind kind, const char *data)
{
	const size_t n = strlen(p->pattern);
	if (kind == PANEL_KEY_CHAR && n + 1 < sizeof(p->pattern)) {
		p->pattern[n] = *data;
		p->pattern[n + 1] = '\0';
	} else if (kind == PANEL_KEY_ERASE && n > 0) {
		p->pattern[n - 1] = '\0';
	} else if (kind == PANEL_KEY_ENTER || kind == PANEL_KEY_CANCEL) {
		p->editing = false;
		if (kind == PANEL_KEY_CANCEL)
			memcpy(p->pattern, p->before, sizeof(p->pattern));
		choose(p, PANEL_PATTERN);
	}
	p->dirty = true;
}

static void begin_to_edit(struct panel *p)
{
	memcpy(p->before, p->pattern, sizeof(p->before));
	p->editing = true;
	choose(p, PANEL_PATTERN);
	p->count = false;
}

static void letter(struct panel *p, char c, uint64_t now_ns)
{
	const bool again = c == 'p' && p->chosen == PANEL_PATTERN;
	if (panel_signers(p) > 0) {
		p->refused = c && strchr("oypfae", c);
		p->dirty = true;
		return;
	}
	if (c == 'n')
		choose(p, PANEL_NO);
	else if (c == 'o')
		choose(p, PANEL_ONCE);
	else if (c == 'y')
		choose(p, PANEL_PATH);
	else if (c == 'a' && !*panel_member(p, "host"))
		choose(p, PANEL_ALWAYS);
	else if (c == 'e')
		begin_to_edit(p);
	if (again)
		propose(p);
	if (c == 'p' && *p->pattern)
		choose(p, PANEL_PATTERN);
	if (c == 'f' && p->chosen == PANEL_FOR)
		p->time = (p->time + 1) % TIMES;
	if (c == 'f')
		choose(p, PANEL_FOR);
	(void)now_ns;
}

static void key(struct panel *p, enum panel_key_kind kind, const char *data, uint64_t now_ns)
{
	const bool empty = !p->shown || p->gone;
	if (kind == PANEL_KEY_CANCEL || (kind == PANEL_KEY_CHAR && *data == 'q')) {
		p->close = true;
	} else if (kind == PANEL_KEY_CHAR && *data == ']' && p->opened) {
		p->escape = p->close = true;
	} else if (p->gone || kind == PANEL_KEY_TAB) {
		next(p, now_ns);
	} else if (!empty && p->fits && kind == PANEL_KEY_ENTER) {
		give(p);
	} else if (!empty && p->fits && kind == PANEL_KEY_CHAR) {
		letter(p, *data, now_ns);
	}
}

void panel_key(
	struct panel *p, enum panel_key_kind kind, const char *data, size_t n, uint64_t now_ns)
{
	(void)n;
	if (kind == PANEL_KEY_ESCAPE)
		p->leave = p->close = true;
	/* What was typed before it could be read means something else. */
	else if (kind == PANEL_KEY_REPORT || p->answer || now_ns - p->shown_ns < PANEL_GRACE_NS)
		return;
	else if (p->editing)
		edit(p, kind, data);
	else
		key(p, kind, data, now_ns);
}

/* --- what others say --- */

void panel_result(struct panel *p, const char *text, uint64_t now_ns)
{
	json_decref(p->answer);
	p->answer = NULL;
	ward_buf_clear(&p->result);
	ward_shown(&p->result, text);
	p->result_ns = now_ns;
	p->own = true;
	p->dirty = true;
}

char *panel_to_count(struct panel *p)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf path = WARD_BUF_INIT;
	const char *shown = panel_member(p, "path");
	/* Several paths are all on the screen. */
	const bool count = p->count && !p->gone && !p->editing && *shown &&
			   (p->chosen == PANEL_PATTERN || panel_paths(p) == 1);
	p->count = false;
	if (count && p->chosen == PANEL_PATTERN)
		ward_buf_puts(&b, p->pattern);
	else if (count && ward_unescape(&path, shown, strlen(shown)) == 0)
		ward_pattern_quote(&b, ward_buf_str(&path), path.len);
	return b.len ? ward_buf_steal(&b) : NULL;
}

void panel_counted(struct panel *p, const char *text)
{
	ward_buf_clear(&p->counted);
	ward_shown(&p->counted, text);
	p->dirty = true;
}

/* An answer was given here, and nothing else waits: the command has its terminal again. */
static bool ends_by_itself(const struct panel *p)
{
	return p->opened && p->result.len && (!p->shown || p->gone) &&
	       json_array_size(p->list) == 0;
}

void panel_tick(struct panel *p, uint64_t now_ns)
{
	if (ends_by_itself(p) && now_ns - p->result_ns >= PANEL_RESULT_NS)
		p->close = true;
	/* The question that was answered here has not gone by surprise. */
	if (p->gone && p->own && json_array_size(p->list) > 0 && !p->answer)
		next(p, now_ns);
}

int panel_timeout(const struct panel *p, uint64_t now_ns)
{
	const uint64_t due = p->result_ns + PANEL_RESULT_NS;
	if (ends_by_itself(p))
		return due <= now_ns ? 0 : (int)((due - now_ns) / 1000000) + 1;
	return p->shown ? 1000 : -1;
}
