/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stands in for libFuzzer where the compiler has none: runs the target over each file named on the
 * command line, and over every file below each directory. Prints how many; none is a failure.
 */
#include <ftw.h>
#include <sys/stat.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "tests/fuzz/fuzz.h"

#include <fcntl.h>

#define INPUT_MAX ((size_t)1 << 20)

/* nftw(3) passes no context. */
static unsigned long replayed;

static int replay(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	if (type != FTW_F)
		return 0;
	ward_cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	if (fd < 0 || ward_fd_read_all(fd, INPUT_MAX, &b) < 0) {
		perror(path);
		return 1;
	}
	/* A copy of its exact size: reading beyond it is seen by a sanitizer. */
	ward_cleanup_free uint8_t *exact = malloc(b.len ? b.len : 1);
	if (!exact)
		return 1;
	for (size_t i = 0; i < b.len; i++)
		exact[i] = (uint8_t)b.data[i];
	fprintf(stderr, "%s\n", path);
	(void)LLVMFuzzerTestOneInput(exact, b.len);
	replayed++;
	return 0;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (nftw(argv[i], replay, 16, FTW_PHYS) != 0)
			return 1;
	printf("%lu inputs\n", replayed);
	return replayed > 0 ? 0 : 1;
}
