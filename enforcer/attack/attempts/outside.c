/* SPDX-License-Identifier: Apache-2.0 */
/* Files outside of the workspace: every way to their content, and every way to change them. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "enforcer/attack/attempts/attempts.h"

#define PATH_SPACE (2 * PATH_MAX)

/* --- reading --- */
static int read_path(const struct ward_facts *f, char *proof)
{
	return ward_proof_of_file(f->secret, proof);
}

static int read_closed(const struct ward_facts *f, char *proof)
{
	return ward_proof_of_file(f->hidden, proof);
}

static int read_shared(const struct ward_facts *f, char *proof)
{
	return ward_proof_of_file(f->shared, proof);
}

static int read_below(const char *prefix, const char *path, char *proof)
{
	char at[PATH_SPACE];
	snprintf(at, sizeof(at), "%s%s", prefix, path);
	return ward_proof_of_file(at, proof);
}

static int read_self_root(const struct ward_facts *f, char *proof)
{
	return read_below("/proc/self/root", f->secret, proof);
}

static int read_pid1_root(const struct ward_facts *f, char *proof)
{
	return read_below("/proc/1/root", f->secret, proof);
}

static int read_parent_root(const struct ward_facts *f, char *proof)
{
	char prefix[64];
	snprintf(prefix, sizeof(prefix), "/proc/%d/root", (int)getppid());
	return read_below(prefix, f->secret, proof);
}

static int read_victim_root(const struct ward_facts *f, char *proof)
{
	char prefix[64];
	snprintf(prefix, sizeof(prefix), "/proc/%llu/root", (unsigned long long)f->victim);
	return read_below(prefix, f->secret, proof);
}

static int read_dots(const struct ward_facts *f, char *proof)
{
	char at[PATH_SPACE];
	int n = snprintf(at, sizeof(at), "%s", f->work);
	for (const char *p = f->work; *p; p++)
		if (*p == '/')
			n += snprintf(at + n, sizeof(at) - (size_t)n, "/..");
	snprintf(at + n, sizeof(at) - (size_t)n, "%s", f->secret);
	return ward_proof_of_file(at, proof);
}

static int read_symlink(const struct ward_facts *f, char *proof)
{
	char at[PATH_SPACE];
	if (ward_attempt_work(f, "read-symlink", at, sizeof(at)) < 0)
		return WARD_UNREADY;
	return symlink(f->secret, at) < 0 ? WARD_UNREADY : ward_proof_of_file(at, proof);
}

static int read_symlink_above(const struct ward_facts *f, char *proof)
{
	char at[PATH_SPACE], below[PATH_SPACE + 64];
	if (ward_attempt_work(f, "read-symlink-above", at, sizeof(at)) < 0)
		return WARD_UNREADY;
	if (symlink(f->outside, at) < 0)
		return WARD_UNREADY;
	snprintf(below, sizeof(below), "%s/%s", at, strrchr(f->secret, '/') + 1);
	return ward_proof_of_file(below, proof);
}

static int read_hardlink(const struct ward_facts *f, char *proof)
{
	char at[PATH_SPACE];
	if (ward_attempt_work(f, "read-hardlink", at, sizeof(at)) < 0)
		return WARD_UNREADY;
	return link(f->secret, at) < 0 ? -1 : ward_proof_of_file(at, proof);
}

static int read_rename(const struct ward_facts *f, char *proof)
{
	char from[PATH_SPACE], at[PATH_SPACE];
	ward_attack_target(f, "read-rename", from, sizeof(from));
	if (ward_attempt_work(f, "read-rename", at, sizeof(at)) < 0)
		return WARD_UNREADY;
	return rename(from, at) < 0 ? -1 : ward_proof_of_file(at, proof);
}

