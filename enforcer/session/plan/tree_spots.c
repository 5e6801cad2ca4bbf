/* SPDX-License-Identifier: Apache-2.0 */
/* Finds trees that serve the same files, and rules that apply in only one of them. */
#include "enforcer/session/plan/tree_spots.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/policy/explain.h"

int ward_tree_spots_find(
	const int *fds, size_t n, struct ward_tree_spots *ret, struct ward_err *err)
{
	struct ward_tree_spots s = {.n = n};
	struct stat st = {0};
	int r = n <= WARD_TREES_MAX ? ward_mounts_read(&s.mounts, err) : -E2BIG;
	for (size_t i = 0; i < n && r == 0; i++) {
		if (fds[i] < 0)
			continue;
		r = fstat(fds[i], &st) < 0 ? -errno : ward_spot_find(&s.mounts, fds[i], &s.v[i]);
		s.dev[i] = st.st_dev;
		s.ino[i] = st.st_ino;
		/* In memory, or mounted where this process does not see it: nothing else shows it.
		 */
		if (r == -ENOENT)
			r = 0;
		if (r < 0)
			ward_err_sys(err, r, "where a tree lies");
	}
	if (r < 0)
		ward_tree_spots_clear(&s);
	else
		*ret = s;
	return r;
}

void ward_tree_spots_clear(struct ward_tree_spots *s)
{
	ward_mounts_clear(&s->mounts);
	for (size_t i = 0; i < s->n; i++)
		ward_spot_clear(&s->v[i]);
	*s = (struct ward_tree_spots){0};
}

bool ward_tree_spots_name(const struct ward_tree_spots *s, const struct ward_policy *p, size_t i,
	const struct ward_spot *spot, struct ward_buf *ret_name)
{
	const char *rest = s->v[i].path && spot->path ? ward_spot_beneath(spot, &s->v[i]) : NULL;
	if (rest)
		ward_buf_printf(ret_name, "%s%s%s", ward_policy_settings(p)->trees[i].path,
			*rest ? "/" : "", rest);
	return rest != NULL;
}

/* Two names of one directory: tree[1]'s top, and what that is called in tree[0], around it. */
struct pair {
	const char *name[2];
	const struct ward_state *state[2];
	size_t tree[2];
	bool same; /* both have it as their top */
};

static int refuse(const struct ward_policy *p, const struct pair *pair, unsigned k,
	const struct ward_rule *rule, struct ward_err *err)
{
	const struct ward_tree *trees = ward_policy_settings(p)->trees;
	ward_cleanup(ward_buf_clear) struct ward_buf why = WARD_BUF_INIT;
	ward_rule_place(rule, &why);
	ward_buf_puts(&why, " ");
	ward_rule_text(rule, &why);
	return ward_err_set(err, -EINVAL,
		"the tree %s and the tree %s serve the same files, as %s and as %s, and %s does not apply in both; use only one of these trees, or write the rule without a leading '/'",
		trees[pair->tree[k]].path, trees[pair->tree[1 - k]].path, pair->name[k],
		pair->name[1 - k], ward_buf_str(&why));
}

/* The same policy decides both: a policy with a tree inside another one says that other rules apply
 * in it. */
#define OWN_SOURCES (1U << WARD_SOURCE_PROFILE | 1U << WARD_SOURCE_BASE)

/* What the inner one takes, the outer one shall not give, and where nobody else can see to it, the
 * other way round. *ret_elsewhere: wardfs-fs has to see to it. */
static int check_pair(const struct ward_policy *p, const struct pair *pair, bool *ret_elsewhere,
	struct ward_err *err)
{
	const bool of_run = ward_policy_settings(p)->trees[pair->tree[1]].of_run;
	const uint32_t all = WARD_SOURCES_ALL;
	const struct ward_rule *rule = NULL;
	bool given = ward_policy_reveals(p, pair->state[1], pair->state[0], all, &rule);
	if (given && pair->same)
		return refuse(p, pair, 1, rule, err);
	if (ward_policy_reveals(p, pair->state[0], pair->state[1],
		    pair->same || of_run ? all : all & ~OWN_SOURCES, &rule))
		return refuse(p, pair, 0, rule, err);
	*ret_elsewhere = given;
	return 0;
}

static int check_names(
	const struct ward_policy *p, struct pair *pair, bool *ret_elsewhere, struct ward_err *err)
{
	int r = 0;
	for (unsigned k = 0; k < 2 && r == 0; k++)
		r = ward_policy_walk(p, pair->name[k], strlen(pair->name[k]), &pair->state[k]);
	if (r < 0)
		ward_err_sys(err, r, "%s", pair->name[0]);
	else
		r = check_pair(p, pair, ret_elsewhere, err);
	for (unsigned k = 0; k < 2; k++)
		ward_policy_state_put(p, pair->state[k]);
	return r;
}

static int check_trees(const struct ward_tree_spots *s, const struct ward_policy *p, size_t outer,
	size_t inner, bool *ret_elsewhere, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf name = WARD_BUF_INIT;
	/* Where both have the same top, once is enough. */
	const bool same = s->v[inner].path && s->v[outer].path &&
			  ward_spot_beneath(&s->v[outer], &s->v[inner]);
	if (outer == inner || (same && outer > inner) ||
		!ward_tree_spots_name(s, p, outer, &s->v[inner], &name))
		return 0;
	struct pair pair = {
		.name = {ward_buf_str(&name), ward_policy_settings(p)->trees[inner].path},
		.tree = {outer, inner},
		.same = same};
	int r = ward_buf_error(&name);
	return r < 0 ? ward_err_sys(err, r, "trees") : check_names(p, &pair, ret_elsewhere, err);
}

static int check_all(const struct ward_tree_spots *s, const struct ward_policy *p,
	uint32_t ret_elsewhere[WARD_TREES_MAX], struct ward_err *err)
{
	int r = 0;
	for (size_t i = 0; i < s->n; i++)
		for (size_t j = 0; j < s->n && r == 0; j++) {
			bool elsewhere = false;
			r = check_trees(s, p, i, j, &elsewhere, err);
			ret_elsewhere[i] |= elsewhere ? 1U << j : 0;
		}
	return r;
}

int ward_tree_spots_check(
	struct ward_tree_spots *s, const struct ward_policy *p, struct ward_err *err)
{
	return check_all(s, p, s->elsewhere, err);
}

int ward_tree_spots_recheck(
	const struct ward_tree_spots *s, const struct ward_policy *p, struct ward_err *err)
{
	const struct ward_tree *trees = ward_policy_settings(p)->trees;
	uint32_t now[WARD_TREES_MAX] = {0};
	int r = check_all(s, p, now, err);
	for (size_t i = 0; i < s->n && r == 0; i++)
		for (size_t j = 0; j < s->n && r == 0; j++)
			if (now[i] & ~s->elsewhere[i] & 1U << j)
				r = ward_err_set(err, -EINVAL,
					"the tree %s serves files of the tree %s, and a rule would now protect some of them in only one of the two",
					trees[i].path, trees[j].path);
	return r;
}
