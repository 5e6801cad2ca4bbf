/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the rules of a session that starts with those of sessions that run. */
#include "enforcer/session/control/beside.h"

#include <dirent.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/session/control/control.h"

/* A supervisor that is stopped must not hold up a start: that many milliseconds for one, and for
 * all. */
#define ONE_MS 200
#define ALL_NS (1 * WARD_NS_PER_SEC)

/* Both absolute and without "." and "..". Escaping keeps '/' and the order of bytes. */
static bool is_within(const char *path, const char *dir)
{
	const size_t n = strcmp(dir, "/") == 0 ? 0 : strlen(dir);
	return strncmp(path, dir, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

/* Is a tree of ours the same directory, above it or beneath it, and has other rules? NULL: any
 * rules do. */
static bool differs_from(const struct ward_run_plan *p, const char *theirs, const char *rules)
{
	for (size_t i = 0; theirs && i < p->n_trees; i++) {
		char own[WARD_POLICY_DIGEST_MAX];
		json_t *text = p->trees[i].source ? ward_control_text(p->trees[i].source) : NULL;
		const char *ours = json_string_value(text);
		const bool same = ours && (is_within(ours, theirs) || is_within(theirs, ours));
		json_decref(text);
		if (same && (!rules || (ward_policy_rules_digest(
						p->policy, p->trees[i].path, own) == 0 &&
					       strcmp(own, rules) != 0)))
			return true;
	}
	return false;
}

/* The directory of theirs that is ours as well, borrowed; NULL: there is none, or, unless `any`,
 * the same rules hold. */
static const char *differs(const struct ward_run_plan *p, const json_t *status, bool any)
{
	const json_t *tree = NULL;
	size_t i = 0;
	json_array_foreach(json_object_get(status, "trees"), i, tree)
	{
		const char *source = json_string_value(json_object_get(tree, "source"));
		const char *rules = json_string_value(json_object_get(tree, "rules"));
		if ((any || rules) && differs_from(p, source, any ? NULL : rules))
			return source;
	}
	return NULL;
}

/* True: it was said of this one. */
static bool say_of(const struct ward_run_plan *p, const char *moves, const char *session,
	void (*say)(const char *text))
{
	ward_cleanup_free char *answer = NULL;
	ward_cleanup_free char *text = NULL;
	if (ward_control_ask_with(
		    p->runtime, session, "{\"verb\":\"status\"}", -1, ONE_MS, &answer, NULL) < 0)
		return false;
	json_t *status = json_loads(answer, 0, NULL);
	const char *dir = differs(p, status, false);
	const char *file = json_string_value(json_object_get(status, "moves"));
	int n = -1;
	if (dir)
		n = asprintf(&text,
			"session %s is running with other rules for %s: together they can do what neither may do alone; run one at a time",
			session, dir);
	else if (file && *file && strcmp(file, moves) != 0 && (dir = differs(p, status, true)))
		n = asprintf(&text,
			"session %s, with another owner, HOME or state directory, also serves %s: the two do not wait for each other when they rename; run one at a time",
			session, dir);
	if (n >= 0)
		say(text);
	json_decref(status);
	return dir;
}

void ward_beside_say(
	const struct ward_run_plan *p, const char *moves, void (*say)(const char *text))
{
	const uint64_t until = ward_clock_mono_ns() + ALL_NS;
	ward_cleanup_dir DIR *d = opendir(p->runtime);
	const struct dirent *e = NULL;
	while (d && say && ward_clock_mono_ns() < until && (e = readdir(d)))
		if (ward_session_name_ok(e->d_name) && say_of(p, moves, e->d_name, say))
			return;
}
