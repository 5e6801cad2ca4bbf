/* SPDX-License-Identifier: Apache-2.0 */
/* Compares paths with what a question asks for. */
#include "audit/query/asked_path.h"

#include <fnmatch.h>
#include <stddef.h>
#include <string.h>

bool ward_asked_path_beneath(const char *top, const char *path, const char **ret_rest)
{
	size_t len = strlen(top);
	while (len > 1 && top[len - 1] == '/')
		len--;
	if (strncmp(top, path, len) != 0)
		return false;
	if (path[len] != '\0' && path[len] != '/' && !(len == 1 && top[0] == '/'))
		return false;
	*ret_rest = path + len;
	return true;
}

bool ward_asked_path_matches(const char *asked, const char *path)
{
	const char *rest = NULL;
	if (!path)
		return false;
	return ward_asked_path_beneath(asked, path, &rest) ||
	       (strpbrk(asked, "*?[") && fnmatch(asked, path, FNM_NOESCAPE) == 0);
}
