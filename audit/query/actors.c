/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out which process and which program did what a record says. */
#include "audit/query/actors.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "audit/query/asked_path.h"
#include "audit/query/parse.h"

/* Processes between one and the program that it inherited: an end for trails that were changed. */
#define DEPTH_MAX 4096

/* What one record says about a thread. */
struct fact {
	int64_t ring;
	uint64_t tid;
	uint64_t process;
	uint64_t parent; /* of the process */
	uint64_t mono;
	uint64_t seq;
};

/* An exec: what was asked for, and what ran until then. */
struct run {
	uint64_t process;
	uint64_t mono;
	uint64_t seq;
	char *path; /* NULL: not known */
	char *exe;  /* NULL: not known */
};

struct set {
	uint64_t *v; /* sorted, each once */
	size_t n;
	size_t cap;
};

struct ward_actors {
	struct ward_actors_ask ask;
	struct fact *facts; /* by thread, ring, seq */
	struct fact *of;    /* the same by process and time */
	size_t n_facts, cap_facts;
	struct run *runs; /* by process and time */
	size_t n_runs, cap_runs;
	struct set pids;  /* processes that pid asks for */
	struct set exes;  /* processes that can have run what exe asks for */
	uint64_t learned; /* seq of the last record that was looked at */
	bool stale;	  /* something was added since all that was sorted */
	int error;
};

/* --- sorting --- */

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_thread(const void *a, const void *b)
{
	const struct fact *x = a;
	const struct fact *y = b;
	if (x->tid != y->tid)
		return compare(x->tid, y->tid);
	if (x->ring != y->ring)
		return x->ring < y->ring ? -1 : 1;
	return compare(x->seq, y->seq);
}

static int by_process(const void *a, const void *b)
{
	const struct fact *x = a;
	const struct fact *y = b;
	if (x->process != y->process)
		return compare(x->process, y->process);
	return x->mono != y->mono ? compare(x->mono, y->mono) : compare(x->seq, y->seq);
}

static int by_parent(const void *a, const void *b)
{
	return compare(((const struct fact *)a)->parent, ((const struct fact *)b)->parent);
}

static int by_run(const void *a, const void *b)
{
	const struct run *x = a;
	const struct run *y = b;
	if (x->process != y->process)
		return compare(x->process, y->process);
	return x->mono != y->mono ? compare(x->mono, y->mono) : compare(x->seq, y->seq);
}

static int by_number(const void *a, const void *b)
{
	return compare(*(const uint64_t *)a, *(const uint64_t *)b);
}

static bool is_in(const struct set *s, uint64_t x)
{
	return s->n > 0 && bsearch(&x, s->v, s->n, sizeof(x), by_number);
}

static int push(struct set *s, uint64_t x)
{
	if (s->n == s->cap) {
		size_t cap = s->cap ? 2 * s->cap : 64;
		uint64_t *v = reallocarray(s->v, cap, sizeof(*v));
		if (!v)
			return -ENOMEM;
		s->v = v;
		s->cap = cap;
	}
	s->v[s->n++] = x;
	return 0;
}

static void sort_set(struct set *s)
{
	size_t n = 0;
	if (s->n > 0)
		qsort(s->v, s->n, sizeof(*s->v), by_number);
	for (size_t i = 0; i < s->n; i++)
		if (n == 0 || s->v[n - 1] != s->v[i])
			s->v[n++] = s->v[i];
	s->n = n;
}

/* The first of n elements (of `size` bytes) that is not less than x; what compares has uint64_t. */
static size_t first_of(const void *v, size_t n, size_t size, size_t member, uint64_t x)
{
	size_t low = 0;
	while (low < n) {
		size_t mid = low + (n - low) / 2;
		uint64_t have = 0;
		memcpy(&have, (const char *)v + mid * size + member, sizeof(have));
		if (have < x)
			low = mid + 1;
		else
			n = mid;
	}
	return low;
}

#define FIRST_OF(v, n, type, member, x)                                                            \
	first_of((v), (n), sizeof(struct type), offsetof(struct type, member), (x))

/* --- what records tell --- */

static uint64_t number(const json_t *record, const char *member)
{
	return (uint64_t)json_integer_value(json_object_get(record, member));
}

static int add_fact(struct ward_actors *a, const json_t *record)
{
	uint64_t tid = number(record, "pid");
	const json_t *process = json_object_get(record, "process");
	if (tid == 0 || !json_is_integer(json_object_get(record, "parent")))
		return 0;
	if (a->n_facts == a->cap_facts) {
		size_t cap = a->cap_facts ? 2 * a->cap_facts : 64;
		struct fact *v = reallocarray(a->facts, cap, sizeof(*v));
		if (!v)
			return -ENOMEM;
		a->facts = v;
		a->cap_facts = cap;
	}
	a->facts[a->n_facts++] =
		(struct fact){.ring = json_integer_value(json_object_get(record, "ring")),
			.tid = tid,
			.process = process ? (uint64_t)json_integer_value(process) : tid,
			.parent = number(record, "parent"),
			.mono = number(record, "mono"),
			.seq = number(record, "seq")};
	a->stale = true;
	return 0;
}

