/* SPDX-License-Identifier: Apache-2.0 */
/* Which guards an owner may lift, and for what. */
#include "enforcer/cli/policy/policy_lift.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/policy/explain.h"

/* May it be lifted, and is there anything to lift? */
static int check(const struct ward_policy_place *place, const char *verb, const char *path,
	struct ward_err *err)
{
	const bool write = strcmp(verb, "write") == 0;
	const uint32_t want = write ? WARD_RIGHT_READ | WARD_RIGHT_WRITE : WARD_RIGHT_READ;
	const struct ward_rule *lifts = NULL, *left = NULL;
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	if (!write && strcmp(verb, "read") != 0)
		return ward_err_set(
			err, -EINVAL, "--lift-guard takes read or write, not '%s'", verb);
	if (!ward_policy_place_in_tree(place, path))
		return ward_err_set(err, -EINVAL, "%s is in no tree, so no guard covers it", path);
	if (ward_policy_place_type(place, path) == S_IFDIR)
		return ward_err_set(err, -EISDIR,
			"%s is a directory: --lift-guard takes one file that you know", path);
	int r = ward_policy_lift_look(place->policy, path, want, &lifts, &left);
	if (r < 0)
		return ward_err_sys(err, r, "%s", path);
	if (left) {
		ward_rule_place(left, &b);
		ward_buf_puts(&b, "  ");
		ward_rule_text(left, &b);
		return ward_err_set(err, -EPERM,
			left->guard || left->source == WARD_SOURCE_FLOOR ||
					left->source == WARD_SOURCE_PROJECT
				? "%s: %s takes it away: nobody can lift a floor, a project "
				  "file, your own guards or guards for repositories"
				: "%s: %s takes it, which is no guard: 'wardfs policy add' with "
				  "this verb and path gives it",
			path, ward_buf_str(&b));
	}
	if (!lifts)
		return ward_err_set(err, -EINVAL,
			"%s: no guard of a shipped profile takes this away: there is nothing to "
			"lift",
			path);
	return 0;
}

int policy_lift_check(const struct ward_policy_place *place, const char *verb, const char *path,
	char **ret, struct ward_err *err)
{
	ward_cleanup_free char *inside = NULL;
	bool dir = false;
	if (strpbrk(path, "*?[\\"))
		return ward_err_set(
			err, -EINVAL, "'%s': --lift-guard takes one file, without wildcards", path);
	int r = ward_policy_place_path(place, path, &inside, &dir, err);
	if (r == 0)
		r = check(place, verb, inside ? inside : path, err);
	if (r < 0)
		return r;
	*ret = inside ? inside : strdup(path);
	inside = NULL;
	return *ret ? 0 : ward_err_sys(err, -ENOMEM, "%s", path);
}
