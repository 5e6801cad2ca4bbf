/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs init where the owner has a file already: adds what it lacks, and drops nothing. */
#pragma once

#include <stddef.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/err.h"

/*
 * Appends to *ret the text `have` with those lines of `draft` behind it that it does not have, each
 * under its section. [policy] stays as it is, as does each key that stands once and is set. A tree
 * that is there is not added to: what the owner made of its rules is theirs. *ret_added: how many
 * lines. file: of have, for messages.
 */
int init_merge(const char *file, const struct ward_buf *have, const struct ward_buf *draft,
	struct ward_buf *ret, size_t *ret_added, struct ward_err *err) ward_must_check;
