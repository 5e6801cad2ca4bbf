/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs review export: what is staged, in a directory of its own. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/out.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/cli/review/review_cli.h"
#include "enforcer/cli/review/review_record.h"
#include "enforcer/session/owner/as_owner.h"

static int write_file(int dir, const char *name, const struct ward_buf *b)
{
	ward_cleanup_fd int fd =
		openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int r = ward_buf_error(b);
	if (fd < 0)
		return -errno;
	return r < 0 ? r : ward_fd_write_all(fd, ward_buf_str(b), b->len);
}

/* The new directory, and `files` in it. */
static int make_dir(const char *path, int *ret_dir, int *ret_files, struct ward_err *err)
{
	if (mkdir(path, 0700) < 0)
		return ward_err_sys(err, -errno, "%s", path);
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0)
		return ward_err_sys(err, -errno, "%s", path);
	*ret_dir = dir;
	if (mkdirat(dir, "files", 0700) < 0)
		return ward_err_sys(err, -errno, "%s/files", path);
	*ret_files = openat(dir, "files", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return *ret_files < 0 ? ward_err_sys(err, -errno, "%s/files", path) : 0;
}

static int write_all(struct ward_review_meant *m, const bool *wanted, const char *path,
	size_t *ret_n, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf patch = {.max = REVIEW_PATCH_MAX};
	struct ward_patch p = {
		.dir_fd = m->dir_fd, .changes = &m->changes, .applied = &m->applied, .exact = true};
	ward_cleanup_fd int dir = -1, files = -1;
	memcpy(p.roots, m->roots, sizeof(p.roots));
	int r = make_dir(path, &dir, &files, err);
	if (r == 0)
		r = ward_changes_export(m->dir_fd, &m->changes, wanted, files, ret_n, err);
	for (size_t i = 0; r == 0 && i < m->changes.n; i++) {
		if (!wanted[i])
			continue;
		r = ward_patch_put(&p, &m->changes.v[i], &patch);
		if (r < 0)
			r = r == -ESTALE
				    ? ward_err_set(err, r,
					      "%s: the project's file has changed since the session "
					      "saw it, so that there is no patch",
					      m->changes.v[i].path)
				    : ward_err_sys(err, r, "%s", m->changes.v[i].path);
	}
	if (r == 0 && (r = write_file(dir, "patch", &patch)) < 0)
		r = ward_err_sys(err, r, "%s/patch", path);
	return r;
}

int review_export(const struct review_args *a, struct ward_review_meant *m, struct ward_err *err)
{
	struct review_record w = {.verb = "export"};
	const char *path = a->paths[0];
	struct ward_as_owner as;
	size_t n = 0;
	ward_cleanup_free bool *wanted = calloc(m->changes.n ? m->changes.n : 1, sizeof(*wanted));
	if (!wanted)
		return ward_err_sys(err, -ENOMEM, "export");
	for (size_t i = 0; i < m->changes.n; i++) {
		wanted[i] = m->roots[m->changes.v[i].root] >= 0;
		w.changes += wanted[i];
	}
	int r = review_record(m, &w, err);
	if (r == 0)
		r = ward_as_owner_begin(&m->place.id, &as, err);
	if (r < 0)
		return r;
	r = write_all(m, wanted, path, &n, err);
	ward_as_owner_end(&as);
	if (r == 0)
		ward_outf("%zu files in %s/files, and %s/patch\n", n, path, path);
	return r;
}
