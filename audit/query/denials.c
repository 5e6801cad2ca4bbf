/* SPDX-License-Identifier: Apache-2.0 */
/* Groups the refusals of a trail, and says what would permit each. */
#include "audit/query/denials.h"

#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/query/asked_path.h"
#include "audit/query/query.h"
#include "audit/record_table.h"
#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"

struct group {
	char *key; /* what makes refusals alike */
	size_t index;
};

struct grouping {
	struct ward_denials d;
	size_t cap;
	void *tree;	  /* of struct group, by key: tsearch(3) */
	char *owner_file; /* the owner's policy file, from session.start */
	json_t *answers;  /* records of kind answer, by the name of their question */
	/* How many paths a question showed: with which of them a path joined, by "QUESTION PATH",
	 * and in the text of an answer, by "QUESTION DIGEST". */
	json_t *joined, *texts;
	json_t *mounts; /* of session.start: {path, source, at, recorded}; a reference, or NULL */
};

static int compare_groups(const void *a, const void *b)
{
	return strcmp(((const struct group *)a)->key, ((const struct group *)b)->key);
}

static void free_group(void *p)
{
	struct group *g = p;
	free(g->key);
	free(g);
}

static char *key_of(const json_t *record)
{
	static const char *const members[] = {"action", "path", "path2", "host", "addr", "port",
		"asked", "verdict", "rule", "rule_text", "errno", "expected"};
	static const char *const named[] = {"path", "host", "addr"};
	json_t *a = json_array();
	bool words = true;
	for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++) {
		json_t *v = json_object_get(record, members[i]);
		if (json_array_append_new(a, v ? json_incref(v) : json_null()) < 0)
			break;
	}
	/* A refusal without a file or host is described only by its text. */
	for (size_t i = 0; i < sizeof(named) / sizeof(*named); i++)
		words = words && !json_object_get(record, named[i]);
	json_t *text = words ? json_object_get(record, "text") : NULL;
	if (text)
		json_array_append(a, text);
	char *key = json_dumps(a, JSON_COMPACT);
	json_decref(a);
	return key;
}

/* Finds or makes the group. NULL with *full: there are too many; NULL without: no memory. */
static struct ward_denial *group_of(struct grouping *g, json_t *record, bool *full)
{
	*full = false;
	struct group *fresh = calloc(1, sizeof(*fresh));
	if (!fresh || !(fresh->key = key_of(record))) {
		free(fresh);
		return NULL;
	}
	fresh->index = g->d.n;
	*full = g->d.n >= WARD_DENIALS_MAX;
	struct group **found = *full ? tfind(fresh, &g->tree, compare_groups)
				     : tsearch(fresh, &g->tree, compare_groups);
	if (!found || *found != fresh) {
		free_group(fresh);
		return found ? &g->d.v[(*found)->index] : NULL;
	}
	if (g->d.n == g->cap) {
		size_t cap = g->cap ? 2 * g->cap : 64;
		struct ward_denial *v = reallocarray(g->d.v, cap, sizeof(*v));
		if (!v)
			return NULL;
		g->d.v = v;
		g->cap = cap;
	}
	struct ward_denial *d = &g->d.v[g->d.n++];
	*d = (struct ward_denial){.record = json_incref(record),
		.first_seq = (uint64_t)json_integer_value(json_object_get(record, "seq"))};
	return d;
}

/* The first record, whatever is asked for. */
static int take_start(void *ctx, const char *line, size_t len, const json_t *record)
{
	struct grouping *g = ctx;
	const json_t *detail = json_object_get(record, "detail");
	const char *file = ward_query_text(detail, "owner_policy_file");
	(void)line, (void)len;
	if (ward_query_kind(record) != WARD_EVENT_SESSION_START)
		return 0;
	if (!g->mounts)
		g->mounts = json_incref(json_object_get(detail, "mounts"));
	if (!file || g->owner_file)
		return 0;
	g->owner_file = strdup(file);
	return g->owner_file ? 0 : -ENOMEM;
}

