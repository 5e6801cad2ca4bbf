/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Git's configuration format, as gitconfig(1) describes it ("Syntax"): only read, nothing executed,
 * nothing opened.
 *
 *	[section] or [section "Subsection"] or [section.subsection], key = value, a key alone;
 *	a '#' or ';' outside quotes begins a comment; a backslash at the end of a line joins the
 *next; in values \" \\ \n \t \b, and quotes that group
 */
#pragma once

#include <stddef.h>

#include "enforcer/base/err.h"

/*
 * One entry. name: "section.key" in lower case, without the subsection; sub: that, "" for none;
 * value: NUL-terminated, "" for a key alone. All borrowed until it returns. What it returns, if not
 * 0, ends the reading.
 */
typedef int (*ward_git_config_fn)(void *user, const char *name, const char *sub, const char *value);

/*
 * Calls fn for each entry of the text, in order. What git would refuse ends the reading without an
 * error, as git then refuses to work too; fn has got what stands before it. -ENOMEM, or what fn
 * returned.
 */
int ward_git_config_read(
	const char *text, size_t len, ward_git_config_fn fn, void *user) ward_must_check;
