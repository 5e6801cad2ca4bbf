/* SPDX-License-Identifier: Apache-2.0 */
/* Puts branches and commits into the trail. */
#include "enforcer/session/records/git_records.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/session/records/record_text.h"

/* Of one record, which has WARD_EVENT_MAX bytes: a commit is 160 of them, a branch up to 450. */
#define COMMITS 48U
#define BRANCHES 16U

static json_t *id_or_null(const char *id)
{
	return *id ? json_string(id) : json_null();
}

static int put(struct ward_guard *g, const char *path, const char *why, json_t *detail)
{
	ward_cleanup_free struct ward_event *ev = malloc(sizeof(*ev));
	ward_cleanup_free char *text =
		detail ? json_dumps(detail, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;
	json_decref(detail);
	if (!ev || !text)
		return -ENOMEM;
	ward_event_begin(ev, WARD_EVENT_GIT);
	ward_event_text(ev, WARD_TAG_PATH, path);
	ward_event_text(ev, WARD_TAG_JSON, text);
	if (*why)
		ward_event_text(ev, WARD_TAG_TEXT, why);
	return ward_guard_put(g, ev);
}

int ward_record_git(struct ward_guard *g, const char *path, const struct ward_git_made *made)
{
	size_t moved = 0, commits = 0;
	int r = 0;
	if (made->n_moved == 0 && made->n_commits == 0 && !*made->why)
		return 0;
	do {
		json_t *branches = json_array(), *list = json_array();
		for (size_t i = 0; i < BRANCHES && moved < made->n_moved; i++, moved++) {
			const struct ward_git_moved *m = &made->moved[moved];
			json_array_append_new(branches,
				json_pack("{s:o, s:o, s:o}", "name", ward_record_text(m->name),
					"before", id_or_null(m->before), "after",
					id_or_null(m->after)));
		}
		for (size_t i = 0; i < COMMITS && commits < made->n_commits; i++, commits++)
			json_array_append_new(
				list, json_pack("{s:s, s:s}", "commit", made->commit[commits].id,
					      "tree", made->commit[commits].tree));
		r = put(g, path, made->why,
			json_pack("{s:o, s:o}", "branches", branches, "commits", list));
	} while (r == 0 && (moved < made->n_moved || commits < made->n_commits));
	return r;
}
