/* SPDX-License-Identifier: Apache-2.0 */
/* Steps are made, listed, and given up. */
#include "fs/review/steps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "enforcer/base/clock.h"
#include "enforcer/base/escape.h"
#include "fs/review/journal.h"
#include "fs/review/review_internal.h"

static bool name_good(const char *name)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	const size_t len = strlen(name);

	if (!len || len > WARD_STEP_NAME_MAX || strchr(name, '/') || strchr(name, '\\') ||
		strchr(".-0123456789", name[0]))
		return false;
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)name[i] < 0x20 || name[i] == 0x7f)
			return false;
	/* What would have to be escaped is not printable, or no UTF-8. */
	ward_escape(&b, name, len);
	return ward_buf_error(&b) == 0 && b.len == len;
}

static struct ward_steps_one *find(const struct ward_review *rv, const char *name)
{
	for (size_t i = 0; i < rv->steps.n; i++)
		if (!strcmp(rv->steps.v[i]->seen.name, name))
			return rv->steps.v[i];
	return NULL;
}

/* --- given up --- */

static bool asked_for(enum ward_step_kind kind)
{
	return kind == WARD_STEP_OWNER || kind == WARD_STEP_AGENT;
}

/* What was kept of f for that step is kept for the one before it, or goes. */
static void hand_down(
	struct ward_review *rv, struct ward_review_file *f, uint32_t step, uint32_t before)
{
	struct ward_review_kept **at = &f->kept, *k;
	char name[WARD_STEPS_NAME], down[WARD_STEPS_NAME];

	while ((k = *at) && k->step > step)
		at = &k->next;
	if (!k || k->step != step)
		return;
	ward_steps_name(step, f, name);
	ward_steps_name(before, f, down);
	if (before && f->born < before && !(k->next && k->next->step >= before) &&
		(k->lower ||
			syscall(SYS_renameat2, rv->steps.fd, name, rv->steps.fd, down, 0) == 0)) {
		k->step = before;
		return;
	}
	ward_size_drop_kept(rv, f, k, name);
	if (!k->lower)
		(void)unlinkat(rv->steps.fd, name, S_ISDIR(f->type) ? AT_REMOVEDIR : 0);
	rv->steps.bytes -= k->bytes;
	*at = k->next;
	free(k);
}

static int give_up(struct ward_review *rv, size_t i)
{
	ward_cleanup(ward_buf_clear) struct ward_buf line = WARD_BUF_INIT;
	struct ward_steps_all *s = &rv->steps;
	struct ward_steps_one *step = s->v[i];
	const uint32_t before = i ? s->v[i - 1]->seen.id : 0;
	char name[16];
	int r;

	ward_buf_printf(&line, "X %u;", step->seen.id);
	r = ward_review_write(rv, &line);
	if (r < 0)
		return r;
	for (struct ward_review_file *f = rv->all; f; f = f->all_next)
		hand_down(rv, f, step->seen.id, before);
	(void)snprintf(name, sizeof(name), "%u", step->seen.id);
	(void)unlinkat(s->fd, name, AT_REMOVEDIR);
	if (s->last == step->seen.id)
		s->last = before;
	s->n--;
	memmove(s->v + i, s->v + i + 1, (s->n - i) * sizeof(*s->v));
	free(step);
	return 0;
}

int ward_steps_give_up_last(struct ward_review *rv)
{
	return rv->steps.n ? give_up(rv, rv->steps.n - 1) : 0;
}

/* Room for one more: the oldest that nobody asked for goes. */
static int make_room(struct ward_review *rv, enum ward_step_kind kind, struct ward_err *err)
{
	struct ward_steps_all *s = &rv->steps;
	size_t agents = 0;

	for (size_t i = 0; i < s->n; i++)
		agents += s->v[i]->seen.kind == WARD_STEP_AGENT;
	if (kind == WARD_STEP_AGENT && agents >= WARD_STEPS_AGENT_MAX)
		return ward_err_set(err, -EDQUOT, "the session has made %zu steps already", agents);
	for (size_t i = 0; i < s->n;) {
		if (s->n < WARD_STEPS_MAX && s->bytes <= WARD_STEPS_KEPT_MAX / 2)
			return 0;
		if (asked_for(s->v[i]->seen.kind)) {
			i++;
			continue;
		}
		if (give_up(rv, i) < 0)
			return ward_err_set(err, -EDQUOT, "the journal is full");
	}
	if (s->n < WARD_STEPS_MAX && s->bytes <= WARD_STEPS_KEPT_MAX)
		return 0;
	return ward_err_set(err, -EDQUOT,
		s->n < WARD_STEPS_MAX ? "what earlier steps keep takes all room that steps have"
				      : "there are %u steps already",
		WARD_STEPS_MAX);
}

