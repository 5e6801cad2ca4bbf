/* SPDX-License-Identifier: Apache-2.0 */
/* A WASI program that makes the attempts its arguments name, and prints how each ended. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <wasi/api.h>

static const char *why(void)
{
	return strerror(errno);
}

static const char *try_read(const char *path)
{
	static char line[256];
	FILE *f = fopen(path, "r");
	if (!f || !fgets(line, sizeof(line), f)) {
		const char *said = why();
		if (f)
			fclose(f);
		return said;
	}
	fclose(f);
	line[strcspn(line, "\n")] = '\0';
	return line;
}

static const char *try_write(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	if (fd < 0)
		return why();
	const char *said = pwrite(fd, "yz", 2, 1) == 2 && write(fd, "x", 1) == 1 &&
					   ftruncate(fd, 3) == 0 && close(fd) == 0
				   ? "written"
				   : why();
	return said;
}

/* The directory that the program started in, among those that were passed on. */
static __wasi_fd_t dot(void)
{
	__wasi_prestat_t p;
	uint8_t name[2];
	for (__wasi_fd_t fd = 3; __wasi_fd_prestat_get(fd, &p) == 0; fd++)
		if (p.u.dir.pr_name_len == 1 && __wasi_fd_prestat_dir_name(fd, name, 1) == 0 &&
			name[0] == '.')
			return fd;
	return 1023;
}

static const char *try_env(const char *name)
{
	return getenv(name);
}

/* As path_open() has it: no library in between. */
static const char *try_raw(const char *path)
{
	__wasi_fd_t fd;
	__wasi_errno_t e = __wasi_path_open(dot(), __WASI_LOOKUPFLAGS_SYMLINK_FOLLOW, path, 0,
		__WASI_RIGHTS_FD_READ, 0, 0, &fd);
	return e ? strerror(e) : "opened";
}

/* More rights than the directory passes on; addresses outside; descriptors that there are none. */
static const char *try_edges(const char *path)
{
	static char said[64];
	__wasi_fd_t fd;
	__wasi_fdstat_t st;
	int narrow =
		__wasi_fd_fdstat_set_rights(dot(), __WASI_RIGHTS_PATH_OPEN, __WASI_RIGHTS_FD_READ);
	int wider = __wasi_path_open(dot(), 0, path, 0, __WASI_RIGHTS_FD_WRITE, 0, 0, &fd);
	int outside = __wasi_fd_fdstat_get(dot(), (__wasi_fdstat_t *)0xfffffff0U);
	int none = __wasi_fd_fdstat_get(1023, &st);
	int beyond = __wasi_fd_fdstat_get(0xffffffffU, &st);
	snprintf(said, sizeof(said), "%d %d %d %d %d", narrow, wider, outside, none, beyond);
	return said;
}

static const char *try_tree(const char *path)
{
	static char said[64];
	char a[128], b[128];
	struct stat st;
	int n = 0;
	snprintf(a, sizeof(a), "%s/a", path);
	snprintf(b, sizeof(b), "%s/b", path);
	if (mkdir(path, 0755) || strcmp(try_write(a), "written") != 0 || rename(a, b) ||
		symlink("b", a) || stat(a, &st) || st.st_size != 3)
		return why();
	DIR *d = opendir(path);
	while (d && readdir(d))
		n++;
	closedir(d);
	if (unlink(a) || unlink(b) || rmdir(path))
		return why();
	snprintf(said, sizeof(said), "%d entries, size %d", n, (int)st.st_size);
	return said;
}

static const char *try_clock(const char *ms)
{
	struct timespec t = {0, atol(ms) * 1000000}, before, after;
	clock_gettime(CLOCK_MONOTONIC, &before);
	nanosleep(&t, NULL);
	clock_gettime(CLOCK_MONOTONIC, &after);
	long waited = (after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec - before.tv_nsec;
	unsigned char random[8] = {0};
	return waited >= t.tv_nsec && getentropy(random, sizeof(random)) == 0 ? "waited" : "no";
}

static const char *try_grow(const char *mib)
{
	static char said[64];
	int n = 0;
	for (; n < atoi(mib); n++) {
		char *volatile p = malloc(1 << 20);
		if (!p)
			break;
		memset(p, 1, 1 << 20);
	}
	snprintf(said, sizeof(said), "%s", n == atoi(mib) ? "all" : "no memory left");
	return said;
}

/* A thousand times, and until it has led both in and out. */
static const char *try_race(const char *path)
{
	int in = 0, out = 0;
	for (int i = 0; i < 1000 || ((!in || !out) && i < 1000000); i++) {
		const char *line = try_read(path);
		if (strcmp(line, "wardfs") == 0)
			return line;
		in |= strcmp(line, "inside") == 0;
		out |= strncmp(line, "Perm", 4) == 0;
	}
	return in && out ? "both" : "one alone";
}

static int deep(volatile int n)
{
	volatile char room[64];
	room[0] = (char)n;
	return deep(n + 1) + room[0];
}

static const char *try_deep(const char *arg)
{
	(void)arg;
	return deep(0) ? "back" : "back, too";
}

static const char *try_outside(const char *arg)
{
	*(volatile int *)strtoul(arg, NULL, 0) = 1;
	return "written";
}

static const char *try_call(const char *arg)
{
	void (*volatile f)(void) = (void (*)(void))strtoul(arg, NULL, 0);
	f();
	return "called";
}

static const char *try_loop(const char *arg)
{
	for (volatile int i = 0;; i = i + 1)
		;
	return arg;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *word;
		const char *(*act)(const char *arg);
	} acts[] = {{"read", try_read}, {"write", try_write}, {"raw", try_raw},
		{"edges", try_edges}, {"tree", try_tree}, {"clock", try_clock}, {"grow", try_grow},
		{"race", try_race}, {"deep", try_deep}, {"outside", try_outside},
		{"call", try_call}, {"loop", try_loop}, {"env", try_env}};
	for (int i = 1; i + 1 < argc; i += 2)
		for (size_t k = 0; k < sizeof(acts) / sizeof(acts[0]); k++)
			if (strcmp(argv[i], acts[k].word) == 0) {
				const char *said = acts[k].act(argv[i + 1]);
				printf("%s %s: %s\n", argv[i], argv[i + 1], said ? said : "-");
				fflush(stdout);
			}
	return 7;
}