static int take_record(void *ctx, const char *line, size_t len, const json_t *record)
{
	struct grouping *g = ctx;
	if (!ward_record_kind_is(ward_query_kind(record), WARD_KIND_REFUSAL))
		return 0;
	bool full = false;
	struct ward_denial *d = group_of(g, (json_t *)(uintptr_t)record, &full);
	if (!d && !full)
		return -ENOMEM;
	g->d.total++;
	g->d.expected += json_object_get(record, "expected") != NULL;
	if (!d) {
		g->d.left_out++;
		return 0;
	}
	d->count++;
	json_t *question = json_object_get(record, "request");
	if (question) {
		json_decref(d->question);
		d->question = json_incref(question);
	}
	return 0;
}

static int put_number(json_t *o, const char *name, const char *of, size_t n)
{
	ward_cleanup(ward_buf_clear) struct ward_buf key = WARD_BUF_INIT;
	ward_buf_printf(&key, "%s %s", name, of);
	return ward_buf_error(&key) < 0 || json_object_set_new(o, ward_buf_str(&key),
						   json_integer((json_int_t)n)) < 0
		       ? -ENOMEM
		       : 0;
}

static json_int_t number_of(const json_t *o, const char *name, const char *of)
{
	ward_cleanup(ward_buf_clear) struct ward_buf key = WARD_BUF_INIT;
	ward_buf_printf(&key, "%s %s", name, of);
	return ward_buf_error(&key) < 0
		       ? 0
		       : json_integer_value(json_object_get(o, ward_buf_str(&key)));
}

/* A question, and the paths that joined it. */
static int take_ask(struct grouping *g, const char *name, const json_t *record)
{
	const json_t *more = json_object_get(json_object_get(record, "detail"), "more");
	const char *shown = ward_query_text(record, "shown");
	const json_t *one = NULL;
	size_t i = 0;
	int r = shown ? put_number(g->texts, name, shown, json_array_size(more) + 1) : 0;
	json_array_foreach(more, i, one)
	{
		const char *path = ward_query_text(one, "path");
		if (r == 0 && path)
			r = put_number(g->joined, name, path, i + 2);
	}
	return r;
}

/* Was the answer to a text that did not show the path of the denial yet? */
static bool came_before(const struct grouping *g, const struct ward_denial *d, const json_t *answer)
{
	const char *name = json_string_value(d->question);
	const char *path = ward_query_text(d->record, "path");
	const char *shown = ward_query_text(answer, "shown");
	return name && path && shown &&
	       number_of(g->joined, name, path) > number_of(g->texts, name, shown);
}

/* Whatever is asked for: what became of questions, and whether the session has ended. */
static int take_answer(void *ctx, const char *line, size_t len, const json_t *record)
{
	struct grouping *g = ctx;
	const enum ward_event_kind kind = ward_query_kind(record);
	const char *name = ward_query_text(record, "request");
	(void)line, (void)len;
	g->d.ended |= kind == WARD_EVENT_SESSION_END;
	if (kind == WARD_EVENT_ASK && name)
		return take_ask(g, name, record);
	if (kind != WARD_EVENT_ANSWER || !name)
		return 0;
	return json_object_set_new(g->answers, name,
		       json_pack("{s:O*, s:O*, s:O*, s:O*}", "result",
			       json_object_get(record, "result"), "by",
			       json_object_get(record, "by"), "how", json_object_get(record, "how"),
			       "shown", json_object_get(record, "shown"))) < 0
		       ? -ENOMEM
		       : 0;
}

static bool any_question(const struct grouping *g)
{
	for (size_t i = 0; i < g->d.n; i++)
		if (g->d.v[i].question)
			return true;
	return false;
}

static int find_answers(struct grouping *g, struct ward_log *log, struct ward_err *err)
{
	g->answers = json_object();
	g->joined = json_object();
	g->texts = json_object();
	int r = any_question(g) ? ward_query_walk(log, true, take_answer, g, err) : 0;
	for (size_t i = 0; r == 0 && i < g->d.n; i++) {
		struct ward_denial *d = &g->d.v[i];
		const json_t *a = json_object_get(
			g->answers, d->question ? json_string_value(d->question) : "");
		if (came_before(g, d, a)) {
			d->result = json_string("ended");
			continue;
		}
		d->result = json_incref(json_object_get(a, "result"));
		d->by = json_incref(json_object_get(a, "by"));
		d->how = json_incref(json_object_get(a, "how"));
	}
	return r;
}

