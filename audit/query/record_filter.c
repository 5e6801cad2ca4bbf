/* SPDX-License-Identifier: Apache-2.0 */
/* Decides which records of a trail a question asks for. */
#include "audit/query/record_filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "audit/query/asked_path.h"
#include "audit/query/query.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/timestamp.h"

static bool same(const char *asked, const char *have)
{
	return !asked || (have && strcmp(asked, have) == 0);
}

bool ward_filter_empty(const struct ward_filter *f)
{
	return !f->kind && !f->verdict && !f->rule && !f->comm && !f->path && !f->since &&
	       !f->until && !ward_filter_asks_actors(f);
}

bool ward_filter_passes_probes(const struct ward_filter *f)
{
	return !f->kind && (f->verdict || f->path || f->rule);
}

bool ward_filter_asks_actors(const struct ward_filter *f)
{
	return f->pid || f->exe;
}

int ward_filter_prepare(struct ward_filter *f, struct ward_log *log,
	const struct ward_query_lines *lines, struct ward_err *err)
{
	const struct ward_actors_ask ask = {
		.pid = f->pid, .descendants = f->descendants, .exe = f->exe};
	ward_filter_clear(f);
	return ward_filter_asks_actors(f) ? ward_actors_find(log, lines, &ask, &f->actors, err) : 0;
}

void ward_filter_clear(struct ward_filter *f)
{
	ward_actors_free(f->actors);
	f->actors = NULL;
}

/* wardfs itself makes them, to be refused: nobody's access was allowed or refused by that. */
static bool is_own_attempt(const struct ward_filter *f, const json_t *record)
{
	return ward_filter_passes_probes(f) && ward_query_kind(record) == WARD_EVENT_PROBE;
}

bool ward_filter_match(const struct ward_filter *f, const json_t *record)
{
	const char *time = ward_query_text(record, "time");
	/* First: it learns from records that the others pass over. */
	if (f->actors && !ward_actors_match(f->actors, record))
		return false;
	if (!same(f->kind, ward_query_text(record, "kind")) ||
		!same(f->verdict, ward_query_text(record, "verdict")) ||
		is_own_attempt(f, record) || !same(f->rule, ward_query_text(record, "rule")) ||
		!same(f->comm, ward_query_text(record, "comm")))
		return false;
	if (!ward_timestamp_within(time, f->since, f->until))
		return false;
	if (f->pid && !f->actors &&
		(uint64_t)json_integer_value(json_object_get(record, "pid")) != f->pid)
		return false;
	return !f->path || ward_asked_path_matches(f->path, ward_query_text(record, "path")) ||
	       ward_asked_path_matches(f->path, ward_query_text(record, "path2"));
}

struct selected {
	const struct ward_filter *filter;
	ward_query_fn *fn;
	void *ctx;
};

static int take_selected(void *ctx, const char *line, size_t len, const json_t *record)
{
	const struct selected *s = ctx;
	bool asked = record ? ward_filter_match(s->filter, record) : ward_filter_empty(s->filter);
	return asked ? s->fn(s->ctx, line, len, record) : 0;
}

int ward_select_walk(struct ward_log *log, const struct ward_select *s, ward_query_fn *fn,
	void *ctx, struct ward_err *err)
{
	if (!s)
		return ward_query_walk(log, true, fn, ctx, err);
	struct selected x = {.filter = s->filter, .fn = fn, .ctx = ctx};
	uint64_t offset = s->lines->end;
	int r = ward_query_walk_at(log, s->lines, take_selected, &x, err);
	if (r == 0)
		r = ward_query_walk_from(log, &offset, true, take_selected, &x, err);
	if (r == 0 && ward_actors_error(s->filter->actors) < 0)
		r = ward_err_sys(err, ward_actors_error(s->filter->actors), "processes");
	return r;
}

/* --- one file under all its names --- */

/* A name, and the records in which it means the file. */
struct name {
	char *path;
	uint64_t from; /* seq, inclusive */
	uint64_t to;
	bool elsewhere; /* the same name where the tree is seen once more */
};

/* A tree, and the other place where it is seen (session.start). */
struct place {
	char *path;
	char *at;
};
/* Trees of a session: WARD_TREES_MAX are fewer. */
#define PLACES_MAX 64

struct move {
	char *path;
	char *path2;
	uint64_t seq;
	bool link;
};

struct ward_file_names {
	struct name *v;
	size_t n;
	size_t cap;
	struct move *moves; /* in order */
	size_t n_moves;
	size_t cap_moves;
	struct place places[PLACES_MAX];
	size_t n_places;
};

/* It was recorded before it was done, and then failed. */
static void drop_move(struct ward_file_names *n, const char *path, const char *path2)
{
	for (size_t k = n->n_moves; k-- > 0;) {
		struct move *m = &n->moves[k];
		if (strcmp(m->path, path) != 0 || strcmp(m->path2, path2) != 0)
			continue;
		free(m->path);
		free(m->path2);
		memmove(m, m + 1, (--n->n_moves - k) * sizeof(*m));
		return;
	}
}

