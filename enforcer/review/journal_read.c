/* SPDX-License-Identifier: Apache-2.0 */
/* Reads journals. They come from wardfs-fs, but whoever owns them can have written to them. */
#include "enforcer/review/journal_read.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/zeros.h"
#include "enforcer/ipc/helper.h"
#include "enforcer/review/fields.h"

#define FILES_MAX (1U << 26)

/* Of text with all roots: each byte of a path has three letters at most. */
#define ROOTS_MAX ((size_t)WARD_TREES_MAX * (3 * PATH_MAX + 16) + 16)

static uint32_t file_number(struct ward_fields *f, bool or_nothing)
{
	const char *s = ward_fields_next(f);
	if (or_nothing && s && strcmp(s, "-") == 0)
		return 0;
	uint64_t n = ward_fields_number(s, 10, FILES_MAX, &f->bad);
	if (!n)
		f->bad = true;
	return (uint32_t)n;
}

static struct ward_journal_file *file_at(struct ward_journal *j, uint32_t n)
{
	if (n >= j->n_files) {
		size_t more = j->n_files ? j->n_files * 2 : 256;
		while (more <= n)
			more *= 2;
		/* A number that leaves many out costs address space alone, if nobody writes there.
		 */
		struct ward_journal_file *v = calloc(more, sizeof(*v));
		if (!v)
			return NULL;
		if (j->n_files)
			memcpy(v, j->files, j->n_files * sizeof(*v));
		free(j->files);
		j->files = v;
		j->n_files = more;
	}
	return &j->files[n];
}

static mode_t next_type(struct ward_fields *f)
{
	return (mode_t)ward_fields_number(ward_fields_next(f), 8, S_IFMT, &f->bad);
}

static int read_file(struct ward_journal *j, struct ward_fields *f, bool lower)
{
	uint32_t n = file_number(f, false);
	mode_t type = next_type(f);
	struct ward_journal_file *file = f->bad ? NULL : file_at(j, n);
	if (!file)
		return f->bad ? -EBADMSG : -ENOMEM;
	if (file->known)
		return -EBADMSG;
	file->known = true;
	file->type = type;
	file->has_lower = lower;
	if (!lower)
		return 0;
	file->root =
		(size_t)ward_fields_number(ward_fields_next(f), 10, WARD_TREES_MAX - 1, &f->bad);
	const char *path = ward_fields_bytes(f);
	char *base = ward_fields_next(f);
	if (f->bad || !path || !ward_fields_good_path(path) ||
		!ward_fields_base(base, &file->base) || file->root >= j->n_roots)
		return -EBADMSG;
	file->has_base = true;
	file->path = strdup(path);
	return file->path ? 0 : -ENOMEM;
}

static struct ward_journal_file *known(struct ward_journal *j, uint32_t n)
{
	return n && n < j->n_files && j->files[n].known ? &j->files[n] : NULL;
}

static int read_place(struct ward_journal *j, struct ward_fields *f)
{
	struct ward_journal_file *file = known(j, file_number(f, false));
	struct ward_journal_place p = {.next = file ? file->places : NULL};
	p.root = (size_t)ward_fields_number(ward_fields_next(f), 10, WARD_TREES_MAX - 1, &f->bad);
	const char *path = ward_fields_bytes(f);
	if (f->bad || !file || !file->has_lower || S_ISDIR(file->type) || !path ||
		!ward_fields_good_path(path) || p.root >= j->n_roots)
		return -EBADMSG;
	struct ward_journal_place *place = malloc(sizeof(*place));
	p.path = strdup(path);
	if (!place || !p.path) {
		free(place);
		free(p.path);
		return -ENOMEM;
	}
	*place = p;
	file->places = place;
	return 0;
}

static int read_staged(struct ward_journal *j, struct ward_fields *f)
{
	struct ward_journal_file *file = known(j, file_number(f, false));
	char *base = ward_fields_next(f);
	if (f->bad || !file)
		return -EBADMSG;
	file->staged = true;
	if (strcmp(base, "-") == 0)
		return file->has_lower ? -EBADMSG : 0;
	return file->has_lower && ward_fields_base(base, &file->base) ? 0 : -EBADMSG;
}

