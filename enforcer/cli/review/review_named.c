/* SPDX-License-Identifier: Apache-2.0 */
/* Which changes the paths of the command line name. */
#include "enforcer/cli/review/review_named.h"

#include <fnmatch.h>
#include <string.h>

#include "enforcer/cli/base/say.h"

/*
 * PATH names the change itself: where it will be, not where it comes from. *ret_beneath: it names
 * one of both, or a directory above, or fits.
 */
static bool names(const char *arg, const struct ward_change *c, bool *ret_beneath)
{
	size_t len = strlen(arg);
	while (len && arg[len - 1] == '/')
		len--;
	/* A session may call a file "*": a pattern names no very file. */
	const bool literal = len > 1 && !strncmp(arg, "./", 2);
	const bool pattern = !literal && strpbrk(arg, "*?[\\");
	if (literal) {
		arg += 2;
		len -= 2;
	}
	const char *paths[] = {c->path, c->from};
	bool itself = false;
	for (size_t i = 0; i < 2 && paths[i]; i++) {
		const bool same = strlen(paths[i]) == len && !strncmp(paths[i], arg, len);
		itself = itself || (same && i == 0 && !pattern);
		*ret_beneath = *ret_beneath || same || (len == 1 && *arg == '.') ||
			       (!strncmp(paths[i], arg, len) && paths[i][len] == '/') ||
			       (pattern && fnmatch(arg, paths[i], FNM_LEADING_DIR) == 0);
	}
	return itself;
}

bool review_is_meant(const struct review_args *a, const struct ward_change *c, bool *ret_itself)
{
	bool meant = !a->n_paths, beneath = false;
	*ret_itself = false;
	for (size_t i = 0; i < a->n_paths; i++) {
		bool itself = names(a->paths[i], c, &beneath);
		*ret_itself = *ret_itself || itself;
		meant = meant || itself || beneath;
	}
	return meant;
}

void review_named_note(const struct review_args *a, const struct ward_change *c, bool *named)
{
	for (size_t i = 0; i < a->n_paths; i++) {
		bool beneath = false;
		named[i] = named[i] || names(a->paths[i], c, &beneath) || beneath;
	}
}

size_t review_named_tell(const struct review_args *a, const bool *named, const char *what)
{
	size_t n = 0;
	for (size_t i = 0; i < a->n_paths; i++) {
		if (named[i])
			continue;
		ward_sayf(
			"%s: no %s change is there ('wardfs review' lists all)", a->paths[i], what);
		n++;
	}
	return n;
}
