/* SPDX-License-Identifier: Apache-2.0 */
/* What the caller left open, and what the command's own descriptors lead to. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
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

static const struct ward_attempt rows[] = {
	WARD_ATTEMPT(PROMISE, SECRET, "inherited-file",
		"Reads from a descriptor that the caller left open.",
		"closing all but three descriptors", "CWE-403", inherited),
	WARD_ATTEMPT(PROMISE, SECRET, "inherited-directory",
		"Opens a file beneath a directory that the caller left open.",
		"closing all but three descriptors", "CVE-2024-21626", inherited_directory),
};
WARD_ATTEMPT_TABLE(descriptors, WARD_ATTACK_DESCRIPTORS, "use what the caller left open", rows);
