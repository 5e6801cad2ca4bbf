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
	REVIEW_EXPORT
};

struct review_args {
	enum review_word word;
	bool chosen; /* it was given */
	const char *session, *manifest;
	char **paths;
	size_t n_paths;
	bool json, stat, name_status, patch, dry;
};

/* Is the change one of those that were named? *ret_itself: by its own path. */
bool review_is_meant(const struct review_args *a, const struct ward_change *c, bool *ret_itself);
