/* SPDX-License-Identifier: Apache-2.0 */
/* Writes what a session begins with that goes on where another one was. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/fd.h"
#include "enforcer/review/content.h"
#include "enforcer/review/fields.h"
#include "enforcer/review/journal_read.h"

#define NAME 40
#define DIRECTORY (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

struct branch {
	int from, to;
	uint32_t step;			/* 0: its end */
	const struct ward_journal *at;	/* as it was then */
	const struct ward_journal *all; /* for the numbers of later steps */
	struct ward_buf text;
};

/* The name beneath `from` of what the file was then. */
static void content_name(const struct branch *b, uint32_t file, char ret[NAME])
{
	for (size_t i = 0; b->step && i < b->all->n_steps; i++) {
		if (b->all->steps[i].id < b->step)
			continue;
		snprintf(ret, NAME, "steps/%u/%u", b->all->steps[i].id, file);
		if (faccessat(b->from, ret, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
			return;
	}
	snprintf(ret, NAME, "objects/%u", file);
}

/* A directory has attributes alone, and no two names. */
static int copy_directory(const struct branch *b, const char *from, const char *to)
{
	char attributes[WARD_REVIEW_DIGEST_SIZE];
	struct stat st;
	int r = 0;
	if (fstatat(b->from, from, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	if (!S_ISDIR(st.st_mode))
		return -EBADMSG;
	const struct timespec times[2] = {st.st_atim, st.st_mtim};
	if (mkdirat(b->to, to, 0700) < 0)
		return -errno;
	/* Of one that nobody may read nothing is known. */
	ward_cleanup_fd int old = openat(b->from, from, DIRECTORY);
	ward_cleanup_fd int new = old < 0 ? -1 : openat(b->to, to, DIRECTORY);
	if (old >= 0)
		r = new < 0 ? -errno : ward_content_copy_attributes(old, new, attributes);
	if (r == 0 && (fchmodat(b->to, to, st.st_mode & 07777, 0) < 0 ||
			      utimensat(b->to, to, times, AT_SYMLINK_NOFOLLOW) < 0))
		r = -errno;
	return r;
}

static int put_object(struct branch *b, uint32_t file, const struct ward_journal_file *f)
{
	char from[NAME], to[NAME];
	content_name(b, file, from);
	snprintf(to, sizeof(to), "objects/%u", file);
	int r = S_ISDIR(f->type)			  ? copy_directory(b, from, to)
		: linkat(b->from, from, b->to, to, 0) < 0 ? -errno
							  : 0;
	/* A file of the host's that was removed then. */
	if (r == -ENOENT && f->has_lower)
		return 0;
	ward_buf_printf(&b->text, "S %u", file);
	if (f->has_base)
		ward_fields_put_base(&b->text, &f->base);
	else
		ward_buf_puts(&b->text, " -");
	ward_buf_puts(&b->text, ";\n");
	return r;
}

static int put_file(struct branch *b, uint32_t file, const struct ward_journal_file *f)
{
	if (f->has_lower) {
		ward_buf_printf(&b->text, "F %u %o %zu", file, (unsigned)f->type, f->root);
		ward_fields_put_bytes(&b->text, f->path);
		ward_fields_put_base(&b->text, &f->base);
	} else {
		ward_buf_printf(&b->text, "W %u %o", file, (unsigned)f->type);
	}
	ward_buf_puts(&b->text, ";\n");
	for (const struct ward_journal_place *p = f->places; p; p = p->next) {
		ward_buf_printf(&b->text, "P %u %zu", file, p->root);
		ward_fields_put_bytes(&b->text, p->path);
		ward_buf_puts(&b->text, ";\n");
	}
	/* What the session made and no name leads to was nothing by then. */
	return f->staged && (f->has_lower || f->entry) ? put_object(b, file, f) : 0;
}

static void put_number(struct ward_buf *b, uint32_t n)
{
	if (n)
		ward_buf_printf(b, " %u", n);
	else
		ward_buf_puts(b, " -");
}

static int put_all(struct branch *b)
{
	const struct ward_journal *j = b->at;
	int r = 0;
	ward_buf_puts(&b->text, "J 3;\n");
	for (size_t i = 0; i < j->n_roots; i++) {
		ward_buf_printf(&b->text, "R %zu", i);
		ward_fields_put_bytes(&b->text, j->roots[i]);
		ward_buf_puts(&b->text, ";\n");
	}
	for (uint32_t i = 1; r == 0 && i < j->n_files; i++)
		if (j->files[i].known)
			r = put_file(b, i, &j->files[i]);
	for (size_t i = 0; i < j->n_names; i++) {
		const struct ward_journal_name *n = &j->names[i];
		ward_buf_printf(&b->text, "N %u", n->dir);
		ward_fields_put_bytes(&b->text, n->name);
		put_number(&b->text, n->file);
		put_number(&b->text, n->was);
		ward_buf_puts(&b->text, ";\n");
	}
	return r < 0 ? r : ward_buf_error(&b->text);
}

static int write_branch(const struct branch *b)
{
	ward_cleanup_fd int fd =
		openat(b->to, "branch", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	return fd < 0 ? -errno : ward_fd_write_all(fd, b->text.data, b->text.len);
}

static int find_step(const struct ward_journal *j, const char *step, uint32_t *ret)
{
	char *end = NULL;
	unsigned long n = *step >= '0' && *step <= '9' ? strtoul(step, &end, 10) : 0;
	for (size_t i = 0; i < j->n_steps; i++) {
		const struct ward_journal_step *s = &j->steps[i];
		if (!s->off && (end ? !*end && s->id == n : strcmp(s->name, step) == 0)) {
			*ret = s->id;
			return 0;
		}
	}
	return -ENOENT;
}

int ward_reviews_branch(int from_fd, const char *step, int to_fd, struct ward_err *err)
{
	ward_cleanup(ward_journal_clear) struct ward_journal all = {.roots = NULL},
							     at = {.roots = NULL};
	struct branch b = {.from = from_fd, .to = to_fd, .at = &all, .all = &all};
	int r = ward_journal_read(from_fd, &all, err);
	if (r < 0)
		return r;
	if (*step && find_step(&all, step, &b.step) < 0)
		return ward_err_set(err, -ENOENT, "it has no step '%s'", step);
	if (b.step) {
		r = ward_journal_read_step(from_fd, b.step, &at, err);
		b.at = &at;
	}
	if (r < 0)
		return r;
	if (mkdirat(to_fd, "objects", 0700) < 0)
		r = -errno;
	if (r == 0)
		r = put_all(&b);
	if (r == 0)
		r = write_branch(&b);
	ward_buf_clear(&b.text);
	return r < 0 ? ward_err_sys(err, r, "what it staged") : 0;
}
