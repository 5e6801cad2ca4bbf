/* SPDX-License-Identifier: Apache-2.0 */
/* Finds what holds of a key after the merge. */
#include "enforcer/policy/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const struct ward_entry *ward_entry_of(
	const struct ward_policy *p, const struct ward_key *k, const char *instance)
{
	for (size_t i = 0; i < p->n_effective; i++)
		if (p->effective[i]->key == k && strcmp(p->effective[i]->instance, instance) == 0)
			return p->effective[i];
	return NULL;
}

const struct ward_entry *ward_entry_filling(const struct ward_policy *p, size_t offset)
{
	for (size_t i = 0; i < p->n_effective; i++)
		if (ward_key_fills(p->effective[i]->key, offset))
			return p->effective[i];
	return NULL;
}

bool ward_entry_of_tree(const struct ward_policy *p, const struct ward_entry *e)
{
	bool there = !ward_key_in(e->key, WARD_SECTION_TREE);
	for (size_t i = 0; !there && i < p->n_trees; i++)
		there = strcmp(p->trees[i], e->instance) == 0;
	return there;
}

void ward_entry_name(struct ward_buf *b, const struct ward_entry *e)
{
	ward_buf_printf(b, "[%s%s%s] %s", e->key->section->name, *e->instance ? " " : "",
		e->instance, e->key->name);
}

int ward_strings_add(struct ward_strings *s, char *text)
{
	char **v = text ? reallocarray(s->v, s->n + 1, sizeof(*v)) : NULL;
	if (!v) {
		free(text);
		return -ENOMEM;
	}
	s->v = v;
	s->v[s->n++] = text;
	return 0;
}
