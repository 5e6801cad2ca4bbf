/* SPDX-License-Identifier: Apache-2.0 */
/* Which names are refused where the backing folds. */
#include "fs/gate/spelling.h"

#include <string.h>

#include "enforcer/policy/policy.h"

static bool is_alnum(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* NAME~1.EXT: eight bytes, three behind the dot. Samba's numbers have letters, too. */
static bool looks_short(const char *name)
{
	const char *tilde = strchr(name, '~');
	const char *dot = strchr(name, '.');
	const size_t base = dot ? (size_t)(dot - name) : strlen(name);

	return tilde && is_alnum(tilde[1]) && base <= 8 && (!dot || strlen(dot + 1) <= 3);
}

static const char *wrong_bytes(const char *name)
{
	const size_t len = strlen(name);

	for (size_t i = 0; i < len; i++) {
		const unsigned char c = (unsigned char)name[i];

		if (c >= 0x80)
			return "the file system may take another spelling of a name beyond ASCII "
			       "for this one";
		if (c < 0x20 || strchr(":\\", c))
			return "the file system may take this name for another one's stream or path";
	}
	if (len && (name[len - 1] == '.' || name[len - 1] == ' ' || name[0] == ' '))
		return "the file system may take this name for the one without dots and blanks "
		       "around it";
	return looks_short(name)
		       ? "the file system may take this name for the short name of another"
		       : NULL;
}

const char *ward_spelling_wrong(
	const struct ward_fs_tree *tree, struct ward_node *parent, const char *name)
{
	static const char other[] =
		"the file system takes this name for another spelling, which a rule is on";
	const struct ward_state *state = NULL, *folded = NULL;
	const char *why = wrong_bytes(name), *path;
	char buf[WARD_NODE_PATH_MAX];
	size_t len = 0;

	if (why)
		return why;
	path = ward_node_path(tree->nodes, parent, name, buf, &len);
	if (ward_node_child_state(tree->nodes, parent, name, &state) < 0 ||
		ward_policy_walk(tree->fs->folded, path, len, &folded) < 0 ||
		!ward_policy_same_state(state, folded))
		why = other;
	ward_policy_state_put(tree->fs->policy, state);
	ward_policy_state_put(tree->fs->folded, folded);
	return why;
}
