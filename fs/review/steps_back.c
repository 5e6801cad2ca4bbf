/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A step back. The names change in memory first, and back again where the gate refuses one of the
 * changes: no request is under way, so nobody sees that. One line of the journal then says all of
 * it.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "enforcer/base/clock.h"
#include "enforcer/base/escape.h"
#include "fs/review/review_internal.h"

/* One name that leads elsewhere at the step. */
struct net {
	struct ward_review_file *dir, *now, *then, *was;
	const char *name;
	size_t first; /* the change of it that comes first */
};

/* Bytes of the line that ends a step back: for each file, and besides. */
#define END_OF_FILE 256U
#define END_ROOM 4096U

struct back {
	struct ward_review *rv;
	uint32_t id;
	size_t from, to; /* undo[from..to) happened since */
	struct net *nets;
	size_t n;
	const struct ward_back_calls *calls;
	struct ward_steps_moved *moved;
	struct ward_err *err;
	bool turned; /* the names are as they were */
};

/* --- names --- */

static void lose(struct ward_review_file *dir, struct ward_review_file *f)
{
	if (S_ISDIR(f->type)) {
		dir->nlink--;
		f->net--;
	} else {
		f->nlink--;
	}
}

static void gain(struct ward_review_file *dir, struct ward_review_file *f)
{
	if (S_ISDIR(f->type)) {
		dir->nlink++;
		f->net++;
	} else {
		f->nlink++;
	}
}

static void settle(struct ward_review_file *f)
{
	if (!f)
		return;
	if (!S_ISDIR(f->type))
		f->gone = f->nlink + (f->has_lower ? (int64_t)f->lower_nlink : 0) <= 0;
	else if (f->net)
		f->gone = f->net < 0;
	f->net = 0;
	f->lingers = f->lingers && f->gone;
}

static int set(struct ward_review *rv, const struct net *n, struct ward_review_file *now,
	struct ward_review_file *then)
{
	struct ward_review_name *entry = ward_review_find(rv, n->dir, n->name);

	if (!entry && then != n->was) {
		entry = ward_review_name_new(rv, n->dir, n->name);
		if (!entry)
			return -ENOMEM;
		entry->was = n->was;
	}
	if (entry)
		entry->file = then;
	ward_review_place_leaves(rv, n->dir, n->name, n->was, then != n->was);
	if (entry && then == n->was)
		ward_review_name_free(rv, entry);
	if (now)
		lose(n->dir, now);
	if (then)
		gain(n->dir, then);
	return 0;
}

static int by_name(const void *a, const void *b)
{
	const struct net *x = a, *y = b;
	int r;

	if (x->dir != y->dir)
		return x->dir->number < y->dir->number ? -1 : 1;
	r = strcmp(x->name, y->name);
	return r ? r : x->first < y->first ? -1 : x->first > y->first;
}

/* What led elsewhere since, and does not lead there again by now. */
static int find_nets(struct back *b)
{
	const struct ward_review_undo *undo = b->rv->steps.undo;
	size_t n = b->to - b->from;

	b->nets = calloc(n + 1, sizeof(*b->nets));
	if (!b->nets)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		b->nets[i] = (struct net){.dir = undo[b->from + i].dir,
			.then = undo[b->from + i].before,
			.was = undo[b->from + i].was,
			.name = undo[b->from + i].name,
			.first = i};
	if (n)
		qsort(b->nets, n, sizeof(*b->nets), by_name);
	for (size_t i = 0; i < n; i++) {
		const struct net *x = &b->nets[i];

		if (b->n && b->nets[b->n - 1].dir == x->dir &&
			!strcmp(b->nets[b->n - 1].name, x->name))
			continue;
		b->nets[b->n++] = *x;
	}
	n = b->n;
	b->n = 0;
	for (size_t i = 0; i < n; i++) {
		struct net x = b->nets[i];
		const struct ward_review_name *entry = ward_review_find(b->rv, x.dir, x.name);

		x.now = entry ? entry->file : x.was;
		if (x.now != x.then)
			b->nets[b->n++] = x;
	}
	return 0;
}

