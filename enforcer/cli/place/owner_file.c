/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a policy of the owner's, with the owner's rights. */
#include "enforcer/cli/place/owner_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/policy/read.h"
#include "enforcer/session/owner/as_owner.h"

/* Makes the directories above file, the owner's alone. */
static int make_dirs(const char *file, struct ward_err *err)
{
	ward_cleanup_free char *path = strdup(file);
	if (!path)
		return ward_err_sys(err, -ENOMEM, "%s", file);
	for (char *s = strchr(path + 1, '/'); s; s = strchr(s + 1, '/')) {
		*s = 0;
		if (mkdir(path, 0700) < 0 && errno != EEXIST)
			return ward_err_sys(err, -errno, "%s", path);
		*s = '/';
	}
	return 0;
}

/* Writes the text beside the file; the caller loads it from there, then renames it. */
static int write_beside(const char *beside, const struct ward_buf *text, struct ward_err *err)
{
	ward_cleanup_fd int fd =
		open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return ward_err_sys(err, -errno, "%s", beside);
	int r = ward_fd_write_all(fd, text->data, text->len);
	if (r == 0 && fsync(fd) < 0)
		r = -errno;
	return r < 0 ? ward_err_sys(err, r, "%s", beside) : 0;
}

struct put {
	const char *file, *beside;
	const struct ward_buf *text;
};

static int put(const struct put *p, struct ward_err *err)
{
	int r = make_dirs(p->file, err);
	return r < 0 ? r : write_beside(p->beside, p->text, err);
}

static int move(const struct put *p, unsigned flags, struct ward_err *err)
{
	if (renameat2(AT_FDCWD, p->beside, AT_FDCWD, p->file, flags) < 0)
		return ward_err_sys(err, -errno, "%s", p->file);
	return 0;
}

static int swap_in(const struct put *p, struct ward_err *err)
{
	return move(p, 0, err);
}

static int move_in(const struct put *p, struct ward_err *err)
{
	return move(p, RENAME_NOREPLACE, err);
}

static int drop(const struct put *p, struct ward_err *err)
{
	return unlink(p->beside) < 0 ? ward_err_sys(err, -errno, "%s", p->beside) : 0;
}

/*
 * The owner decides what stands in these directories, also links that lead elsewhere: with root's
 * rights a link would have root write where the owner may not.
 */
static int as_owner(const struct ward_identity *id,
	int (*step)(const struct put *, struct ward_err *), const struct put *p,
	struct ward_err *err)
{
	struct ward_as_owner owner;
	int r = ward_as_owner_begin(id, &owner, err);
	if (r < 0)
		return r;
	r = step(p, err);
	ward_as_owner_end(&owner);
	return r;
}

int ward_owner_file_get(
	const char *file, const struct ward_identity *id, struct ward_buf *b, struct ward_err *err)
{
	struct ward_as_owner owner;
	int r = ward_as_owner_begin(id, &owner, err);
	if (r < 0)
		return r;
	struct stat st;
	/* A link is fine: it leads to what the owner may read. */
	ward_cleanup_fd int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	r = fd < 0 || fstat(fd, &st) < 0 ? -errno : 0;
	ward_as_owner_end(&owner);
	if (r == -ENOENT)
		return 0;
	if (r == 0 && !S_ISREG(st.st_mode))
		r = -EINVAL;
	if (r == 0)
		r = ward_fd_read_all(fd, WARD_POLICY_TEXT_MAX, b);
	return r < 0 ? ward_err_sys(err, r, "%s", file) : 1;
}

int ward_owner_file_put(const struct ward_policy_place *place, const struct ward_buf *text,
	bool replace, struct ward_policy_place *ret_after, struct ward_err *err)
{
	const char *file = place->owner_file;
	const struct ward_identity *id = &place->id;
	ward_cleanup(ward_buf_clear) struct ward_buf beside = WARD_BUF_INIT;
	ward_buf_printf(&beside, "%s.%ld", file, (long)getpid());
	int r = ward_buf_error(&beside);
	if (r < 0)
		return ward_err_sys(err, r, "%s", file);
	r = as_owner(id, put, &(struct put){file, ward_buf_str(&beside), text}, err);
	if (r < 0)
		return r;
	struct ward_as_owner owner;
	r = ward_as_owner_begin(id, &owner, err);
	if (r == 0)
		r = ward_policy_place_look(ward_buf_str(&beside), place->which, ret_after, err);
	ward_as_owner_end(&owner);
	struct put done = {file, ward_buf_str(&beside), NULL};
	struct ward_err ignored = WARD_ERR_INIT;
	if (r == 0)
		r = as_owner(id, replace ? swap_in : move_in, &done, err);
	if (r < 0)
		(void)as_owner(id, drop, &done, &ignored);
	return r;
}
