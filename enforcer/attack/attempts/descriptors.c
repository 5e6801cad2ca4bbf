/* SPDX-License-Identifier: Apache-2.0 */
/* What the caller left open, and what the command's own descriptors lead to. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "enforcer/attack/attempts/attempts.h"

/* The observer starts the sandbox with a descriptor to a file with a secret, beyond the first
 * three. */
static int inherited(const struct ward_facts *f, char *proof)
{
	for (int fd = 3; fd < 256; fd++) {
		char text[WARD_PROOF_SIZE] = "";
		if (pread(fd, text, sizeof(text) - 1, 0) > 0 && strncmp(text, "left-", 5) == 0) {
			snprintf(proof, WARD_PROOF_SIZE, "%.*s", (int)strcspn(text, " \n"), text);
			return 0;
		}
	}
	errno = EBADF;
	return -1;
}

/* A directory that was left open leads out, wherever the root directory is. */
static int inherited_directory(const struct ward_facts *f, char *proof)
{
	for (int fd = 3; fd < 256; fd++) {
		const int out = openat(fd, "listed", O_RDONLY | O_CLOEXEC);
		if (out >= 0)
			return ward_proof_of_fd(out, proof);
	}
	errno = EBADF;
	return -1;
}

/* Of the descriptors that were left open, the one that was opened so and whose file begins so. */
static int find(int mode, const char *begin)
{
	char text[16];
	for (int fd = 3; fd < 256; fd++) {
		const int flags = fcntl(fd, F_GETFL);
		const size_t n = strlen(begin);
		if (flags >= 0 && (flags & O_ACCMODE) == mode &&
			pread(fd, text, n, 0) == (ssize_t)n && memcmp(text, begin, n) == 0)
			return fd;
	}
	errno = EBADF;
	return -1;
}

static int inherited_write(const struct ward_facts *f, char *proof)
{
	const int fd = find(O_RDWR, "as it was");
	return fd < 0 ? -1 : pwrite(fd, "changed", 7, 0) == 7 ? 0 : -1;
}

/* Read-only as it was left, and opened once more for writing. */
static int inherited_reopen(const struct ward_facts *f, char *proof)
{
	char at[64];
	const int left = find(O_RDONLY, "as it was");
	if (left < 0)
		return -1;
	snprintf(at, sizeof(at), "/proc/self/fd/%d", left);
	const int fd = open(at, O_WRONLY | O_CLOEXEC);
	return fd < 0 ? -1 : pwrite(fd, "changed", 7, 0) == 7 ? 0 : -1;
}

static int inherited_memory(const struct ward_facts *f, char *proof)
{
	const int fd = find(O_RDWR, "kept-");
	return fd < 0 ? -1 : ward_proof_of_fd(fd, proof);
}

static int inherited_socket(const struct ward_facts *f, char *proof)
{
	for (int fd = 3; fd < 256; fd++) {
		char text[WARD_PROOF_SIZE] = "";
		if (recv(fd, text, sizeof(text) - 1, MSG_PEEK | MSG_DONTWAIT) > 0 &&
			strncmp(text, "sock-", 5) == 0) {
			memcpy(proof, text, sizeof(text));
			return 0;
		}
	}
	errno = EBADF;
	return -1;
}

/* Nothing else is a pidfd: other descriptors answer EBADF. */
static int inherited_process(const struct ward_facts *f, char *proof)
{
	for (int fd = 3; fd < 256; fd++)
		if (syscall(SYS_pidfd_send_signal, fd, SIGUSR1, NULL, 0U) == 0)
			return 0;
	errno = EBADF;
	return -1;
}

/* --- its standard error: a file of the caller's, with something in it already --- */
static int error_before(const struct ward_facts *f, char *proof)
{
	char text[WARD_PROOF_SIZE] = "";
	if (pread(2, text, sizeof(text) - 1, 0) <= 0)
		return -1;
	snprintf(proof, WARD_PROOF_SIZE, "%.*s", (int)strcspn(text, " \n"), text);
	return 0;
}

static int error_rewrite(const struct ward_facts *f, char *proof)
{
	return pwrite(2, "forged", 6, 0) == 6 ? 0 : -1;
}

static int error_truncate(const struct ward_facts *f, char *proof)
{
	return ftruncate(2, 0);
}

static int error_mode(const struct ward_facts *f, char *proof)
{
	return fchmod(2, 0666);
}

#define CLOSED "closing all but three descriptors"
#define PIPES "a pipe in place of the caller's file"
static const struct ward_attempt rows[] = {
	WARD_ATTEMPT(PROMISE, SECRET, "inherited-file",
		"Reads from a descriptor that the caller left open.", CLOSED, "CWE-403", inherited),
	WARD_ATTEMPT(PROMISE, SECRET, "inherited-directory",
		"Opens a file beneath a directory that the caller left open.", CLOSED,
		"CVE-2024-21626", inherited_directory),
	WARD_ATTEMPT(PROMISE, CHANGE, "inherited-write",
		"Writes to a file that the caller left open.", CLOSED, "CWE-403", inherited_write),
	WARD_ATTEMPT(PROMISE, CHANGE, "inherited-reopen",
		"Opens a file for writing that the caller left open for reading.", CLOSED,
		"CWE-403", inherited_reopen),
	WARD_ATTEMPT(PROMISE, SECRET, "inherited-memory",
		"Reads memory behind a descriptor that the caller left open.", CLOSED, "CWE-403",
		inherited_memory),
	WARD_ATTEMPT(PROMISE, SECRET, "inherited-socket",
		"Receives from a socket that the caller left open.", CLOSED, "CWE-403",
		inherited_socket),
	WARD_ATTEMPT(PROMISE, VICTIM, "inherited-process",
		"Sends a signal by a pidfd that the caller left open.", CLOSED, "CWE-403",
		inherited_process),
	WARD_ATTEMPT(HARDENING, SECRET, "error-before",
		"Reads what stood in the caller's file of errors before.", PIPES, "CWE-403",
		error_before),
	WARD_ATTEMPT(HARDENING, OUTPUT, "error-rewrite",
		"Changes what stood in the caller's file of errors before.", PIPES, "T1565.001",
		error_rewrite),
	WARD_ATTEMPT(HARDENING, OUTPUT, "error-truncate", "Truncates the caller's file of errors.",
		PIPES, "T1070", error_truncate),
	WARD_ATTEMPT(HARDENING, OUTPUT, "error-mode",
		"Opens the caller's file of errors to all users.", PIPES, "T1222.002", error_mode),
};
WARD_ATTEMPT_TABLE(descriptors, WARD_ATTACK_DESCRIPTORS, "use what the caller left open", rows);