/* Forth, or back again. */
static int turn(struct back *b, bool back, size_t n)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < n; i++) {
		const struct net *x = &b->nets[i];

		r = back ? set(b->rv, x, x->now, x->then) : set(b->rv, x, x->then, x->now);
		if (r < 0)
			n = i;
	}
	for (size_t i = 0; i < b->n; i++) {
		settle(b->nets[i].now);
		settle(b->nets[i].then);
	}
	/* What was done is undone: that needs no more memory than there was. */
	return r < 0 && back ? (turn(b, false, n), r) : r;
}

/* --- the gate --- */

static bool is_own(const struct ward_review_file *f)
{
	return !f->has_lower && !f->loaded;
}

static int ask(struct back *b, struct ward_back_ask *a, struct ward_review_file *f)
{
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	int r = b->calls->gate(b->calls->user, a);

	if (r >= 0) {
		f->secret = f->secret || r > 0;
		return 0;
	}
	ward_escape(&text, a->path, strlen(a->path));
	return ward_err_set(b->err, r, "the policy of now does not let the session change %s",
		ward_buf_str(&text));
}

static int ask_name(struct back *b, const struct net *x, const struct ward_review_path *dir,
	const struct ward_review_path *from, bool comes)
{
	struct ward_review_file *f = comes ? x->then : x->now;
	ward_cleanup_free char *path = NULL;
	struct ward_back_ask a = {.root = dir->root, .type = f->type, .own = is_own(f)};

	if (asprintf(&path, "%s%s%s", dir->text, *dir->text ? "/" : "", x->name) < 0)
		return ward_err_sys(b->err, -ENOMEM, "the step");
	a.path = path;
	a.what = !comes ? WARD_BACK_REMOVE : from ? WARD_BACK_RENAME : WARD_BACK_CREATE;
	if (comes && from) {
		a.from = from->text;
		a.from_root = from->root;
	}
	return ask(b, &a, f);
}

/* The present place of each directory and file is kept for after(). */
static int remember(struct back *b, struct ward_review_file *f)
{
	const struct ward_review_path *at = NULL;
	int r = f ? ward_steps_path(b->rv, b->moved, f, &at) : 0;

	if (r < 0 || !at || f->before.text)
		return r;
	f->before = (struct ward_review_path){.root = at->root, .text = strdup(at->text)};
	return f->before.text ? 0 : -ENOMEM;
}

/* What goes, and contents that change, by the paths of now. */
static int ask_before(struct back *b)
{
	const struct ward_review_path *at;
	int r = ward_steps_paths_begin(b->rv, &b->moved);

	for (size_t i = 0; r == 0 && i < b->n; i++) {
		const struct net *x = &b->nets[i];

		r = remember(b, x->dir);
		if (r == 0)
			r = remember(b, x->then);
		if (r == 0 && x->now && x->dir->before.text)
			r = ask_name(b, x, &x->dir->before, NULL, false);
	}
	for (struct ward_review_file *f = b->rv->all; r == 0 && f; f = f->all_next) {
		const struct ward_review_kept *k = ward_steps_kept_from(f, b->id);
		struct ward_back_ask a = {.type = f->type, .own = is_own(f)};

		if (!k || (k->lower && S_ISDIR(f->type) && !f->attrs))
			continue;
		r = ward_steps_path(b->rv, b->moved, f, &at);
		if (r < 0 || !at)
			continue;
		a.what = S_ISDIR(f->type) ? WARD_BACK_ATTR : WARD_BACK_WRITE;
		a.root = at->root;
		a.path = at->text;
		r = ask(b, &a, f);
		f->changing = true;
	}
	return r;
}

/* A file with several names is written to by each of them. */
static int ask_names(struct back *b)
{
	struct ward_review *rv = b->rv;
	int r = 0;

	for (size_t i = 0; r == 0 && rv->names.v && i <= rv->names.mask; i++)
		for (struct ward_review_name *n = rv->names.v[i]; r == 0 && n; n = n->hash_next) {
			const struct ward_review_path *dir = NULL;
			ward_cleanup_free char *path = NULL;
			struct ward_back_ask a = {.what = WARD_BACK_WRITE};

			if (!n->file || !n->file->changing || n->file->at == n ||
				S_ISDIR(n->file->type))
				continue;
			r = ward_steps_path(rv, b->moved, n->dir, &dir);
			if (r < 0 || !dir)
				continue;
			if (asprintf(&path, "%s%s%s", dir->text, *dir->text ? "/" : "", n->text) <
				0)
				return -ENOMEM;
			a.root = dir->root;
			a.path = path;
			a.type = n->file->type;
			a.own = is_own(n->file);
			r = ask(b, &a, n->file);
		}
	return r;
}