static int copy_text(const json_t *record, const char *member, char **ret)
{
	const char *text = ward_query_text(record, member);
	*ret = text ? strdup(text) : NULL;
	return text && !*ret ? -ENOMEM : 0;
}

static int add_run(struct ward_actors *a, const json_t *record)
{
	if (a->n_runs == a->cap_runs) {
		size_t cap = a->cap_runs ? 2 * a->cap_runs : 64;
		struct run *v = reallocarray(a->runs, cap, sizeof(*v));
		if (!v)
			return -ENOMEM;
		a->runs = v;
		a->cap_runs = cap;
	}
	struct run *x = &a->runs[a->n_runs++];
	*x = (struct run){.process = number(record, "pid"),
		.mono = number(record, "mono"),
		.seq = number(record, "seq")};
	a->stale = true;
	int r = copy_text(record, "path", &x->path);
	return r == 0 ? copy_text(record, "exe", &x->exe) : r;
}

/* Of those that tell of a parent: `exec` records of programs inside have one. */
static int take(struct ward_actors *a, const json_t *record)
{
	uint64_t seq = number(record, "seq");
	if (!json_object_get(record, "parent"))
		return 0;
	a->learned = seq > a->learned ? seq : a->learned;
	int r = add_fact(a, record);
	if (r == 0 && a->ask.exe && ward_query_kind(record) == WARD_EVENT_EXEC)
		r = add_run(a, record);
	return r;
}

/* Most lines tell nothing, and are not taken apart for it. */
static int take_line(void *ctx, const char *line, size_t len, const json_t *record)
{
	static const char member[] = "\"parent\":";
	if (record)
		return take(ctx, record);
	if (!memmem(line, len, member, sizeof(member) - 1))
		return 0;
	json_t *parsed = ward_parse_record(line, len);
	int r = json_is_object(parsed) ? take(ctx, parsed) : 0;
	json_decref(parsed);
	return r;
}

/* --- who is meant --- */

/* Adds whatever its members started, and what that started. */
static int add_descendants(const struct ward_actors *a, struct set *s)
{
	const size_t n = a->n_facts;
	struct fact *v = n ? reallocarray(NULL, n, sizeof(*v)) : NULL;
	bool *taken = n ? calloc(n, sizeof(*taken)) : NULL;
	int r = n == 0 || (v && taken) ? 0 : -ENOMEM;
	if (r == 0 && n > 0) {
		memcpy(v, a->facts, n * sizeof(*v));
		qsort(v, n, sizeof(*v), by_parent);
	}
	for (size_t i = 0; r == 0 && i < s->n; i++) {
		size_t k = FIRST_OF(v, n, fact, parent, s->v[i]);
		for (; r == 0 && k < n && v[k].parent == s->v[i] && !taken[k]; k++) {
			taken[k] = true;
			r = push(s, v[k].process);
		}
	}
	free(v);
	free(taken);
	return r;
}

static bool is_program(const struct ward_actors *a, const char *path)
{
	const char *asked = a->ask.exe;
	const char *last = path ? strrchr(path, '/') : NULL;
	if (!path)
		return false;
	if (!strchr(asked, '/'))
		return fnmatch(asked, last ? last + 1 : path, FNM_NOESCAPE) == 0;
	return ward_asked_path_matches(asked, path);
}

static int find_sets(struct ward_actors *a)
{
	int r = 0;
	a->pids.n = a->exes.n = 0;
	if (a->ask.pid)
		r = push(&a->pids, a->ask.pid);
	if (r == 0 && a->ask.pid && a->ask.descendants)
		r = add_descendants(a, &a->pids);
	for (size_t i = 0; r == 0 && a->ask.exe && i < a->n_runs; i++)
		if (is_program(a, a->runs[i].path) || is_program(a, a->runs[i].exe))
			r = push(&a->exes, a->runs[i].process);
	if (r == 0 && a->ask.exe)
		r = add_descendants(a, &a->exes);
	sort_set(&a->pids);
	sort_set(&a->exes);
	return r;
}

/* Sorts what was added. */
static int refresh(struct ward_actors *a)
{
	if (!a->stale)
		return 0;
	struct fact *of = reallocarray(a->of, a->n_facts + 1, sizeof(*of));
	if (!of)
		return -ENOMEM;
	a->of = of;
	if (a->n_facts > 0) {
		memcpy(of, a->facts, a->n_facts * sizeof(*of));
		qsort(of, a->n_facts, sizeof(*of), by_process);
		qsort(a->facts, a->n_facts, sizeof(*a->facts), by_thread);
	}
	if (a->n_runs > 0)
		qsort(a->runs, a->n_runs, sizeof(*a->runs), by_run);
	int r = find_sets(a);
	a->stale = r < 0;
	return r;
}