static int add_move(
	struct ward_file_names *n, const char *path, const char *path2, uint64_t seq, bool link)
{
	if (n->n_moves == n->cap_moves) {
		size_t cap = n->cap_moves ? 2 * n->cap_moves : 64;
		struct move *v = reallocarray(n->moves, cap, sizeof(*v));
		if (!v)
			return -ENOMEM;
		n->moves = v;
		n->cap_moves = cap;
	}
	struct move m = {.path = strdup(path), .path2 = strdup(path2), .seq = seq, .link = link};
	if (!m.path || !m.path2) {
		free(m.path);
		free(m.path2);
		return -ENOMEM;
	}
	n->moves[n->n_moves++] = m;
	return 0;
}

static int take_move(void *ctx, const char *line, size_t len, const json_t *record)
{
	struct ward_file_names *n = ctx;
	const enum ward_event_kind kind = ward_query_kind(record);
	const char *action = record ? ward_query_text(record, "action") : NULL;
	const char *path = record ? ward_query_text(record, "path") : NULL;
	const char *path2 = record ? ward_query_text(record, "path2") : NULL;
	bool link = kind == WARD_EVENT_LINK;
	bool exchange = action && strcmp(action, "exchange") == 0;
	if (!path || !path2 || !ward_record_kind_is(kind, WARD_KIND_MOVES))
		return 0;
	if (ward_query_text(record, "errno")) {
		drop_move(n, path, path2);
		if (exchange)
			drop_move(n, path2, path);
		return 0;
	}
	uint64_t seq = (uint64_t)json_integer_value(json_object_get(record, "seq"));
	int r = add_move(n, path, path2, seq, link);
	/* Each of the two names goes where the other was. */
	return r == 0 && exchange ? add_move(n, path2, path, seq, false) : r;
}

/* Adds top + rest for [from, to], unless it is known for that time. */
static int add_name(
	struct ward_file_names *n, const char *top, const char *rest, uint64_t from, uint64_t to)
{
	if (n->n == WARD_FILE_NAMES_MAX)
		return -E2BIG;
	if (n->n == n->cap) {
		size_t cap = n->cap ? 2 * n->cap : 64;
		struct name *v = reallocarray(n->v, cap, sizeof(*v));
		if (!v)
			return -ENOMEM;
		n->v = v;
		n->cap = cap;
	}
	struct name *x = &n->v[n->n];
	*x = (struct name){.path = NULL};
	if (asprintf(&x->path, "%s%s", top, rest) < 0)
		return -ENOMEM;
	x->from = from;
	x->to = to;
	for (size_t i = 0; i < n->n; i++) {
		if (strcmp(n->v[i].path, x->path) == 0 && n->v[i].from <= from &&
			n->v[i].to >= to) {
			free(x->path);
			return 0;
		}
	}
	n->n++;
	return 0;
}

/* Since when top + rest means what it means at move k: the last time it was moved away before. */
static uint64_t born(const struct ward_file_names *n, size_t k, const char *top, const char *rest)
{
	ward_cleanup_free char *path = NULL;
	const char *unused = NULL;
	if (asprintf(&path, "%s%s", top, rest) < 0) {
		path = NULL;
		return 0;
	}
	while (k-- > 0)
		if (!n->moves[k].link && ward_asked_path_beneath(n->moves[k].path, path, &unused))
			return n->moves[k].seq + 1;
	return 0;
}

/* Until when top + rest means what it means behind move k: the next time it is moved away. */
static uint64_t gone(const struct ward_file_names *n, size_t k, const char *top, const char *rest)
{
	ward_cleanup_free char *path = NULL;
	const char *unused = NULL;
	if (asprintf(&path, "%s%s", top, rest) < 0) {
		path = NULL;
		return UINT64_MAX;
	}
	/* Not the other half of an exchange. */
	const uint64_t seq = n->moves[k].seq;
	while (++k < n->n_moves)
		if (n->moves[k].seq > seq && !n->moves[k].link &&
			ward_asked_path_beneath(n->moves[k].path, path, &unused))
			return n->moves[k].seq;
	return UINT64_MAX;
}

/* Where name i came from and went to. */
static int follow(struct ward_file_names *n, size_t i)
{
	const char *rest = NULL;
	bool left = false;
	int r = 0;
	for (size_t k = 0; r == 0 && !left && k < n->n_moves; k++) {
		const struct move *m = &n->moves[k];
		if (m->seq < n->v[i].from || m->seq > n->v[i].to ||
			!ward_asked_path_beneath(m->path, n->v[i].path, &rest))
			continue;
		left = !m->link;
		/* Behind this record: an exchange does not take it back. */
		r = add_name(n, m->path2, rest, m->seq + 1, gone(n, k, m->path2, rest));
		/* The name that was asked for stays: a new file under it is meant as well. */
		if (left && i > 0)
			n->v[i].to = m->seq;
	}
	for (size_t k = n->n_moves; r == 0 && k-- > 0;) {
		const struct move *m = &n->moves[k];
		/*
		 * What came here in the record that took this one away is another file; what came
		 * in the one that took the file before away is this one: an exchange does both.
		 */
		if (m->seq + 1 < n->v[i].from || m->seq >= n->v[i].to ||
			!ward_asked_path_beneath(m->path2, n->v[i].path, &rest))
			continue;
		r = add_name(n, m->path, rest, born(n, k, m->path, rest), m->seq);
	}
	return r;
}

