/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trail of a sandbox that keeps one. Each attempt changes a file of its own in the workspace,
 * "WORK/trail-ATTEMPT", in a way that a recorder may miss. The observer looks whether the file has
 * changed, and whether the trail names it.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "enforcer/attack/attempts/attempts.h"

#define PATH_SPACE (2 * PATH_MAX)

static const char *at_(const struct ward_facts *f, const char *name, char at[PATH_SPACE])
{
	snprintf(at, PATH_SPACE, "%s/trail-%s", f->work, name);
	return at;
}

static int make(const char *path)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		return -1;
	const int r = write(fd, "changed\n", 8) == 8 ? 0 : -1;
	close(fd);
	return r;
}

/* An attempt on the file that the observer made: one call. */
#define ON_FILE(id, name, call)                                                                    \
	static int id(const struct ward_facts *f, char *proof)                                     \
	{                                                                                          \
		char at[PATH_SPACE];                                                               \
		at_(f, name, at);                                                                  \
		return (call) < 0 ? -1 : 0;                                                        \
	}
static const struct timespec old[2] = {{1000000000, 0}, {1000000000, 0}};
ON_FILE(truncate_, "silence-truncate", truncate(at, 1))
ON_FILE(mode, "silence-mode", chmod(at, 0700))
ON_FILE(times, "silence-times", utimensat(AT_FDCWD, at, old, 0))
ON_FILE(attribute, "silence-attribute", setxattr(at, "user.attack", "x", 1, 0))
ON_FILE(remove_, "silence-remove", unlink(at))
ON_FILE(plain, "silence-write", make(at))
ON_FILE(directory, "silence-directory", mkdir(at, 0755))
ON_FILE(pipe_, "silence-pipe", mkfifo(at, 0644))
ON_FILE(symlink_, "silence-symlink", symlink("nowhere", at))

static int append(const struct ward_facts *f, char *proof)
{
	char at[PATH_SPACE];
	const int fd = open(at_(f, "silence-append", at), O_WRONLY | O_APPEND | O_CLOEXEC);
	return fd < 0 ? -1 : write(fd, "more\n", 5) == 5 ? 0 : -1;
}

