/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a question. */
#include "enforcer/cli/policy/approve_show.h"

#include <errno.h>
#include <stdio.h>

#include "enforcer/base/out.h"
#include "enforcer/base/plural.h"

/* Of a name with its number. */
#define NAME_SIZE 24

const char *ward_approve_member(const json_t *o, const char *name)
{
	const char *s = json_string_value(json_object_get(o, name));
	return s ? s : "";
}

size_t ward_approve_paths(const json_t *o)
{
	return 1 + json_array_size(json_object_get(o, "more"));
}

/* What a person types for it: QUESTION, or QUESTION.N where it shows N paths. */
static void name_of(const json_t *o, char ret[NAME_SIZE])
{
	const size_t n = ward_approve_paths(o);
	if (n > 1)
		(void)snprintf(ret, NAME_SIZE, "%.12s.%zu", ward_approve_member(o, "question"), n);
	else
		(void)snprintf(ret, NAME_SIZE, "%.12s", ward_approve_member(o, "question"));
}

int ward_approve_shorten(json_t *o, size_t n)
{
	json_t *more = json_object_get(o, "more"), *digests = json_object_get(o, "digests");
	const size_t all = ward_approve_paths(o);
	if (n == all)
		return 0;
	if (n == 0 || n > all || n > json_array_size(digests))
		return -EINVAL;
	while (json_array_size(more) > n - 1)
		json_array_remove(more, json_array_size(more) - 1);
	while (json_array_size(digests) > n)
		json_array_remove(digests, json_array_size(digests) - 1);
	json_object_set(o, "digest", json_array_get(digests, n - 1));
	if (n == 1) {
		json_object_del(o, "more");
		json_object_del(o, "digests");
	}
	return 0;
}

static void print_list(const char *head, const json_t *list, const char *between)
{
	size_t i = 0;
	const json_t *v = NULL;
	if (json_array_size(list) == 0)
		return;
	ward_outf("    %s", head);
	json_array_foreach(list, i, v) ward_outf("%s%s", i ? between : "", json_string_value(v));
	ward_outf("\n");
}

/* What a question is about: a path, or HOST:PORT. */
static const char *what_of(const json_t *o)
{
	return *ward_approve_member(o, "host") ? ward_approve_member(o, "host")
					       : ward_approve_member(o, "path");
}

static void print_more(const json_t *o)
{
	const json_t *one = NULL;
	size_t i = 0;
	json_array_foreach(json_object_get(o, "more"), i, one)
	{
		const char *action = ward_approve_member(one, "action");
		ward_outf("    %s%s%s%s", i ? "           " : "and:       ", action,
			*action ? " " : "", ward_approve_member(one, "path"));
		if (*ward_approve_member(one, "path2"))
			ward_outf(" to %s", ward_approve_member(one, "path2"));
		if (json_object_get(one, "pid"))
			ward_outf(" by %s (%lld)",
				*ward_approve_member(one, "program")
					? ward_approve_member(one, "program")
					: "a process",
				(long long)json_integer_value(json_object_get(one, "pid")));
		ward_outf("\n");
	}
}

static void print_allows(const json_t *o)
{
	const size_t n = ward_approve_paths(o);
	const char *path2 = ward_approve_member(o, "path2");
	if (n > 1 && *path2)
		ward_outf("    yes allows: these %zu operations, and %s on each of their paths,\n"
			  "                until the session ends\n",
			n, ward_approve_member(o, "rights"));
	else if (n > 1)
		ward_outf(
			"    yes allows: %s on these %zu paths until the session ends\n"
			"                (of what exists: this file, whatever it contains later)\n",
			ward_approve_member(o, "rights"), n);
	else if (*path2)
		ward_outf("    yes allows: %s on %s and on %s until the session ends\n"
			  "                (%s)\n",
			ward_approve_member(o, "rights"), what_of(o), path2,
			ward_approve_member(o, "promise"));
	else
		ward_outf("    yes allows: %s on %s until the session ends\n"
			  "                (%s)\n",
			ward_approve_member(o, "rights"), what_of(o),
			ward_approve_member(o, "promise"));
}

void ward_approve_show(const json_t *o)
{
	char name[NAME_SIZE];
	const bool waits = json_is_true(json_object_get(o, "waits"));
	const long long left = (long long)json_integer_value(json_object_get(o, "left"));
	const long long signers = (long long)json_integer_value(json_object_get(o, "approvers"));
	name_of(o, name);
	ward_outf("%s  %s %s", name, ward_approve_member(o, "action"), what_of(o));
	if (*ward_approve_member(o, "path2"))
		ward_outf(" to %s", ward_approve_member(o, "path2"));
	if (!*ward_approve_member(o, "host"))
		ward_outf(" (%s)", ward_approve_member(o, "rights"));
	ward_outf("\n");
	print_more(o);
	if (*ward_approve_member(o, "program"))
		ward_outf("    asked by:  %s (%lld) in session %s\n",
			ward_approve_member(o, "program"),
			(long long)json_integer_value(json_object_get(o, "pid")),
			ward_approve_member(o, "session"));
	else
		ward_outf("    asked by:  a process in session %s\n",
			ward_approve_member(o, "session"));
	print_list("command:   ", json_object_get(o, "argv"), " ");
	print_list("started by: ", json_object_get(o, "ancestors"), " < ");
	ward_outf("    rule:      %s (%s)\n", ward_approve_member(o, "rule_text"),
		ward_approve_member(o, "rule"));
	print_allows(o);
	if (signers > 0)
		ward_outf(
			"    it takes %lld signed answer%s (wardfs approve sign), and %lld came\n",
			signers, ward_s((uint64_t)signers),
			(long long)json_integer_value(json_object_get(o, "signed")));
	ward_outf("    %s%lld s: wardfs approve %s %s\n",
		waits ? "it waits for another " : "refused for now; open for another ", left, name,
		signers > 0 ? "no|--signed FILE" : "yes|once|no");
}
