/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names in a tree whose backing takes several spellings for one name. [guard] fold covers letters
 * of ASCII; what else a file system may take for the same is refused.
 */
#pragma once

#include "fs/base/fs.h"
#include "fs/node/node.h"

/*
 * Why a name below parent cannot be used, a static text; NULL: it can. Whether the name exists
 * plays no part: bytes beyond ASCII, dots and blanks at the end, what looks like a short name, and
 * separators of other systems; and names that a rule of [files] is on in another case.
 */
const char *ward_spelling_wrong(
	const struct ward_fs_tree *tree, struct ward_node *parent, const char *name);
