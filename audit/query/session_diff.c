/* SPDX-License-Identifier: Apache-2.0 */
/* Compares what two sessions did to files. */
#include "audit/query/session_diff.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/query/query.h"
#include "audit/record_table.h"

static int add(json_t *paths, const char *path, const char *verb, json_int_t n)
{
	if (!path || n == 0)
		return 0;
	json_t *of = json_object_get(paths, path);
	if (!of) {
		if (json_object_size(paths) >= WARD_DIFF_PATHS_MAX)
			return -E2BIG;
		of = json_object();
		if (json_object_set_new(paths, path, of) < 0)
			return -ENOMEM;
	}
	json_int_t have = json_integer_value(json_object_get(of, verb));
	return json_object_set_new(of, verb, json_integer(have + n)) < 0 ? -ENOMEM : 0;
}

static bool asks(const json_t *record, const char *right)
{
	size_t i = 0;
	json_t *v = NULL;
	json_array_foreach(json_object_get(record, "asked"), i, v)
	{
		const char *name = json_string_value(v);
		if (name && strcmp(name, right) == 0)
			return true;
	}
	return false;
}

/* Operations on names and attributes: recorded before they are done, and again if they fail. */
static int add_change(json_t *paths, enum ward_event_kind kind, const json_t *rec)
{
	const char *verb = ward_record_kinds[kind].name;
	json_int_t n = ward_query_text(rec, "errno") ? -1 : 1;
	int r = add(paths, ward_query_text(rec, "path"), verb, n);
	return r == 0 && ward_record_kind_is(kind, WARD_KIND_MOVES)
		       ? add(paths, ward_query_text(rec, "path2"), verb, n)
		       : r;
}

static int take(void *ctx, const char *line, size_t len, const json_t *rec)
{
	json_t *paths = ctx;
	const enum ward_event_kind kind = ward_query_kind(rec);
	const char *path = rec ? ward_query_text(rec, "path") : NULL;
	char refused[80];
	int r = 0;
	if (!path)
		return 0;
	if (ward_record_kind_is(kind, WARD_KIND_REFUSAL)) {
		const char *action = ward_query_text(rec, "action");
		snprintf(refused, sizeof(refused), "refused %s", action ? action : "?");
		return add(paths, path, refused, 1);
	}
	if (ward_record_kind_is(kind, WARD_KIND_TALLIED))
		r = add_change(paths, kind, rec);
	/* The rights of a handle; other kinds request none. */
	if (kind != WARD_EVENT_OPEN && kind != WARD_EVENT_CREATE)
		return r;
	if (r == 0 && asks(rec, "read"))
		r = add(paths, path, "read", 1);
	if (r == 0 && (asks(rec, "write") || asks(rec, "append")))
		r = add(paths, path, "write", 1);
	return r;
}

int ward_diff_collect(
	struct ward_log *log, const struct ward_select *sel, json_t **ret, struct ward_err *err)
{
	json_t *paths = json_object();
	int r = paths ? ward_select_walk(log, sel, take, paths, err) : -ENOMEM;
	if (r < 0) {
		json_decref(paths);
		return ward_err_sys(err, r, "trail");
	}
	*ret = paths;
	return 0;
}

static int by_name(const void *x, const void *y)
{
	return strcmp(*(const char *const *)x, *(const char *const *)y);
}

/* The paths of both, sorted; borrowed from their objects. */
static const char **sorted(const json_t *a, const json_t *b, size_t *ret_n)
{
	const json_t *both[] = {a, b};
	const char **v = calloc(json_object_size(a) + json_object_size(b) + 1, sizeof(*v));
	size_t n = 0;
	const char *name = NULL;
	json_t *value = NULL;
	for (size_t i = 0; v && i < 2; i++) {
		json_object_foreach((json_t *)(uintptr_t)both[i], name, value)
		{
			if (i == 0 || !json_object_get(a, name))
				v[n++] = name;
		}
	}
	if (v && n > 0)
		qsort(v, n, sizeof(*v), by_name);
	*ret_n = n;
	return v;
}

/* The operations on the path that only `mine` has. */
static int put_only(
	json_t *out, const char *path, const json_t *mine, const json_t *other, int which)
{
	const char *verb = NULL;
	json_t *count = NULL;
	json_object_foreach((json_t *)(uintptr_t)mine, verb, count)
	{
		json_int_t n = json_integer_value(count);
		if (n <= 0 || json_integer_value(json_object_get(other, verb)) > 0)
			continue;
		if (json_array_append_new(out, json_pack("{s:s, s:i, s:s, s:I}", "path", path,
						       "only", which, "verb", verb, "count", n)) <
			0)
			return -ENOMEM;
	}
	return 0;
}

int ward_diff_compare(const json_t *first, const json_t *second, json_t **ret, struct ward_err *err)
{
	size_t n = 0;
	const char **paths = sorted(first, second, &n);
	json_t *out = json_array();
	int r = paths && out ? 0 : -ENOMEM;
	for (size_t i = 0; r == 0 && i < n; i++) {
		const json_t *a = json_object_get(first, paths[i]);
		const json_t *b = json_object_get(second, paths[i]);
		r = put_only(out, paths[i], a, b, 1);
		if (r == 0)
			r = put_only(out, paths[i], b, a, 2);
	}
	free(paths);
	if (r < 0) {
		json_decref(out);
		return ward_err_sys(err, r, "comparison");
	}
	*ret = out;
	return 0;
}
