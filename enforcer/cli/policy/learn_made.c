/* SPDX-License-Identifier: Apache-2.0 */
/* Finds what a command made at names of secrets. */
#include "enforcer/cli/policy/learn_made.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"
#include "enforcer/cli/policy/learn_names.h"
#include "enforcer/policy/policy.h"

bool learn_made_is_secret(const struct ward_policy *p, const char *path)
{
	const struct ward_state *s = NULL;
	if (ward_policy_walk(p, path, strlen(path), &s) < 0)
		return true;
	const bool yes = ward_policy_secret(s);
	ward_policy_state_put(p, s);
	return yes;
}

/* Will the next run choose another name? */
static bool is_passing(const char *path)
{
	ward_cleanup(ward_buf_clear) struct ward_buf ignored = WARD_BUF_INIT;
	for (const char *s = path; *s;) {
		const size_t n = strcspn(s, "/");
		if (learn_generalise(s, n, &ignored))
			return true;
		s += n;
		s += *s == '/';
	}
	return false;
}

bool learn_made_has(const struct ward_buf *paths, const char *path)
{
	for (const char *s = paths->data; s && s < paths->data + paths->len; s += strlen(s) + 1)
		if (strcmp(s, path) == 0)
			return true;
	return false;
}

bool learn_made_has_pattern(const struct ward_buf *paths, const char *pattern)
{
	for (const char *s = paths->data; s && s < paths->data + paths->len; s += strlen(s) + 1) {
		ward_cleanup(ward_buf_clear) struct ward_buf quoted = WARD_BUF_INIT;
		ward_pattern_quote(&quoted, s, strlen(s));
		if (strcmp(ward_buf_str(&quoted), pattern) == 0)
			return true;
	}
	return false;
}

int learn_made_find(
	const struct ward_learned *l, const struct ward_policy_place *place, struct ward_buf *paths)
{
	const char *key = NULL;
	json_t *o = NULL;
	json_object_foreach(l->used, key, o)
	{
		ward_cleanup(ward_buf_clear) struct ward_buf path = WARD_BUF_INIT;
		if (json_integer_value(json_array_get(o, 1)) == 0)
			continue;
		ward_buf_puts(&path, "/workspace/");
		const size_t top = path.len;
		if (ward_unescape(&path, key, strlen(key)) < 0 || ward_buf_error(&path))
			return -ENOMEM;
		if (!learn_made_is_secret(place->policy, path.data) ||
			is_passing(path.data + top) ||
			!S_ISREG(ward_policy_place_type(place, path.data)))
			continue;
		ward_buf_add(paths, path.data, path.len + 1);
	}
	return ward_buf_error(paths);
}
