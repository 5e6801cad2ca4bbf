/* SPDX-License-Identifier: Apache-2.0 */
/* Knows the section of each word of `policy add`. */
#include "enforcer/cli/policy/policy_rule.h"

#include <errno.h>
#include <string.h>

#include "enforcer/cli/base/say.h"

static const struct word {
	const char *verb, *section;
} words[] = {
	{"hide", "[files]"},
	{"deny", "[files]"},
	{"read", "[files]"},
	{"append", "[files]"},
	{"write", "[files]"},
	{"ask", "[files]"},
	{"noexec", "[files]"},
	{"secret", "[files]"},
	{"allow", "[network]"},
	{"publish", "[network]"},
	{"forward", "[network]"},
	{"exec", "[process]"},
};
#define WORDS (sizeof(words) / sizeof(*words))

/* What people type who know the option of `run`, or another tool. NULL: none of it. */
static const char *meant(const char *verb)
{
	static const char *const others[][2] = {
		{"net", "allow"},
		{"network", "allow"},
		{"host", "allow"},
		{"connect", "allow"},
		{"port", "publish"},
		{"expose", "publish"},
		{"list", "read"},
		{"show", "read"},
		{"create", "write"},
		{"execute", "exec"},
	};
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (strcmp(others[i][0], verb) == 0)
			return others[i][1];
	return NULL;
}

int policy_rule_make(const char *verb, const char *value, bool guard, struct policy_rule *ret,
	struct ward_err *err)
{
	const struct word *w = NULL;
	for (size_t i = 0; i < WORDS; i++)
		if (strcmp(words[i].verb, verb) == 0)
			w = &words[i];
	if (!w) {
		const char *near = ward_near(verb, &words[0].verb, WORDS, sizeof(*words));
		near = near ? near : meant(verb);
		return ward_err_set(err, -EINVAL, "no verb '%s'%s%s%s", verb,
			near ? ": did you mean '" : "; the verbs are: " POLICY_RULE_WORDS,
			near ? near : "", near ? "'?" : "");
	}
	if (strpbrk(value, "\n\r"))
		return ward_err_set(err, -EINVAL, "a rule is one line");
	const bool files = strcmp(w->section, "[files]") == 0;
	if (guard && !files)
		return ward_err_set(
			err, -EINVAL, "'%s' cannot be a guard: a guard only takes away", verb);
	*ret = (struct policy_rule){verb, value, guard ? "[guard]" : w->section, files};
	return 0;
}
