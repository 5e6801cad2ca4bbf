/* SPDX-License-Identifier: Apache-2.0 */
/* From the journal to what is to be done: each name that differs, and each staged file. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/review/content.h"
#include "enforcer/review/discarded.h"
#include "enforcer/review/host_file.h"
#include "enforcer/review/journal_read.h"
#include "enforcer/review/seen.h"

/* All paths of a session's changes: more is nothing that a person looks at. */
#define TEXT_MAX (256U << 20)

struct work {
	const struct ward_journal *j;
	struct ward_seen seen;
	int dir_fd; /* the store's */
	int roots[16];
	/* Of each name: 1 + index of the one that its file of the host had before; 0: none. */
	uint32_t *from;
	bool *goes_on;	/* of each name: its file of the host is elsewhere now */
	uint32_t *uses; /* of each file: names that lead to it, here or on the host, and differ */
	struct ward_review_changes *c;
	size_t room, text;
	uint64_t until_ns; /* contents are compared until then; 0: all of them */
};

/* A change that nobody sees, or that no path can name, is none; the latter is counted. */
static int passed_over(struct work *w, int r)
{
	w->c->n_deep += r == -ENAMETOOLONG;
	return r == -ENOENT || r == -ENAMETOOLONG ? 0 : r;
}

/* path, from: taken. */
static int add(struct work *w, const struct ward_change *change)
{
	struct ward_review_changes *c = w->c;
	int r = 0;
	w->text += strlen(change->path) + (change->from ? strlen(change->from) : 0) +
		   (change->host ? strlen(change->host) : 0);
	if (w->text > TEXT_MAX)
		r = -E2BIG;
	if (r == 0 && c->n == w->room) {
		size_t more = w->room ? w->room * 2 : 256;
		struct ward_change *v = reallocarray(c->v, more, sizeof(*v));
		if (v) {
			c->v = v;
			w->room = more;
		} else {
			r = -ENOMEM;
		}
	}
	if (r < 0) {
		free(change->path);
		free(change->from);
		free(change->host);
		return r;
	}
	c->v[c->n] = *change;
	c->v[c->n].seen = change->base;
	c->v[c->n++].seen_kept = change->kept;
	return 0;
}

