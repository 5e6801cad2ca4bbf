/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the commits of a session whose objects it wrote itself. */
#include "audit/verify/attest_git.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "audit/query/query.h"

#define OBJECTS "/objects/"
#define HEX "0123456789abcdef"

void ward_attest_git_clear(struct ward_attest_git *g)
{
	json_decref(g->objects);
	json_decref(g->commits);
	json_decref(g->branches);
	json_decref(g->why);
	json_decref(g->tops);
	json_decref(g->places);
	*g = (struct ward_attest_git){0};
}

/* "…/objects/xx/38 or 62 hexadecimal digits" */
static bool is_object(const char *path)
{
	const size_t len = strlen(path);
	for (size_t digits = 38; digits <= 62; digits += 24) {
		const size_t tail = strlen(OBJECTS) + 3 + digits;
		const char *p = len > tail ? path + len - tail : "";
		if (strncmp(p, OBJECTS, strlen(OBJECTS)) == 0 &&
			strspn(p + strlen(OBJECTS), HEX) == 2 && p[strlen(OBJECTS) + 2] == '/' &&
			strspn(p + strlen(OBJECTS) + 3, HEX) == digits)
			return true;
	}
	return false;
}

/* Of session.start: the mounts, and the trees among them. */
static int take_mounts(struct ward_attest_git *g, const json_t *mounts)
{
	size_t i = 0;
	json_t *m = NULL;
	g->tops = json_object();
	json_array_foreach(mounts, i, m)
	{
		const char *path = ward_query_text(m, "path");
		char top[4096 + 8];
		if (path && (size_t)snprintf(top, sizeof(top), "%s/.git", path) < sizeof(top) &&
			json_object_set_new(g->tops, top, json_true()) < 0)
			return -ENOMEM;
	}
	return g->tops ? 0 : -ENOMEM;
}

/* Nobody reads the branches of a repository further down: the statement says where one was written.
 */
static int take_place(struct ward_attest_git *g, const char *object)
{
	const char *at = object, *found = NULL;
	while ((at = strstr(at, OBJECTS)) != NULL)
		found = at++;
	if (!found)
		return 0;
	json_t *place = json_stringn(object, (size_t)(found - object));
	const char *name = json_string_value(place);
	int r = 0;
	if (!name)
		r = -ENOMEM;
	else if (!json_object_get(g->tops, name)) {
		if (!g->places)
			g->places = json_object();
		if (json_object_size(g->places) < WARD_ATTEST_PLACES_LISTED &&
			json_object_set_new(g->places, name, json_true()) < 0)
			r = -ENOMEM;
	}
	json_decref(place);
	return r;
}

/* Git writes an object by another name, and gives it its own by link(2) or rename(2). */
static int take_object(struct ward_attest_git *g, const char *path)
{
	if (!path || !is_object(path))
		return 0;
	int r = take_place(g, path);
	if (r < 0)
		return r;
	if (!g->objects)
		g->objects = json_object();
	if (json_object_size(g->objects) >= WARD_ATTEST_OBJECTS_MAX) {
		g->objects_more = true;
		return 0;
	}
	return json_object_set_new(g->objects, path, json_true()) < 0 ? -ENOMEM : 0;
}

static bool wrote(const struct ward_attest_git *g, const char *path, const char *id)
{
	char object[4096 + 128];
	return (size_t)snprintf(object, sizeof(object), "%s/.git" OBJECTS "%.2s/%s", path, id,
		       id + 2) < sizeof(object) &&
	       json_object_get(g->objects, object);
}

