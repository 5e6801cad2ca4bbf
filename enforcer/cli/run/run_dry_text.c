/* SPDX-License-Identifier: Apache-2.0 */
/* Prints for people what --dry-run found out. */
#include "enforcer/cli/run/run_dry_text.h"

#include <stdbool.h>
#include <string.h>

#include "enforcer/base/out.h"
#include "enforcer/cli/run/risk_text.h"

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
			ward_outf(" %s%s", text(other, "path"), host && !there ? " (missing)" : "");
		}
		ward_outf("\n");
	}
}

/* A source with more lines is named, with their number. */
#define FEW_LINES 8
/* Those of options and of the session stand in no file that could be looked at. */
#define RUN_LINES 20

static void print_sources(const json_t *all, bool verbose)
{
	size_t i = 0, k = 0;
	const json_t *s = NULL, *l = NULL;
	ward_outf("rules and keys (in [files] the last that matches decides, a [guard] always "
		  "applies)\n");
	json_array_foreach(all, i, s)
	{
		const size_t n = json_array_size(json_object_get(s, "lines"));
		const bool of_run = strcmp(text(s, "source"), "run") == 0;
		const bool options = of_run && strcmp(text(s, "file"), "command line") == 0;
		ward_outf("  %s: %s%s", text(s, "source"), text(s, "file"),
			options ? " and the session's own" : "");
		if (!verbose && n > (options ? RUN_LINES : of_run ? 0 : FEW_LINES)) {
			ward_outf(", %zu lines (-v prints them)\n", n);
			continue;
		}
		ward_outf("\n");
		json_array_foreach(json_object_get(s, "lines"), k, l)
			ward_outf("    line %lld [%s] %s = %s\n",
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

/* Those of the profile in one line, unless all is printed. */
static void print_defaults(json_t *limits)
{
	const char *name = NULL, *before = "  of the profile:";
	json_t *member = NULL;
	json_object_foreach(limits, name, member)
	{
		if (!json_is_true(json_object_get(member, "default")))
			continue;
		ward_outf("%s %s = %s", before, name, text(member, "text"));
		before = ",";
	}
	if (strcmp(before, ",") == 0)
		ward_outf("\n");
}

static void print_limits(const json_t *o, bool verbose)
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
	if (!verbose)
		print_defaults(limits);
	json_object_foreach(limits, name, member)
	{
		const bool profile = json_is_true(json_object_get(member, "default"));
		if (verbose || !profile)
			ward_outf("  %s = %s (enforced by: %s%s)\n", name, text(member, "text"),
				text(member, "by"), profile ? "; a default of the profile" : "");
	}
	if (*text(o, "delegation"))
		ward_outf("  %s\n", text(o, "delegation"));
	if (verbose) {
		ward_outf("%-12s", "guarantees");
		json_array_foreach(json_object_get(o, "guarantees"), i, v)
			ward_outf(" %s", json_string_value(v));
		ward_outf("\n");
	}
	ward_outf("%-12s%s\n", "missing", json_object_size(missing) ? "" : " none");
	json_object_foreach(missing, name, member)
		ward_outf("  %s: %s (%s)\n", name, text(member, "why"), text(member, "because"));
}

static void print_quotas(const json_t *all)
{
	size_t i = 0, k = 0;
	const json_t *q = NULL, *l = NULL;
	if (json_array_size(all))
		ward_outf("quotas\n");
	json_array_foreach(all, i, q)
	{
		ward_outf("  %s:", text(q, "path"));
		json_array_foreach(json_object_get(q, "limits"), k, l)
			ward_outf("%s %s", k ? "," : "", text(l, "text"));
		ward_outf("\n");
	}
}

static void print_environment(const json_t *all, bool verbose)
{
	size_t i = 0;
	const json_t *v = NULL;
	if (!verbose) {
		ward_outf("environment ");
		json_array_foreach(all, i, v) ward_outf(" %s", text(v, "name"));
		ward_outf("\n");
		return;
	}
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

/* Bytes of a flag, and of where it comes from; --json has all. */
#define FLAG_MAX 100

/* A list of a hundred paths is for --json. */
static void print_origin(const char *what, const char *from)
{
	ward_outf("  %.*s%s  (%.*s%s)\n", (int)strnlen(what, FLAG_MAX), what,
		strlen(what) > FLAG_MAX ? "…" : "", (int)strnlen(from, FLAG_MAX), from,
		strlen(from) > FLAG_MAX ? "…" : "");
}

/* What the mode puts in front of the command, and why; of mode wasm, what the program reaches. */
static void print_runtime(const json_t *o, bool verbose)
{
	const json_t *r = json_object_get(o, "runtime"), *f = NULL;
	size_t i = 0;
	if (!r)
		return;
	const json_t *reaches = json_object_get(r, "reaches"),
		     *memory = json_object_get(r, "memory");
	ward_outf("%-12s %s\n", "runtime", text(r, "program"));
	if (verbose || !reaches)
		json_array_foreach(json_object_get(r, "flags"), i, f)
			print_origin(text(f, "flag"), text(f, "from"));
	if (reaches)
		ward_outf("reaches\n");
	json_array_foreach(reaches, i, f) print_origin(text(f, "path"), text(f, "from"));
	if (memory)
		ward_outf("%-12s %lldM (%s)\n", "memory",
			(long long)json_integer_value(json_object_get(memory, "value")) >> 20,
			text(memory, "from"));
	const json_t *broker = json_object_get(r, "broker");
	if (broker)
		ward_outf("%-12s %s: %s\n", "broker",
			json_is_true(json_object_get(broker, "used")) ? "used" : "not used",
			text(broker, "why"));
}

void ward_run_dry_print(const json_t *o, bool verbose)
{
	size_t i = 0;
	const json_t *u = NULL;
	if (json_object_get(o, "project")) {
		ward_outf("%-12s %s\n", "project", text(o, "project"));
		print_person("owner", json_object_get(o, "owner"));
		print_person("runs as", json_object_get(o, "command_runs_as"));
		ward_outf("%-12s %s\n", "mode", text(o, "mode"));
		if (json_object_get(o, "risk"))
			ward_risk_print_short(json_object_get(o, "risk"));
		ward_outf("%-12s %s\n", "directory", text(o, "directory"));
		print_trees(json_object_get(o, "trees"));
		print_mounts(json_object_get(o, "mounts"));
		print_sources(json_object_get(o, "sources"), verbose);
		print_network(json_object_get(o, "network"));
		if (*text(o, "seccomp"))
			ward_outf("%-12s list %s\n", "system calls", text(o, "seccomp"));
		print_limits(o, verbose);
		print_quotas(json_object_get(o, "quotas"));
		print_environment(json_object_get(o, "environment"), verbose);
		ward_outf("%-12s in %s\n", "trail", text(o, "state"));
		if (json_object_get(o, "prepared"))
			ward_outf("%-12s %s\n", "prepared", text(o, "prepared"));
		print_program(o);
		print_runtime(o, verbose);
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
