/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the zeros that end a text or a file. */
#include "enforcer/base/zeros.h"

#include <errno.h>
#include <unistd.h>

size_t ward_before_zeros(const char *text, size_t len)
{
	while (len > 0 && text[len - 1] == '\0')
		len--;
	return len;
}

int ward_before_zeros_of(int fd, uint64_t size, uint64_t *ret)
{
	char text[4096];
	size_t n = 0;
	while (size > 0 && n == 0) {
		const size_t want = size < sizeof(text) ? (size_t)size : sizeof(text);
		ssize_t got = pread(fd, text, want, (off_t)(size - want));
		if (got < 0 && errno == EINTR)
			continue;
		if (got != (ssize_t)want)
			return got < 0 ? -errno : -EIO;
		n = ward_before_zeros(text, want);
		size -= want - n;
	}
	*ret = size;
	return 0;
}
