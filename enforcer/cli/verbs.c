/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/cli/verbs.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "enforcer/cli/say.h"

static void usage(const struct ward_cli_verbs *verbs, FILE *f)
{
	fprintf(f, "Usage: %s VERB [OPTION...] [ARGUMENT...]\n%s\nVerbs:\n", verbs->self,
		verbs->what);
	for (size_t i = 0; i < verbs->n; i++)
		fprintf(f, "  %-8s %s\n", verbs->v[i].name, verbs->v[i].what);
	fprintf(f, "\n%s VERB --help tells the options of a verb; man wardfs tells all of it.\n",
		verbs->self);
}

static bool is(const char *arg, const char *a, const char *b, const char *c)
{
	return strcmp(arg, a) == 0 || strcmp(arg, b) == 0 || strcmp(arg, c) == 0;
}

int ward_cli_call(const struct ward_cli_verbs *verbs, int argc, char **argv)
{
	static char help[] = "--help";
	if (argc < 2) {
		usage(verbs, stderr);
		return 2;
	}
	if (is(argv[1], "--help", "-h", "-?") || (strcmp(argv[1], "help") == 0 && argc == 2)) {
		usage(verbs, stdout);
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
	const char *near = ward_near(argv[1], &verbs->v[0].name, verbs->n, sizeof(verbs->v[0]));
	ward_sayf("there is no verb '%s'%s%s%s %s --help lists them", argv[1],
		near ? ": did you mean '" : ";", near ? near : "", near ? "'?" : "", verbs->self);
	return 2;
}
