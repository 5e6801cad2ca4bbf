/* SPDX-License-Identifier: Apache-2.0 */
/* Content that is applied in the place of what is staged. */
#include "enforcer/review/part.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/review/content.h"

#define PARTS "parts"

void ward_part_name(uint32_t object, char ret[WARD_PART_NAME])
{
	snprintf(ret, WARD_PART_NAME, PARTS "/%u", object);
}

void ward_part_digest(const struct ward_buf *bytes, char ret[WARD_REVIEW_DIGEST_SIZE])
{
	struct sha256_ctx hash;
	uint8_t digest[SHA256_DIGEST_SIZE];
	sha256_init(&hash);
	sha256_update(&hash, bytes->len, (const uint8_t *)ward_buf_str(bytes));
	sha256_digest(&hash, sizeof(digest), digest);
	for (size_t i = 0; i < sizeof(digest); i++)
		snprintf(ret + 2 * i, 3, "%02x", digest[i]);
}

int ward_part_write(int dir_fd, const struct ward_change *c, enum ward_part_kind kind, mode_t mode,
	const struct ward_buf *bytes, struct ward_part *ret)
{
	char object[WARD_PART_NAME], name[WARD_PART_NAME];
	struct ward_part p = {.kind = kind, .mode = mode, .size = bytes->len};
	snprintf(object, sizeof(object), "objects/%u", c->object);
	ward_part_name(c->object, name);
	if (mkdirat(dir_fd, PARTS, 0700) < 0 && errno != EEXIST)
		return -errno;
	/* What an apply that was ended left there. */
	if (unlinkat(dir_fd, name, 0) < 0 && errno != ENOENT)
		return -errno;
	int r = ward_content_copy(dir_fd, object, S_IFREG, dir_fd, name, NULL);
	ward_cleanup_fd int fd = r < 0 ? r : ward_fd_open_regular(dir_fd, name, O_WRONLY);
	if (fd < 0)
		return fd;
	if (ftruncate(fd, 0) < 0)
		return -errno;
	r = ward_fd_write_all(fd, ward_buf_str(bytes), bytes->len);
	/* Writing took setuid away, had there been any. */
	if (r == 0 && fchmod(fd, mode) < 0)
		r = -errno;
	if (r < 0)
		return r;
	ward_part_digest(bytes, p.content);
	*ret = p;
	return 0;
}

void ward_part_drop(int dir_fd)
{
	int fd = openat(dir_fd, PARTS, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	ward_cleanup_dir DIR *d = fd < 0 ? NULL : fdopendir(fd);
	if (!d) {
		if (fd >= 0)
			close(fd);
		return;
	}
	for (const struct dirent *e = NULL; (e = readdir(d));)
		(void)unlinkat(fd, e->d_name, 0);
	(void)unlinkat(dir_fd, PARTS, AT_REMOVEDIR);
}