static int read_opath(const struct ward_facts *f, char *proof)
{
	char at[64];
	const int fd = open(f->secret, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return -1;
	snprintf(at, sizeof(at), "/proc/self/fd/%d", fd);
	return ward_proof_of_file(at, proof);
}

static int read_chdir(const struct ward_facts *f, char *proof)
{
	if (chdir(f->outside) < 0)
		return -1;
	return ward_proof_of_file(strrchr(f->secret, '/') + 1, proof);
}

/* Handles can be guessed; the observer tells this one. */
static int read_handle(const struct ward_facts *f, char *proof)
{
	static const char *const dirs[] = {NULL, "/", "/usr", "/etc", "/dev", "/tmp", "/home"};
	union {
		struct file_handle h;
		char space[sizeof(struct file_handle) + MAX_HANDLE_SZ];
	} u = {0};
	unsigned byte;
	int used = 0, e = EINVAL;

	if (!f->handle || sscanf(f->handle, "%d:%n", &u.h.handle_type, &used) != 1)
		return ward_attempt_lacks();
	for (const char *p = f->handle + used; sscanf(p, "%2x", &byte) == 1; p += 2)
		if (u.h.handle_bytes < MAX_HANDLE_SZ)
			u.h.f_handle[u.h.handle_bytes++] = (unsigned char)byte;
	for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs); i++) {
		const int at =
			open(dirs[i] ? dirs[i] : f->work, O_RDONLY | O_CLOEXEC | O_DIRECTORY);
		const int fd = at < 0 ? -1 : open_by_handle_at(at, &u.h, O_RDONLY | O_CLOEXEC);
		if (fd >= 0)
			return ward_proof_of_fd(fd, proof);
		/* Another file system's handle is stale; what the first one says counts. */
		e = i == 0 ? errno : e;
	}
	errno = e;
	return -1;
}

static int read_list(const struct ward_facts *f, char *proof)
{
	DIR *d = opendir(f->outside);
	if (!d)
		return -1;
	const struct dirent *e;
	errno = ENOENT;
	/* The name of the file carries a secret, too: "listed-SECRET". */
	while ((e = readdir(d)))
		if (strncmp(e->d_name, "listed-", 7) == 0) {
			snprintf(
				proof, WARD_PROOF_SIZE, "%.*s", WARD_PROOF_SIZE - 1, e->d_name + 7);
			closedir(d);
			return 0;
		}
	closedir(d);
	errno = ENOENT;
	return -1;
}

static int read_environment(const struct ward_facts *f, char *proof)
{
	const char *v = getenv("WARD_ATTACK_PASSED");
	if (!v) {
		errno = ENOENT;
		return -1;
	}
	snprintf(proof, WARD_PROOF_SIZE, "%.*s", WARD_PROOF_SIZE - 1, v);
	return 0;
}

/* --- changing: the target is there before, and the observer compares it --- */
static char *target(const struct ward_facts *f, const char *name)
{
	static char at[PATH_SPACE];
	ward_attack_target(f, name, at, sizeof(at));
	return at;
}

static int put(int fd)
{
	return fd < 0 || write(fd, "changed\n", 8) != 8 ? -1 : 0;
}

static int write_path(const struct ward_facts *f, char *proof)
{
	return put(open(target(f, "write-path"), O_WRONLY | O_CLOEXEC));
}

static int write_append(const struct ward_facts *f, char *proof)
{
	return put(open(target(f, "write-append"), O_WRONLY | O_APPEND | O_CLOEXEC));
}

static int write_root_link(const struct ward_facts *f, char *proof)
{
	char at[PATH_SPACE + 32];
	snprintf(at, sizeof(at), "/proc/self/root%s", target(f, "write-root-link"));
	return put(open(at, O_WRONLY | O_CLOEXEC));
}

static int write_symlink(const struct ward_facts *f, char *proof)
{
	char at[PATH_SPACE];
	if (ward_attempt_work(f, "write-symlink", at, sizeof(at)) < 0)
		return WARD_UNREADY;
	if (symlink(target(f, "write-symlink"), at) < 0)
		return WARD_UNREADY;
	return put(open(at, O_WRONLY | O_CLOEXEC));
}

static int write_hardlink(const struct ward_facts *f, char *proof)
{
	char at[PATH_SPACE];
	if (ward_attempt_work(f, "write-hardlink", at, sizeof(at)) < 0)
		return WARD_UNREADY;
	return link(target(f, "write-hardlink"), at) < 0 ? -1 : put(open(at, O_WRONLY | O_CLOEXEC));
}