static int take_places(void *ctx, const char *line, size_t len, const json_t *record)
{
	struct ward_file_names *n = ctx;
	size_t i = 0;
	json_t *v = NULL;
	json_array_foreach(json_object_get(json_object_get(record, "detail"), "mounts"), i, v)
	{
		const char *path = ward_query_text(v, "path");
		const char *at = ward_query_text(v, "at");
		if (!path || !at || n->n_places == PLACES_MAX)
			continue;
		struct place *p = &n->places[n->n_places++];
		*p = (struct place){.path = strdup(path), .at = strdup(at)};
		if (!p->path || !p->at)
			return -ENOMEM;
	}
	return 0;
}

/* The name that records of files have: that of the tree. */
static int add_asked(struct ward_file_names *n, const char *path)
{
	const char *rest = NULL;
	for (size_t i = 0; i < n->n_places; i++)
		if (ward_asked_path_beneath(n->places[i].at, path, &rest))
			return add_name(n, n->places[i].path, rest, 0, UINT64_MAX);
	return add_name(n, path, "", 0, UINT64_MAX);
}

/* Programs are executed by either name, and their records have the one that was used. */
static int add_elsewhere(struct ward_file_names *n)
{
	const size_t known = n->n;
	const char *rest = NULL;
	int r = 0;
	for (size_t i = 0; r == 0 && i < known; i++)
		for (size_t k = 0; r == 0 && k < n->n_places; k++) {
			const size_t before = n->n;
			if (ward_asked_path_beneath(n->places[k].path, n->v[i].path, &rest) &&
				n->n < WARD_FILE_NAMES_MAX)
				r = add_name(n, n->places[k].at, rest, n->v[i].from, n->v[i].to);
			if (n->n > before)
				n->v[before].elsewhere = true;
		}
	return r;
}

int ward_file_names_find(
	struct ward_log *log, const char *path, struct ward_file_names **ret, struct ward_err *err)
{
	const struct ward_query_lines all = {0};
	return ward_file_names_find_in(log, &all, path, ret, err);
}

int ward_file_names_find_in(struct ward_log *log, const struct ward_query_lines *lines,
	const char *path, struct ward_file_names **ret, struct ward_err *err)
{
	uint64_t offset = lines->end;
	struct ward_file_names *n = calloc(1, sizeof(*n));
	if (!n)
		return ward_err_sys(err, -ENOMEM, "names");
	uint64_t begin = 0;
	const struct ward_query_lines first = {.v = &begin, .n = 1};
	int r = ward_query_walk_at(log, &first, take_places, n, err);
	if (r == 0)
		r = ward_query_walk_at(log, lines, take_move, n, err);
	if (r == 0)
		r = ward_query_walk_from(log, &offset, true, take_move, n, err);
	if (r == 0)
		r = add_asked(n, path);
	for (size_t i = 0; r == 0 && i < n->n; i++)
		r = follow(n, i);
	if (r == 0)
		r = add_elsewhere(n);
	if (r < 0) {
		ward_file_names_free(n);
		if (r == -E2BIG)
			return ward_err_set(err, r,
				"%s had more than %d names in this session, so wardfs cannot find all its records; fix: ask for one name (wardfs audit show --path)",
				path, WARD_FILE_NAMES_MAX);
		return ward_err_sys(err, r, "names of %s", path);
	}
	*ret = n;
	return 0;
}

void ward_file_names_free(struct ward_file_names *n)
{
	if (!n)
		return;
	for (size_t i = 0; i < n->n; i++)
		free(n->v[i].path);
	free(n->v);
	for (size_t i = 0; i < n->n_moves; i++) {
		free(n->moves[i].path);
		free(n->moves[i].path2);
	}
	for (size_t i = 0; i < n->n_places; i++) {
		free(n->places[i].path);
		free(n->places[i].at);
	}
	free(n->moves);
	free(n);
}

bool ward_file_names_match(const struct ward_file_names *n, const json_t *record)
{
	const char *path = ward_query_text(record, "path");
	const char *path2 = ward_query_text(record, "path2");
	uint64_t seq = (uint64_t)json_integer_value(json_object_get(record, "seq"));
	for (size_t i = 0; i < n->n; i++)
		if (seq >= n->v[i].from && seq <= n->v[i].to &&
			((path && strcmp(path, n->v[i].path) == 0) ||
				(path2 && strcmp(path2, n->v[i].path) == 0)))
			return true;
	return false;
}

const char *ward_file_names_get(const struct ward_file_names *n, size_t i)
{
	return n && i < n->n ? n->v[i].path : NULL;
}

bool ward_file_names_elsewhere(const struct ward_file_names *n, size_t i)
{
	return n && i < n->n && n->v[i].elsewhere;
}
