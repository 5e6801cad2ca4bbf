/* SPDX-License-Identifier: Apache-2.0 */
/* Finds a verb in a table, calls it, and lists what there is. */
#include "enforcer/cli/base/verbs.h"

#include <getopt.h>
#include <stdbool.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/out.h"
#include "enforcer/cli/base/manual.h"
#include "enforcer/cli/base/say.h"

static void usage(
	const struct ward_cli_verbs *verbs, void print(const char *fmt, ...) ward_printf(1, 2))
{
	print("Usage: %s VERB [OPTION...] [ARGUMENT...]\n", verbs->self);
	/* Lines of its own. */
	for (const char *what = verbs->what; *what;) {
		const size_t n = strcspn(what, "\n");
		print("%.*s\n", (int)n, what);
		what += n + (what[n] == '\n');
	}
	int width = 8;
	for (size_t i = 0; i < verbs->n; i++)
		if ((int)strlen(verbs->v[i].name) > width)
			width = (int)strlen(verbs->v[i].name);
	print("\nVerbs:\n");
	for (size_t i = 0; i < verbs->n; i++) {
		if (verbs->v[i].group)
			print(i ? "\n%s\n" : "%s\n", verbs->v[i].group);
		print("  %-*s %s\n", width, verbs->v[i].name, verbs->v[i].what);
	}
	ward_cleanup(ward_buf_clear) struct ward_buf manual = WARD_BUF_INIT;
	print("\n%s VERB --help lists the options of a verb.\n", verbs->self);
	if (ward_manual_command("wardfs", '1', &manual))
		print("The manual: %s\n", ward_buf_str(&manual));
}

static bool is(const char *arg, const char *a, const char *b, const char *c)
{
	return strcmp(arg, a) == 0 || strcmp(arg, b) == 0 || strcmp(arg, c) == 0;
}

/* --- options before the verb --- */

#define OPTIONS_MAX 64
/* What getopt_long(3) returns for --help. */
#define HELP 'h'

/* Options of all verbs of a table, for getopt_long(3). */
struct early {
	struct option longs[OPTIONS_MAX + 1];
	size_t n;
	char shorts[2 * OPTIONS_MAX + 2];
};

static bool known(const struct early *e, const char *name)
{
	for (size_t i = 0; i < e->n; i++)
		if (strcmp(e->longs[i].name, name) == 0)
			return true;
	return false;
}

static void add_options(struct early *e, const struct argp *argp)
{
	for (const struct argp_option *o = argp->options; o && (o->name || o->key); o++) {
		const bool letter = o->key > ' ' && o->key < 127;
		size_t len = strlen(e->shorts);
		if (letter && !strchr(e->shorts + 1, o->key) && len + 2 < sizeof(e->shorts)) {
			e->shorts[len] = (char)o->key;
			e->shorts[len + 1] = o->arg ? ':' : '\0';
		}
		if (o->name && !known(e, o->name) && e->n < OPTIONS_MAX)
			e->longs[e->n++] = (struct option){.name = o->name,
				.has_arg = o->arg ? required_argument : no_argument,
				.val = 1};
	}
	for (const struct argp_child *c = argp->children; c && c->argp; c++)
		add_options(e, c->argp);
}

/*
 * Moves the verb before the options that stand before it, so that they are the verb's. An option
 * that none has is left for the verb to refuse. True: help is asked for before any verb.
 */
static bool take_early(const struct ward_cli_verbs *verbs, int argc, char **argv)
{
	struct early e = {.longs = {{"help", no_argument, NULL, HELP}}, .n = 1, .shorts = "+"};
	for (size_t i = 0; i < verbs->n; i++)
		if (verbs->v[i].argp)
			add_options(&e, verbs->v[i].argp);
	opterr = 0;
	optind = 0; /* GNU: starts over */
	for (int o = 0; e.n > 1 && (o = getopt_long(argc, argv, e.shorts, e.longs, NULL)) != -1;)
		if (o == HELP)
			return true;
	int at = e.n > 1 ? optind : 1;
	if (at > 1 && at < argc) {
		char *verb = argv[at];
		memmove(argv + 2, argv + 1, (size_t)(at - 1) * sizeof(*argv));
		argv[1] = verb;
	}
	opterr = 1;
	return false;
}

int ward_cli_call(const struct ward_cli_verbs *verbs, int argc, char **argv)
{
	static char help[] = "--help";
	if (argc < 2) {
		usage(verbs, ward_tellf);
		return 2;
	}
	if (is(argv[1], "--help", "-h", "-?") || take_early(verbs, argc, argv) ||
		(strcmp(argv[1], "help") == 0 && argc == 2)) {
		usage(verbs, ward_outf);
		return 0;
	}
	if (strcmp(argv[1], "help") == 0) {
		/* "help VERB…" is "VERB… --help" */
		memmove(argv + 1, argv + 2, (size_t)(argc - 2) * sizeof(*argv));
		argv[argc - 1] = help;
	}
	for (size_t i = 0; i < verbs->n; i++) {
		if (strcmp(argv[1], verbs->v[i].name) != 0)
			continue;
		argv[1] = (char *)verbs->v[i].full;
		return verbs->v[i].run(argc - 1, argv + 1);
	}
	const char *near = NULL;
	for (const struct ward_cli_word *w = verbs->words; w && w->word; w++)
		near = strcmp(argv[1], w->word) == 0 ? w->here : near;
	if (!near && verbs->n == 1)
		near = verbs->v[0].name;
	if (!near)
		near = ward_near(argv[1], &verbs->v[0].name, verbs->n, sizeof(verbs->v[0]));
	ward_sayf("there is no verb '%s'%s%s%s %s --help lists all verbs", argv[1],
		near ? ": did you mean '" : ";", near ? near : "", near ? "'?" : "", verbs->self);
	return 2;
}