/* What comes, by the paths of then. */
static int ask_after(struct back *b)
{
	int r = ward_steps_paths_again(b->rv, &b->moved);

	for (size_t i = 0; r == 0 && i < b->n; i++) {
		const struct net *x = &b->nets[i];
		const struct ward_review_path *dir = NULL;

		if (!x->then)
			continue;
		r = ward_steps_path(b->rv, b->moved, x->dir, &dir);
		if (r == 0 && dir)
			r = ask_name(
				b, x, dir, x->then->before.text ? &x->then->before : NULL, true);
	}
	return r;
}

/* --- the journal, and what follows --- */

static int write_line(struct back *b, uint32_t before)
{
	ward_cleanup(ward_buf_clear) struct ward_buf line = WARD_BUF_INIT;

	ward_buf_printf(&line, "B %u;", b->id);
	for (size_t i = 0; i < b->n; i++)
		ward_review_put_name(
			&line, b->nets[i].dir, b->nets[i].name, b->nets[i].then, b->nets[i].was);
	for (struct ward_review_file *f = b->rv->all; f; f = f->all_next) {
		const struct ward_review_kept *k = ward_steps_kept_from(f, b->id);

		if (!k || k->step == before)
			continue;
		if (!k->lower || (S_ISDIR(f->type) && f->attrs))
			ward_buf_printf(&line, "C %u %u;", f->number, k->lower ? 0 : k->step);
		else if (!S_ISDIR(f->type) && f->staged)
			ward_buf_printf(&line, "U %u;", f->number);
	}
	return ward_review_write(b->rv, &line);
}

static void touch(struct ward_review *rv, const struct ward_review_file *dir)
{
	const struct timespec now[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_nsec = UTIME_NOW}};
	char name[WARD_REVIEW_NAME];

	if (!dir->staged)
		return;
	ward_review_object_name(dir, name);
	(void)utimensat(rv->objects_fd, name, now, AT_SYMLINK_NOFOLLOW);
}

/* What the content of f becomes; NULL: it stays. */
static const struct ward_review_kept *kept_then(
	const struct back *b, const struct ward_review_file *f, uint32_t before)
{
	const struct ward_review_kept *k = ward_steps_kept_from(f, b->id);

	if (!k || k->step == before ||
		(k->lower && (!f->staged || (S_ISDIR(f->type) && !f->attrs))))
		return NULL;
	return k;
}

