/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading the text of one policy source, strictly.
 *
 * inih splits lines into section, key and value. As Debian builds it, it cuts lines over 199 bytes,
 * takes an indented line for one more value of the key before, accepts ':' for '=' and says no line
 * numbers; so a reader function of ours sees every line first, refuses what does not fit the
 * grammar of wardfs-policy(5), counts, and keeps long values beside (inih gets a stand-in for
 * them).
 */
#pragma once

#include <stddef.h>

#include "enforcer/base/err.h"

/* A source is at most this long: ten times what 10,000 rules need. */
#define WARD_POLICY_TEXT_MAX ((size_t)4 << 20)
/* A project file may be hostile. Compiled, patterns take a hundred times their size in memory. */
#define WARD_POLICY_PROJECT_MAX ((size_t)1 << 20)
/* A line is at most this long: a path of PATH_MAX with every byte escaped, and the key. */
#define WARD_POLICY_LINE_MAX ((size_t)8448)

/* Of the source WARD_SOURCE_RUN alone: a line of this and the option as it was typed. */
#define WARD_ORIGIN_MARK ";from "
/* What no option says: the records' word for it. */
#define WARD_ORIGIN_BUILT_IN WARD_ORIGIN_MARK "built-in\n"

struct ward_read_ops {
	/* A header: "[kind]" or "[kind arg]"; arg is "" if the header has none. */
	int (*section)(
		void *user, const char *kind, const char *arg, unsigned line, struct ward_err *err);
	/* A pair within the section before. value is never empty. */
	int (*pair)(void *user, const char *key, const char *value, unsigned line,
		struct ward_err *err);
	/*
	 * Or NULL. A comment of WARD_ORIGIN_MARK: whose the lines below it are, up to the next such
	 * comment. *ret_file is what messages then say in place of FILE:LINE.
	 */
	int (*origin)(void *user, const char *text, const char **ret_file, struct ward_err *err);
};

/*
 * Reads text. The first error ends the reading: the callbacks' own code, or -EINVAL with
 * "FILE:LINE: what is wrong". Callbacks give the text without "FILE:LINE: ", it is put in front.
 */
int ward_policy_read(const char *file, const char *text, size_t len,
	const struct ward_read_ops *ops, void *user, struct ward_err *err) ward_must_check;
