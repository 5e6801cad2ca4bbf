/* SPDX-License-Identifier: Apache-2.0 */
/* Paths as they are asked for: itself, what lies beneath, or a pattern. */
#pragma once

#include <stdbool.h>

/* True if path is top, or beneath it. *ret_rest is what follows top. */
bool ward_asked_path_beneath(const char *top, const char *path, const char **ret_rest);
/* True if path is what `asked` names, lies beneath it, or matches it as a pattern; NULL does not.
 */
bool ward_asked_path_matches(const char *asked, const char *path);
