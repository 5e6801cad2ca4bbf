/* SPDX-License-Identifier: Apache-2.0 */
/* Follows the files that a session changed through renames, and lists their digests. */
#include "audit/verify/attest_products.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "audit/query/query.h"

#define HOME "/agent-home/"

void ward_products_clear(struct ward_products *p)
{
	json_decref(p->files);
	json_decref(p->gone);
	*p = (struct ward_products){0};
}

static int set(struct ward_products *p, const char *path, json_t *digest)
{
	if (!p->files)
		p->files = json_object();
	if (p->files && !json_object_get(p->files, path) &&
		json_object_size(p->files) >= WARD_PRODUCTS_MAX) {
		json_decref(digest);
		p->more++;
		return 0;
	}
	return json_object_set_new(p->files, path, digest) < 0 ? -ENOMEM : 0;
}

/* Moves the entries beneath a directory to its new name. 1: there were some. */
static int move_beneath(struct ward_products *p, const char *from, const char *to)
{
	const size_t len = strlen(from);
	json_t *moved = json_object();
	const char *path = NULL;
	json_t *digest = NULL;
	void *next = NULL;
	int r = moved ? 0 : -1;
	json_object_foreach_safe(p->files, next, path, digest)
	{
		if (strncmp(path, from, len) != 0 || path[len] != '/')
			continue;
		json_t *name = json_sprintf("%s%s", to, path + len);
		if (!name || json_object_set(moved, json_string_value(name), digest) < 0)
			r = -1;
		json_decref(name);
		(void)json_object_del(p->files, path);
	}
	if (r == 0)
		r = json_object_update(p->files, moved);
	const bool any = json_object_size(moved) > 0;
	json_decref(moved);
	return r < 0 ? -ENOMEM : any;
}

static int take_rename(struct ward_products *p, const json_t *rec, const char *path, const char *to)
{
	const char *action = ward_query_text(rec, "action");
	json_t *have = json_incref(json_object_get(p->files, path));
	json_t *other = action && strcmp(action, "exchange") == 0
				? json_incref(json_object_get(p->files, to))
				: NULL;
	(void)json_object_del(p->files, path);
	int r = move_beneath(p, path, to);
	/* 1: it is a directory. A file that was there before has another name now: its content is
	 * not in the records. */
	if (r == 0)
		r = set(p, to, have ? json_incref(have) : json_null());
	json_decref(have);
	r = r < 0 ? r : 0;
	if (r == 0 && other)
		return set(p, path, other);
	json_decref(other);
	return r;
}

/* The end of a handle that wrote, or may have written unseen. */
static bool wrote(const json_t *rec)
{
	const json_t *written = json_object_get(rec, "written");
	return written && (json_is_null(written) || json_integer_value(written) > 0);
}

/*
 * The end of a handle comes when the kernel tells it, behind the removal of its file, too: then it
 * is no product. A name that is used again is there again.
 */
static int note_names(
	struct ward_products *p, enum ward_event_kind kind, const char *path, const char *path2)
{
	if (kind == WARD_EVENT_OPEN || kind == WARD_EVENT_CREATE)
		(void)json_object_del(p->gone, path);
	if (path2 && (kind == WARD_EVENT_RENAME || kind == WARD_EVENT_LINK))
		(void)json_object_del(p->gone, path2);
	if (kind != WARD_EVENT_REMOVE || json_object_size(p->gone) >= WARD_PRODUCTS_MAX)
		return 0;
	if (!p->gone)
		p->gone = json_object();
	return json_object_set_new(p->gone, path, json_true()) < 0 ? -ENOMEM : 0;
}

int ward_products_take(struct ward_products *p, const json_t *rec)
{
	const enum ward_event_kind kind = ward_query_kind(rec);
	const char *path = ward_query_text(rec, "path");
	const char *path2 = ward_query_text(rec, "path2");
	json_t *digest = json_object_get(rec, "sha256");
	if (!path || json_object_get(rec, "errno"))
		return 0;
	if (note_names(p, kind, path, path2) < 0)
		return -ENOMEM;
	if ((kind == WARD_EVENT_CLOSE || kind == WARD_EVENT_ATTR) && json_object_get(p->gone, path))
		return 0;
	if (kind == WARD_EVENT_CLOSE && wrote(rec))
		return set(p, path, json_is_string(digest) ? json_incref(digest) : json_null());
	if (kind == WARD_EVENT_ATTR && json_object_get(rec, "size"))
		return set(p, path, json_null());
	if (kind == WARD_EVENT_REMOVE && p->files)
		(void)json_object_del(p->files, path);
	else if (kind == WARD_EVENT_RENAME && path2 && p->files)
		return take_rename(p, rec, path, path2);
	else if (kind == WARD_EVENT_LINK && path2 && json_object_get(p->files, path))
		return set(p, path2, json_incref(json_object_get(p->files, path)));
	return 0;
}

int ward_products_list(const struct ward_products *p, json_t *subjects, json_t **ret)
{
	json_int_t files = 0, listed = 0, without = 0;
	size_t bytes = 0;
	const char *path = NULL;
	json_t *digest = NULL;
	json_object_foreach(p->files, path, digest)
	{
		if (strncmp(path, HOME, strlen(HOME)) == 0)
			continue;
		files++;
		without += !json_is_string(digest);
		if (!json_is_string(digest) || listed >= WARD_PRODUCTS_LISTED ||
			bytes + strlen(path) > WARD_PRODUCTS_BYTES)
			continue;
		bytes += strlen(path);
		listed++;
		if (json_array_append_new(subjects, json_pack("{s:s, s:{s:O}}", "name", path,
							    "digest", "sha256", digest)) < 0)
			return -ENOMEM;
	}
	*ret = json_pack("{s:I, s:I, s:I, s:I}", "files", files, "listed", listed, "without_digest",
		without, "more", p->more);
	return *ret ? 0 : -ENOMEM;
}
