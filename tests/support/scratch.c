/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/scratch.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *scratch_make(void)
{
	const char *base = getenv("WARD_TMP");
	if (!base)
		base = getenv("TMPDIR");
	char *path = NULL;
	if (asprintf(&path, "%s/wardfs-test-XXXXXX", base ? base : "/tmp") < 0 || !mkdtemp(path))
		abort();
	return path;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

void scratch_remove(char *path)
{
	if (nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT) < 0)
		abort();
	free(path);
}