/* What the thread's own ring says about it before the record; else what another ring says. */
static uint64_t process_of(const struct ward_actors *a, const json_t *record, uint64_t tid)
{
	const int64_t ring = json_integer_value(json_object_get(record, "ring"));
	const uint64_t seq = number(record, "seq");
	const uint64_t mono = number(record, "mono");
	const struct fact *mine = NULL;
	const struct fact *other = NULL;
	size_t i = FIRST_OF(a->facts, a->n_facts, fact, tid, tid);
	for (; i < a->n_facts && a->facts[i].tid == tid; i++) {
		const struct fact *f = &a->facts[i];
		if (f->ring == ring && f->seq <= seq)
			mine = f;
		else if (!other ||
			 (f->mono <= mono && (f->mono >= other->mono || other->mono > mono)))
			other = f;
	}
	return mine ? mine->process : other ? other->process : tid;
}

/* Did the process run what is asked for at this time? */
static bool runs_it(const struct ward_actors *a, uint64_t process, uint64_t mono)
{
	for (unsigned depth = 0; depth < DEPTH_MAX; depth++) {
		size_t i = FIRST_OF(a->runs, a->n_runs, run, process, process);
		const struct run *last = NULL;
		for (; i < a->n_runs && a->runs[i].process == process && a->runs[i].mono <= mono;
			i++)
			last = &a->runs[i];
		const struct run *next =
			i < a->n_runs && a->runs[i].process == process ? &a->runs[i] : NULL;
		if (last || next)
			return (last && is_program(a, last->path)) ||
			       (next && is_program(a, next->exe));
		/* From its parent, as that was when it is first told of. */
		i = FIRST_OF(a->of, a->n_facts, fact, process, process);
		if (i == a->n_facts || a->of[i].process != process || a->of[i].parent == process)
			return false;
		process = a->of[i].parent;
		mono = a->of[i].mono;
	}
	return false;
}

static bool exe_is(const struct ward_actors *a, const json_t *record, uint64_t process)
{
	/* It is about to be another's: both are meant. */
	if (ward_query_kind(record) == WARD_EVENT_EXEC &&
		(is_program(a, ward_query_text(record, "path")) ||
			is_program(a, ward_query_text(record, "exe"))))
		return true;
	return is_in(&a->exes, process) && runs_it(a, process, number(record, "mono"));
}

bool ward_actors_match(struct ward_actors *a, const json_t *record)
{
	const uint64_t tid = number(record, "pid");
	int r = number(record, "seq") > a->learned ? take(a, record) : 0;
	if (r == 0)
		r = refresh(a);
	a->error = r < 0 ? r : a->error;
	if (tid == 0)
		return false;
	const uint64_t process = process_of(a, record, tid);
	if (a->ask.pid && tid != a->ask.pid && !is_in(&a->pids, process))
		return false;
	return !a->ask.exe || exe_is(a, record, process);
}

bool ward_actors_may(const struct ward_actors *a, uint64_t tid)
{
	bool pid = !a->ask.pid || tid == a->ask.pid || is_in(&a->pids, tid);
	bool exe = !a->ask.exe || is_in(&a->exes, tid);
	size_t i = FIRST_OF(a->facts, a->n_facts, fact, tid, tid);
	for (; (!pid || !exe) && i < a->n_facts && a->facts[i].tid == tid; i++) {
		pid = pid || is_in(&a->pids, a->facts[i].process);
		exe = exe || is_in(&a->exes, a->facts[i].process);
	}
	return pid && exe;
}

int ward_actors_error(const struct ward_actors *a)
{
	return a ? a->error : 0;
}

int ward_actors_find(struct ward_log *log, const struct ward_query_lines *lines,
	const struct ward_actors_ask *ask, struct ward_actors **ret, struct ward_err *err)
{
	uint64_t offset = lines->end;
	struct ward_actors *a = calloc(1, sizeof(*a));
	if (!a)
		return ward_err_sys(err, -ENOMEM, "processes");
	a->ask = *ask;
	a->stale = true;
	int r = ward_query_walk_at(log, lines, take_line, a, err);
	if (r == 0)
		r = ward_query_walk_from(log, &offset, false, take_line, a, err);
	if (r == 0)
		r = refresh(a);
	if (r < 0) {
		ward_actors_free(a);
		return ward_err_sys(err, r, "processes");
	}
	*ret = a;
	return 0;
}

void ward_actors_free(struct ward_actors *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < a->n_runs; i++) {
		free(a->runs[i].path);
		free(a->runs[i].exe);
	}
	free(a->facts);
	free(a->of);
	free(a->runs);
	free(a->pids.v);
	free(a->exes.v);
	free(a);
}
