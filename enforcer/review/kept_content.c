/* SPDX-License-Identifier: Apache-2.0 */
/* Contents by their digests, as far as reviews keep them. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/review/review.h"

#define DIRECTORY (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

static void note_size(struct ward_kept *v, size_t n, const char *digest, uint64_t size)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(v[i].digest, digest) == 0) {
			v[i].size = size;
			v[i].has_size = true;
		}
}

int ward_kept_sizes(int dir_fd, struct ward_kept *v, size_t n, struct ward_err *err)
{
	ward_cleanup(ward_applied_clear) struct ward_applied a = {.v = NULL};
	int r = ward_applied_of(dir_fd, &a, err);
	for (size_t i = 0; r == 0 && i < a.n; i++) {
		const struct ward_done *d = &a.v[i];
		note_size(v, n, d->before, d->c.base.size);
		if (d->has_after)
			note_size(v, n, d->c.content, d->after.size);
	}
	return r;
}

static bool may_be(const struct ward_kept *k, const struct stat *st)
{
	return !k->found && k->has_size && k->size == (uint64_t)st->st_size;
}

/* What another one took the place of meanwhile has another digest, and counts for nothing. */
static int take_file(int dir, const char *name, struct ward_kept *v, size_t n)
{
	char digest[WARD_REVIEW_DIGEST_SIZE];
	struct stat st;
	bool wanted = false;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
		return 0;
	for (size_t i = 0; i < n; i++)
		wanted = wanted || may_be(&v[i], &st);
	if (!wanted || st.st_size > WARD_KEPT_MAX)
		return 0;
	ward_cleanup(ward_buf_clear) struct ward_buf text = {.max = WARD_KEPT_MAX + 1};
	ward_cleanup_fd int fd = ward_fd_open_regular(dir, name, O_RDONLY);
	int r = fd < 0 ? fd : ward_fd_read_all(fd, WARD_KEPT_MAX, &text);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	ward_part_digest(&text, digest);
	for (size_t i = 0; i < n; i++) {
		if (!may_be(&v[i], &st) || strcmp(v[i].digest, digest) != 0)
			continue;
		v[i].text = text;
		v[i].found = true;
		text = WARD_BUF_INIT;
		break;
	}
	return 0;
}

/* levels: of directories beneath; a session's own may be among the files. */
static int take_directory(int at, const char *name, unsigned levels, struct ward_kept *v, size_t n)
{
	int fd = openat(at, name, DIRECTORY);
	ward_cleanup_dir DIR *d = fd < 0 ? NULL : fdopendir(fd);
	int r = 0;
	if (!d && fd >= 0)
		close(fd);
	for (struct dirent *e = NULL; d && r == 0 && (e = readdir(d));) {
		if (e->d_name[0] == '.')
			continue;
		r = levels ? take_directory(fd, e->d_name, levels - 1, v, n)
			   : take_file(fd, e->d_name, v, n);
	}
	return r;
}

int ward_kept_find(int dir_fd, struct ward_kept *v, size_t n, struct ward_err *err)
{
	static const struct {
		const char *name;
		unsigned levels;
	} places[] = {{"undo", 0}, {"bases", 0}, {"objects", 0}, {"steps", 1}};
	int r = 0;
	for (size_t i = 0; r == 0 && i < sizeof(places) / sizeof(*places); i++)
		r = take_directory(dir_fd, places[i].name, places[i].levels, v, n);
	return r < 0 ? ward_err_sys(err, r, "what reviews keep") : 0;
}

void ward_kept_clear(struct ward_kept *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ward_buf_clear(&v[i].text);
}
