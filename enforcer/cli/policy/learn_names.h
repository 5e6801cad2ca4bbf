/* SPDX-License-Identifier: Apache-2.0 */
/* Names that are another one in each run: with a time, a process id, a hash in them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "enforcer/base/buf.h"

/*
 * Appends to *pattern, as a policy writes it, what names like this one have in common:
 * "vite.config.ts.timestamp-*.mjs" for "vite.config.ts.timestamp-1732370000000-a1b2c3d4e5f6.mjs".
 * What varies: five digits and more, dates, UUIDs, eight hexadecimal digits and more with letters
 * among them, eight letters and digits and more in which both cases and digits are mixed. False:
 * nothing in the name varies; *pattern is as it was.
 */
bool learn_generalise(const char *name, size_t len, struct ward_buf *pattern);