/* --- what would permit it --- */

static bool asks(const json_t *record, const char *right)
{
	const json_t *asked = json_object_get(record, "asked");
	size_t i = 0;
	json_t *v = NULL;
	json_array_foreach(asked, i, v)
	{
		const char *name = json_string_value(v);
		if (name && strcmp(name, right) == 0)
			return true;
	}
	return false;
}

/* The least verb that gives what was asked (wardfs-policy(5): verbs and rights). */
static const char *verb_for(const json_t *record)
{
	const char *action = ward_query_text(record, "action");
	if (asks(record, "write") || asks(record, "remove") || asks(record, "attr"))
		return "write";
	/* A runtime that asks for a permission names it, and no rights. */
	if (!json_object_get(record, "asked") && action && strcmp(action, "write") == 0)
		return "write";
	return asks(record, "append") || asks(record, "create") ? "append" : "read";
}

static int file_line(struct ward_denial *d, const char *path)
{
	d->section = "files";
	return asprintf(&d->line, "%s = %s", verb_for(d->record), path) < 0 ? -ENOMEM : 0;
}

/* True if the escaped path, written as a pattern, means itself and nothing else. */
static bool plain(const char *path)
{
	size_t len = strlen(path);
	return path[0] == '/' && !strpbrk(path, "*?[];#\\\"") && path[len - 1] != ' ' &&
	       path[len - 1] != '\t';
}

/* The file's name as a person types it, where that is safe to print; else the escaped form. */
static char *file_name(const char *escaped)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	if (ward_unescape(&b, escaped, strlen(escaped)) < 0)
		return strdup(escaped);
	for (size_t i = 0; i < b.len; i++)
		if (b.data[i] < ' ' || b.data[i] > '~')
			return strdup(escaped);
	return ward_buf_steal(&b);
}

/* A connection, or a name, that no `allow` covers. False: a line `allow` would not permit it. */
static bool unlisted(const json_t *rec)
{
	const char *text = ward_query_text(rec, "rule_text");
	return (ward_query_text(rec, "host") || ward_query_text(rec, "addr")) && text &&
	       strncmp(text, "[network] mode = ", 17) == 0;
}

static int allow_line(struct ward_denial *d)
{
	const char *host = ward_query_text(d->record, "host");
	const json_int_t port = json_integer_value(json_object_get(d->record, "port"));
	char number[16] = "";
	if (!host)
		host = ward_query_text(d->record, "addr");
	if (port > 0 && port <= UINT16_MAX)
		snprintf(number, sizeof(number), ":%d", (int)port);
	d->section = "network";
	/* An address of the sixth version stands in brackets before a port. */
	const bool six = strchr(host, ':') != NULL;
	return asprintf(&d->line, "allow = %s%s%s%s", six ? "[" : "", host, six ? "]" : "",
		       number) < 0
		       ? -ENOMEM
		       : 0;
}

/* A program that [process] exec does not list, whatever else may be done with the file. */
static bool unlisted_program(const json_t *rec)
{
	const char *text = ward_query_text(rec, "rule_text");
	return text && strncmp(text, "[process] exec", 14) == 0;
}

/*
 * `exec` names what lies in a tree as it lies in it, and the record says by which path it was
 * called, which may be the tree's second one. Where only a whole directory can be listed, the line
 * would give more than was asked for: a person decides that.
 */
