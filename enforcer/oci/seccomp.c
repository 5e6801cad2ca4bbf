/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine's list of system calls, without what ours does not let pass. OCI has one list a
 * container, so both become one.
 *
 * A call that ours refuses is taken out of every rule of the engine's that lets it pass. One that
 * ours lets pass under a condition gets our rule in place of the engine's, if the engine lets it
 * pass without one. Where both have a condition, the call is refused unless they are equal, or both
 * ask for bits that are 0 (clone): libseccomp takes the rules of one call as alternatives, and both
 * at once cannot be said. An engine's list that lets pass what it does not name is replaced by
 * ours, less what it refuses.
 */
#include <string.h>

#include "enforcer/container/container.h"
#include "enforcer/oci/floor.h"

static bool passes(const json_t *rule)
{
	const char *action = json_string_value(json_object_get(rule, "action"));
	static const char *const none[] = {"SCMP_ACT_ERRNO", "SCMP_ACT_KILL",
		"SCMP_ACT_KILL_PROCESS", "SCMP_ACT_KILL_THREAD", "SCMP_ACT_TRAP"};
	for (size_t i = 0; action && i < sizeof(none) / sizeof(*none); i++)
		if (strcmp(action, none[i]) == 0)
			return false;
	return true;
}

static bool conditional(const json_t *rule)
{
	return json_array_size(json_object_get(rule, "args")) > 0;
}

/* The rule of the list that lets this call pass; NULL: none. */
static const json_t *find(const json_t *list, const char *name)
{
	json_t *rule = NULL;
	size_t i = 0;
	json_array_foreach(json_object_get(list, "syscalls"), i, rule)
	{
		json_t *n = NULL;
		size_t k = 0;
		if (!passes(rule))
			continue;
		json_array_foreach(json_object_get(rule, "names"), k, n)
		{
			const char *s = json_string_value(n);
			if (s && strcmp(s, name) == 0)
				return rule;
		}
	}
	return NULL;
}

/* The one condition "these bits of argument N are 0"; NULL: another one, or more. */
static const json_t *no_bits(const json_t *args)
{
	const json_t *a = json_array_size(args) == 1 ? json_array_get(args, 0) : NULL;
	const char *op = json_string_value(json_object_get(a, "op"));
	const json_t *two = json_object_get(a, "valueTwo");
	return op && strcmp(op, "SCMP_CMP_MASKED_EQ") == 0 &&
			       (!two || json_integer_value(two) == 0) &&
			       json_is_integer(json_object_get(a, "value"))
		       ? a
		       : NULL;
}

/* Both conditions as one; NULL: they cannot be said as one. */
static json_t *both_args(const json_t *a, const json_t *b)
{
	const json_t *x = no_bits(a);
	const json_t *y = no_bits(b);
	if (!x || !y || !json_equal(json_object_get(x, "index"), json_object_get(y, "index")))
		return NULL;
	return json_pack("[{s:O, s:s, s:I, s:i}]", "index", json_object_get(x, "index"), "op",
		"SCMP_CMP_MASKED_EQ", "value",
		json_integer_value(json_object_get(x, "value")) |
			json_integer_value(json_object_get(y, "value")),
		"valueTwo", 0);
}

/* A rule of the engine's that lets calls pass: those of its names that may stay. */
static void narrow_rule(json_t *rule, const json_t *ours, json_t *added)
{
	json_t *names = json_object_get(rule, "names");
	for (size_t k = json_array_size(names); k-- > 0;) {
		const char *name = json_string_value(json_array_get(names, k));
		const json_t *our = name ? find(ours, name) : NULL;
		const json_t *args = json_object_get(our, "args");
		if (our && (!conditional(our) || json_equal(args, json_object_get(rule, "args"))))
			continue;
		json_t *both = !our		   ? NULL
			       : conditional(rule) ? both_args(args, json_object_get(rule, "args"))
						   : json_deep_copy(args);
		if (both)
			json_array_append_new(
				added, json_pack("{s:[s], s:s, s:o}", "names", name, "action",
					       "SCMP_ACT_ALLOW", "args", both));
		json_array_remove(names, k);
	}
}

static json_t *narrow(const json_t *engine, const json_t *ours)
{
	json_t *list = json_deep_copy(engine);
	json_t *rules = json_object_get(list, "syscalls");
	json_t *added = json_array();
	for (size_t i = json_array_size(rules); i-- > 0;) {
		json_t *rule = json_array_get(rules, i);
		if (passes(rule))
			narrow_rule(rule, ours, added);
		if (json_array_size(json_object_get(rule, "names")) == 0)
			json_array_remove(rules, i);
	}
	if (rules)
		json_array_extend(rules, added);
	/* Ours is for this processor's own calls. Those of its older relatives end the program. */
	json_object_del(list, "architectures");
	json_decref(added);
	return list;
}

/* The engine lets pass what it does not name: ours, less what it refuses in any case. */
static json_t *less(json_t *ours, const json_t *engine)
{
	json_t *rule = NULL;
	size_t i = 0;
	json_array_foreach(json_object_get(engine, "syscalls"), i, rule)
	{
		json_t *n = NULL;
		size_t k = 0;
		if (passes(rule))
			continue;
		json_array_foreach(json_object_get(rule, "names"), k, n)
		{
			const char *name = json_string_value(n);
			json_t *our = NULL;
			size_t j = 0;
			json_array_foreach(json_object_get(ours, "syscalls"), j, our)
			{
				json_t *names = json_object_get(our, "names");
				for (size_t m = json_array_size(names); passes(our) && m-- > 0;) {
					const char *s = json_string_value(json_array_get(names, m));
					if (name && strcmp(s, name) == 0)
						json_array_remove(names, m);
				}
			}
		}
	}
	json_t *rules = json_object_get(ours, "syscalls");
	for (i = json_array_size(rules); i-- > 0;)
		if (json_array_size(json_object_get(json_array_get(rules, i), "names")) == 0)
			json_array_remove(rules, i);
	return ours;
}

json_t *ward_oci_seccomp_both(const json_t *engine)
{
	json_t *ours = json_loads(ward_container_seccomp, 0, NULL);
	if (!ours || !engine || json_is_null(engine))
		return ours;
	const char *rest = json_string_value(json_object_get(engine, "defaultAction"));
	json_t *both = NULL;
	if (!json_is_object(engine) || !rest) {
		json_decref(ours);
		return NULL;
	}
	const json_t *as_rule = json_object_get(engine, "defaultAction");
	json_t *probe = json_pack("{s:O}", "action", as_rule);
	both = passes(probe) ? less(json_incref(ours), engine) : narrow(engine, ours);
	json_decref(probe);
	json_decref(ours);
	return both;
}
