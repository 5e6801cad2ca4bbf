/* SPDX-License-Identifier: Apache-2.0 */
/* A verb of `wardfs audit`: what it takes, and calling it. */
#pragma once

#include <argp.h>
#include <stdbool.h>

#include "enforcer/cli/audit/audit_cmd.h"

struct audit_verb {
	const char *name; /* as it is typed; the ledger has it of those who read */
	/* Options, words and what it does, for --help; its parser is audit_verb_parse(). */
	const struct argp *argp;
	/* One letter a word: 's' the session, 'o' what else is asked about. `need` of them must be
	 * there. */
	const char *words;
	unsigned need;
	const char *lacks; /* said where one of these is missing */
	bool of_process;   /* --descendants are those of the process that is a word */
	bool fills;	   /* writes the index */
	bool lists;	   /* of as many sessions as there are: of none where none has run yet */
	/* Returns the exit status, or a negative errno with err. */
	int (*run)(struct audit_cmd *c, struct ward_err *err);
};

/* The parser of a verb's argp. */
error_t audit_verb_parse(int key, char *arg, struct argp_state *state);

/*
 * Takes the options and words of the verb, opens the store that they name, and runs it. Returns the
 * exit status: 2 for wrong use, 125 after a message where it failed.
 */
/* Does the word mean a file, not a session? NULL: no. */
bool audit_verb_is_file(const char *what);
int audit_verb_call(const struct audit_verb *v, int argc, char **argv);
