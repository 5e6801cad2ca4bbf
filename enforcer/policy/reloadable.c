/* SPDX-License-Identifier: Apache-2.0 */
/* Names what a policy changes that a running session cannot change. */
#include "enforcer/policy/reloadable.h"

#include <errno.h>
#include <string.h>

#include "enforcer/policy/internal.h"

/* Rules are no entries. */
static bool is_live(const struct ward_key *k)
{
	return k->live == WARD_LIVE_YES;
}

static bool same_place(const struct ward_entry *a, const struct ward_entry *b)
{
	return a->key == b->key && strcmp(a->instance, b->instance) == 0;
}

/* Does p have the value that the entry gives? A default that is written down counts. */
static bool holds(const struct ward_policy *p, const struct ward_entry *e)
{
	bool set = false;
	for (size_t i = 0; i < p->n_effective; i++) {
		const struct ward_entry *o = p->effective[i];
		if (!same_place(o, e))
			continue;
		set = true;
		/* "1h" and "60m" are the same */
		if (strcmp(o->value, e->value) == 0 ||
			(!e->key->repeats && e->number && o->number == e->number))
			return true;
	}
	return !set && e->key->fallback && strcmp(e->value, e->key->fallback) == 0;
}

/* What p has in the place of e; NULL: nothing. */
static const struct ward_entry *counterpart(const struct ward_policy *p, const struct ward_entry *e)
{
	for (size_t i = 0; i < p->n_effective; i++)
		if (same_place(p->effective[i], e))
			return p->effective[i];
	return NULL;
}

/*
 * A key whose value alone may be another. Which limits a quota has decides how open files are
 * written.
 */
static bool other_value(const struct ward_policy *p, const struct ward_entry *e)
{
	return e->key->live == WARD_LIVE_VALUE && counterpart(p, e);
}

static void trees(const struct ward_policy *a, const struct ward_policy *b, const char *text,
	struct ward_buf *ret, size_t *ret_n)
{
	for (size_t i = 0; i < a->n_trees; i++) {
		size_t k = 0;
		while (k < b->n_trees && strcmp(a->trees[i], b->trees[k]) != 0)
			k++;
		if (k < b->n_trees)
			continue;
		if (a->tree_places[i].file)
			ward_buf_printf(ret, WARD_PLACE_FMT ": ",
				WARD_PLACE(a->tree_places[i].file, a->tree_places[i].line));
		ward_buf_printf(ret, "[tree %s] %s\n", a->trees[i], text);
		++*ret_n;
	}
}

static bool of_common_tree(
	const struct ward_policy *old, const struct ward_policy *now, const struct ward_entry *e)
{
	return ward_entry_of_tree(old, e) && ward_entry_of_tree(now, e);
}

int ward_policy_fixed(const struct ward_policy *old, const struct ward_policy *now,
	struct ward_buf *ret, size_t *ret_n)
{
	*ret_n = 0;
	trees(now, old, "is not served in this session", ret, ret_n);
	trees(old, now, "is served in this session, and missing", ret, ret_n);
	for (size_t i = 0; i < now->n_effective; i++) {
		const struct ward_entry *e = now->effective[i];
		if (is_live(e->key) || other_value(old, e) || holds(old, e) ||
			!of_common_tree(old, now, e))
			continue;
		const struct ward_entry *was = e->key->repeats ? NULL : counterpart(old, e);
		const char *value = was		       ? was->value
				    : e->key->repeats  ? "not so"
				    : e->key->fallback ? e->key->fallback
						       : "not set";
		ward_buf_printf(ret, WARD_PLACE_FMT ": ", WARD_PLACE(e->file, e->line));
		ward_entry_name(ret, e);
		ward_buf_printf(ret, " = %s (in force: %s)\n", e->value, value);
		++*ret_n;
	}
	for (size_t i = 0; i < old->n_effective; i++) {
		const struct ward_entry *e = old->effective[i];
		/* what the new one sets otherwise is named already */
		if (is_live(e->key) || holds(now, e) || !of_common_tree(old, now, e) ||
			(!e->key->repeats && counterpart(now, e)))
			continue;
		ward_entry_name(ret, e);
		ward_buf_printf(ret, " = %s is in force, and missing\n", e->value);
		++*ret_n;
	}
	return ward_buf_error(ret);
}
