/* SPDX-License-Identifier: Apache-2.0 */
/* Starts the owner's editor. */
#pragma once

#include "enforcer/base/err.h"
#include "enforcer/session/owner/identity.h"

/*
 * Runs VISUAL, else EDITOR, else vi, on the file as the owner, and waits. Where the owner is not
 * the caller, the editor has all ids and groups of the owner, no privilege to gain, an environment
 * of a few variables, a terminal of its own that is relayed, and a pid namespace that ends what it
 * leaves behind. It starts in the file's directory, and is not looked for in the project (NULL:
 * none) where a directory of that stands in PATH. -ECANCELED: it ended with an error.
 */
int editor_run(const struct ward_identity *id, const char *file, const char *project,
	struct ward_err *err) ward_must_check;