/* What the session has made of a file: permissions, size. -ENOENT: the object is missing. */
static int look_at_object(const struct work *w, uint32_t file, struct ward_change *c)
{
	char name[32];
	struct stat st;
	snprintf(name, sizeof(name), "objects/%u", file);
	if (fstatat(w->dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	if ((st.st_mode & S_IFMT) != c->type)
		return -EBADMSG;
	c->mode = st.st_mode & 07777;
	c->size = (uint64_t)st.st_size;
	c->object = file;
	return 0;
}

/* The host's file as the session saw it: an apply may have moved it. -1: it is not there. */
static int open_base(const struct work *w, const struct ward_change *c)
{
	for (int moved = c->from ? 0 : 1; moved < 2; moved++) {
		struct ward_review_base now;
		mode_t type;
		ward_cleanup_fd int fd = ward_host_open(w->roots[moved ? c->root : c->from_root],
			moved ? c->path : c->from, S_ISLNK(c->type) ? O_PATH : O_RDONLY);
		if (fd >= 0 && ward_host_stat(fd, &now, &type) == 0 && type == c->type &&
			ward_host_same(&now, &c->base, c->from && moved))
			return ward_steal_fd(&fd);
	}
	return -1;
}

/* 1: the object says what the host's file says, which is as the session saw it. */
static int is_unchanged(const struct work *w, const struct ward_change *c)
{
	char name[32], a[PATH_MAX], b[PATH_MAX];
	if (c->mode != c->base.mode || S_ISFIFO(c->type) || S_ISSOCK(c->type))
		return c->mode == c->base.mode;
	if (S_ISDIR(c->type))
		return 1;
	if (c->size != c->base.size)
		return 0;
	ward_cleanup_fd int fd = open_base(w, c);
	if (fd < 0)
		return 0;
	snprintf(name, sizeof(name), "objects/%u", c->object);
	if (S_ISLNK(c->type)) {
		ssize_t n = readlinkat(fd, "", a, sizeof(a));
		ssize_t m = readlinkat(w->dir_fd, name, b, sizeof(b));
		return n >= 0 && n == m && memcmp(a, b, (size_t)n) == 0;
	}
	ward_cleanup_fd int own = ward_content_open(w->dir_fd, name);
	return own < 0 ? 0 : ward_host_same_content(fd, own, w->until_ns);
}

/* The content of a file of the host's that the session changed, wherever it is seen now. */
static int add_staged(struct work *w, uint32_t file)
{
	const struct ward_journal_file *f = &w->j->files[file];
	struct ward_change c = {
		.kind = WARD_CHANGE_MODIFIED, .type = f->type, .has_base = true, .base = f->base};
	c.kept = file;
	int r = ward_seen_file(&w->seen, file, &c.path, &c.root);
	if (r < 0)
		return passed_over(w, r);
	c.moved = w->uses[file] > 0;
	/* Where it is now; where the host has it. */
	if (c.root != f->root || strcmp(c.path, f->path) != 0) {
		c.from = strdup(f->path);
		c.from_root = f->root;
	}
	r = look_at_object(w, file, &c);
	int same = r == 0 ? is_unchanged(w, &c) : 0;
	c.host = c.from;
	c.host_root = c.from_root;
	c.from = NULL;
	if (r < 0 || same) {
		free(c.path);
		free(c.host);
		return r < 0 ? r : same < 0 ? same : 0;
	}
	if (S_ISDIR(c.type))
		c.kind = WARD_CHANGE_MODE;
	return add(w, &c);
}

/* Where the host has what it has at this name: names of one file are several places. */
static char *host_name(const struct work *w, const struct ward_journal_name *n, size_t *ret_root)
{
	const struct ward_journal_file *dir = &w->j->files[n->dir];
	*ret_root = dir->root;
	return dir->has_lower ? ward_seen_join(dir->path, n->name) : NULL;
}

/* A name that leads to nothing, where the host has a file that is nowhere else now. */
static int add_removed(struct work *w, const struct ward_journal_name *n)
{
	const struct ward_journal_file *was = &w->j->files[n->was];
	struct ward_change c = {.kind = WARD_CHANGE_REMOVED,
		.type = was->type,
		.mode = was->base.mode,
		.size = was->base.size,
		.has_base = true,
		.base = was->base};
	c.moved = w->uses[n->was] > 1;
	c.path = host_name(w, n, &c.root);
	return c.path ? add(w, &c) : -ENOMEM;
}

/* Where the host's file of a new name comes from. */
static int find_from(struct work *w, uint32_t index, struct ward_change *c)
{
	const struct ward_journal_name *n = &w->j->names[index];
	const struct ward_journal_file *f = &w->j->files[n->file];
	int r = 0;
	c->kind = w->from[index] ? WARD_CHANGE_RENAMED : WARD_CHANGE_LINKED;
	c->from_root = f->root;
	/* Another change of its names comes first, perhaps. */
	c->moved = w->uses[n->file] > (w->from[index] ? 2 : 1);
	if (w->from[index])
		c->from = host_name(w, &w->j->names[w->from[index] - 1], &c->from_root);
	else
		r = ward_seen_file(&w->seen, n->file, &c->from, &c->from_root);
	c->mode = f->base.mode;
	c->size = f->base.size;
	c->has_base = true;
	c->base = f->base;
	return r < 0 || c->from ? r : -ENOMEM;
}

static int add_name(struct work *w, uint32_t index, const struct ward_journal_name *n)
{
	const struct ward_journal_file *f = &w->j->files[n->file];
	const struct ward_journal_file *was = n->was ? &w->j->files[n->was] : NULL;
	struct ward_change c = {.kind = WARD_CHANGE_ADDED, .type = f->type};
	bool again = f->entry != index + 1; /* a further name */
	int r = ward_seen_name(&w->seen, n, &c.path, &c.root);
	if (r < 0)
		return passed_over(w, r);
	if (f->has_lower) {
		r = find_from(w, index, &c);
	} else if (again) {
		c.kind = WARD_CHANGE_LINKED;
		r = ward_seen_file(&w->seen, n->file, &c.from, &c.from_root);
	} else {
		r = look_at_object(w, n->file, &c);
		/* In the place of a file that is nowhere else: the file has changed. */
		if (was && !w->goes_on[index] && was->type == f->type) {
			c.kind = S_ISDIR(f->type) ? WARD_CHANGE_MODE : WARD_CHANGE_MODIFIED;
			c.has_base = true;
			c.base = was->base;
			c.kept = n->was;
			c.moved = w->uses[n->was] > 1;
			c.host = host_name(w, n, &c.host_root);
		} else if (was && S_ISDIR(f->type) && S_ISDIR(was->type)) {
			/* The host's directory of this name is to go elsewhere first. */
			c.has_base = true;
			c.base = was->base;
		}
	}
	if (c.host && c.host_root == c.root && strcmp(c.host, c.path) == 0) {
		free(c.host);
		c.host = NULL;
	}
	if (r == 0 && !(c.kind == WARD_CHANGE_MODE && c.mode == c.base.mode))
		return add(w, &c);
	free(c.path);
	free(c.from);
	free(c.host);
	return r;
}

/* What goes makes room for what comes; a file comes to its name before its content changes. */
static int rank(enum ward_change_kind kind)
{
	return kind == WARD_CHANGE_REMOVED				   ? 0
	       : kind == WARD_CHANGE_RENAMED || kind == WARD_CHANGE_LINKED ? 1
									   : 2;
}

static int by_change(const void *a, const void *b)
{
	const struct ward_change *x = a, *y = b;
	if (x->root != y->root)
		return x->root < y->root ? -1 : 1;
	int r = strcmp(x->path, y->path);
	return r ? r : rank(x->kind) - rank(y->kind);
}

static int find_changes(struct work *w)
{
	const struct ward_journal *j = w->j;
	int r = 0;
	for (size_t i = 0; r == 0 && i < j->n_names; i++) {
		const struct ward_journal_name *n = &j->names[i];
		const struct ward_journal_file *was = n->was ? &j->files[n->was] : NULL;
		bool replaced = n->file && was && j->files[n->file].type == was->type &&
				!j->files[n->file].has_lower && j->files[n->file].entry == i + 1;
		if (was && !w->goes_on[i] && !replaced)
			r = add_removed(w, n);
		if (r == 0 && n->file)
			r = add_name(w, (uint32_t)i, n);
	}
	for (uint32_t i = 1; r == 0 && i < j->n_files; i++)
		if (j->files[i].known && j->files[i].has_lower && j->files[i].staged)
			r = add_staged(w, i);
	if (w->c->n)
		qsort(w->c->v, w->c->n, sizeof(*w->c->v), by_change);
	return r < 0 ? r : ward_discarded_drop(w->dir_fd, w->c);
}

static void count(struct ward_review_changes *c)
{
	for (size_t i = 0; i < c->n; i++) {
		/* People count files; a directory that moves with its files is one thing. */
		if (S_ISDIR(c->v[i].type) && c->v[i].kind != WARD_CHANGE_RENAMED)
			continue;
		switch (c->v[i].kind) {
		case WARD_CHANGE_NONE:
			break;
		case WARD_CHANGE_ADDED:
		case WARD_CHANGE_LINKED:
			c->n_added++;
			break;
		case WARD_CHANGE_MODIFIED:
		case WARD_CHANGE_MODE:
			c->n_modified++;
			break;
		case WARD_CHANGE_REMOVED:
			c->n_removed++;
			break;
		case WARD_CHANGE_RENAMED:
			c->n_renamed++;
			break;
		}
	}
}

/* A file of the host that got a new name came from one that it lost, as long as there is one. */
static int pair_names(struct work *w)
{
	const struct ward_journal *j = w->j;
	ward_cleanup_free uint32_t *first = calloc(j->n_files + 1, sizeof(*first));
	ward_cleanup_free uint32_t *next = calloc(j->n_names + 1, sizeof(*next));
	w->from = calloc(j->n_names + 1, sizeof(*w->from));
	w->goes_on = calloc(j->n_names + 1, sizeof(*w->goes_on));
	w->uses = calloc(j->n_files + 1, sizeof(*w->uses));
	if (!first || !next || !w->from || !w->goes_on || !w->uses)
		return -ENOMEM;
	for (size_t i = j->n_names; i-- > 0;) {
		const uint32_t was = j->names[i].was;
		next[i] = first[was];
		first[was] = (uint32_t)i + 1;
		w->uses[was]++;
		w->uses[j->names[i].file]++;
	}
	for (size_t i = 0; i < j->n_names; i++) {
		const uint32_t file = j->names[i].file, lost = file ? first[file] : 0;
		if (!lost)
			continue;
		first[file] = next[lost - 1];
		w->from[i] = lost;
		w->goes_on[lost - 1] = true;
	}
	return 0;
}

static int prepare(struct work *w)
{
	const struct ward_journal *j = w->j;
	w->c->roots = calloc(j->n_roots ? j->n_roots : 1, sizeof(*w->c->roots));
	int r = w->c->roots ? ward_seen_init(&w->seen, j) : -ENOMEM;
	if (r < 0)
		return r;
	for (size_t i = 0; i < j->n_roots && i < 16; i++) {
		w->roots[i] = open(j->roots[i], O_PATH | O_DIRECTORY | O_CLOEXEC);
		w->c->roots[i] = strdup(j->roots[i]);
		if (!w->c->roots[i])
			return -ENOMEM;
		w->c->n_roots++;
	}
	return 0;
}

int ward_changes_read(
	int dir_fd, uint64_t until_ns, struct ward_review_changes *ret, struct ward_err *err)
{
	struct ward_review_changes c = {.v = NULL};
	struct ward_journal j;
	int r = ward_journal_read(dir_fd, &j, err);
	if (r < 0)
		return r;
	struct work w = {.j = &j, .dir_fd = dir_fd, .c = &c, .until_ns = until_ns};
	for (size_t i = 0; i < 16; i++)
		w.roots[i] = -1;
	r = prepare(&w);
	if (r == 0)
		r = pair_names(&w);
	if (r == 0)
		r = find_changes(&w);
	for (size_t i = 0; i < 16; i++)
		if (w.roots[i] >= 0)
			close(w.roots[i]);
	ward_seen_clear(&w.seen);
	free(w.from);
	free(w.goes_on);
	free(w.uses);
	ward_journal_clear(&j);
	if (r < 0) {
		ward_changes_clear(&c);
		if (r == -EBADMSG)
			return ward_err_set(err, r, "what is staged is damaged");
		return ward_err_sys(err, r, "staged changes");
	}
	count(&c);
	*ret = c;
	return 0;
}

int ward_changes_roots(int dir_fd, struct ward_review_changes *ret, struct ward_err *err)
{
	struct ward_journal j;
	int r = ward_journal_roots(dir_fd, &j, err);
	if (r < 0)
		return r;
	*ret = (struct ward_review_changes){.roots = j.roots, .n_roots = j.n_roots};
	j.roots = NULL;
	j.n_roots = 0;
	ward_journal_clear(&j);
	return 0;
}

struct ward_change *ward_changes_find(const struct ward_review_changes *c, size_t root,
	const char *path, enum ward_change_kind kind)
{
	/* Of one path there can be two: what goes, and then what comes. */
	size_t low = 0, high = c->n;
	while (low < high) {
		const size_t mid = low + (high - low) / 2;
		const struct ward_change *v = &c->v[mid];
		if (v->root < root || (v->root == root && strcmp(v->path, path) < 0))
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < c->n && c->v[low].root == root && strcmp(c->v[low].path, path) == 0; low++)
		if (c->v[low].kind == kind)
			return &c->v[low];
	return NULL;
}

void ward_changes_clear(struct ward_review_changes *c)
{
	for (size_t i = 0; i < c->n; i++) {
		free(c->v[i].path);
		free(c->v[i].from);
		free(c->v[i].host);
	}
	for (size_t i = 0; i < c->n_roots; i++)
		free(c->roots[i]);
	free(c->roots);
	free(c->v);
	*c = (struct ward_review_changes){.v = NULL};
}

char *ward_changes_line(const struct ward_review_changes *c)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	const struct {
		size_t n;
		const char *what;
	} parts[] = {{c->n_modified, "changed"}, {c->n_added, "added"}, {c->n_removed, "removed"},
		{c->n_renamed, "renamed"}};
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		if (!parts[i].n)
			continue;
		ward_buf_printf(&b, "%s%zu ", b.len ? ", " : "", parts[i].n);
		if (!strchr(ward_buf_str(&b), ','))
			ward_buf_puts(&b, parts[i].n == 1 ? "file " : "files ");
		ward_buf_puts(&b, parts[i].what);
	}
	if (c->n_deep)
		ward_buf_printf(&b, "%s%zu too deep to be applied", b.len ? ", " : "", c->n_deep);
	if (!b.len)
		ward_buf_puts(&b, c->n ? "directories changed" : "nothing changed");
	return ward_buf_steal(&b);
}