/* --- made --- */

static int open_store(struct ward_review *rv)
{
	if (rv->steps.fd >= 0)
		return 0;
	if (mkdirat(rv->store_fd, WARD_REVIEW_STEPS, 0700) < 0 && errno != EEXIST)
		return -errno;
	rv->steps.fd = openat(
		rv->store_fd, WARD_REVIEW_STEPS, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return rv->steps.fd < 0 ? -errno : 0;
}

/* Of one that somebody may write to unseen; those that nobody does are let go. */
static int keep_open(struct ward_review *rv, uint32_t id, struct ward_review_file *f)
{
	char name[WARD_STEPS_NAME], object[WARD_REVIEW_NAME];
	uint64_t bytes = 0, taken;
	int r;

	if (!f->staged || f->gone)
		return 0;
	r = ward_size_take_copy(rv, f, &taken);
	if (r < 0)
		return r;
	ward_steps_name(id, f, name);
	ward_review_object_name(f, object);
	r = ward_review_clone(rv->objects_fd, object, rv->steps.fd, name, &bytes);
	if (r == 0)
		r = ward_steps_add_kept(rv, f, id, false, bytes);
	if (r == 0)
		f->kept->counted = taken;
	else
		ward_size_give(rv, taken);
	return r;
}

/* One list for all: where it has lost some, every file of the session's is looked at. */
static int keep_writers(struct ward_review *rv, uint32_t id)
{
	struct ward_steps_all *s = &rv->steps;
	size_t left = 0;
	int r = 0;

	if (s->writers_lost) {
		for (struct ward_review_file *f = rv->all; r == 0 && f; f = f->all_next)
			if (S_ISREG(f->type) && f->staged && !f->gone &&
				ward_steps_is_open(rv, f, F_RDLCK))
				r = keep_open(rv, id, f);
		return r;
	}
	for (size_t i = 0; i < s->n_writers; i++) {
		struct ward_review_file *f = s->writers[i];

		if (!ward_steps_is_open(rv, f, F_RDLCK)) {
			atomic_store(&f->opened, false);
			continue;
		}
		s->writers[left++] = f;
		r = r == 0 ? keep_open(rv, id, f) : r;
	}
	s->n_writers = left;
	return r;
}

bool ward_review_is_open(struct ward_review *rv)
{
	struct ward_steps_all *s = &rv->steps;
	bool open;

	pthread_rwlock_wrlock(&rv->lock);
	pthread_mutex_lock(&s->writers_lock);
	open = s->writers_lost;
	for (size_t i = 0; !open && i < s->n_writers;) {
		struct ward_review_file *f = s->writers[i];

		if (ward_steps_is_open(rv, f, F_RDLCK)) {
			open = true;
		} else {
			s->writers[i] = s->writers[--s->n_writers];
			atomic_store(&f->opened, false);
		}
	}
	pthread_mutex_unlock(&s->writers_lock);
	pthread_rwlock_unlock(&rv->lock);
	return open;
}

/* Objects that were kept for those who had them open. */
static void drop_lingering(struct ward_review *rv)
{
	struct ward_steps_all *s = &rv->steps;
	char name[WARD_REVIEW_NAME];

	if (!s->lingering)
		return;
	s->lingering = false;
	for (struct ward_review_file *f = rv->all; f; f = f->all_next) {
		if (!f->lingers)
			continue;
		if (ward_steps_lingers(rv, f)) {
			s->lingering = true;
			continue;
		}
		ward_size_gone(rv, f);
		ward_review_object_name(f, name);
		(void)unlinkat(rv->objects_fd, name, 0);
		f->lingers = f->shared = false;
		f->no_object = true;
	}
}

static void forget_kept(struct ward_review *rv, uint32_t id)
{
	char name[16];

	for (struct ward_review_file *f = rv->all; f; f = f->all_next)
		if (f->kept && f->kept->step == id)
			hand_down(rv, f, id, 0);
	(void)snprintf(name, sizeof(name), "%u", id);
	(void)unlinkat(rv->steps.fd, name, AT_REMOVEDIR);
}

static int log_step(struct ward_review *rv, const struct ward_step_seen *seen)
{
	ward_cleanup(ward_buf_clear) struct ward_buf line = WARD_BUF_INIT;

	ward_buf_printf(&line, "M %u %llu %c %u ", seen->id, (unsigned long long)seen->time_ns,
		(char)seen->kind, seen->uid);
	ward_escape_field(&line, seen->name);
	ward_buf_putc(&line, ';');
	return ward_review_write(rv, &line);
}

static int check_name(struct ward_review *rv, const char *name, struct ward_err *err)
{
	if (!name)
		return 0;
	if (!name_good(name))
		return ward_err_set(err, -EINVAL,
			"a step's name is up to %u bytes of printable text, without '/', and does "
			"not begin with '.', '-' or a digit",
			WARD_STEP_NAME_MAX);
	if (find(rv, name))
		return ward_err_set(err, -EEXIST, "there is a step '%s' already", name);
	return 0;
}

int ward_steps_mark_locked(struct ward_review *rv, const struct ward_step_asked *asked,
	size_t n_undo, uint32_t *ret_id, struct ward_err *err)
{
	struct ward_steps_all *s = &rv->steps;
	struct ward_steps_one *step = NULL;
	char name[16];
	int r = check_name(rv, asked->name, err);

	if (r == 0)
		r = make_room(rv, asked->kind, err);
	if (r < 0)
		return r;
	step = calloc(1, sizeof(*step));
	r = step ? open_store(rv) : -ENOMEM;
	if (r == 0) {
		step->n_undo = n_undo;
		step->seen = (struct ward_step_seen){.id = s->given + 1,
			.kind = asked->kind,
			.time_ns = ward_clock_real_ns(),
			.changes = s->changes,
			.uid = asked->uid};
		(void)snprintf(step->seen.name, sizeof(step->seen.name), "%s",
			asked->name ? asked->name : "");
		(void)snprintf(name, sizeof(name), "%u", step->seen.id);
		/* One that was begun and is no step: this number has never been in the journal. */
		if (mkdirat(s->fd, name, 0700) < 0 && errno != EEXIST)
			r = -errno;
	}
	if (r == 0) {
		drop_lingering(rv);
		r = keep_writers(rv, step->seen.id);
		if (r == 0)
			r = log_step(rv, &step->seen);
		if (r < 0)
			forget_kept(rv, step->seen.id);
	}
	if (r < 0) {
		free(step);
		return ward_size_say(rv, r, "the step", err);
	}
	s->v[s->n++] = step;
	*ret_id = s->last = s->given = step->seen.id;
	s->changes = 0;
	return 0;
}

int ward_review_unmark(struct ward_review *rv, uint32_t id)
{
	struct ward_steps_all *s = &rv->steps;
	int r = 0;

	pthread_rwlock_wrlock(&rv->lock);
	if (s->n && s->v[s->n - 1]->seen.id == id)
		r = give_up(rv, s->n - 1);
	pthread_rwlock_unlock(&rv->lock);
	return r;
}

int ward_review_mark(struct ward_review *rv, const struct ward_step_asked *asked, uint32_t *ret_id,
	struct ward_err *err)
{
	int r;

	pthread_rwlock_wrlock(&rv->lock);
	r = ward_steps_mark_locked(rv, asked, rv->steps.n_undo, ret_id, err);
	pthread_rwlock_unlock(&rv->lock);
	return r;
}

/* --- looked at --- */

int ward_review_list_steps(struct ward_review *rv, struct ward_step_seen **ret, size_t *ret_n)
{
	struct ward_step_seen *v;

	pthread_rwlock_rdlock(&rv->lock);
	v = calloc(rv->steps.n + 1, sizeof(*v));
	for (size_t i = 0; v && i < rv->steps.n; i++)
		v[i] = rv->steps.v[i]->seen;
	*ret_n = v ? rv->steps.n : 0;
	pthread_rwlock_unlock(&rv->lock);
	*ret = v;
	return v ? 0 : -ENOMEM;
}

void ward_review_news(struct ward_review *rv, struct ward_steps_news *ret)
{
	pthread_rwlock_rdlock(&rv->lock);
	*ret = rv->steps.back;
	ret->changes = rv->steps.changes;
	ret->last = rv->steps.last;
	ret->all = atomic_load(&rv->steps.all);
	pthread_rwlock_unlock(&rv->lock);
}
