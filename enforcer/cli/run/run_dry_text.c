/* SPDX-License-Identifier: Apache-2.0 */
/* Prints for people what --dry-run found out. */
#include "enforcer/cli/run/run_dry_text.h"

#include <stdbool.h>
#include <string.h>

#include "enforcer/base/out.h"

static const char *text(const json_t *o, const char *name)
{
	const char *s = json_string_value(json_object_get(o, name));
	return s ? s : "";
}

static void print_person(const char *head, const json_t *p)
{
	ward_outf("%-12s %s (uid %lld)\n", head, text(p, "name"),
		(long long)json_integer_value(json_object_get(p, "uid")));
}

static void print_trees(const json_t *all)
{
	size_t i = 0;
	const json_t *t = NULL;
	ward_outf("trees\n");
	json_array_foreach(all, i, t)
	{
		const char *source = text(t, "source"), *at = text(t, "at");
		ward_outf("  %s: %s%s%s\n", text(t, "path"), *source ? source : "in memory",
			*at ? ", also at " : "", at);
	}
}

/* One line for each kind of mount, in the order of the first of each. */
static void print_mounts(const json_t *all)
{
	size_t i = 0, k = 0;
	const json_t *m = NULL, *other = NULL;
	ward_outf("also seen\n");
	json_array_foreach(all, i, m)
	{
		bool first = true;
		for (k = 0; k < i && first; k++)
			first = strcmp(text(json_array_get(all, k), "what"), text(m, "what")) != 0;
		if (!first)
			continue;
		ward_outf("  %s:", text(m, "what"));
		json_array_foreach(all, k, other)
		{
			if (strcmp(text(other, "what"), text(m, "what")) != 0)
				continue;
			bool host = !strstr(text(m, "what"), "memory");
			bool there = json_is_true(json_object_get(other, "there"));
			ward_outf(
				" %s%s", text(other, "path"), host && !there ? " (not there)" : "");
		}
		ward_outf("\n");
	}
}

static void print_sources(const json_t *all)
{
	size_t i = 0, k = 0;
	const json_t *s = NULL, *l = NULL;
	ward_outf(
		"rules and keys (in [files] the last that matches decides, a [guard] always holds)\n");
	json_array_foreach(all, i, s)
	{
		ward_outf("  %s: %s\n", text(s, "source"), text(s, "file"));
		json_array_foreach(json_object_get(s, "lines"), k, l)
			ward_outf("    %s:%lld [%s] %s = %s\n", text(s, "file"),
				(long long)json_integer_value(json_object_get(l, "line")),
				text(l, "section"), text(l, "key"), text(l, "value"));
	}
}

static void print_network(const json_t *n)
{
	size_t i = 0;
	const json_t *k = NULL;
	ward_outf("%-12s %s\n", "network", text(n, "mode"));
	json_array_foreach(json_object_get(n, "keys"), i, k)
		ward_outf("  %s = %s\n", text(k, "key"), text(k, "value"));
}

static void print_limits(const json_t *o)
{
	const char *name = NULL;
	const json_t *v = NULL;
	size_t i = 0;
	json_t *limits = json_object_get(o, "limits"), *missing = json_object_get(o, "missing");
	if (!limits)
		return;
	ward_outf("limits\n");
	/* jansson's iterator wants a plain pointer */
	json_t *member = NULL;
	json_object_foreach(limits, name, member) ward_outf("  %s = %lld (held by: %s)\n", name,
		(long long)json_integer_value(json_object_get(member, "value")),
		text(member, "by"));
	if (*text(o, "delegation"))
		ward_outf("  %s\n", text(o, "delegation"));
	ward_outf("%-12s", "guarantees");
	json_array_foreach(json_object_get(o, "guarantees"), i, v)
		ward_outf(" %s", json_string_value(v));
	ward_outf("\n%-12s%s\n", "missing", json_object_size(missing) ? "" : " none");
	json_object_foreach(missing, name, member)
		ward_outf("  %s: %s (%s)\n", name, text(member, "why"), text(member, "because"));
}

static void print_environment(const json_t *all)
{
	size_t i = 0;
	const json_t *v = NULL;
	ward_outf("environment\n");
	json_array_foreach(all, i, v)
	{
		const json_t *value = json_object_get(v, "value");
		ward_outf("  %s%s%s (%s)\n", text(v, "name"), json_is_string(value) ? "=" : "",
			json_is_string(value) ? json_string_value(value) : "", text(v, "from"));
	}
}

static void print_program(const json_t *o)
{
	const json_t *p = json_object_get(o, "program");
	if (!p)
		return;
	ward_outf("%-12s %s", "program", text(p, "inside"));
	if (strcmp(text(p, "inside"), text(p, "host")) != 0)
		ward_outf(", on the host %s", text(p, "host"));
	if (*text(p, "interpreter"))
		ward_outf(", a script for %s", text(p, "interpreter"));
	ward_outf("\n");
}

void ward_run_dry_print(const json_t *o)
{
	size_t i = 0;
	const json_t *u = NULL;
	if (json_object_get(o, "project")) {
		ward_outf("%-12s %s\n", "project", text(o, "project"));
		print_person("owner", json_object_get(o, "owner"));
		print_person("runs as", json_object_get(o, "command_runs_as"));
		ward_outf("%-12s %s\n", "mode", text(o, "mode"));
		ward_outf("%-12s %s\n", "directory", text(o, "directory"));
		print_trees(json_object_get(o, "trees"));
		print_mounts(json_object_get(o, "mounts"));
		print_sources(json_object_get(o, "sources"));
		print_network(json_object_get(o, "network"));
		if (*text(o, "seccomp"))
			ward_outf("%-12s list %s\n", "system calls", text(o, "seccomp"));
		print_limits(o);
		print_environment(json_object_get(o, "environment"));
		ward_outf("%-12s in %s\n", "trail", text(o, "state"));
		print_program(o);
		ward_outf("not tried   ");
		json_array_foreach(json_object_get(o, "untried"), i, u)
			ward_outf("%s%s", i ? "; " : " ", json_string_value(u));
		ward_outf("\n");
	}
	if (json_is_true(json_object_get(o, "would_start")))
		ward_outf("It would start.\n");
	else
		ward_outf("It would not start: exit status %lld.\n",
			(long long)json_integer_value(json_object_get(o, "status")));
}
