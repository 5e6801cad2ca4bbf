/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a question. */
#include "enforcer/cli/policy/approve_show.h"

#include "enforcer/base/out.h"
#include "enforcer/base/plural.h"

const char *ward_approve_member(const json_t *o, const char *name)
{
	const char *s = json_string_value(json_object_get(o, name));
	return s ? s : "";
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

void ward_approve_show(const json_t *o)
{
	const bool waits = json_is_true(json_object_get(o, "waits"));
	const long long left = (long long)json_integer_value(json_object_get(o, "left"));
	const long long signers = (long long)json_integer_value(json_object_get(o, "approvers"));
	ward_outf("%s  %s %s", ward_approve_member(o, "question"), ward_approve_member(o, "action"),
		what_of(o));
	if (*ward_approve_member(o, "path2"))
		ward_outf(" to %s", ward_approve_member(o, "path2"));
	if (!*ward_approve_member(o, "host"))
		ward_outf(" (%s)", ward_approve_member(o, "rights"));
	ward_outf("\n");
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
	ward_outf("    yes allows: %s on %s until the session ends\n"
		  "                (%s)\n",
		ward_approve_member(o, "rights"), what_of(o), ward_approve_member(o, "promise"));
	if (signers > 0)
		ward_outf(
			"    it takes %lld signed answer%s (wardfs approve sign), and %lld came\n",
			signers, ward_s((uint64_t)signers),
			(long long)json_integer_value(json_object_get(o, "signed")));
	ward_outf("    %s%lld s: wardfs approve %s %s\n",
		waits ? "it waits for another " : "refused for now; open for another ", left,
		ward_approve_member(o, "question"),
		signers > 0 ? "no|--signed FILE" : "yes|once|no");
}
