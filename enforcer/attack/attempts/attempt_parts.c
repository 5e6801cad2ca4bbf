/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "enforcer/attack/attempts/attempts.h"

int ward_proof_of_fd(int fd, char proof[WARD_PROOF_SIZE])
{
	char text[WARD_PROOF_SIZE];
	const ssize_t n = read(fd, text, sizeof(text) - 1);

	if (n < 0)
		return -1;
	text[n] = '\0';
	text[strcspn(text, " \n")] = '\0';
	if (!*text) {
		errno = ENODATA;
		return -1;
	}
	memcpy(proof, text, sizeof(text));
	return 0;
}

int ward_proof_of_file(const char *path, char proof[WARD_PROOF_SIZE])
{
	if (!path)
		return ward_attempt_lacks();
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -1;
	const int r = ward_proof_of_fd(fd, proof), e = errno;
	close(fd);
	errno = e;
	return r;
}

int ward_attempt_work(const struct ward_facts *f, const char *name, char *ret, size_t size)
{
	snprintf(ret, size, "%s/%s", f->work, name);
	(void)unlink(ret);
	(void)rmdir(ret);
	const int fd = open(ret, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		return WARD_UNREADY;
	close(fd);
	return ward_attempt_step(unlink(ret));
}

int ward_attempt_step(int r)
{
	return r < 0 ? WARD_UNREADY : 0;
}

int ward_attempt_open(const char *path, int flags)
{
	struct stat st;
	const int fd = open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3)) {
		close(fd);
		errno = ENODEV;
		return -1;
	}
	return fd;
}

int ward_attempt_lacks(void)
{
	errno = ENODEV;
	return -1;
}