static int read_name(struct ward_journal *j, struct ward_fields *f, size_t *room)
{
	struct ward_journal_name n = {.dir = file_number(f, false)};
	const char *name = ward_fields_bytes(f);
	n.file = file_number(f, true);
	n.was = file_number(f, true);
	if (f->bad || !name || !ward_fields_good_name(name) || !known(j, n.dir) ||
		(n.file && !known(j, n.file)) || (n.was && !known(j, n.was)))
		return -EBADMSG;
	if (j->n_names == *room) {
		size_t more = *room ? *room * 2 : 256;
		void *v = reallocarray(j->names, more, sizeof(*j->names));
		if (!v)
			return -ENOMEM;
		j->names = v;
		*room = more;
	}
	n.seq = (uint32_t)j->n_names;
	n.name = strdup(name);
	if (!n.name)
		return -ENOMEM;
	j->names[j->n_names++] = n;
	return 0;
}

static int read_root(struct ward_journal *j, struct ward_fields *f)
{
	uint64_t i = ward_fields_number(ward_fields_next(f), 10, WARD_TREES_MAX - 1, &f->bad);
	const char *path = ward_fields_bytes(f);
	if (f->bad || !path || i != j->n_roots || path[0] != '/')
		return -EBADMSG;
	char **v = reallocarray(j->roots, j->n_roots + 1, sizeof(*v));
	if (!v)
		return -ENOMEM;
	j->roots = v;
	v[j->n_roots] = strdup(path);
	return v[j->n_roots++] ? 0 : -ENOMEM;
}

static int read_step(struct ward_journal *j, struct ward_fields *f)
{
	struct ward_journal_step s = {.id = file_number(f, false), .n_names = j->n_names};
	s.time_ns = ward_fields_number(ward_fields_next(f), 10, UINT64_MAX, &f->bad);
	const char *kind = ward_fields_next(f);
	s.uid = (uint32_t)ward_fields_number(ward_fields_next(f), 10, UINT32_MAX, &f->bad);
	const char *name = ward_fields_bytes(f);
	if (f->bad || !name || strlen(kind) != 1 ||
		(j->n_steps && s.id <= j->steps[j->n_steps - 1].id))
		return -EBADMSG;
	struct ward_journal_step *v = reallocarray(j->steps, j->n_steps + 1, sizeof(*v));
	if (!v)
		return -ENOMEM;
	j->steps = v;
	s.kind = *kind;
	s.name = strdup(name);
	v[j->n_steps++] = s;
	return s.name ? 0 : -ENOMEM;
}

static struct ward_journal_step *step_of(struct ward_journal *j, uint32_t id)
{
	for (size_t i = j->n_steps; i-- > 0;)
		if (j->steps[i].id == id)
			return &j->steps[i];
	return NULL;
}

/* X and B. */
static int read_about_step(struct ward_journal *j, struct ward_fields *f, bool off)
{
	struct ward_journal_step *s = step_of(j, file_number(f, false));
	if (f->bad || !s)
		return -EBADMSG;
	s->off = s->off || off;
	j->n_backs += !off;
	return 0;
}

static int read_owed(struct ward_journal *j, struct ward_fields *f)
{
	uint32_t n = file_number(f, false);
	struct ward_journal_file *file = known(j, n);
	uint64_t step = ward_fields_number(ward_fields_next(f), 10, FILES_MAX, &f->bad);
	if (f->bad || !file || (step ? !step_of(j, (uint32_t)step) : !S_ISDIR(file->type)))
		return -EBADMSG;
	uint32_t *v = reallocarray(j->owed, (j->n_owed + 1) * 2, sizeof(*v));
	if (!v)
		return -ENOMEM;
	j->owed = v;
	v[2 * j->n_owed] = n;
	v[2 * j->n_owed++ + 1] = (uint32_t)step;
	file->staged = true;
	return 0;
}

static int read_unstaged(struct ward_journal *j, struct ward_fields *f)
{
	struct ward_journal_file *file = known(j, file_number(f, false));
	if (f->bad || !file || !file->has_lower)
		return -EBADMSG;
	file->staged = false;
	return 0;
}

static int read_more(struct ward_journal *j, char what, struct ward_fields *f)
{
	switch (what) {
	case 'M':
		return read_step(j, f);
	case 'X':
	case 'B':
		return read_about_step(j, f, what == 'X');
	case 'C':
		return read_owed(j, f);
	case 'U':
		return read_unstaged(j, f);
	case 'D':
		j->n_owed = 0;
		return 0;
	default:
		return -EBADMSG;
	}
}

