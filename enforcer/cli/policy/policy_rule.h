/* SPDX-License-Identifier: Apache-2.0 */
/* The rules that `policy add` writes and `policy remove` takes back: which word belongs where. */
#pragma once

#include <stdbool.h>

#include "enforcer/base/err.h"

/* All the words, for help and messages. */
#define POLICY_RULE_WORDS "hide deny read append write ask noexec secret allow publish forward exec"

struct policy_rule {
	const char *verb, *value;
	const char *section; /* "[files]" */
	bool files;	     /* the value is a pattern of [files] or [guard] */
};

/*
 * verb: a word above. guard: make it a guard. -EINVAL: no such word, with the nearest; no such
 * guard; more than one line. Borrows both texts.
 */
int policy_rule_make(const char *verb, const char *value, bool guard, struct policy_rule *ret,
	struct ward_err *err) ward_must_check;
