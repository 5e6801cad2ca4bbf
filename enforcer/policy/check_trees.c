/* SPDX-License-Identifier: Apache-2.0 */
/* Finds trees that serve too much, or what others serve as well. */
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/policy/check_say.h"

static int check_sources(const struct ward_checker *c)
{
	const struct ward_policy *p = c->p;
	for (size_t i = 0; i < p->n_effective; i++) {
		const struct ward_entry *e = p->effective[i];
		if (e->key->type != WARD_KEY_TYPE_TREE_SOURCE)
			continue;
		bool root = strcmp(e->value, "/") == 0;
		bool home = strcmp(e->value, "~") == 0 || strcmp(e->value, "~/") == 0;
		struct ward_decision d;
		int r = ward_checker_rights(p, e->instance, &d);
		if (r < 0)
			return r;
		if (root)
			ward_checker_say_entry(c, e,
				"serves the whole host, so you must name every secret",
				"serve only the directories that the command needs");
		else if (home && d.granted & WARD_RIGHT_WRITE)
			ward_checker_say_entry(c, e,
				"the command can write the home, and the host runs shell start-up files later",
				"serve it with read, or serve only the directories that the command needs");
	}
	return 0;
}

static bool is_served(const struct ward_entry *e)
{
	return e->key->type == WARD_KEY_TYPE_TREE_SOURCE && strncmp(e->value, "tmpfs:", 6) != 0;
}

/* Trees whose files are seen elsewhere too: by other rules, other sessions, as the policy itself.
 */
static int check_shared(const struct ward_checker *c)
{
	static const char *const common[] = {
		"/tmp", "/var/tmp", "/dev/shm", "/home", "/srv", "/mnt", "/media", "/opt"};
	static const char *const ours[] = {"~/.config", "~/.config/wardfs", "/etc", "/etc/wardfs",
		"~/.local/state", "~/.local/state/wardfs", "/var/lib", "/var/lib/wardfs"};
	const struct ward_policy *p = c->p;
	for (size_t i = 0; i < p->n_effective; i++) {
		const struct ward_entry *e = p->effective[i];
		struct ward_decision d;
		if (!is_served(e))
			continue;
		for (size_t k = 0; k < i; k++) {
			const struct ward_entry *o = p->effective[k];
			if (is_served(o) && (ward_checker_lies_in(e->value, o->value) ||
						    ward_checker_lies_in(o->value, e->value)))
				ward_checker_say_entry(c, e,
					"serves files that another [tree] also serves, so a rule on one path does not apply to the other",
					"serve them once, and use at = for a second path");
		}
		int r = ward_checker_rights(p, e->instance, &d);
		if (r < 0)
			return r;
		for (size_t k = 0; k < sizeof(common) / sizeof(common[0]); k++)
			if (d.granted & WARD_RIGHT_WRITE && strcmp(e->value, common[k]) == 0)
				ward_checker_say_entry(c, e,
					"other sessions and programs share this tree, so each reads what another one wrote",
					"serve a directory that only this project uses");
		for (size_t k = 0; k < sizeof(ours) / sizeof(ours[0]); k++)
			if (d.granted & WARD_RIGHT_WRITE && strcmp(e->value, ours[k]) == 0)
				ward_checker_say_entry(c, e,
					"policies or trails lie there, so the agent could write its own",
					"serve it with read, or not at all");
	}
	return 0;
}

int ward_checker_trees(const struct ward_checker *c)
{
	const int r = check_sources(c);
	return r < 0 ? r : check_shared(c);
}

void ward_policy_tree_place(
	const struct ward_policy *p, const char *path, const char **ret_file, unsigned *ret_line)
{
	*ret_file = "";
	*ret_line = 1;
	for (size_t i = 0; i < p->n_sources; i++)
		if (p->sources[i].kind == WARD_SOURCE_BASE)
			*ret_file = p->sources[i].file;
	for (size_t i = 0; i < p->n_effective; i++) {
		const struct ward_entry *e = p->effective[i];
		if (e->key->type != WARD_KEY_TYPE_TREE_SOURCE || strcmp(e->instance, path) != 0)
			continue;
		*ret_file = e->file;
		*ret_line = e->line;
	}
}
