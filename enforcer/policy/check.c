/* SPDX-License-Identifier: Apache-2.0 */
/* Finds what is odd about a policy that compiles. */
#include "enforcer/policy/check.h"

#include <stdio.h>
#include <string.h>

#include "conf/embedded.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/modes/table/mode.h"
#include "enforcer/policy/check_say.h"
#include "enforcer/policy/load.h"

/* About what lies beneath a directory that [system] shows no rule of [files] and no guard decides.
 */
static void check_system(const struct ward_checker *c)
{
	static const char *const homes[] = {"/", "~", "~/", "/home", "/home/", "/root", "/root/"};
	for (size_t i = 0; i < c->p->n_effective; i++) {
		const struct ward_entry *e = c->p->effective[i];
		if (!WARD_ENTRY_IS(e, system_read))
			continue;
		for (size_t k = 0; k < sizeof(homes) / sizeof(*homes); k++)
			if (strcmp(e->value, homes[k]) == 0)
				ward_checker_say_entry(c, e,
					"too wide: shows whole homes with their keys and tokens, and no rule or guard applies to what [system] shows",
					"name only directories of programs; for others use --read, or a [tree] with rules");
	}
}

/* Files that the host executes later and that the policy lets be written, at the top. */
static int check_host_executed(const struct ward_checker *c)
{
	ward_cleanup(ward_buf_clear) struct ward_buf names = WARD_BUF_INIT;
	const struct ward_rule *rule = NULL;
	const struct ward_settings *set = &c->p->settings;
	for (size_t i = 0; i < set->n_trees; i++)
		if (strcmp(set->trees[i].path, "/workspace") == 0 && set->trees[i].tmpfs_size)
			return 0; /* gone at the end: no host executes it */
	const char *list = ward_embedded_lists[0].data;
	while (*list) {
		char where[8], verb[8], pattern[64], path[96];
		/* sscanf() would go on to the next line */
		bool empty = *list == '\n' || *list == '#';
		int fields = empty ? 0 : sscanf(list, "%7s %7s %63s", where, verb, pattern);
		list += strcspn(list, "\n");
		list += *list == '\n';
		bool git = fields == 3 && strcmp(where, "git") == 0;
		if (!git && !(fields == 3 && strcmp(where, "top") == 0))
			continue;
		snprintf(path, sizeof(path), "/workspace/%s%s", git ? ".git/" : "", pattern);
		struct ward_decision d;
		int r = ward_checker_rights(c->p, path, &d);
		if (r < 0)
			return r;
		/* shipped profiles guard git directories only where there are any */
		if (d.verdict != WARD_VERDICT_ALLOW || !d.rule)
			continue;
		size_t len;
		if (git && (ward_profile_text(d.rule->file, &len) ||
				   c->p->sources[0].kind == WARD_SOURCE_PROFILE))
			continue;
		rule = d.rule;
		ward_buf_printf(
			&names, "%s%s", names.len ? ", " : "", path + strlen("/workspace/"));
	}
	if (!rule)
		return 0;
	ward_cleanup(ward_buf_clear) struct ward_buf why = WARD_BUF_INIT;
	ward_buf_printf(&why,
		"the host executes these files later, and the agent can write them: %s",
		ward_buf_str(&names));
	ward_checker_say_rule(c, rule, ward_buf_str(&why),
		"add 'read = …' for each under [guard], or extend medium");
	return ward_buf_error(&why);
}

/* Of quotas in one another the one with least decides: an inner one must have less. */
static void check_quotas(const struct ward_checker *c)
{
	const struct ward_policy *p = c->p;
	for (size_t i = 0; i < p->n_effective; i++) {
		const struct ward_entry *e = p->effective[i];
		for (size_t k = 0; ward_key_in(e->key, WARD_SECTION_QUOTA) && k < p->n_effective;
			k++) {
			const struct ward_entry *o = p->effective[k];
			/* Of rates in different times neither need be the less. */
			if (o->key != e->key || o == e || o->number > e->number ||
				(e->key->type == WARD_KEY_TYPE_COUNT_RATE &&
					strcmp(strchr(e->value, '/'), strchr(o->value, '/')) !=
						0) ||
				!ward_checker_lies_in(e->instance, o->instance))
				continue;
			ward_cleanup(ward_buf_clear) struct ward_buf why = WARD_BUF_INIT;
			ward_buf_printf(&why,
				"never decides: " WARD_PLACE_FMT
				" gives the quota around it, [quota %s], %s = %s",
				WARD_PLACE(o->file, o->line), o->instance, o->key->name, o->value);
			ward_checker_say_entry(
				c, e, ward_buf_str(&why), "lower its number, or remove the line");
			break;
		}
	}
}

/* What mode auto never picks, whatever the line says. */
static void check_auto(const struct ward_checker *c)
{
	const struct ward_entry *least = WARD_ENTRY(c->p, auto_least);
	const struct ward_settings *s = &c->p->settings;
	if (least && !(s->auto_least->guarantees & WARD_GUARANTEE_BIT(WARD_GUARANTEE_PROCESSES)) &&
		s->trust != WARD_TRUST_HIGH)
		ward_checker_say_entry(c, least,
			"never picked, because that mode also needs trust = high",
			"trust = high in [policy], and run --trust high; or least = process");
}

/* The time of a command that nothing names, and how no command begins. */
static void check_shells(const struct ward_checker *c)
{
	const struct ward_settings *s = &c->p->settings;
	const struct ward_entry *time = WARD_ENTRY(c->p, command_ns);
	if (time && s->command_ns != WARD_UNLIMITED && !s->shells.n && s->python == WARD_PYTHON_ANY)
		ward_checker_say_entry(c, time,
			"bounds only what 'wardfs exec' starts, because no [process] shell says how an agent's commands begin",
			"shell = bash -c in [process], if they begin so; wall in [limits] bounds the whole session");
	for (size_t i = 0; i < c->p->n_effective; i++) {
		const struct ward_entry *e = c->p->effective[i];
		if (WARD_ENTRY_IS(e, shells) && strpbrk(e->value, "*?["))
			ward_checker_say_entry(c, e,
				"never matches: it is no pattern, each word is compared as it is",
				"write only the words that every command begins with, as in bash -c");
	}
}

int ward_policy_check_regrets(const struct ward_policy *p, ward_finding_fn fn, void *user)
{
	struct ward_checker c = {.p = p, .fn = fn, .user = user};
	int r = ward_checker_trees(&c);
	if (r == 0)
		r = ward_checker_hidden(&c);
	c.about = WARD_ABOUT_HOST_EXECUTED;
	if (r == 0)
		r = check_host_executed(&c);
	c.about = WARD_ABOUT_POLICY;
	if (r == 0)
		check_system(&c);
	if (r == 0)
		ward_checker_network(&c);
	if (r == 0)
		check_quotas(&c);
	if (r == 0)
		check_auto(&c);
	if (r == 0)
		check_shells(&c);
	return r;
}

int ward_policy_check(const struct ward_policy *p, ward_finding_fn fn, void *user)
{
	const struct ward_checker c = {.p = p, .fn = fn, .user = user};
	const int r = ward_checker_rules(&c);
	return r < 0 ? r : ward_policy_check_regrets(p, fn, user);
}
