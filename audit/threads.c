/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/threads.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct thread {
	int64_t ring;
	uint64_t tid;
};

struct ward_threads {
	uint64_t pid;
	struct thread *v; /* of the process now, sorted */
	size_t n;
	size_t cap;
	int error;
};

struct ward_threads *ward_threads_new(uint64_t pid)
{
	struct ward_threads *t = calloc(1, sizeof(*t));
	if (t)
		t->pid = pid;
	return t;
}

void ward_threads_free(struct ward_threads *t)
{
	if (!t)
		return;
	free(t->v);
	free(t);
}

/* Where it stands, or has to. */
static size_t place(const struct ward_threads *t, const struct thread *x, bool *ret_there)
{
	size_t low = 0;
	size_t high = t->n;
	*ret_there = false;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct thread *y = &t->v[mid];
		if (y->ring == x->ring && y->tid == x->tid) {
			*ret_there = true;
			return mid;
		}
		if (y->ring < x->ring || (y->ring == x->ring && y->tid < x->tid))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* True: it is a thread of the process from now on. */
static bool add(struct ward_threads *t, size_t at, const struct thread *x)
{
	if (t->n == t->cap) {
		size_t cap = t->cap ? 2 * t->cap : 16;
		struct thread *v = reallocarray(t->v, cap, sizeof(*v));
		if (!v) {
			t->error = -ENOMEM;
			return false;
		}
		t->v = v;
		t->cap = cap;
	}
	memmove(&t->v[at + 1], &t->v[at], (t->n - at) * sizeof(*t->v));
	t->v[at] = *x;
	t->n++;
	return true;
}

bool ward_threads_take(struct ward_threads *t, const json_t *record)
{
	const json_t *process = json_object_get(record, "process");
	bool told = process || json_object_get(record, "parent");
	bool there = false;
	const struct thread x = {.ring = json_integer_value(json_object_get(record, "ring")),
		.tid = (uint64_t)json_integer_value(json_object_get(record, "pid"))};
	if (x.tid == 0)
		return false;
	size_t at = place(t, &x, &there);
	bool ours = told ? (uint64_t)json_integer_value(process) == t->pid : there;
	if (ours && !there)
		ours = add(t, at, &x);
	else if (!ours && there)
		memmove(&t->v[at], &t->v[at + 1], (--t->n - at) * sizeof(*t->v));
	return ours || x.tid == t->pid;
}

int ward_threads_error(const struct ward_threads *t)
{
	return t ? t->error : 0;
}
