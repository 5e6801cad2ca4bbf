/* SPDX-License-Identifier: Apache-2.0 */
/* Says what becomes of a project's git directory. */
#include "enforcer/cli/policy/init_git.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "enforcer/session/owner/git_outside.h"

void ward_init_git(int project, struct ward_buf *text)
{
	struct stat st;
	if (fstatat(project, ".git", &st, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	if (S_ISDIR(st.st_mode))
		ward_buf_puts(text,
			"\n; git: hooks, config and the like of .git, its submodules and worktrees are\n"
			"; guarded by medium. wardfs policy explain write .git/config shows it.\n");
	else if (!ward_git_outside(project, text))
		ward_buf_puts(text,
			"\n; .git is a file, but what it names is no git directory of this project: not\n"
			"; served, git does not work inside.\n");
}
