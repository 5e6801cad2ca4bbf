/* SPDX-License-Identifier: Apache-2.0 */
/* Says what becomes of a project's git directory. */
#include "enforcer/cli/policy/init_git.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "enforcer/base/out.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/session/owner/git_outside.h"

void ward_init_git(int project, struct ward_buf *text, struct init_git_part *ret)
{
	struct stat st;
	ret->from = ret->to = text->len;
	if (fstatat(project, ".git", &st, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	if (S_ISDIR(st.st_mode))
		ward_buf_puts(text,
			"\n; git: hooks, config and the like of .git, its submodules and worktrees are\n"
			"; guarded by medium. wardfs policy explain write .git/config shows it.\n");
	else if (ward_git_outside(project, text))
		ret->to = text->len;
	else
		ward_buf_puts(text,
			"\n; .git is a file, but what it names is no git directory of this project: not\n"
			"; served, git does not work inside.\n");
}

void ward_init_git_print(const struct ward_buf *text, const struct init_git_part *part)
{
	size_t lines = 0;
	if (part->from == part->to || part->to > text->len) {
		ward_print_policy(text->data, text->len);
		return;
	}
	for (size_t i = part->from; i < part->to; i++)
		lines += text->data[i] == '\n' && i > part->from && text->data[i - 1] != '\n';
	ward_print_policy(text->data, part->from);
	ward_outf(
		"\n; The git directory of this work tree lies outside of it. %zu lines serve it, so that git\n"
		"; works inside, and guard its hooks, config and the like. wardfs policy show prints them.\n",
		lines);
	ward_print_policy(text->data + part->to, text->len - part->to);
}