/* Is there room for so many bytes? */
static int try_room(struct ward_review *rv, uint64_t bytes)
{
	static const char name[] = "room";
	ward_cleanup_fd int fd = openat(
		rv->steps.fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	int r = 0;

	if (fd < 0)
		return -errno;
	(void)unlinkat(rv->steps.fd, name, 0);
	if (bytes && fallocate(fd, 0, 0, (off_t)bytes) < 0 && errno != EOPNOTSUPP)
		r = -errno;
	return r;
}

/*
 * Of files that are the host's again: the host may have changed them since, so the next change
 * begins with what they have then. Each removal frees blocks, which can wait for the disk (a mount
 * with `discard`). So threads of their own do that.
 */
#define DROPPERS 4U
/* With fewer files, a thread costs more than it saves. */
#define DROPS_EACH 32U
struct bases {
	struct ward_review *rv;
	const struct ward_review_file **v; /* owned */
	size_t n;
	atomic_size_t next;
	pthread_t threads[DROPPERS];
	unsigned n_threads;
};

static void bases_free(struct bases *d)
{
	free(d->v);
}

static void *drop_bases(void *arg)
{
	struct bases *d = arg;
	char name[WARD_REVIEW_NAME];

	for (size_t i; (i = atomic_fetch_add(&d->next, 1)) < d->n;) {
		ward_review_object_name(d->v[i], name);
		ward_review_base_drop(d->rv, name);
	}
	return NULL;
}

static void begin_drops(struct bases *d)
{
	while (d->n_threads < DROPPERS && d->n / DROPS_EACH > d->n_threads &&
		pthread_create(&d->threads[d->n_threads], NULL, drop_bases, d) == 0)
		d->n_threads++;
}

static void end_drops(struct bases *d)
{
	drop_bases(d);
	while (d->n_threads)
		pthread_join(d->threads[--d->n_threads], NULL);
}

static int find_bases(const struct back *b, uint32_t before, size_t n, struct bases *ret)
{
	*ret = (struct bases){.rv = b->rv, .v = calloc(n + 1, sizeof(*ret->v))};
	if (!ret->v)
		return -ENOMEM;
	for (const struct ward_review_file *f = b->rv->all; f; f = f->all_next) {
		const struct ward_review_kept *k = kept_then(b, f, before);

		if (k && k->lower)
			ret->v[ret->n++] = f;
	}
	return 0;
}

/*
 * All that takes room, before the journal says that it is done: a full disk changes nothing. The
 * journal has room for the line that ends it.
 */
static int prepare_all(
	struct back *b, uint32_t before, struct bases *ret_bases, struct ward_back_done *ret)
{
	uint64_t bytes = 0;
	size_t n = 0;
	int r = 0;

	for (struct ward_review_file *f = b->rv->all; r == 0 && f; f = f->all_next) {
		const struct ward_review_kept *k = kept_then(b, f, before);

		n += k != NULL;
		if (k)
			r = ward_steps_prepare(b->rv, f, k, before, &bytes);
	}
	ret->files = calloc(n + 1, sizeof(*ret->files));
	if (!ret->files)
		return -ENOMEM;
	if (r == 0)
		r = find_bases(b, before, n, ret_bases);
	if (r == 0)
		r = try_room(b->rv, bytes + n * END_OF_FILE + END_ROOM);
	return r == 0 ? ward_review_reserve(b->rv, n * END_OF_FILE + END_ROOM) : r;
}

/* Contents, and the line that ends it. 0, or why not all of it is as it was then: that stays as it
 * is now. */
static int restore_all(
	struct back *b, uint32_t before, struct bases *bases, struct ward_back_done *ret)
{
	ward_cleanup(ward_buf_clear) struct ward_buf line = WARD_BUF_INIT;
	int r = 0, e;

	begin_drops(bases);
	for (struct ward_review_file *f = b->rv->all; f; f = f->all_next) {
		const struct ward_review_kept *k = kept_then(b, f, before);

		if (!k)
			continue;
		e = ward_steps_restore(b->rv, f, k, before, &line);
		if (e < 0)
			ward_steps_left(b->rv, f, k, before, &line);
		r = r < 0 ? r : e;
		ret->files[ret->n_files++] = f->id;
	}
	end_drops(bases);
	ward_buf_puts(&line, "D;");
	e = ward_review_write(b->rv, &line);
	/* Contents that change from now on are to count. */
	b->rv->owes_end = e < 0;
	return r < 0 ? r : e;
}

/* From here on a step back can be gone back from as any change. */
static int note_all(struct back *b, struct ward_back_done *ret)
{
	struct ward_steps_all *s = &b->rv->steps;
	int r = 0;

	ret->names = calloc(b->n + 1, sizeof(*ret->names));
	if (!ret->names)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < b->n; i++) {
		const struct net *x = &b->nets[i];
		char *name = strdup(x->name);

		r = name ? ward_steps_room(b->rv) : -ENOMEM;
		if (r < 0) {
			free(name);
			while (i-- > 0)
				free(s->undo[--s->n_undo].name);
			return r;
		}
		ward_steps_note(b->rv, x->dir, name, x->now, x->was);
		ret->names[ret->n_names++] =
			(struct ward_back_name){.dir = x->dir->id, .name = name};
	}
	return 0;
}