static int read_entry(struct ward_journal *j, char *entry, bool first, size_t *room)
{
	struct ward_fields f = {.at = entry};
	const char *what = ward_fields_next(&f);
	int r = -EBADMSG;
	if (f.bad || strlen(what) != 1 || first != (*what == 'J'))
		return -EBADMSG;
	switch (*what) {
	case 'J':
		r = ward_fields_number(ward_fields_next(&f), 10, 3, &f.bad) ? 0 : -EBADMSG;
		break;
	case 'R':
		r = read_root(j, &f);
		break;
	case 'F':
	case 'W':
		r = read_file(j, &f, *what == 'F');
		break;
	case 'P':
		r = read_place(j, &f);
		break;
	case 'S':
		r = read_staged(j, &f);
		break;
	case 'N':
		r = read_name(j, &f, room);
		break;
	default:
		r = read_more(j, *what, &f);
		break;
	}
	return r == 0 && f.at ? -EBADMSG : r;
}

static int by_place(const void *a, const void *b)
{
	const struct ward_journal_name *x = a, *y = b;
	int r = x->dir < y->dir ? -1 : x->dir > y->dir;
	if (!r)
		r = strcmp(x->name, y->name);
	return r ? r : x->seq < y->seq ? -1 : x->seq > y->seq;
}

/* Is the name this path of the host's? */
static bool is_at(const struct ward_journal *j, const struct ward_journal_name *n, size_t root,
	const char *path)
{
	const struct ward_journal_file *dir = &j->files[n->dir];
	const size_t len = dir->path ? strlen(dir->path) : 0;
	return dir->path && path && dir->root == root && !strncmp(path, dir->path, len) &&
	       (!len || path[len] == '/') && !strcmp(path + len + (len > 0), n->name);
}

/* The places of the host's file that the name is. */
static void leave(struct ward_journal *j, const struct ward_journal_name *n)
{
	struct ward_journal_file *was = &j->files[n->was];
	was->left = was->left || is_at(j, n, was->root, was->path);
	for (struct ward_journal_place *p = was->places; p; p = p->next)
		p->left = p->left || is_at(j, n, p->root, p->path);
}

/* A place that the session sees comes first. */
static void choose(struct ward_journal_file *f)
{
	struct ward_journal_place *p = f->left ? f->places : NULL;
	while (p && p->left)
		p = p->next;
	if (!p)
		return;
	char *path = f->path;
	const size_t root = f->root;
	f->path = p->path;
	f->root = p->root;
	p->path = path;
	p->root = root;
	p->left = true;
	f->left = false;
}

/* The last one of each name counts, unless it is as on the host. */
static void settle(struct ward_journal *j)
{
	size_t kept = 0;
	if (j->n_names)
		qsort(j->names, j->n_names, sizeof(*j->names), by_place);
	for (size_t i = 0; i < j->n_names; i++) {
		struct ward_journal_name *n = &j->names[i];
		bool last = i + 1 == j->n_names || n->dir != n[1].dir || strcmp(n->name, n[1].name);
		if (last && n->file != n->was)
			j->names[kept++] = *n;
		else
			free(n->name);
	}
	j->n_names = kept;
	for (size_t i = 0; i < kept; i++)
		if (j->names[i].was)
			leave(j, &j->names[i]);
	for (size_t i = 0; i < kept; i++)
		choose(&j->files[j->names[i].was]);
	/* A new file is first what it replaces, so that nothing has to go before it comes. */
	for (size_t i = 0; i < kept; i++) {
		const struct ward_journal_name *n = &j->names[i];
		struct ward_journal_file *f = &j->files[n->file];
		if (n->file && n->was && !f->entry && !f->has_lower &&
			f->type == j->files[n->was].type)
			f->entry = (uint32_t)i + 1;
	}
	for (size_t i = 0; i < kept; i++) {
		uint32_t file = j->names[i].file;
		if (file && !j->files[file].entry)
			j->files[file].entry = (uint32_t)i + 1;
	}
}

