/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the journal (journal.h). */
#include "fs/review/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "enforcer/base/escape.h"
#include "enforcer/base/fd.h"
#include "fs/review/review_internal.h"

static unsigned long long ns_of(const struct statx_timestamp *t)
{
	return (unsigned long long)t->tv_sec * 1000000000U + t->tv_nsec;
}

static void put_base(struct ward_buf *b, const struct statx *st)
{
	ward_buf_printf(b, "%llu:%llu:%llu:%o:%u:%u:%u:%llu:%llu:%llu",
		(unsigned long long)makedev(st->stx_dev_major, st->stx_dev_minor),
		(unsigned long long)st->stx_ino,
		st->stx_mask & STATX_BTIME ? ns_of(&st->stx_btime) : 0, st->stx_mode & 07777U,
		st->stx_nlink, st->stx_uid, st->stx_gid, (unsigned long long)st->stx_size,
		ns_of(&st->stx_mtime), ns_of(&st->stx_ctime));
}

/* What a step back could not write. */
static int write_end(struct ward_review *rv)
{
	static const char end[] = "D;\n";
	const int r = rv->owes_end ? ward_fd_write_all(rv->journal_fd, end, sizeof(end) - 1) : 0;

	if (r < 0)
		(void)!ftruncate(rv->journal_fd, rv->journal_len);
	else if (rv->owes_end)
		rv->journal_len += (off_t)sizeof(end) - 1;
	rv->owes_end = rv->owes_end && r < 0;
	return r;
}

int ward_review_write(struct ward_review *rv, struct ward_buf *line)
{
	int r = write_end(rv);

	ward_buf_putc(line, '\n');
	if (r == 0)
		r = ward_buf_error(line);
	if (r == 0 && (uint64_t)rv->journal_len + line->len > WARD_REVIEW_JOURNAL_MAX)
		r = -EDQUOT;
	if (r == 0)
		r = ward_fd_write_all(rv->journal_fd, line->data, line->len);
	if (r == 0) {
		rv->journal_len += (off_t)line->len;
	} else {
		/* Half a line would be taken for the beginning of the next one. */
		(void)!ftruncate(rv->journal_fd, rv->journal_len);
	}
	ward_buf_clear(line);
	return r;
}

int ward_review_reserve(struct ward_review *rv, size_t bytes)
{
	if (fallocate(rv->journal_fd, FALLOC_FL_KEEP_SIZE, rv->journal_len, (off_t)bytes) == 0 ||
		errno == EOPNOTSUPP)
		return 0;
	return -errno;
}

int ward_review_log_file(
	struct ward_review *rv, const struct ward_review_file *f, const struct statx *base)
{
	ward_cleanup(ward_buf_clear) struct ward_buf line = WARD_BUF_INIT;

	if (!base) {
		ward_buf_printf(&line, "W %u %o;", f->number, (unsigned)f->type);
		return ward_review_write(rv, &line);
	}
	ward_buf_printf(&line, "F %u %o %zu ", f->number, (unsigned)f->type, f->root);
	ward_escape_field(&line, f->path);
	ward_buf_putc(&line, ' ');
	put_base(&line, base);
	ward_buf_putc(&line, ';');
	return ward_review_write(rv, &line);
}

int ward_review_log_place(
	struct ward_review *rv, const struct ward_review_file *f, const struct ward_review_place *p)
{
	ward_cleanup(ward_buf_clear) struct ward_buf line = WARD_BUF_INIT;

	ward_buf_printf(&line, "P %u %zu ", f->number, p->root);
	ward_escape_field(&line, p->path);
	ward_buf_putc(&line, ';');
	return ward_review_write(rv, &line);
}

void ward_review_put_staged(
	struct ward_buf *line, const struct ward_review_file *f, const struct statx *base)
{
	ward_buf_printf(line, "S %u ", f->number);
	if (base)
		put_base(line, base);
	else
		ward_buf_putc(line, '-');
	ward_buf_putc(line, ';');
}

int ward_review_log_staged(
	struct ward_review *rv, const struct ward_review_file *f, const struct statx *base)
{
	ward_cleanup(ward_buf_clear) struct ward_buf line = WARD_BUF_INIT;

	ward_review_put_staged(&line, f, base);
	return ward_review_write(rv, &line);
}

static void put_number(struct ward_buf *line, const struct ward_review_file *f)
{
	if (f)
		ward_buf_printf(line, " %u", f->number);
	else
		ward_buf_puts(line, " -");
}

void ward_review_put_name(struct ward_buf *line, const struct ward_review_file *dir,
	const char *name, const struct ward_review_file *file, const struct ward_review_file *was)
{
	ward_buf_printf(line, "N %u ", dir->number);
	ward_escape_field(line, name);
	put_number(line, file);
	put_number(line, was);
	ward_buf_putc(line, ';');
}

void ward_review_put_root(struct ward_buf *line, size_t i, const char *path)
{
	ward_buf_printf(line, "R %zu ", i);
	ward_escape_field(line, path);
	ward_buf_putc(line, ';');
}

int ward_review_sync(struct ward_review *rv)
{
	int r = 0;

	if (rv->owes_end) {
		pthread_rwlock_wrlock(&rv->lock);
		r = write_end(rv);
		pthread_rwlock_unlock(&rv->lock);
	}
	if (r < 0)
		return r;
	return fdatasync(rv->journal_fd) < 0 || fsync(rv->objects_fd) < 0 ? -errno : 0;
}
