/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/review/discarded.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/ipc/helper.h"
#include "enforcer/review/fields.h"

#define DISCARDED "discarded"
#define FRESH "discarded.new"
#define SIZE_MAX_ ((size_t)1 << 30)

static int read_text(int dir_fd, struct ward_buf *ret)
{
	ward_cleanup_fd int fd = ward_fd_open_regular(dir_fd, DISCARDED, O_RDONLY);
	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	int r = ward_fd_read_all(fd, SIZE_MAX_, ret);
	return r == 0 && ret->len && memchr(ret->data, 0, ret->len) ? -EBADMSG : r;
}

static int take(struct ward_review_changes *c, char *entry, bool *gone)
{
	struct ward_fields f = {.at = entry};
	const char *what = ward_fields_next(&f);
	enum ward_change_kind kind = (enum ward_change_kind)ward_fields_number(
		ward_fields_next(&f), 10, WARD_CHANGE_LINKED, &f.bad);
	size_t root =
		(size_t)ward_fields_number(ward_fields_next(&f), 10, WARD_TREES_MAX - 1, &f.bad);
	const char *path = ward_fields_bytes(&f);
	if (f.bad || f.at || strcmp(what, "D") != 0 || !ward_fields_good_path(path))
		return -EBADMSG;
	const struct ward_change *v = ward_changes_find(c, root, path, kind);
	if (v)
		gone[v - c->v] = true;
	return 0;
}

int ward_discarded_drop(int dir_fd, struct ward_review_changes *c)
{
	ward_cleanup(ward_buf_clear) struct ward_buf text = {.max = SIZE_MAX_ + 1};
	int r = read_text(dir_fd, &text);
	if (r < 0 || !text.len)
		return r;
	ward_cleanup_free bool *gone = calloc(c->n ? c->n : 1, sizeof(*gone));
	if (!gone)
		return -ENOMEM;
	for (char *line = text.data, *end; r == 0 && (end = strchr(line, '\n')); line = end + 1) {
		if (end == line || end[-1] != ';')
			return -EBADMSG;
		end[-1] = '\0';
		r = take(c, line, gone);
	}
	size_t kept = 0;
	for (size_t i = 0; r == 0 && i < c->n; i++) {
		if (!gone[i]) {
			c->v[kept++] = c->v[i];
			continue;
		}
		free(c->v[i].path);
		free(c->v[i].from);
		free(c->v[i].host);
	}
	if (r == 0) {
		c->n_discarded = c->n - kept;
		c->n = kept;
	}
	return r;
}

int ward_changes_discard(
	int dir_fd, const struct ward_review_changes *c, const bool *wanted, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf text = {.max = SIZE_MAX_ + 1};
	int r = read_text(dir_fd, &text);
	for (size_t i = 0; i < c->n; i++) {
		if (!wanted[i])
			continue;
		ward_buf_printf(&text, "D %d %zu", (int)c->v[i].kind, c->v[i].root);
		ward_fields_put_bytes(&text, c->v[i].path);
		ward_buf_puts(&text, ";\n");
	}
	if (r == 0)
		r = ward_buf_error(&text);
	(void)unlinkat(dir_fd, FRESH, 0);
	ward_cleanup_fd int fd =
		r == 0 ? openat(dir_fd, FRESH, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
				 0600)
		       : -1;
	if (r == 0)
		r = fd < 0 ? -errno : ward_fd_write_all(fd, text.data, text.len);
	if (r == 0 && (fsync(fd) < 0 || renameat(dir_fd, FRESH, dir_fd, DISCARDED) < 0 ||
			      fsync(dir_fd) < 0))
		r = -errno;
	return r < 0 ? ward_err_sys(err, r, "the list of what is discarded") : 0;
}
