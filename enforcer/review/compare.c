/* SPDX-License-Identifier: Apache-2.0 */
/* What two sessions staged for one path. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/review/review.h"
#include "enforcer/review/text_hunks.h"

bool ward_changes_same(const struct ward_change *a, const struct ward_change *b)
{
	return a->kind == b->kind && a->type == b->type && a->mode == b->mode &&
	       !a->object == !b->object && strcmp(a->content, b->content) == 0 &&
	       !a->from == !b->from &&
	       (!a->from || (a->from_root == b->from_root && strcmp(a->from, b->from) == 0));
}

/* 1: it is no text that can be shown. */
static int read_text(int dir_fd, const struct ward_change *c, struct ward_buf *ret)
{
	char name[32];
	snprintf(name, sizeof(name), "objects/%u", c->object);
	ward_cleanup_fd int fd = ward_fd_open_regular(dir_fd, name, O_RDONLY);
	int r = fd < 0 ? fd : ward_fd_read_all(fd, WARD_TEXT_DIFF_MAX, ret);
	if (r == -EFBIG)
		return 1;
	return r < 0 ? r : ward_text_is_binary(ward_buf_str(ret), ret->len);
}

int ward_changes_difference(int dir_a, const struct ward_change *a, int dir_b,
	const struct ward_change *b, struct ward_buf *ret)
{
	ward_cleanup(ward_buf_clear) struct ward_buf old = WARD_BUF_INIT, new = WARD_BUF_INIT;
	if (!a->object || !b->object || !S_ISREG(a->type) || !S_ISREG(b->type))
		return 1;
	int r = read_text(dir_a, a, &old);
	if (r == 0)
		r = read_text(dir_b, b, &new);
	if (r != 0)
		return r;
	return ward_text_diff(ward_buf_str(&old), old.len, ward_buf_str(&new), new.len, ret);
}
