/* SPDX-License-Identifier: Apache-2.0 */
/* Finishes a step back that ended with wardfs-fs. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/review/journal_read.h"

#define NAME 32

/* What was kept becomes the object, by a name more: nobody writes to it any more. */
static int put_content(int dir_fd, uint32_t file, uint32_t step)
{
	static const char made[] = "objects/finished";
	char kept[NAME], object[NAME];
	struct stat a, b;
	snprintf(kept, sizeof(kept), "steps/%u/%u", step, file);
	snprintf(object, sizeof(object), "objects/%u", file);
	if (fstatat(dir_fd, kept, &a, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	if (fstatat(dir_fd, object, &b, AT_SYMLINK_NOFOLLOW) == 0 && a.st_ino == b.st_ino)
		return 0;
	(void)unlinkat(dir_fd, made, 0);
	if (linkat(dir_fd, kept, dir_fd, made, 0) < 0 || renameat(dir_fd, made, dir_fd, object) < 0)
		return -errno;
	return 0;
}

static int put_mode(int dir_fd, uint32_t file, mode_t mode)
{
	char object[NAME];
	snprintf(object, sizeof(object), "objects/%u", file);
	ward_cleanup_fd int fd =
		openat(dir_fd, object, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	char path[NAME];
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return fd < 0 || fchmodat(AT_FDCWD, path, mode & 07777, 0) < 0 ? -errno : 0;
}

static int put_directory(
	int dir_fd, const struct ward_journal_file *f, uint32_t file, uint32_t step)
{
	char kept[NAME];
	struct stat st;
	if (!step)
		return put_mode(dir_fd, file, f->base.mode);
	snprintf(kept, sizeof(kept), "steps/%u/%u", step, file);
	if (fstatat(dir_fd, kept, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	return put_mode(dir_fd, file, st.st_mode);
}

static int finish(int dir_fd, struct ward_journal *j)
{
	int r = 0;
	if (!j->n_owed)
		return 0;
	for (size_t i = 0; r == 0 && i < j->n_owed; i++) {
		const uint32_t file = j->owed[2 * i], step = j->owed[2 * i + 1];
		r = S_ISDIR(j->files[file].type)
			    ? put_directory(dir_fd, &j->files[file], file, step)
			    : put_content(dir_fd, file, step);
	}
	if (r < 0)
		return r;
	/* A last line without its end did not happen: it is not to run into this one. */
	ward_cleanup_fd int fd = ward_fd_open_regular(dir_fd, "journal", O_RDWR);
	struct stat st;
	char last = '\n';
	if (fd < 0 || fstat(fd, &st) < 0)
		return fd < 0 ? fd : -errno;
	off_t end = st.st_size;
	while (end > 0 && pread(fd, &last, 1, end - 1) == 1 && last != '\n')
		end--;
	if (ftruncate(fd, end) < 0 || pwrite(fd, "D;\n", 3, end) != 3 || fdatasync(fd) < 0)
		return -EIO;
	j->n_owed = 0;
	return 0;
}

int ward_reviews_finish(int dir_fd, struct ward_err *err)
{
	struct ward_journal j;
	int r = ward_journal_read(dir_fd, &j, err);
	if (r < 0)
		return r;
	r = finish(dir_fd, &j);
	ward_journal_clear(&j);
	return r < 0 ? ward_err_sys(err, r, "what a step back left undone") : 0;
}

int ward_reviews_steps(
	int dir_fd, struct ward_review_step **ret, size_t *ret_n, struct ward_err *err)
{
	struct ward_journal j;
	size_t n = 0;
	int r = ward_journal_read(dir_fd, &j, err);
	if (r < 0)
		return r;
	struct ward_review_step *v = calloc(j.n_steps + 1, sizeof(*v));
	for (size_t i = 0; v && i < j.n_steps; i++) {
		struct ward_journal_step *s = &j.steps[i];
		if (s->off)
			continue;
		v[n] = (struct ward_review_step){
			.id = s->id, .kind = s->kind, .time_ns = s->time_ns, .uid = s->uid};
		snprintf(v[n++].name, sizeof(v->name), "%s", s->name);
	}
	ward_journal_clear(&j);
	*ret = v;
	*ret_n = n;
	return v ? 0 : ward_err_sys(err, -ENOMEM, "steps");
}
