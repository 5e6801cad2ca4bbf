/* SPDX-License-Identifier: Apache-2.0 */
/* gitnames DIR: what ward_git_tracked() says of DIR, as `git ls-files -z` prints it. */
#include <stdio.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/session/owner/git_tracked.h"

int main(int argc, char **argv)
{
	ward_cleanup(ward_buf_clear) struct ward_buf names = WARD_BUF_INIT;
	struct ward_identity me = {.owner_uid = geteuid(), .owner_gid = getegid()};
	struct ward_err err = WARD_ERR_INIT;

	if (argc != 2)
		return 2;
	if (ward_git_tracked(&me, argv[1], &names, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	return fwrite(ward_buf_str(&names), 1, names.len, stdout) == names.len ? 0 : 1;
}
