/* SPDX-License-Identifier: Apache-2.0 */
/*
 * [expect]: refusals that a program meets on every day, and that nobody has to hear of. They decide
 * nothing: the code that records a refusal asks here whether it is expected, and the record says
 * so.
 */
#include <errno.h>
#include <stdlib.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/policy/explain.h"
#include "enforcer/policy/internal.h"
#include "enforcer/policy/pattern.h"

struct ward_expected {
	const struct ward_entry *entry;
	bool lookup; /* of looks alone that are answered as if nothing were there */
	struct ward_pattern pattern;
};

int ward_expected_read(struct ward_policy *p, const struct ward_key *k, const char *instance,
	void *base, struct ward_err *err)
{
	(void)instance, (void)base;
	/* One call for each of the keys that name paths: all entries together fit. */
	if (!p->expected)
		p->expected = calloc(p->n_effective + 1, sizeof(*p->expected));
	if (!p->expected)
		return ward_err_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < p->n_effective; i++) {
		if (p->effective[i]->key != k)
			continue;
		struct ward_expected *x = &p->expected[p->n_expected];
		int r = ward_pattern_parse(p->effective[i]->value, false, &x->pattern, err);
		if (r < 0)
			return r;
		x->entry = p->effective[i];
		x->lookup = k->type == WARD_KEY_TYPE_EXPECTED_LOOK;
		p->n_expected++;
	}
	return 0;
}

void ward_expected_clear(struct ward_policy *p)
{
	for (size_t i = 0; i < p->n_expected; i++)
		ward_pattern_clear(&p->expected[i].pattern);
	free(p->expected);
	p->expected = NULL;
	p->n_expected = 0;
}

bool ward_policy_expects_path(const struct ward_policy *p, const char *path, size_t len,
	bool absent, const char **ret_file, unsigned *ret_line)
{
	for (size_t i = 0; i < p->n_expected; i++) {
		if (p->expected[i].lookup && !absent)
			continue;
		if (!ward_pattern_covers_path(&p->expected[i].pattern, path, len))
			continue;
		*ret_file = p->expected[i].entry->file;
		*ret_line = p->expected[i].entry->line;
		return true;
	}
	return false;
}
