/* SPDX-License-Identifier: Apache-2.0 */
/* A table of verbs: finding one, and telling what there are. */
#pragma once

#include <argp.h>
#include <stddef.h>

struct ward_cli_verb {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *full; /* argv[0] of the verb: what its messages begin with */
	const char *what;
	/* NULL, or its options, which then may stand before it, too: "wardfs audit --json show". */
	const struct argp *argp;
	const char *group; /* the heading above it in --help; NULL: it belongs to the one before */
};

/* What people type that know other tools, and what it is called here. */
struct ward_cli_word {
	const char *word, *here;
};

struct ward_cli_verbs {
	const char *self; /* "wardfs" */
	const char *what; /* one or more lines, ended by a newline */
	const struct ward_cli_verb *v;
	size_t n;
	const struct ward_cli_word *words; /* ends with an empty one; or NULL */
};

/*
 * Calls the verb that argv[1] names and returns its exit status. Knows --help, -h and "help
 * [VERB]…" by itself. 2, after a message, if the verb does not exist.
 */
int ward_cli_call(const struct ward_cli_verbs *verbs, int argc, char **argv);
