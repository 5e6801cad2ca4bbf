/* SPDX-License-Identifier: Apache-2.0 */
/* Finds for `policy check` what [process] exec leaves open. */
#include "enforcer/cli/policy/check_programs.h"

#include <errno.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/policy/explain.h"
#include "enforcer/session/plan/exec_programs.h"

struct out {
	const struct ward_rule *first; /* where the list begins */
	ward_finding_fn fn;
	void *user;
};

static void say(const struct out *o, bool note, const char *why, const char *fix)
{
	const struct ward_finding f = {.note = note,
		.file = o->first->file,
		.line = o->first->line,
		.what = "[process] exec",
		.why = why,
		.fix = fix};
	o->fn(o->user, &f);
}

/* Names in one line, after what is said of them. */
static int say_names(const struct out *o, const char *what, const struct ward_buf *names,
	const char *why, const char *fix)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	if (names->len == 0)
		return ward_buf_error(names);
	ward_buf_printf(&b, "%s%s: %s", what, ward_buf_str(names), why);
	if (ward_buf_error(&b))
		return -ENOMEM;
	say(o, false, ward_buf_str(&b), fix);
	return 0;
}

static int check_interpreters(const struct out *o, const struct ward_programs *x)
{
	ward_cleanup(ward_buf_clear) struct ward_buf names = WARD_BUF_INIT;
	for (size_t i = 0; i + x->n_loaders < x->n; i++)
		if (ward_programs_is_interpreter(x->v[i]))
			ward_buf_printf(&names, " %s", x->v[i]);
	return say_names(o, "can run any code:", &names,
		"an interpreter does by itself what any program could, so the list is a list of names, "
		"not of what can be done",
		"leave it out, or rely on the rules for files and network instead");
}

static int check_loaders(const struct out *o, const struct ward_programs *x)
{
	ward_cleanup(ward_buf_clear) struct ward_buf names = WARD_BUF_INIT;
	for (size_t i = x->n - x->n_loaders; i < x->n; i++)
		ward_buf_printf(&names, " %s", x->v[i]);
	if (names.len == 0)
		return 0;
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_buf_printf(&b,
		"dynamic programs need their loader (%s), which can be asked to run a file: it maps "
		"nothing outside of library directories and listed places, so what lies beneath "
		"/usr/lib can be run through it",
		ward_buf_str(&names) + 1);
	if (ward_buf_error(&b))
		return -ENOMEM;
	say(o, true, ward_buf_str(&b), "static programs alone need none");
	return 0;
}

/* In a tree where the command may write, whatever stands at a listed name may be executed. */
static int check_trees(const struct out *o, const struct ward_policy *p)
{
	const struct ward_settings *s = ward_policy_settings(p);
	ward_cleanup(ward_buf_clear) struct ward_buf names = WARD_BUF_INIT;
	for (size_t i = 0; i < s->n_trees; i++) {
		const char *path = s->trees[i].path;
		const struct ward_state *state = NULL;
		if (ward_programs_listed(p, path) == WARD_SANDBOX_LISTED_NOT)
			continue;
		int r = ward_policy_walk(p, path, strlen(path), &state);
		if (r < 0)
			return r;
		if (ward_policy_rights(p, state) & WARD_RIGHT_WRITE)
			ward_buf_printf(&names, " %s", path);
		ward_policy_state_put(p, state);
	}
	return say_names(o, "names programs in a tree that may be written:", &names,
		"the command can put anything at a listed name and execute it, and the loader can run "
		"every file of that tree",
		"a guard 'read' on the program, or a place outside of the trees");
}

int ward_check_programs(
	const struct ward_policy *p, ward_finding_fn fn, void *user, struct ward_err *err)
{
	const struct out o = {ward_policy_first_program(p), fn, user};
	ward_cleanup(ward_programs_clear) struct ward_programs x = WARD_PROGRAMS_INIT;
	if (!o.first)
		return 0;
	int r = ward_programs_find(p, &x, err);
	if (r == 0)
		r = check_interpreters(&o, &x);
	if (r == 0)
		r = check_loaders(&o, &x);
	if (r == 0)
		r = check_trees(&o, p);
	for (char *line = x.note, *next = NULL; r == 0 && line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		say(&o, false, line + strlen("[process] exec: "), "list the interpreter too");
	}
	if (r == 0 && x.n == x.n_loaders)
		say(&o, true, "means no program that is on this host outside of the trees", NULL);
	return r;
}
