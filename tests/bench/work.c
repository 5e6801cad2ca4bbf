/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_work WHAT ARG…: one workload of the bench, timed from within, so that starting a program
 * does not count. Prints the seconds. Runs alike on any file system:
 *
 *   opens DIR DIRS FILES    open, read 4 KiB and close DIR/<d>/<f> for each
 *   seqread FILE            128 KiB at a time to the end
 *   randread FILE COUNT     COUNT reads of 4 KiB, aligned, at pseudo-random places
 *   seqwrite FILE BYTES     creates FILE, 128 KiB at a time
 *   randwrite FILE COUNT    as randread, written in place
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"

#define SMALL 4096
#define LARGE 131072

static uint64_t now_ns(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000U + (uint64_t)ts.tv_nsec;
}

/* xorshift64: the same places in every environment. */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static int opens(const char *dir, unsigned dirs, unsigned files)
{
	char path[512];
	char block[SMALL];
	for (unsigned d = 0; d < dirs; d++) {
		for (unsigned f = 0; f < files; f++) {
			int n = snprintf(path, sizeof(path), "%s/%u/%u", dir, d, f);
			if (n < 0 || (size_t)n >= sizeof(path))
				return -ENAMETOOLONG;
			ward_cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
			if (fd < 0 || read(fd, block, sizeof(block)) < 0)
				return -errno;
		}
	}
	return 0;
}

static int sequential(const char *path, bool write_it, uint64_t bytes)
{
	static char block[LARGE];
	int flags = write_it ? O_WRONLY | O_CREAT | O_TRUNC : O_RDONLY;
	ward_cleanup_fd int fd = open(path, flags | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	for (uint64_t done = 0; !write_it || done < bytes;) {
		ssize_t n =
			write_it ? write(fd, block, sizeof(block)) : read(fd, block, sizeof(block));
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		done += (uint64_t)n;
	}
	return 0;
}

static int scattered(const char *path, bool write_it, uint64_t count)
{
	char block[SMALL] = {1};
	struct stat st;
	ward_cleanup_fd int fd = open(path, (write_it ? O_RDWR : O_RDONLY) | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	uint64_t blocks = (uint64_t)st.st_size / SMALL;
	if (blocks == 0)
		return -EINVAL;
	uint64_t state = 88172645463325252U;
	for (uint64_t i = 0; i < count; i++) {
		off_t at = (off_t)(next_random(&state) % blocks * SMALL);
		ssize_t n = write_it ? pwrite(fd, block, SMALL, at) : pread(fd, block, SMALL, at);
		if (n != SMALL)
			return n < 0 ? -errno : -EIO;
	}
	return 0;
}

static uint64_t number(const char *text)
{
	return text ? strtoumax(text, NULL, 10) : 0;
}

static int work(int argc, char **argv)
{
	const char *what = argv[1];
	uint64_t n = number(argc > 3 ? argv[3] : NULL);
	if (strcmp(what, "opens") == 0 && argc == 5)
		return opens(argv[2], (unsigned)n, (unsigned)number(argv[4]));
	if (strcmp(what, "seqread") == 0)
		return sequential(argv[2], false, 0);
	if (strcmp(what, "seqwrite") == 0)
		return sequential(argv[2], true, n);
	if (strcmp(what, "randread") == 0)
		return scattered(argv[2], false, n);
	if (strcmp(what, "randwrite") == 0)
		return scattered(argv[2], true, n);
	return -EINVAL;
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		(void)fprintf(stderr, "usage: bench_work WHAT ARG...\n");
		return 2;
	}
	uint64_t start = now_ns();
	int r = work(argc, argv);
	uint64_t took = now_ns() - start;
	if (r < 0) {
		(void)fprintf(stderr, "bench_work %s %s: %s\n", argv[1], argv[2], strerror(-r));
		return 1;
	}
	printf("%.6f\n", (double)took / 1e9);
	return 0;
}