static int exec_line(struct ward_denial *d, const char *path, const json_t *mounts)
{
	static const char *const whole[] = {
		"/tmp", "/var/tmp", "/run", "/dev/shm", "/home", "/var/home"};
	const json_t *t = NULL;
	const char *rest = NULL;
	size_t i = 0;
	d->section = "process";
	json_array_foreach(mounts, i, t)
	{
		const char *at = ward_query_text(t, "at"), *inside = ward_query_text(t, "path");
		/* A file that shows singly is listed as what the host shows. */
		if (!json_is_true(json_object_get(t, "recorded")) || !ward_query_text(t, "source"))
			continue;
		if (inside && ward_asked_path_beneath(inside, path, &rest))
			return asprintf(&d->line, "exec = %s", path) < 0 ? -ENOMEM : 0;
		if (at && inside && ward_asked_path_beneath(at, path, &rest))
			return asprintf(&d->line, "exec = %s%s", inside, rest) < 0 ? -ENOMEM : 0;
	}
	for (i = 0; i < sizeof(whole) / sizeof(*whole); i++)
		if (ward_asked_path_beneath(whole[i], path, &rest)) {
			d->reason =
				"of that directory [process] exec can list only the whole: name it "
				"there if all of it may be executed";
			return 0;
		}
	return asprintf(&d->line, "exec = %s", path) < 0 ? -ENOMEM : 0;
}

/*
 * Where a file that only the host's programs may change lies there: by the innermost tree of the
 * session around it.
 */
static int find_on_host(struct ward_denial *d, const json_t *mounts, const char *path)
{
	const json_t *m = NULL;
	const char *source = NULL, *rest = NULL;
	size_t i = 0, longest = 0;
	json_array_foreach(mounts, i, m)
	{
		const char *at = ward_query_text(m, "path"), *from = ward_query_text(m, "source");
		const size_t n = at ? strlen(at) : 0;
		if (!from || n < longest || strncmp(path, at, n) != 0 || path[n] != '/')
			continue;
		longest = n;
		source = from;
		rest = path + n;
	}
	if (!source)
		return 0;
	ward_cleanup_free char *whole = NULL;
	if (asprintf(&whole, "%s%s", source, rest) < 0) {
		whole = NULL;
		return -ENOMEM;
	}
	d->host_file = file_name(whole);
	return d->host_file ? 0 : -ENOMEM;
}

/* What the mode refused to a runtime that asked, because no line of the policy gives it. */
static bool of_the_mode(const json_t *rec)
{
	const char *rule = ward_query_text(rec, "rule"), *text = ward_query_text(rec, "rule_text");
	return rule && text && strcmp(rule, "mode") == 0 && strncmp(text, "[policy] mode", 13) == 0;
}

/* path: of what was asked for, outside of every tree; NULL: no name, or none for a pattern. */
static int advise_runtime(struct ward_denial *d, const char *path, const json_t *mounts)
{
	const char *action = ward_query_text(d->record, "action");
	const bool named = ward_query_text(d->record, "path") != NULL;
	if (!action)
		action = "";
	if (strcmp(action, "ffi") == 0)
		d->reason = "this mode loads no library, and no line of a policy changes that";
	else if (strcmp(action, "write") == 0)
		d->reason = named ? "only trees, the home and /tmp can be written: a section "
				    "[tree /PATH] makes a directory a tree"
				  : "no line gives everything: ask for a path";
	else if (strcmp(action, "run") == 0 && !named)
		d->reason = "the request does not say where the program lies: list its path, and "
			    "the runtime's, as [process] exec";
	else if (!named)
		d->reason = "no line gives everything: ask for a path";
	else if (!path)
		d->reason = "its name cannot be written as a plain pattern";
	else if (strcmp(action, "run") == 0)
		return exec_line(d, path, mounts);
	else {
		d->section = "system";
		return asprintf(&d->line, "read = %s", path) < 0 ? -ENOMEM : 0;
	}
	return 0;
}