static int take_commits(struct ward_attest_git *g, const char *path, const json_t *commits)
{
	size_t i = 0;
	json_t *c = NULL;
	json_array_foreach(commits, i, c)
	{
		const char *id = ward_query_text(c, "commit"), *tree = ward_query_text(c, "tree");
		if (!id || !tree || strlen(id) < 40)
			continue;
		if (!wrote(g, path, id)) {
			g->elsewhere++;
			continue;
		}
		if (!g->commits)
			g->commits = json_array();
		if (json_array_append_new(g->commits, json_pack("{s:s, s:s, s:s}", "path", path,
							      "commit", id, "tree", tree)) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int take_branches(struct ward_attest_git *g, const char *path, const json_t *branches)
{
	size_t i = 0;
	json_t *b = NULL;
	json_array_foreach(branches, i, b)
	{
		if (!g->branches)
			g->branches = json_array();
		if (json_array_size(g->branches) >= WARD_ATTEST_BRANCHES_LISTED) {
			g->branches_more++;
			continue;
		}
		json_t *copy = json_copy(b);
		if (!copy || json_object_set_new(copy, "path", json_string(path)) < 0 ||
			json_array_append_new(g->branches, copy) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int take_why(struct ward_attest_git *g, const char *path, const char *text)
{
	json_t *said = text ? json_sprintf("%s: %s", path, text) : NULL;
	size_t i = 0;
	json_t *w = NULL;
	if (!text)
		return 0;
	/* Each record of a tree says it. */
	json_array_foreach(g->why, i, w)
	{
		if (json_equal(w, said)) {
			json_decref(said);
			return 0;
		}
	}
	if (!g->why)
		g->why = json_array();
	return json_array_append_new(g->why, said) < 0 ? -ENOMEM : 0;
}

int ward_attest_git_take(struct ward_attest_git *g, const json_t *rec)
{
	const enum ward_event_kind kind = ward_query_kind(rec);
	const char *path = ward_query_text(rec, "path");
	const json_t *detail = json_object_get(rec, "detail");
	if (kind == WARD_EVENT_SESSION_START)
		return take_mounts(g, json_object_get(detail, "mounts"));
	if (json_object_get(rec, "errno") || !path)
		return 0;
	if (kind == WARD_EVENT_CREATE)
		return take_object(g, path);
	if (kind == WARD_EVENT_RENAME || kind == WARD_EVENT_LINK)
		return take_object(g, ward_query_text(rec, "path2"));
	if (kind != WARD_EVENT_GIT)
		return 0;
	int r = take_commits(g, path, json_object_get(detail, "commits"));
	if (r == 0)
		r = take_branches(g, path, json_object_get(detail, "branches"));
	return r < 0 ? r : take_why(g, path, ward_query_text(rec, "text"));
}

int ward_attest_git_list(const struct ward_attest_git *g, json_t *subjects, json_t **ret)
{
	size_t i = 0;
	json_t *c = NULL;
	json_array_foreach(g->commits, i, c)
	{
		const char *path = ward_query_text(c, "path"), *id = ward_query_text(c, "commit");
		if (i >= WARD_ATTEST_COMMITS_LISTED)
			break;
		if (json_array_append_new(subjects,
			    json_pack("{s:o, s:{s:s}}", "name", json_sprintf("git:%s#%s", path, id),
				    "digest", "gitCommit", id)) < 0 ||
			json_array_append_new(subjects,
				json_pack("{s:o, s:{s:O}}", "name",
					json_sprintf("git:%s#%s^{tree}", path, id), "digest",
					"gitTree", json_object_get(c, "tree"))) < 0)
			return -ENOMEM;
	}
	json_t *why = g->why ? json_copy(g->why) : json_array();
	if (g->objects_more)
		json_array_append_new(why, json_string("more objects were written than are "
						       "remembered"));
	const char *place = NULL;
	json_object_foreach(g->places, place, c)
	{
		json_array_append_new(why,
			json_sprintf("%s: objects were written there, and only the repository at "
				     "the top of a tree is looked at",
				place));
	}
	*ret = json_pack("{s:I, s:I, s:I, s:o, s:I, s:o}", "commits",
		(json_int_t)json_array_size(g->commits), "listed", (json_int_t)i, "elsewhere",
		g->elsewhere, "branches", g->branches ? json_copy(g->branches) : json_array(),
		"branches_more", g->branches_more, "not_looked_at", why);
	return *ret ? 0 : -ENOMEM;
}