static int mapping(const struct ward_facts *f, char *proof)
{
	char at[PATH_SPACE];
	const int fd = open(at_(f, "silence-mapping", at), O_RDWR | O_CLOEXEC);
	char *p = fd < 0 ? MAP_FAILED : mmap(NULL, 4, PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return -1;
	close(fd);
	*p = 'X';
	return msync(p, 4, MS_SYNC);
}

static int rename_(const struct ward_facts *f, char *proof)
{
	char from[PATH_SPACE], to[PATH_SPACE];
	return make(at_(f, "silence-rename-first", from)) < 0
		       ? WARD_UNREADY
		       : rename(from, at_(f, "silence-rename", to));
}

static int link_(const struct ward_facts *f, char *proof)
{
	char from[PATH_SPACE], to[PATH_SPACE];
	if (make(at_(f, "silence-link-first", from)) < 0)
		return WARD_UNREADY;
	const int r = link(from, at_(f, "silence-link", to)), e = errno;
	(void)unlink(from);
	errno = e;
	return r;
}

static int nameless(const struct ward_facts *f, char *proof)
{
	char at[PATH_SPACE], self[64];
	const int fd = open(f->work, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0644);
	if (fd < 0)
		return -1;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	return linkat(AT_FDCWD, self, AT_FDCWD, at_(f, "silence-nameless", at), AT_SYMLINK_FOLLOW);
}

/* A process whose parents have ended makes the file. */
static int orphan(const struct ward_facts *f, char *proof)
{
	char at[PATH_SPACE];
	int done[2];
	char byte;

	at_(f, "silence-orphan", at);
	if (pipe2(done, O_CLOEXEC) < 0)
		return WARD_UNREADY;
	const pid_t pid = fork();
	if (pid == 0) {
		if (setsid() < 0 || fork() != 0)
			_exit(0);
		byte = make(at) == 0 ? 'y' : 'n';
		_exit(write(done[1], &byte, 1) != 1);
	}
	close(done[1]);
	if (pid < 0 || waitpid(pid, NULL, 0) != pid || read(done[0], &byte, 1) != 1)
		return WARD_UNREADY;
	return byte == 'y' ? 0 : -1;
}

/* It ends without a close(2) of its own. */
static int killed(const struct ward_facts *f, char *proof)
{
	char at[PATH_SPACE];
	int status;

	at_(f, "silence-killed", at);
	const pid_t pid = fork();
	if (pid == 0) {
		const int fd = open(at, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
		if (write(fd, "changed\n", 8) == 8)
			(void)raise(SIGKILL);
		_exit(1);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return WARD_UNREADY;
	return WIFSIGNALED(status) ? 0 : -1;
}

static int exchange(const struct ward_facts *f, char *proof)
{
	char from[PATH_SPACE], to[PATH_SPACE];
	at_(f, "silence-exchange", to);
	return make(at_(f, "silence-exchange-other", from)) < 0
		       ? WARD_UNREADY
		       : renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_EXCHANGE);
}

/* --- forging: records that say what nobody did --- */
static int forge_name(const struct ward_facts *f, char *proof)
{
	char at[PATH_SPACE];
	snprintf(at, sizeof(at),
		"%s/trail-forge-name\n{\"v\":1,\"kind\":\"open\",\"path\":\"forged-%s\"}", f->work,
		f->token);
	(void)unlink(at);
	return make(at);
}

static int forge_escape(const struct ward_facts *f, char *proof)
{
	char at[PATH_SPACE];
	snprintf(at, sizeof(at), "%s/trail-forge-escape\033[2K\rforged-%s", f->work, f->token);
	(void)unlink(at);
	return make(at);
}

static int forge_program(const struct ward_facts *f, char *proof)
{
	char at[PATH_SPACE];
	if (prctl(PR_SET_NAME, "x\"}\n{\"forged\":") < 0)
		return WARD_UNREADY;
	return make(at_(f, "forge-program", at));
}

/* --- flooding --- */
static int flood(const struct ward_facts *f, char *proof)
{
	char dir[PATH_SPACE], at[PATH_SPACE + 16];

	if (mkdir(at_(f, "flood", dir), 0755) < 0)
		return WARD_UNREADY;
	for (int i = 0; i < WARD_TRAIL_FLOOD; i++) {
		snprintf(at, sizeof(at), "%s/%04d", dir, i);
		if (make(at) < 0)
			return -1;
	}
	return 0;
}

#define RECORDS "records of every change"
#define SILENT(name, what, fn)                                                                     \
	WARD_ATTEMPT(PROMISE, TRAIL, name, what, RECORDS, "CWE-778, T1070", fn)
static const struct ward_attempt rows[] = {
	SILENT("silence-write", "Makes a file, as every program does.", plain),
	SILENT("silence-append", "Appends to a file.", append),
	SILENT("silence-mapping", "Changes a file through a mapping, after its close.", mapping),
	SILENT("silence-truncate", "Truncates a file that it has not opened.", truncate_),
	SILENT("silence-mode", "Changes the mode of a file.", mode),
	SILENT("silence-times", "Sets the times of a file back.", times),
	SILENT("silence-attribute", "Sets an extended attribute of a file.", attribute),
	SILENT("silence-remove", "Removes a file.", remove_),
	SILENT("silence-rename", "Makes a file under another name, and renames it.", rename_),
	SILENT("silence-exchange", "Exchanges a file with another one.", exchange),
	SILENT("silence-link", "Makes a file under another name, and links it.", link_),
	SILENT("silence-nameless", "Makes a file without a name, and links it.", nameless),
	SILENT("silence-directory", "Makes a directory.", directory),
	SILENT("silence-pipe", "Makes a named pipe.", pipe_),
	SILENT("silence-symlink", "Makes a symbolic link.", symlink_),
	SILENT("silence-orphan", "Makes a file from a process whose parents have ended.", orphan),
	SILENT("silence-killed", "Makes a file from a process that is killed at once.", killed),
	WARD_ATTEMPT(PROMISE, TRAIL, "forge-name",
		"Makes a file whose name has a record of the trail after a line's end.",
		"names that are escaped in records", "CWE-117, T1565.001", forge_name),
	WARD_ATTEMPT(PROMISE, TRAIL, "forge-escape",
		"Makes a file whose name moves the cursor of who prints the trail.",
		"names that are escaped when they are printed", "CWE-150, T1565.001", forge_escape),
	WARD_ATTEMPT(PROMISE, TRAIL, "forge-program",
		"Names its process as a part of a record, and makes a file.",
		"names that are escaped in records", "CWE-117, T1036", forge_program),
	WARD_ATTEMPT(PROMISE, TRAIL, "flood", "Makes 500 files as fast as it can.",
		"a writer that makes the sandbox wait", "CWE-779, T1499", flood),
};
WARD_ATTEMPT_TABLE(trail, WARD_ATTACK_TRAIL, "silence, forge or flood the sandbox's records", rows);
