/* SPDX-License-Identifier: Apache-2.0 */
/* What the session changed in a file, and what the host changed in it since, in one text. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/review/host_file.h"
#include "enforcer/review/text_hunks.h"
#include "enforcer/review/units.h"

/* Of each of the three texts: what is kept of the first one is no longer (fs/review/journal.h). */
#define MERGE_MAX ((size_t)1 << 20)

struct merging {
	struct ward_review_base now; /* the host's file */
	struct ward_buf base, host, staged, result;
};

static void clear(struct merging *m)
{
	ward_buf_clear(&m->base);
	ward_buf_clear(&m->host);
	ward_buf_clear(&m->staged);
	ward_buf_clear(&m->result);
}

static int no(char why[128], int error, const char *text)
{
	snprintf(why, 128, "the project's file has changed since, and %s", text);
	return error;
}

static int read_text(int dir, const char *name, struct ward_buf *ret)
{
	ward_cleanup_fd int fd = ward_fd_open_regular(dir, name, O_RDONLY);
	int r = fd < 0 ? fd : ward_fd_read_all(fd, MERGE_MAX, ret);
	if (r == 0 && ret->len && memchr(ret->data, 0, ret->len))
		r = -EILSEQ;
	return r;
}

/* The file of now, of one moment. 0; -ESTALE: it changes; other errors of reading it. */
static int read_host(int dir, const char *name, struct merging *m)
{
	struct ward_review_base after;
	mode_t type;
	int r = read_text(dir, name, &m->host);
	if (r == 0)
		r = ward_host_stat_at(dir, name, &after, &type);
	return r == 0 && !ward_host_same(&m->now, &after, false) ? -ESTALE : r;
}

/* What the session saw. Its size tells whether all of it reached the disk. */
static int read_kept(int dir_fd, const struct ward_change *c, struct merging *m)
{
	char name[32];
	if (!c->kept)
		return -ENOENT;
	snprintf(name, sizeof(name), "bases/%u", c->kept);
	int r = read_text(dir_fd, name, &m->base);
	return r == 0 && m->base.len != c->base.size ? -ENOENT : r;
}

static int read_all(int dir_fd, int dir, const char *name, const struct ward_change *c,
	struct merging *m, char why[128])
{
	char object[32];
	int r = read_kept(dir_fd, c, m);
	if (r == -EILSEQ || r == -EFBIG)
		return no(why, r, "it is no text of up to 1 MiB");
	if (r < 0)
		return no(why, r, "wardfs did not keep what the session saw");
	snprintf(object, sizeof(object), "objects/%u", c->object);
	r = read_text(dir_fd, object, &m->staged);
	if (r == 0)
		r = read_host(dir, name, m);
	if (r == -EILSEQ || r == -EFBIG)
		return no(why, r, "it is no text of up to 1 MiB");
	return r < 0 ? no(why, r, "it could not be read") : 0;
}

static const char *text(const struct ward_buf *b)
{
	return ward_buf_str(b);
}

static int merge(int dir_fd, int dir, const char *name, const struct ward_change *c, bool dry,
	struct merging *m, struct ward_part *ret, char why[128])
{
	struct ward_part part = {.kind = WARD_PART_MERGED};
	mode_t mode = c->mode == c->base.mode ? m->now.mode : c->mode;
	if (c->mode != c->base.mode && m->now.mode != c->base.mode && m->now.mode != c->mode)
		return no(why, -EEXIST, "both changed its permissions");
	int r = read_all(dir_fd, dir, name, c, m, why);
	if (r < 0)
		return r;
	m->result.max = 2 * MERGE_MAX + 2;
	r = ward_text_merge(text(&m->base), m->base.len, text(&m->host), m->host.len,
		text(&m->staged), m->staged.len, &m->result);
	if (r > 0)
		return no(why, -EEXIST, "both changed the same lines");
	if (r == 0 && !dry)
		r = ward_part_write(dir_fd, c, WARD_PART_MERGED, mode, &m->result, &part);
	if (r < 0)
		return no(why, r, "the merged file could not be written");
	part.base = m->now;
	*ret = part;
	return 1;
}

int ward_merge_try(int dir_fd, const int *roots, const struct ward_change *c, bool dry,
	struct ward_part *ret, char why[128])
{
	struct merging m = {.base.max = MERGE_MAX + 2};
	const char *name = NULL;
	mode_t type;
	/* git's state is compared and swapped: two sets of references have no third one. */
	if (c->kind != WARD_CHANGE_MODIFIED || !S_ISREG(c->type) || c->merged ||
		roots[c->root] < 0 || ward_unit_git(c->path))
		return 0;
	m.host.max = m.staged.max = MERGE_MAX + 2;
	ward_cleanup_fd int dir = ward_host_parent(roots[c->root], c->path, &name);
	int r = dir < 0 ? dir : ward_host_stat_at(dir, name, &m.now, &type);
	/* Where it is in another place, or of another kind, nothing merges: an apply says so. */
	if (r < 0 || !S_ISREG(type) || ward_host_same(&m.now, &c->base, c->moved))
		return 0;
	r = merge(dir_fd, dir, name, c, dry, &m, ret, why);
	clear(&m);
	return r;
}