static int advise(struct ward_denial *d, const char *owner_file, const json_t *mounts)
{
	const json_t *rec = d->record;
	const char *source = ward_query_text(rec, "source");
	const char *rule = ward_query_text(rec, "rule");
	const char *text = ward_query_text(rec, "rule_text");
	const char *error = ward_query_text(rec, "errno");
	const char *path = ward_query_text(rec, "path2") && error && strcmp(error, "EXDEV") == 0
				   ? NULL
				   : ward_query_text(rec, "path");
	bool guard = text && strncmp(text, "[guard]", 7) == 0;
	/* A shipped profile is no path. */
	bool liftable = text && strncmp(text, "[guard] secret = ", 17) == 0 && rule &&
			!strchr(rule, '/') && source &&
			(strcmp(source, "profile") == 0 || strcmp(source, "base") == 0);
	bool takes_away =
		source && (strcmp(source, "floor") == 0 || strcmp(source, "project") == 0);
	if (ward_query_kind(rec) == WARD_EVENT_QUOTA) {
		d->reason = "raise that line; what the session removes of its own makes room too";
	} else if (error && strcmp(error, "EXDEV") == 0) {
		d->reason = "answered as across file systems: programs copy instead";
	} else if (rule && strcmp(rule, "built-in") == 0) {
		d->reason = "no rule of a policy permits that";
	} else if (liftable) {
		d->reason =
			"the file existed before the session, and git has not committed its "
			"content. If it is no secret, lift the guard of this file, from the next "
			"session on";
		if (path && plain(path) && !ward_query_text(rec, "path2"))
			d->lift = strcmp(verb_for(rec), "read") == 0 ? "read" : "write";
	} else if (d->question && (guard || takes_away || !ward_query_text(rec, "path"))) {
		d->reason = "only an answer to a question permits it, again in each session";
	} else if (guard || takes_away || (source && strcmp(source, "run") == 0)) {
		const char *file = ward_query_text(rec, "path2");
		if (asprintf(&d->forbidden_by, "%s  %s", rule ? rule : "?", text ? text : "") < 0)
			return -ENOMEM;
		file = file ? file : ward_query_text(rec, "path");
		if (guard && file && strncmp(text, "[guard] read = ", 15) == 0)
			return find_on_host(d, mounts, file);
	} else if (unlisted(rec)) {
		if (allow_line(d) < 0)
			return -ENOMEM;
		d->file = owner_file ? file_name(owner_file) : NULL;
	} else if (ward_query_text(rec, "host") || ward_query_text(rec, "addr")) {
		if (asprintf(&d->forbidden_by, "%s  %s", rule ? rule : "?", text ? text : "") < 0)
			return -ENOMEM;
	} else {
		int r = 0;
		if (of_the_mode(rec))
			r = advise_runtime(d, path && plain(path) ? path : NULL, mounts);
		else if (!path || !plain(path))
			d->reason = "its name cannot be written as a plain pattern";
		else if (unlisted_program(rec))
			r = exec_line(d, path, mounts);
		else
			r = file_line(d, path);
		if (r < 0)
			return r;
		d->file = owner_file && d->line ? file_name(owner_file) : NULL;
	}
	return 0;
}

int ward_query_denials(struct ward_log *log, const struct ward_select *sel,
	struct ward_denials *ret, struct ward_err *err)
{
	struct grouping g = {0};
	uint64_t begin = 0;
	const struct ward_query_lines first = {.v = &begin, .n = 1};
	int r = ward_query_walk_at(log, &first, take_start, &g, err);
	if (r == 0)
		r = ward_select_walk(log, sel, take_record, &g, err);
	if (r == 0)
		r = find_answers(&g, log, err);
	for (size_t i = 0; r == 0 && i < g.d.n; i++)
		r = advise(&g.d.v[i], g.owner_file, g.mounts);
	tdestroy(g.tree, free_group);
	free(g.owner_file);
	json_decref(g.mounts);
	json_decref(g.answers);
	json_decref(g.joined);
	json_decref(g.texts);
	if (r < 0) {
		ward_denials_free(&g.d);
		return ward_err_sys(err, r, "trail");
	}
	*ret = g.d;
	return 0;
}

void ward_denial_forbid(struct ward_denial *d, char *forbidden_by)
{
	free(d->line);
	free(d->file);
	free(d->forbidden_by);
	d->line = d->file = NULL;
	d->forbidden_by = forbidden_by;
}

void ward_denials_free(struct ward_denials *d)
{
	for (size_t i = 0; i < d->n; i++) {
		json_decref(d->v[i].record);
		json_decref(d->v[i].question);
		json_decref(d->v[i].result);
		json_decref(d->v[i].by);
		json_decref(d->v[i].how);
		free(d->v[i].line);
		free(d->v[i].file);
		free(d->v[i].forbidden_by);
		free(d->v[i].host_file);
	}
	free(d->v);
	*d = (struct ward_denials){0};
}
