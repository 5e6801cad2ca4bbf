/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/cli/owner_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"

/* Makes the directories above file, the owner's alone. */
static int make_dirs(const char *file, const struct ward_identity *id, struct ward_err *err)
{
	ward_cleanup_free char *path = strdup(file);
	if (!path)
		return ward_err_sys(err, -ENOMEM, "%s", file);
	for (char *s = strchr(path + 1, '/'); s; s = strchr(s + 1, '/')) {
		*s = 0;
		bool made = mkdir(path, 0700) == 0;
		if (!made && errno != EEXIST)
			return ward_err_sys(err, -errno, "%s", path);
		if (made && id->root && lchown(path, id->owner_uid, id->owner_gid) < 0)
			return ward_err_sys(err, -errno, "%s", path);
		*s = '/';
	}
	return 0;
}

/* Writes the text beside the file; the caller loads it from there, then renames it. */
static int write_beside(const char *beside, const struct ward_buf *text,
	const struct ward_identity *id, struct ward_err *err)
{
	ward_cleanup_fd int fd =
		open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return ward_err_sys(err, -errno, "%s", beside);
	int r = ward_fd_write_all(fd, text->data, text->len);
	if (r == 0 && id->root && fchown(fd, id->owner_uid, id->owner_gid) < 0)
		r = -errno;
	if (r == 0 && fsync(fd) < 0)
		r = -errno;
	return r < 0 ? ward_err_sys(err, r, "%s", beside) : 0;
}

int ward_owner_file_put(const char *file, const struct ward_buf *text, bool replace,
	const struct ward_identity *id, struct ward_place *ret_after, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf beside = WARD_BUF_INIT;
	ward_buf_printf(&beside, "%s.%ld", file, (long)getpid());
	int r = ward_buf_error(&beside);
	if (r < 0)
		return ward_err_sys(err, r, "%s", file);
	r = make_dirs(file, id, err);
	if (r == 0)
		r = write_beside(ward_buf_str(&beside), text, id, err);
	if (r < 0)
		return r;
	r = ward_place_find(ward_buf_str(&beside), ret_after, err);
	if (r == 0 && renameat2(AT_FDCWD, ward_buf_str(&beside), AT_FDCWD, file,
			      replace ? 0 : RENAME_NOREPLACE) < 0)
		r = ward_err_sys(err, -errno, "%s", file);
	if (r < 0)
		(void)unlink(ward_buf_str(&beside));
	return r;
}