/* until: the step whose line is the last one that counts; 0: all do. */
static int read_lines(struct ward_journal *j, char *text, uint32_t until)
{
	size_t room = 0;
	bool first = true;
	int r = 0;
	for (char *line = text, *end; r == 0 && (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		for (char *entry = line, *stop; r == 0 && *entry; entry = stop + 1) {
			stop = strchr(entry, ';');
			if (!stop)
				return -EBADMSG;
			*stop = '\0';
			r = read_entry(j, entry, first, &room);
			first = false;
		}
		if (until && j->n_steps && j->steps[j->n_steps - 1].id == until)
			break;
	}
	return r == 0 && first ? -EBADMSG : r;
}

static int read_until(int dir_fd, uint32_t until, struct ward_journal *ret, struct ward_err *err)
{
	struct ward_journal j = {.roots = NULL};
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	ward_cleanup_fd int fd = ward_fd_open_regular(dir_fd, "journal", O_RDONLY);
	int r = fd < 0 ? fd : ward_fd_read_all(fd, WARD_REVIEW_JOURNAL_MAX, &text);
	if (r == 0) {
		text.len = ward_before_zeros(text.data, text.len);
		ward_buf_putc(&text, '\0');
		r = ward_buf_error(&text);
	}
	if (r == 0 && strlen(text.data) + 1 != text.len)
		r = -EBADMSG;
	if (r == 0)
		r = read_lines(&j, text.data, until);
	if (r < 0) {
		ward_journal_clear(&j);
		return r == -EBADMSG
			       ? ward_err_set(err, r, "the journal of staged changes is damaged")
			       : ward_err_sys(err, r, "the journal of staged changes");
	}
	settle(&j);
	*ret = j;
	return 0;
}

/* The entries at its beginning, up to the first one that is of something else. */
static int read_roots(struct ward_journal *j, char *text)
{
	bool first = true;
	for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		for (char *entry = line, *stop; *entry; entry = stop + 1) {
			size_t room = 0;
			stop = strchr(entry, ';');
			if (!stop)
				return -EBADMSG;
			*stop = '\0';
			if (!first && *entry != 'R')
				return 0;
			int r = read_entry(j, entry, first, &room);
			if (r < 0)
				return r;
			first = false;
		}
	}
	return first ? -EBADMSG : 0;
}

int ward_journal_roots(int dir_fd, struct ward_journal *ret, struct ward_err *err)
{
	struct ward_journal j = {.roots = NULL};
	ward_cleanup_fd int fd = ward_fd_open_regular(dir_fd, "journal", O_RDONLY);
	ward_cleanup_free char *text = fd < 0 ? NULL : malloc(ROOTS_MAX + 1);
	ssize_t n = text ? pread(fd, text, ROOTS_MAX, 0) : -1;
	int r = fd < 0 ? fd : !text ? -ENOMEM : n < 0 ? -errno : 0;
	if (r == 0) {
		text[n] = '\0';
		r = read_roots(&j, text);
	}
	if (r < 0) {
		ward_journal_clear(&j);
		return ward_err_sys(err, r, "the journal of staged changes");
	}
	*ret = j;
	return 0;
}

int ward_journal_read(int dir_fd, struct ward_journal *ret, struct ward_err *err)
{
	return read_until(dir_fd, 0, ret, err);
}

int ward_journal_read_step(
	int dir_fd, uint32_t step, struct ward_journal *ret, struct ward_err *err)
{
	struct ward_journal j;
	int r = read_until(dir_fd, 0, &j, err);
	if (r < 0)
		return r;
	const struct ward_journal_step *s = step_of(&j, step);
	bool there = s && !s->off;
	ward_journal_clear(&j);
	return there ? read_until(dir_fd, step, ret, err)
		     : ward_err_set(err, -ENOENT, "there is no step %u", step);
}

static void clear_file(struct ward_journal_file *f)
{
	for (struct ward_journal_place *p = f->places, *next; p; p = next) {
		next = p->next;
		free(p->path);
		free(p);
	}
	free(f->path);
}

void ward_journal_clear(struct ward_journal *j)
{
	for (size_t i = 0; i < j->n_roots; i++)
		free(j->roots[i]);
	for (size_t i = 0; i < j->n_files; i++)
		clear_file(&j->files[i]);
	for (size_t i = 0; i < j->n_names; i++)
		free(j->names[i].name);
	for (size_t i = 0; i < j->n_steps; i++)
		free(j->steps[i].name);
	free(j->steps);
	free(j->owed);
	free(j->roots);
	free(j->files);
	free(j->names);
	*j = (struct ward_journal){.roots = NULL};
}
