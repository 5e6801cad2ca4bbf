/* SPDX-License-Identifier: Apache-2.0 */
/* Finds sections and keys in the table, and checks the values of keys. */
#include "enforcer/policy/keys.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "enforcer/base/limit.h"
#include "enforcer/modes/table/mode.h"
#include "enforcer/policy/value.h"

bool ward_section_of_project(const struct ward_section *section)
{
	for (const struct ward_key *k = ward_keys; k->section; k++)
		if (k->by & WARD_BY_PROJECT && k->section == section)
			return true;
	return false;
}

static int unknown_key(const struct ward_section *section, const char *name, struct ward_err *err)
{
	const struct ward_key *near = NULL;
	unsigned best = WARD_NEAR + 1;
	for (const struct ward_key *k = ward_keys; k->section; k++) {
		bool here = k->section == section;
		unsigned d = ward_value_distance(name, k->name, WARD_NEAR);
		/* of other sections only what is spelt exactly so, the section being the slip */
		if (!here && d > 0)
			continue;
		if (!here)
			d = 1;
		if (d < best && d < WARD_NEAR) {
			best = d;
			near = k;
		}
	}
	if (!near)
		return ward_err_set(err, -EINVAL, "no key '%s' in [%s]", name, section->name);
	if (near->section == section)
		return ward_err_set(err, -EINVAL, "no key '%s' in [%s]: did you mean '%s'?", name,
			section->name, near->name);
	return ward_err_set(err, -EINVAL, "no key '%s' in [%s]: it belongs to [%s]", name,
		section->name, near->section->name);
}

int ward_key_find(const struct ward_section *section, const char *name, const struct ward_key **ret,
	struct ward_err *err)
{
	for (const struct ward_key *k = ward_keys; k->section; k++) {
		if (k->section == section && strcmp(k->name, name) == 0) {
			*ret = k;
			return 0;
		}
	}
	if (section == &ward_sections[WARD_SECTION_GUARD] &&
		strcmp(name, ward_verb_name(WARD_VERB_WRITE)) == 0)
		return ward_err_set(err, -EINVAL,
			"no key 'write' in [guard]: a guard only takes away; 'write' belongs to "
			"[files]");
	return unknown_key(section, name, err);
}

bool ward_key_word_ready(const struct ward_key *k, uint64_t word)
{
	if (k->into.fill == WARD_FILL_MODE)
		return ward_mode_at(word)->ready;
	return k->ready == WARD_READY_ALL || k->ready >> word & 1 ||
	       (k->fallback && strcmp(k->words[word], k->fallback) == 0);
}

int ward_key_check(
	const struct ward_key *k, const char *value, uint64_t *ret_number, struct ward_err *err)
{
	const struct ward_key_type_ops *type = &ward_key_types[k->type];
	*ret_number = 0;
	return type->parse ? type->parse(k, value, ret_number, err)
			   : ward_err_set(err, -EINVAL, "a key without a type");
}

bool ward_key_same_text(const struct ward_key *k, const char *a, const char *b)
{
	return ward_key_types[k->type].any_case ? strcasecmp(a, b) == 0 : strcmp(a, b) == 0;
}

uint64_t ward_key_fallback(const struct ward_key *k)
{
	uint64_t n;
	if (!k->fallback || ward_key_check(k, k->fallback, &n, NULL) < 0)
		return WARD_UNLIMITED;
	return n;
}
