/* SPDX-License-Identifier: Apache-2.0 */
/* What the command line says: the word, and which changes. */
#pragma once

#include "enforcer/review/review.h"

enum review_word {
	REVIEW_SHOW = 0,
	REVIEW_DIFF,
	REVIEW_APPLY,
	REVIEW_DISCARD,
	REVIEW_UNDO,
	REVIEW_EXPORT,
	REVIEW_CHECK,
	REVIEW_SIGN,
	REVIEW_MARK,
	REVIEW_LOG,
	REVIEW_BACK,
	REVIEW_COMPARE
};

struct review_args {
	enum review_word word;
	bool chosen; /* it was given */
	const char *session, *manifest;
	char **paths;
	size_t n_paths;
	char **command;				/* of check, behind "--" */
	char **argv;				/* of the verb, as it was called */
	const char *policy;			/* of check */
	const char *key, *output, *signed_file; /* of sign */
	char **checks;				/* commands that --require-check names */
	size_t n_checks;
	bool require_check, require_sign;
	bool json, stat, name_status, patch, dry, interactive, merge;
};

/* Is the change one of those that were named? *ret_itself: by its own path. */
bool review_is_meant(const struct review_args *a, const struct ward_change *c, bool *ret_itself);
/* Sets named[i] of each path of the command line that names the change. */
void review_named_note(const struct review_args *a, const struct ward_change *c, bool *named);
/* Says which of them name none ("staged", "applied"). Returns how many. */
size_t review_named_tell(const struct review_args *a, const bool *named, const char *what);
