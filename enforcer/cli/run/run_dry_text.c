/* SPDX-License-Identifier: Apache-2.0 */
/* Prints for people what --dry-run found out. */
#include "enforcer/cli/run/run_dry_text.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char *text(const json_t *o, const char *name)
{
	const char *s = json_string_value(json_object_get(o, name));
	return s ? s : "";
}

static void print_person(const char *head, const json_t *p)
{
	printf("%-12s %s (uid %lld)\n", head, text(p, "name"),
		(long long)json_integer_value(json_object_get(p, "uid")));
}

static void print_trees(const json_t *all)
{
	size_t i = 0;
	const json_t *t = NULL;
	puts("trees");
	json_array_foreach(all, i, t)
	{
		const char *source = text(t, "source"), *at = text(t, "at");
		printf("  %s: %s%s%s\n", text(t, "path"), *source ? source : "in memory",
			*at ? ", also at " : "", at);
	}
}

/* One line for each kind of mount, in the order of the first of each. */
static void print_mounts(const json_t *all)
{
	size_t i = 0, k = 0;
	const json_t *m = NULL, *other = NULL;
	puts("also seen");
	json_array_foreach(all, i, m)
	{
		bool first = true;
		for (k = 0; k < i && first; k++)
			first = strcmp(text(json_array_get(all, k), "what"), text(m, "what")) != 0;
		if (!first)
			continue;
		printf("  %s:", text(m, "what"));
		json_array_foreach(all, k, other)
		{
			if (strcmp(text(other, "what"), text(m, "what")) != 0)
				continue;
			bool host = !strstr(text(m, "what"), "memory");
			bool there = json_is_true(json_object_get(other, "there"));
			printf(" %s%s", text(other, "path"), host && !there ? " (not there)" : "");
		}
		putchar('\n');
	}
}

static void print_sources(const json_t *all)
{
	size_t i = 0, k = 0;
	const json_t *s = NULL, *l = NULL;
	puts("rules and keys (in [files] the last that matches decides, a [guard] always holds)");
	json_array_foreach(all, i, s)
	{
		printf("  %s: %s\n", text(s, "source"), text(s, "file"));
		json_array_foreach(json_object_get(s, "lines"), k, l)
			printf("    %s:%lld [%s] %s = %s\n", text(s, "file"),
				(long long)json_integer_value(json_object_get(l, "line")),
				text(l, "section"), text(l, "key"), text(l, "value"));
	}
}

static void print_network(const json_t *n)
{
	size_t i = 0;
	const json_t *k = NULL;
	printf("%-12s %s\n", "network", text(n, "mode"));
	json_array_foreach(json_object_get(n, "keys"), i, k)
		printf("  %s = %s\n", text(k, "key"), text(k, "value"));
}

static void print_limits(const json_t *o)
{
	const char *name = NULL;
	const json_t *v = NULL;
	size_t i = 0;
	json_t *limits = json_object_get(o, "limits"), *missing = json_object_get(o, "missing");
	if (!limits)
		return;
	puts("limits");
	/* jansson's iterator wants a plain pointer */
	json_t *member = NULL;
	json_object_foreach(limits, name, member) printf("  %s = %lld (held by: %s)\n", name,
		(long long)json_integer_value(json_object_get(member, "value")),
		text(member, "by"));
	if (*text(o, "delegation"))
		printf("  %s\n", text(o, "delegation"));
	printf("%-12s", "guarantees");
	json_array_foreach(json_object_get(o, "guarantees"), i, v)
		printf(" %s", json_string_value(v));
	printf("\n%-12s%s\n", "missing", json_object_size(missing) ? "" : " none");
	json_object_foreach(missing, name, member)
		printf("  %s: %s (%s)\n", name, text(member, "why"), text(member, "because"));
}

static void print_environment(const json_t *all)
{
	size_t i = 0;
	const json_t *v = NULL;
	puts("environment");
	json_array_foreach(all, i, v)
	{
		const json_t *value = json_object_get(v, "value");
		printf("  %s%s%s (%s)\n", text(v, "name"), json_is_string(value) ? "=" : "",
			json_is_string(value) ? json_string_value(value) : "", text(v, "from"));
	}
}

static void print_program(const json_t *o)
{
	const json_t *p = json_object_get(o, "program");
	if (!p)
		return;
	printf("%-12s %s", "program", text(p, "inside"));
	if (strcmp(text(p, "inside"), text(p, "host")) != 0)
		printf(", on the host %s", text(p, "host"));
	if (*text(p, "interpreter"))
		printf(", a script for %s", text(p, "interpreter"));
	putchar('\n');
}

void ward_run_dry_print(const json_t *o)
{
	size_t i = 0;
	const json_t *u = NULL;
	if (json_object_get(o, "project")) {
		printf("%-12s %s\n", "project", text(o, "project"));
		print_person("owner", json_object_get(o, "owner"));
		print_person("runs as", json_object_get(o, "command_runs_as"));
		printf("%-12s %s\n", "mode", text(o, "mode"));
		printf("%-12s %s\n", "directory", text(o, "directory"));
		print_trees(json_object_get(o, "trees"));
		print_mounts(json_object_get(o, "mounts"));
		print_sources(json_object_get(o, "sources"));
		print_network(json_object_get(o, "network"));
		if (*text(o, "seccomp"))
			printf("%-12s list %s\n", "system calls", text(o, "seccomp"));
		print_limits(o);
		print_environment(json_object_get(o, "environment"));
		printf("%-12s in %s\n", "trail", text(o, "state"));
		print_program(o);
		printf("not tried   ");
		json_array_foreach(json_object_get(o, "untried"), i, u)
			printf("%s%s", i ? "; " : " ", json_string_value(u));
		putchar('\n');
	}
	if (json_is_true(json_object_get(o, "would_start")))
		puts("It would start.");
	else
		printf("It would not start: exit status %lld.\n",
			(long long)json_integer_value(json_object_get(o, "status")));
}
