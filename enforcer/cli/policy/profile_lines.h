/* SPDX-License-Identifier: Apache-2.0 */
/* What each line of a policy's text says, in a sentence. */
#pragma once

#include <jansson.h>
#include <stddef.h>

#include "enforcer/base/buf.h"

/*
 * Appends the text, each line of a key followed by a comment: the one that it has, else the first
 * sentence of what the table of keys says of it (every key has one). Lines keep their numbers, and
 * the text means what it meant. file: as errors name it. -EINVAL: the text is no policy; -ENOMEM.
 */
int ward_lines_explain(const char *file, const char *text, size_t len, struct ward_buf *ret);
/* The same as [{"line","section","key","value","says"}]; NULL: as above. */
json_t *ward_lines_json(const char *file, const char *text, size_t len);