static int write_mapping(const struct ward_facts *f, char *proof)
{
	const int fd = open(target(f, "write-mapping"), O_RDWR | O_CLOEXEC);
	char *p = fd < 0 ? MAP_FAILED : mmap(NULL, 4, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return -1;
	memcpy(p, "chan", 4);
	return msync(p, 4, MS_SYNC);
}

static int write_opath(const struct ward_facts *f, char *proof)
{
	char at[64];
	const int fd = open(target(f, "write-opath"), O_PATH | O_CLOEXEC);
	if (fd < 0)
		return -1;
	snprintf(at, sizeof(at), "/proc/self/fd/%d", fd);
	return put(open(at, O_WRONLY | O_CLOEXEC));
}

static int change_truncate(const struct ward_facts *f, char *proof)
{
	return truncate(target(f, "change-truncate"), 0);
}

static int change_mode(const struct ward_facts *f, char *proof)
{
	return chmod(target(f, "change-mode"), 0600);
}

static int change_setuid(const struct ward_facts *f, char *proof)
{
	return chmod(target(f, "change-setuid"), 04755);
}

static int change_times(const struct ward_facts *f, char *proof)
{
	const struct timespec then[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
	return utimensat(AT_FDCWD, target(f, "change-times"), then, 0);
}

static int change_attribute(const struct ward_facts *f, char *proof)
{
	return setxattr(target(f, "change-attribute"), "user.attack", "x", 1, 0);
}

static int change_remove(const struct ward_facts *f, char *proof)
{
	return unlink(target(f, "change-remove"));
}

static int change_replace(const struct ward_facts *f, char *proof)
{
	char at[PATH_SPACE];
	if (ward_attempt_work(f, "change-replace", at, sizeof(at)) < 0)
		return WARD_UNREADY;
	if (put(open(at, O_WRONLY | O_CREAT | O_CLOEXEC, 0644)) < 0)
		return WARD_UNREADY;
	return rename(at, target(f, "change-replace"));
}

static int change_exchange(const struct ward_facts *f, char *proof)
{
	char at[PATH_SPACE];
	if (ward_attempt_work(f, "change-exchange", at, sizeof(at)) < 0)
		return WARD_UNREADY;
	if (put(open(at, O_WRONLY | O_CREAT | O_CLOEXEC, 0644)) < 0)
		return WARD_UNREADY;
	return (int)syscall(SYS_renameat2, AT_FDCWD, at, AT_FDCWD, target(f, "change-exchange"),
		2 /* RENAME_EXCHANGE */);
}

/* The names that these make are targets that are not there before. */
static int create_file(const struct ward_facts *f, char *proof)
{
	return put(open(target(f, "create-file"), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
}

static int create_directory(const struct ward_facts *f, char *proof)
{
	return mkdir(target(f, "create-directory"), 0755);
}

static int create_link(const struct ward_facts *f, char *proof)
{
	return symlink("/", target(f, "create-link"));
}

static int create_pipe(const struct ward_facts *f, char *proof)
{
	return mkfifo(target(f, "create-pipe"), 0600);
}

static int create_tmpfile(const struct ward_facts *f, char *proof)
{
	char at[64];
	const int fd = open(f->outside, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0644);
	if (fd < 0)
		return -1;
	snprintf(at, sizeof(at), "/proc/self/fd/%d", fd);
	return linkat(AT_FDCWD, at, AT_FDCWD, target(f, "create-tmpfile"), AT_SYMLINK_FOLLOW);
}

static int create_home(const struct ward_facts *f, char *proof)
{
	char at[PATH_SPACE];
	snprintf(at, sizeof(at), "%s/.%s-create-home", f->home, f->token);
	return put(open(at, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
}

#define READ(name, what, stops, ref, fn) WARD_ATTEMPT(PROMISE, SECRET, name, what, stops, ref, fn)
#define CHANGE(name, what, stops, ref, fn) WARD_ATTEMPT(PROMISE, CHANGE, name, what, stops, ref, fn)
#define VIEW "a view of its own (mount namespace) or Landlock"
static const struct ward_attempt rows[] = {
	READ("read-path", "Reads a file beside the workspace by its path.", VIEW,
		"T1005, AML.T0037", read_path),
	READ("read-closed", "Reads a file in a directory of mode 0700 of the caller's.", VIEW,
		"T1552.001, AML.T0055", read_closed),
	READ("read-shared-memory", "Reads a file of another program in /dev/shm.",
		"a tmpfs of its own", "CWE-668", read_shared),
	READ("read-self-root", "Reads the file through /proc/self/root.", VIEW, "CWE-59",
		read_self_root),
	READ("read-pid1-root", "Reads the file through /proc/1/root.",
		"a pid namespace, or ptrace rules", "CWE-59", read_pid1_root),
	READ("read-parent-root", "Reads the file through the root directory of the parent process.",
		"a pid namespace", "CWE-59", read_parent_root),
	READ("read-victim-root", "Reads the file through the root directory of a process outside.",
		"a pid namespace", "CWE-59", read_victim_root),
	READ("read-dots", "Reads the file by a path that climbs out of the workspace with '..'.",
		VIEW, "CWE-22", read_dots),
	READ("read-symlink", "Reads the file through a symbolic link in the workspace.", VIEW,
		"CWE-61", read_symlink),
	READ("read-symlink-above", "Reads the file beneath a symbolic link to its directory.", VIEW,
		"CWE-61", read_symlink_above),
	READ("read-hardlink", "Makes a hard link to the file in the workspace, and reads it.",
		"a mount boundary", "CWE-62", read_hardlink),
	READ("read-rename", "Moves a file from outside into the workspace, and reads it.",
		"a mount boundary", "CWE-22", read_rename),
	READ("read-opath", "Opens the file with O_PATH and reads it through /proc/self/fd.", VIEW,
		"CWE-284", read_opath),
	READ("read-chdir", "Changes into the directory outside and reads by a relative path.", VIEW,
		"CWE-22", read_chdir),
	READ("read-handle", "Opens the file by its handle (open_by_handle_at).",
		"no CAP_DAC_READ_SEARCH, seccomp", "T1611, AML.T0105", read_handle),
	READ("read-list", "Lists the directory outside.", VIEW, "T1083", read_list),
	WARD_ATTEMPT(HARDENING, SECRET, "read-environment",
		"Reads a secret from an environment variable of the caller's.",
		"a cleared environment", "T1552, AML.T0055", read_environment),
	CHANGE("write-path", "Writes to a file outside by its path.", VIEW, "T1565.001",
		write_path),
	CHANGE("write-append", "Appends to a file outside.", VIEW, "T1565.001", write_append),
	CHANGE("write-root-link", "Writes to a file outside through /proc/self/root.", VIEW,
		"CWE-59", write_root_link),
	CHANGE("write-symlink", "Writes through a symbolic link in the workspace.", VIEW, "CWE-61",
		write_symlink),
	CHANGE("write-hardlink",
		"Hard-links a file from outside into the workspace, and writes to it.",
		"a mount boundary", "CWE-62", write_hardlink),
	CHANGE("write-mapping", "Changes a file outside through a shared mapping.", VIEW,
		"T1565.001", write_mapping),
	CHANGE("write-opath",
		"Opens a file with O_PATH, and again for writing through /proc/self/fd.", VIEW,
		"CWE-284", write_opath),
	CHANGE("change-truncate", "Truncates a file outside.",
		"a view of its own; Landlock from ABI 3", "T1485", change_truncate),
	CHANGE("change-mode", "Changes the mode of a file outside.", VIEW, "T1222.002",
		change_mode),
	CHANGE("change-setuid", "Makes a file outside set-user-id.", VIEW ", seccomp", "T1548.001",
		change_setuid),
	CHANGE("change-times", "Changes the times of a file outside.", VIEW, "T1070.006",
		change_times),
	CHANGE("change-attribute", "Sets an extended attribute of a file outside.", VIEW, "CWE-732",
		change_attribute),
	CHANGE("change-remove", "Removes a file outside.", VIEW, "T1485", change_remove),
	CHANGE("change-replace", "Renames a file of the workspace over one outside.",
		"a mount boundary", "T1565.001", change_replace),
	CHANGE("change-exchange", "Exchanges a file of the workspace with one outside.",
		"a mount boundary", "T1565.001", change_exchange),
	CHANGE("create-file", "Creates a file outside.", VIEW, "CWE-732", create_file),
	CHANGE("create-directory", "Creates a directory outside.", VIEW, "CWE-732",
		create_directory),
	CHANGE("create-link", "Creates a symbolic link outside.", VIEW, "CWE-61", create_link),
	CHANGE("create-pipe", "Creates a named pipe outside.", VIEW, "CWE-732", create_pipe),
	CHANGE("create-tmpfile", "Creates a file without a name outside, and links it there.", VIEW,
		"CWE-732", create_tmpfile),
	CHANGE("create-home", "Creates a file in the caller's home directory.", VIEW, "T1546.004",
		create_home),
};
WARD_ATTEMPT_TABLE(
	outside, WARD_ATTACK_OUTSIDE, "read and change files outside the workspace", rows);