/* No lock is held; no request is under way, so the list stays what it is. */
static void own_all(struct back *b)
{
	for (struct ward_review_file *f = b->rv->all; f; f = f->all_next) {
		ward_cleanup_fd int fd = -1;

		if (b->turned && f->secret && f->staged && !f->gone &&
			ward_review_open_object(b->rv, f, O_PATH, &fd) == 0)
			b->calls->own(b->calls->user, fd);
		f->secret = false;
	}
}

static int do_back(struct back *b, const struct ward_step_asked *asked, struct ward_back_done *ret)
{
	const struct ward_step_asked self = {.kind = WARD_STEP_BACK, .uid = asked->uid};
	struct ward_steps_all *s = &b->rv->steps;
	ward_cleanup(bases_free) struct bases bases = {.v = NULL};
	uint32_t before = 0;
	int r = ward_steps_mark_locked(b->rv, &self, b->to, &before, b->err);

	if (r < 0)
		return r;
	r = prepare_all(b, before, &bases, ret);
	if (r < 0) {
		(void)!ward_steps_give_up_last(b->rv);
		return ward_size_say(b->rv, r, "the step back", b->err);
	}
	r = note_all(b, ret);
	if (r == 0 && (r = write_line(b, before)) < 0)
		while (s->n_undo > b->to)
			free(s->undo[--s->n_undo].name);
	if (r < 0) {
		(void)!ward_steps_give_up_last(b->rv);
		return ward_err_sys(b->err, r, "the step back");
	}
	ret->before = before;
	s->changes += b->n;
	atomic_fetch_add(&s->all, 1);
	s->back.n_backs++;
	s->back.to = b->id;
	s->back.by = asked->kind;
	s->back.uid = asked->uid;
	s->back.time_ns = ward_clock_real_ns();
	/* They are sorted by directory. */
	for (size_t i = 0; i < b->n; i++)
		if (!i || b->nets[i].dir != b->nets[i - 1].dir)
			touch(b->rv, b->nets[i].dir);
	r = restore_all(b, before, &bases, ret);
	return r < 0 ? ward_err_sys(b->err, -EIO,
			       "the names are as they were, but the content of some files is not: "
			       "%s. Step %u has what was there",
			       strerror(-r), before)
		     : 0;
}

static const struct ward_steps_one *find_step(const struct ward_review *rv, uint32_t id)
{
	for (size_t i = 0; i < rv->steps.n; i++)
		if (rv->steps.v[i]->seen.id == id)
			return rv->steps.v[i];
	return NULL;
}

int ward_review_back(struct ward_review *rv, uint32_t id, const struct ward_step_asked *asked,
	const struct ward_back_calls *calls, struct ward_back_done *ret, struct ward_err *err)
{
	struct ward_back_done done = {.before = 0};
	struct back b = {.rv = rv, .id = id, .calls = calls, .err = err};
	const struct ward_steps_one *step;
	int r;

	pthread_rwlock_wrlock(&rv->lock);
	step = find_step(rv, id);
	if (!step) {
		pthread_rwlock_unlock(&rv->lock);
		return ward_err_set(err, -ENOENT, "there is no step %u", id);
	}
	b.from = step->n_undo;
	b.to = rv->steps.n_undo;
	r = find_nets(&b);
	if (r == 0)
		r = ask_before(&b);
	if (r == 0)
		r = ask_names(&b);
	if (r == 0)
		b.turned = (r = turn(&b, true, b.n)) == 0;
	if (r == 0)
		r = ask_after(&b);
	if (r == 0)
		r = do_back(&b, asked, &done);
	if (r < 0 && b.turned && !done.before) {
		(void)!turn(&b, false, b.n);
		b.turned = false;
	}
	ward_steps_paths_end(rv, b.moved);
	free(b.nets);
	ward_size_recount(rv);
	pthread_rwlock_unlock(&rv->lock);
	/* It looks at the file, which takes the lock. */
	own_all(&b);
	if (r < 0 && !err->code)
		ward_err_sys(err, r, "the step back");
	*ret = done;
	return r;
}

void ward_back_done_clear(struct ward_back_done *d)
{
	free(d->names);
	free(d->files);
	*d = (struct ward_back_done){.before = 0};
}
