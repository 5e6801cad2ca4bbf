/* SPDX-License-Identifier: Apache-2.0 */
/* Adds to the owner's file what a first policy for the project would have besides. */
#include "enforcer/cli/policy/init_merge.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/cli/policy/policy_lines.h"
#include "enforcer/policy/keys.h"

static bool has_section(const struct policy_lines *l, const char *section)
{
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->v[i].section, section) == 0)
			return true;
	return false;
}

/* A rule on a tree of the draft that the owner's file has already, or of the tree itself. */
static bool of_known_tree(const struct policy_lines *have, const struct policy_lines *draft,
	const struct policy_line *l)
{
	static const char tree[] = "[tree ";
	if (strncmp(l->section, tree, strlen(tree)) == 0)
		return has_section(have, l->section);
	for (size_t i = 0; i < draft->n; i++) {
		const char *s = draft->v[i].section;
		if (strncmp(s, tree, strlen(tree)) != 0 || !has_section(have, s))
			continue;
		const size_t n = strcspn(s + strlen(tree), "]");
		if (strncmp(l->value, s + strlen(tree), n) == 0 &&
			(!l->value[n] || l->value[n] == '/'))
			return true;
	}
	return false;
}

static bool repeats(const struct policy_line *l)
{
	char kind[32];
	const struct ward_section *s = NULL;
	const struct ward_key *k = NULL;
	const size_t n = strcspn(l->section + 1, " ]");
	if (n >= sizeof(kind))
		return false;
	memcpy(kind, l->section + 1, n);
	kind[n] = 0;
	return ward_section_find(kind, &s, NULL) == 0 && ward_key_find(s, l->key, &k, NULL) == 0 &&
	       k->repeats;
}

static bool is_set(const struct policy_lines *have, const struct policy_line *l)
{
	for (size_t i = 0; i < have->n; i++)
		if (strcmp(have->v[i].section, l->section) == 0 &&
			strcmp(have->v[i].key, l->key) == 0)
			return true;
	return false;
}

int init_merge(const char *file, const struct ward_buf *have_text,
	const struct ward_buf *draft_text, struct ward_buf *ret, size_t *ret_added,
	struct ward_err *err)
{
	ward_cleanup(policy_lines_clear) struct policy_lines have = POLICY_LINES_INIT;
	ward_cleanup(policy_lines_clear) struct policy_lines draft = POLICY_LINES_INIT;
	*ret_added = 0;
	int r = policy_lines_read(file, have_text, &have, err);
	if (r == 0)
		r = policy_lines_read("the draft", draft_text, &draft, err);
	if (r < 0)
		return r;
	ward_buf_add(ret, have_text->data, have_text->len);
	for (size_t i = 0; i < draft.n; i++) {
		const struct policy_line *l = &draft.v[i];
		if (strcmp(l->section, "[policy]") == 0 ||
			policy_lines_find(&have, 0, l->section, l->key, l->value) ||
			of_known_tree(&have, &draft, l) || (!repeats(l) && is_set(&have, l)))
			continue;
		policy_lines_append(ret, l->section, l->key, l->value);
		++*ret_added;
	}
	r = ward_buf_error(ret);
	return r < 0 ? ward_err_sys(err, r, "%s", file) : 0;
}
