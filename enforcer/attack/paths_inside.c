/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations on names of a policy. What the files hold and how they are judged stands in
 * enforcer/cli/run/attack_paths.c.
 */
#include "enforcer/attack/paths_inside.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#define PROOF_SIZE 64
#define TOKEN "#written\n"

/* The word after "echo " in a file: what only its content tells. */
static int proof_of(const char *path, char proof[PROOF_SIZE])
{
	char text[256];
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	const ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	const int e = errno;

	if (fd >= 0)
		close(fd);
	errno = e;
	if (n < 0)
		return -1;
	text[n] = '\0';
	const char *word = strstr(text, "echo ");
	snprintf(proof, PROOF_SIZE, "%.*s", word ? (int)strcspn(word + 5, "\n") : 1,
		word ? word + 5 : "-");
	return 0;
}

static int see(const char *path, const char *other, char proof[PROOF_SIZE])
{
	struct stat st;
	(void)other;
	if (lstat(path, &st) < 0)
		return -1;
	snprintf(proof, PROOF_SIZE, "%lld", (long long)st.st_size);
	return 0;
}

static int read_(const char *path, const char *other, char proof[PROOF_SIZE])
{
	(void)other;
	return proof_of(path, proof);
}

static int put(const char *path, int flags)
{
	const int fd = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK | flags, 0600);
	const ssize_t n = fd < 0 ? -1 : write(fd, TOKEN, strlen(TOKEN));
	const int e = errno;

	if (fd >= 0)
		close(fd);
	errno = e;
	return n == (ssize_t)strlen(TOKEN) ? 0 : -1;
}

static int append(const char *path, const char *other, char proof[PROOF_SIZE])
{
	(void)other;
	(void)proof;
	return put(path, O_APPEND);
}

static int write_(const char *path, const char *other, char proof[PROOF_SIZE])
{
	(void)other;
	(void)proof;
	return put(path, 0);
}

static int truncate_(const char *path, const char *other, char proof[PROOF_SIZE])
{
	(void)other;
	(void)proof;
	return truncate(path, 0);
}

static int mode(const char *path, const char *other, char proof[PROOF_SIZE])
{
	(void)other;
	(void)proof;
	return chmod(path, 0700);
}

static int remove_(const char *path, const char *other, char proof[PROOF_SIZE])
{
	(void)other;
	(void)proof;
	return unlink(path);
}

static int move(const char *path, const char *other, char proof[PROOF_SIZE])
{
	(void)proof;
	return rename(path, other);
}

static int exchange(const char *path, const char *other, char proof[PROOF_SIZE])
{
	(void)proof;
	return renameat2(AT_FDCWD, path, AT_FDCWD, other, RENAME_EXCHANGE);
}

static int attribute(const char *path, const char *other, char proof[PROOF_SIZE])
{
	(void)other;
	(void)proof;
	return setxattr(path, "user.attack", "x", 1, 0);
}

/* To a time that no other step sets. */
static int times(const char *path, const char *other, char proof[PROOF_SIZE])
{
	const struct timespec to[2] = {{1000000000, 0}, {1000000000, 0}};
	(void)other;
	(void)proof;
	return utimensat(AT_FDCWD, path, to, AT_SYMLINK_NOFOLLOW);
}

static int mkdir_(const char *path, const char *other, char proof[PROOF_SIZE])
{
	(void)other;
	(void)proof;
	return mkdir(path, 0755);
}

static int link_(const char *path, const char *other, char proof[PROOF_SIZE])
{
	(void)proof;
	return link(path, other);
}

static int create(const char *path, const char *other, char proof[PROOF_SIZE])
{
	(void)other;
	(void)proof;
	return put(path, O_CREAT | O_EXCL | O_APPEND);
}

/* A link beside the top leads to the name. */
static int symlink_(const char *path, const char *other, char proof[PROOF_SIZE])
{
	return symlink(path, other) < 0 ? -1 : proof_of(other, proof);
}

/* Moves the directory around the name, reads the name there, and moves it back. */
static int parent(const char *path, const char *other, char proof[PROOF_SIZE])
{
	char copy[PATH_MAX], at[PATH_MAX];
	const char *name = strrchr(path, '/');

	snprintf(copy, sizeof(copy), "%s", path);
	char *dir = dirname(copy);
	if (!name || rename(dir, other) < 0)
		return -1;
	snprintf(at, sizeof(at), "%s%s", other, name);
	const int r = proof_of(at, proof), e = errno;
	(void)!rename(other, dir);
	errno = e;
	return r;
}

static int execute(const char *path, const char *other, char proof[PROOF_SIZE])
{
	char at[PATH_MAX + 2], *argv[] = {at, NULL};
	int out[2], status;

	(void)other;
	snprintf(at, sizeof(at), "./%s", path);
	if (pipe2(out, O_CLOEXEC) < 0)
		return -1;
	const pid_t pid = fork();
	if (pid == 0) {
		dup2(out[1], 1);
		execv(at, argv);
		_exit(errno);
	}
	close(out[1]);
	const ssize_t n = read(out[0], proof, PROOF_SIZE - 1);
	proof[n > 0 ? n : 0] = '\0';
	proof[strcspn(proof, "\n")] = '\0';
	close(out[0]);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	errno = WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
	return errno ? -1 : 0;
}

static const struct {
	const char *name;
	int (*act)(const char *path, const char *other, char proof[PROOF_SIZE]);
} operations[] = {{"stat", see}, {"read", read_}, {"append", append}, {"write", write_},
	{"truncate", truncate_}, {"mode", mode}, {"remove", remove_}, {"move", move},
	{"replace", move}, {"link", link_}, {"symlink", symlink_}, {"create", create},
	{"parent", parent}, {"execute", execute}, {"exchange", exchange}, {"attribute", attribute},
	{"times", times}, {"mkdir", mkdir_}};

static bool from_hex(const char *hex, char ret[PATH_MAX])
{
	size_t n = 0;
	for (; hex[0] && hex[1] && n < PATH_MAX - 1; hex += 2, n++) {
		const char two[] = {hex[0], hex[1], '\0'};
		ret[n] = (char)strtoul(two, NULL, 16);
	}
	ret[n] = '\0';
	return !*hex;
}

int ward_attack_paths_inside(void)
{
	static char line[4 * PATH_MAX], a[PATH_MAX], b[PATH_MAX];

	while (fgets(line, sizeof(line), stdin)) {
		char proof[PROOF_SIZE] = "-", *rest;
		const char *word = strtok_r(line, " \n", &rest);
		const char *first = strtok_r(NULL, " \n", &rest),
			   *second = strtok_r(NULL, " \n", &rest);
		size_t i = 0;
		const size_t n = sizeof(operations) / sizeof(*operations);
		while (word && i < n && strcmp(word, operations[i].name) != 0)
			i++;
		if (!word || i == n || !first || !second || !from_hex(first, a) ||
			!from_hex(second, b))
			return 2;
		if (operations[i].act(a, b, proof) == 0)
			printf("did %s\n", *proof ? proof : "-");
		else
			printf("not %s\n", strerrorname_np(errno) ? strerrorname_np(errno) : "?");
		(void)fflush(stdout);
	}
	return 0;
}
