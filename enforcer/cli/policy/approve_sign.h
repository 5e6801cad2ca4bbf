/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs approve sign: answers that are signed on another machine; and handing them in. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "audit/verify/signed_answer.h"

struct ward_approve_sign {
	const char *question; /* a file, "-": standard input */
	const char *key; /* the file of a key of wardfs; NULL: what is written has no signature */
	const char *output;		/* NULL: the question is shown, and nothing else is done */
	uint64_t valid_s;		/* how long the answer is good */
	struct ward_signed_words words; /* answer NULL: as output */
};

/* The exit status. */
int ward_approve_sign(const struct ward_approve_sign *s);

/*
 * Appends the signed answer in the file `path` to list, as a text. Where the file has no signature,
 * that of PATH.sig goes with it, as ssh-keygen(1) writes it. False after a message.
 */
bool ward_approve_signed_file(const char *path, json_t *list);
