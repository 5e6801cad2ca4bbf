/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/review/applied.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/zeros.h"
#include "enforcer/ipc/helper.h"
#include "enforcer/review/fields.h"

#define UNDO "undo"
#define LOG "log"
#define LOG_MAX (2ULL << 30)
#define DONE_MAX (1U << 26)

int ward_applied_dir(int dir_fd, bool make)
{
	if (make && mkdirat(dir_fd, UNDO, 0700) < 0 && errno != EEXIST)
		return -errno;
	int fd = openat(dir_fd, UNDO, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* --- read --- */

struct reading {
	struct ward_applied a;
	size_t room, steps_room, events;
	bool first;
};

static void *grown(void *v, size_t n, size_t *room, size_t size)
{
	if (n < *room)
		return v;
	size_t more = *room ? *room * 2 : 64;
	void *p = reallocarray(v, more, size);
	if (p)
		*room = more;
	return p;
}

static uint64_t next_number(struct ward_fields *f, int base, uint64_t max)
{
	return ward_fields_number(ward_fields_next(f), base, max, &f->bad);
}

/* 64 hexadecimal digits, "-" or ".". */
static void next_digest(struct ward_fields *f, char ret[WARD_REVIEW_DIGEST_SIZE])
{
	const char *s = ward_fields_next(f);
	size_t len = s ? strspn(s, "0123456789abcdef") : 0;
	if (!s || (s[len] == '\0' ? len != WARD_REVIEW_DIGEST_SIZE - 1
				  : strcmp(s, "-") != 0 && strcmp(s, ".") != 0))
		f->bad = true;
	else
		memcpy(ret, *s == '.' ? "" : s, *s == '.' ? 1 : strlen(s) + 1);
}

static int read_begin(struct reading *r, struct ward_fields *f)
{
	struct ward_step s = {.begun_ns = next_number(f, 10, UINT64_MAX)};
	s.until_s = next_number(f, 10, INT64_MAX);
	s.uid = (uint32_t)next_number(f, 10, UINT32_MAX);
	next_digest(f, s.manifest);
	void *v = f->bad ? NULL
			 : grown(r->a.steps, r->a.n_steps, &r->steps_room, sizeof(*r->a.steps));
	if (!v)
		return f->bad ? -EBADMSG : -ENOMEM;
	r->a.steps = v;
	r->a.steps[r->a.n_steps++] = s;
	return 0;
}

static bool next_base(struct ward_fields *f, struct ward_review_base *ret)
{
	char *s = ward_fields_next(f);
	if (!s || strcmp(s, "-") == 0)
		return false;
	if (!ward_fields_base(s, ret))
		f->bad = true;
	return true;
}

static char *next_path(struct ward_fields *f)
{
	const char *s = ward_fields_bytes(f);
	if (!s || !ward_fields_good_path(s)) {
		f->bad = true;
		return NULL;
	}
	return strdup(s);
}

/* What comes from somewhere says from where, and what was there before, what it was. */
static bool is_whole(const struct ward_change *c)
{
	const bool moves = c->kind == WARD_CHANGE_RENAMED || c->kind == WARD_CHANGE_LINKED;
	return (!moves || *c->from) &&
	       (c->has_base || c->kind == WARD_CHANGE_ADDED || c->kind == WARD_CHANGE_LINKED);
}

static int read_about(struct reading *r, struct ward_fields *f)
{
	struct ward_done d = {.step = r->a.n_steps - 1, .event = ++r->events};
	uint64_t n = next_number(f, 10, DONE_MAX);
	d.c.kind = (enum ward_change_kind)next_number(f, 10, WARD_CHANGE_LINKED);
	d.c.type = (mode_t)next_number(f, 8, S_IFMT);
	d.c.mode = (mode_t)next_number(f, 8, 07777);
	d.c.size = next_number(f, 10, INT64_MAX);
	d.c.root = (size_t)next_number(f, 10, WARD_TREES_MAX - 1);
	d.c.path = next_path(f);
	d.c.from_root = (size_t)next_number(f, 10, WARD_TREES_MAX - 1);
	d.c.from = next_path(f);
	d.c.has_base = next_base(f, &d.c.base);
	next_digest(f, d.before);
	bool bad = f->bad || n != r->a.n + 1 || !r->a.n_steps || d.c.kind == WARD_CHANGE_NONE ||
		   d.c.root >= r->a.n_roots || d.c.from_root >= r->a.n_roots;
	void *v = bad ? NULL : grown(r->a.v, r->a.n, &r->room, sizeof(*r->a.v));
	if (!v || !d.c.path || !d.c.from || !*d.c.path || !is_whole(&d.c)) {
		free(d.c.path);
		free(d.c.from);
		if (v)
			r->a.v = v;
		return bad || v ? -EBADMSG : -ENOMEM;
	}
	if (!*d.c.from) {
		free(d.c.from);
		d.c.from = NULL;
	}
	r->a.v = v;
	r->a.v[r->a.n++] = d;
	return 0;
}

static struct ward_done *next_done(struct reading *r, struct ward_fields *f)
{
	uint64_t n = next_number(f, 10, DONE_MAX);
	if (!f->bad && n && n <= r->a.n)
		return &r->a.v[n - 1];
	f->bad = true;
	return NULL;
}

static int read_root(struct reading *r, struct ward_fields *f)
{
	uint64_t i = next_number(f, 10, WARD_TREES_MAX - 1);
	const char *path = ward_fields_bytes(f);
	if (f->bad || !path || i != r->a.n_roots || *path != '/')
		return -EBADMSG;
	char **v = reallocarray(r->a.roots, r->a.n_roots + 1, sizeof(*v));
	if (!v)
		return -ENOMEM;
	r->a.roots = v;
	v[r->a.n_roots] = strdup(path);
	return v[r->a.n_roots++] ? 0 : -ENOMEM;
}

static int read_entry(struct reading *r, char *entry)
{
	struct ward_fields f = {.at = entry};
	const char *what = ward_fields_next(&f);
	struct ward_done *d;
	int e = 0;
	if (f.bad || strlen(what) != 1 || r->first != (*what == 'J'))
		return -EBADMSG;
	r->first = false;
	switch (*what) {
	case 'J':
		e = next_number(&f, 10, 2) ? 0 : -EBADMSG;
		break;
	case 'R':
		e = read_root(r, &f);
		break;
	case 'B':
		e = read_begin(r, &f);
		break;
	case 'A':
		e = read_about(r, &f);
		break;
	case 'H':
		if ((d = next_done(r, &f)))
			d->part = (enum ward_part_kind)next_number(&f, 10, WARD_PART_MERGED);
		break;
	case 'P':
		d = next_done(r, &f);
		if (d) {
			d->has_after = next_base(&f, &d->after);
			next_digest(&f, d->c.content);
		}
		break;
	case 'I':
	case 'X':
		d = next_done(r, &f);
		if (d && *what == 'I')
			d->in_place = true;
		else if (d)
			d->off = true;
		break;
	case 'E':
		if (!r->a.n_steps)
			return -EBADMSG;
		r->a.steps[r->a.n_steps - 1].ended_s = next_number(&f, 10, INT64_MAX);
		break;
	case 'U':
		d = next_done(r, &f);
		if (d) {
			d->undone = true;
			d->event = ++r->events;
			d->has_again = next_base(&f, &d->again);
			(void)next_number(&f, 10, INT64_MAX);
		}
		break;
	default:
		e = -EBADMSG;
	}
	return e == 0 && (f.bad || f.at) ? -EBADMSG : e;
}

int ward_applied_read(int undo_fd, struct ward_applied *ret, struct ward_err *err)
{
	struct reading rd = {.first = true};
	ward_cleanup(ward_buf_clear) struct ward_buf text = {.max = LOG_MAX + 1};
	ward_cleanup_fd int fd = ward_fd_open_regular(undo_fd, LOG, O_RDONLY);
	if (fd == -ENOENT)
		return fd;
	int r = fd < 0 ? fd : ward_fd_read_all(fd, LOG_MAX, &text);
	text.len = ward_before_zeros(text.data, text.len);
	if (r == 0 && text.len && memchr(text.data, 0, text.len))
		r = -EBADMSG;
	char *line = r == 0 && text.len ? text.data : NULL;
	for (char *end; r == 0 && line && (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		r = end > line && end[-1] == ';' ? 0 : -EBADMSG;
		if (r == 0) {
			end[-1] = '\0';
			r = read_entry(&rd, line);
		}
	}
	if (r < 0) {
		ward_applied_clear(&rd.a);
		return r == -EBADMSG
			       ? ward_err_set(err, r, "the log of what was applied is damaged")
			       : ward_err_sys(err, r, "the log of what was applied");
	}
	*ret = rd.a;
	return 0;
}

int ward_applied_of(int dir_fd, struct ward_applied *ret, struct ward_err *err)
{
	*ret = (struct ward_applied){.v = NULL};
	ward_cleanup_fd int fd = ward_applied_dir(dir_fd, false);
	if (fd < 0)
		return fd == -ENOENT ? 0 : ward_err_sys(err, fd, "what was applied");
	int r = ward_applied_read(fd, ret, err);
	return r == -ENOENT ? 0 : r;
}

void ward_applied_clear(struct ward_applied *a)
{
	for (size_t i = 0; i < a->n_roots; i++)
		free(a->roots[i]);
	for (size_t i = 0; i < a->n; i++) {
		free(a->v[i].c.path);
		free(a->v[i].c.from);
	}
	free(a->roots);
	free(a->v);
	free(a->steps);
	*a = (struct ward_applied){.v = NULL};
}

/* --- known again --- */

/* What is the latest of a change, and is a part of it applied? */
struct latest {
	const struct ward_done *d;
	bool part;
};

static const struct ward_review_base *base_of(const struct ward_done *d)
{
	if (d->undone)
		return d->has_again ? &d->again : NULL;
	return d->part != WARD_PART_NONE && d->has_after ? &d->after : NULL;
}

/* What was removed can have been in a directory that was renamed before. */
static const struct ward_change *change_of(
	const struct ward_review_changes *c, const struct ward_change *d)
{
	const bool moved = d->kind == WARD_CHANGE_REMOVED && d->from;
	return ward_changes_find(
		c, moved ? d->from_root : d->root, moved ? d->from : d->path, d->kind);
}

int ward_applied_know_again(struct ward_review_changes *c, const struct ward_applied *a, bool parts)
{
	ward_cleanup_free struct latest *all = calloc(c->n ? c->n : 1, sizeof(*all));
	if (!all)
		return -ENOMEM;
	for (size_t k = 0; k < a->n; k++) {
		const struct ward_done *d = &a->v[k];
		/* Of an apply that was ended nobody knows yet whether it came. */
		const bool open = parts && !a->steps[d->step].ended_s && !d->undone;
		const struct ward_change *found = d->off || open ? NULL : change_of(c, &d->c);
		struct latest *l = found ? &all[found - c->v] : NULL;
		if (!l)
			continue;
		l->part = l->part || (d->part != WARD_PART_NONE && !d->undone);
		if (!l->d || l->d->event < d->event)
			l->d = d;
	}
	for (size_t i = 0; i < c->n; i++) {
		const struct ward_done *d = all[i].d;
		const struct ward_review_base *base = d ? base_of(d) : NULL;
		c->v[i].base = c->v[i].seen;
		c->v[i].kept = c->v[i].seen_kept;
		c->v[i].merged = false;
		c->v[i].displaced[0] = '\0';
		if (d && !parts && !d->undone && d->c.has_base && !all[i].part)
			memcpy(c->v[i].displaced, d->before, sizeof(d->before));
		if (!base || !c->v[i].has_base || (parts && !all[i].part))
			continue;
		c->v[i].merged = !d->undone && d->part == WARD_PART_MERGED;
		if (parts && c->v[i].merged)
			continue;
		c->v[i].base = *base;
		if (all[i].part)
			c->v[i].kept = 0;
	}
	return 0;
}

/* --- written --- */

/* Bytes of lines that are held back. */
#define HELD_MAX (64U << 10)

static void flush(struct ward_undo_log *l)
{
	int r = ward_buf_error(&l->line);
	if (l->fd < 0)
		return;
	if (r == 0 && !l->error && l->line.len)
		r = ward_fd_write_all(l->fd, l->line.data, l->line.len);
	l->line.len = 0;
	if (r < 0 && !l->error)
		l->error = r;
}

static void put(struct ward_undo_log *l)
{
	ward_buf_puts(&l->line, ";\n");
	if (!l->holds || l->line.len > HELD_MAX)
		flush(l);
}

void ward_undo_log_hold(struct ward_undo_log *l, bool holds)
{
	l->holds = holds;
	if (!holds)
		flush(l);
}

void ward_undo_log_fork(struct ward_undo_log *ret)
{
	*ret = (struct ward_undo_log){.fd = -1, .holds = true};
}

void ward_undo_log_join(struct ward_undo_log *l, struct ward_undo_log *of)
{
	const int r = ward_buf_error(&of->line);
	if (r < 0 && !l->error)
		l->error = r;
	ward_buf_add(&l->line, of->line.data, of->line.len);
	ward_buf_clear(&of->line);
	if (!l->holds || l->line.len > HELD_MAX)
		flush(l);
}

/* What stands behind the last line feed did not happen. */
static int cut_torn(int fd)
{
	char piece[4096];
	struct stat st;
	if (fstat(fd, &st) < 0)
		return -errno;
	for (off_t end = st.st_size; end > 0;) {
		size_t want = end > (off_t)sizeof(piece) ? sizeof(piece) : (size_t)end;
		ssize_t n = pread(fd, piece, want, end - (off_t)want);
		if (n != (ssize_t)want)
			return n < 0 ? -errno : -EIO;
		const char *feed = memrchr(piece, '\n', want);
		if (feed) {
			off_t whole = end - (off_t)want + (feed - piece) + 1;
			return ftruncate(fd, whole) < 0 ? -errno : 0;
		}
		end -= (off_t)want;
	}
	return ftruncate(fd, 0) < 0 ? -errno : 0;
}

int ward_undo_log_open(int undo_fd, char *const *roots, size_t n_roots, struct ward_undo_log *ret)
{
	struct stat st;
	struct ward_undo_log l = {
		.fd = ward_fd_make_regular(undo_fd, LOG, O_RDWR | O_APPEND, 0600)};
	if (l.fd < 0)
		return l.fd;
	int r = cut_torn(l.fd);
	if (r == 0 && fstat(l.fd, &st) < 0)
		r = -errno;
	if (r == 0 && st.st_size == 0) {
		ward_buf_puts(&l.line, "J 2;\n");
		for (size_t i = 0; i < n_roots; i++) {
			ward_buf_printf(&l.line, "R %zu", i);
			ward_fields_put_bytes(&l.line, roots[i]);
			ward_buf_puts(&l.line, i + 1 < n_roots ? ";\n" : "");
		}
		put(&l);
		r = l.error;
	}
	if (r < 0) {
		ward_undo_log_close(&l);
		return r;
	}
	*ret = l;
	return 0;
}

void ward_undo_log_close(struct ward_undo_log *l)
{
	if (l->fd >= 0)
		flush(l);
	if (l->fd >= 0)
		close(l->fd);
	l->fd = -1;
	ward_buf_clear(&l->line);
}

void ward_undo_log_begin(struct ward_undo_log *l, const struct ward_step *s)
{
	ward_buf_printf(&l->line, "B %llu %llu %u", (unsigned long long)s->begun_ns,
		(unsigned long long)s->until_s, s->uid);
	ward_fields_put_bytes(&l->line, s->manifest);
	put(l);
}

void ward_undo_log_about(
	struct ward_undo_log *l, uint32_t number, const struct ward_change *c, const char *before)
{
	ward_buf_printf(&l->line, "A %u %d %o %o %llu %zu", number, (int)c->kind, (unsigned)c->type,
		(unsigned)c->mode, (unsigned long long)c->size, c->root);
	ward_fields_put_bytes(&l->line, c->path);
	ward_buf_printf(&l->line, " %zu", c->from_root);
	ward_fields_put_bytes(&l->line, c->from ? c->from : "");
	if (c->has_base)
		ward_fields_put_base(&l->line, &c->base);
	else
		ward_buf_puts(&l->line, " -");
	ward_fields_put_bytes(&l->line, before);
	put(l);
}

void ward_undo_log_part(struct ward_undo_log *l, uint32_t number, enum ward_part_kind kind)
{
	ward_buf_printf(&l->line, "H %u %d", number, (int)kind);
	put(l);
}

void ward_undo_log_in_place(struct ward_undo_log *l, uint32_t number)
{
	ward_buf_printf(&l->line, "I %u", number);
	put(l);
}

void ward_undo_log_ready(struct ward_undo_log *l, uint32_t number,
	const struct ward_review_base *after, const char *content)
{
	ward_buf_printf(&l->line, "P %u", number);
	ward_fields_put_base(&l->line, after);
	ward_fields_put_bytes(&l->line, content);
	put(l);
}

void ward_undo_log_off(struct ward_undo_log *l, uint32_t number)
{
	ward_buf_printf(&l->line, "X %u", number);
	put(l);
}

void ward_undo_log_end(struct ward_undo_log *l)
{
	ward_buf_printf(&l->line, "E %llu", (unsigned long long)time(NULL));
	put(l);
}

void ward_undo_log_undone(
	struct ward_undo_log *l, uint32_t number, const struct ward_review_base *again)
{
	ward_buf_printf(&l->line, "U %u", number);
	if (again)
		ward_fields_put_base(&l->line, again);
	else
		ward_buf_puts(&l->line, " -");
	ward_buf_printf(&l->line, " %llu", (unsigned long long)time(NULL));
	put(l);
}

int ward_undo_log_error(struct ward_undo_log *l)
{
	flush(l);
	return l->error;
}

int ward_undo_log_sync(struct ward_undo_log *l)
{
	int r = ward_undo_log_error(l);
	return r < 0 ? r : fdatasync(l->fd) < 0 ? -errno : 0;
}
