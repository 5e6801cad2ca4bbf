/* SPDX-License-Identifier: Apache-2.0 */
/* Writes and reads which directories changes were staged for. */
#include "enforcer/session/run/staged_bound.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/fd.h"
#include "enforcer/session/home/home_bound.h"

#define NAME "bound"
/* 16 directories with paths of PATH_MAX bytes, escaped. */
#define BYTES_MAX ((size_t)1 << 19)

static int put_line(struct ward_buf *b, int root_fd, const char *path)
{
	char text[WARD_HOME_BOUND_MAX];
	int r = ward_home_bound_text(root_fd, text);
	if (r < 0)
		return r;
	ward_buf_add(b, text, strcspn(text, "\n"));
	ward_buf_putc(b, ' ');
	ward_escape(b, path, strlen(path));
	ward_buf_putc(b, '\n');
	return ward_buf_error(b);
}

int ward_staged_bound_write(int dir, const struct ward_run_plan *p)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	int r = 0;
	for (size_t i = 0; r == 0 && i < p->n_trees; i++)
		if (p->trees[i].source && p->trees[i].backing >= 0)
			r = put_line(&b, p->trees[i].backing, p->trees[i].source);
	if (r < 0)
		return r;
	/* The owner's too may read it. */
	ward_cleanup_fd int fd = ward_fd_make_regular(dir, NAME, O_WRONLY | O_EXCL, 0644);
	return fd < 0 ? fd : ward_fd_write_all(fd, ward_buf_str(&b), b.len);
}

/* Does a line end in this path? */
static bool has_path(const char *text, const char *path)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_buf_putc(&b, ' ');
	ward_escape(&b, path, strlen(path));
	ward_buf_putc(&b, '\n');
	return ward_buf_error(&b) < 0 || strstr(text, ward_buf_str(&b));
}

bool ward_staged_bound_other(int dir, int root_fd, const char *path)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf line = WARD_BUF_INIT;
	ward_cleanup_fd int fd = ward_fd_open_regular(dir, NAME, O_RDONLY);
	if (fd == -ENOENT)
		return false;
	if (fd < 0 || ward_fd_read_all(fd, BYTES_MAX, &b) < 0 || put_line(&line, root_fd, path) < 0)
		return true;
	return has_path(ward_buf_str(&b), path) && !strstr(ward_buf_str(&b), ward_buf_str(&line));
}
