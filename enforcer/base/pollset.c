/* SPDX-License-Identifier: Apache-2.0 */
/* A loop's descriptors and their handlers. */
#include "enforcer/base/pollset.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <string.h>

static struct ward_pollset_member *find(struct ward_pollset *p, ward_pollset_id id)
{
	for (size_t i = 0; id && i < p->n; i++)
		if (p->v[i].id == id)
			return &p->v[i];
	return NULL;
}

/* Behind those of the same rank: ids only grow. */
static int insert(
	struct ward_pollset *p, const struct ward_pollset_member *m, ward_pollset_id *ret_id)
{
	size_t at = p->n;
	if (p->n == WARD_POLLSET_MAX || p->last_id == UINT32_MAX)
		return -ENOSPC;
	while (at > 0 && p->v[at - 1].rank > m->rank)
		at--;
	memmove(p->v + at + 1, p->v + at, (p->n - at) * sizeof(*p->v));
	p->v[at] = *m;
	p->v[at].id = ++p->last_id;
	p->n++;
	if (ret_id)
		*ret_id = p->v[at].id;
	return 0;
}

int ward_pollset_add(struct ward_pollset *p, unsigned rank, int fd, short events,
	ward_pollset_fn *fn, void *arg, ward_pollset_id *ret_id)
{
	const struct ward_pollset_member m = {
		.rank = rank, .fd = fd, .events = events, .fn = fn, .arg = arg};
	return insert(p, &m, ret_id);
}

int ward_pollset_each(struct ward_pollset *p, unsigned rank, ward_pollset_before_fn *before,
	ward_pollset_fn *fn, void *arg, ward_pollset_id *ret_id)
{
	const struct ward_pollset_member m = {
		.rank = rank, .fd = -1, .each = fn != NULL, .before = before, .fn = fn, .arg = arg};
	return insert(p, &m, ret_id);
}

void ward_pollset_ask(struct ward_pollset *p, ward_pollset_id id, int fd, short events)
{
	struct ward_pollset_member *m = find(p, id);
	if (!m)
		return;
	m->fd = fd;
	m->events = events;
	m->changed = true;
}

void ward_pollset_remove(struct ward_pollset *p, ward_pollset_id id)
{
	const struct ward_pollset_member *m = find(p, id);
	if (!m)
		return;
	size_t at = (size_t)(m - p->v);
	p->n--;
	memmove(p->v + at, p->v + at + 1, (p->n - at) * sizeof(*p->v));
}

void ward_pollset_stop(struct ward_pollset *p)
{
	p->stopped = true;
}

int ward_pollset_nearer(int a, int b)
{
	return a < 0 || (b >= 0 && b < a) ? b : a;
}

/* Members move and go while their functions run: a round holds on to their ids. */
static size_t list(const struct ward_pollset *p, ward_pollset_id ret_ids[WARD_POLLSET_MAX])
{
	for (size_t i = 0; i < p->n; i++)
		ret_ids[i] = p->v[i].id;
	return p->n;
}

static int ask_all(struct ward_pollset *p)
{
	ward_pollset_id ids[WARD_POLLSET_MAX];
	const size_t n = list(p, ids);
	int ms = -1;
	for (size_t i = 0; i < n; i++) {
		const struct ward_pollset_member *m = find(p, ids[i]);
		if (m && m->before)
			ms = ward_pollset_nearer(ms, m->before(m->arg));
	}
	return ms;
}

static void call_all(
	struct ward_pollset *p, const struct pollfd *fds, const ward_pollset_id *ids, size_t n)
{
	for (size_t i = 0; i < n && !p->stopped; i++) {
		const struct ward_pollset_member *m = find(p, ids[i]);
		if (!m)
			continue;
		short revents = m->changed ? 0 : fds[i].revents;
		if (revents || m->each)
			m->fn(m->arg, revents);
	}
}

int ward_pollset_round(struct ward_pollset *p)
{
	struct pollfd fds[WARD_POLLSET_MAX];
	ward_pollset_id ids[WARD_POLLSET_MAX];
	assert(!p->in_round);
	p->in_round = true;
	p->stopped = false;
	const int ms = ask_all(p);
	const size_t n = list(p, ids);
	for (size_t i = 0; i < n; i++) {
		fds[i] = (struct pollfd){.fd = p->v[i].fd, .events = p->v[i].events};
		p->v[i].changed = false;
	}
	int r = poll(fds, n, ms) < 0 ? -errno : 0;
	if (r == 0)
		call_all(p, fds, ids, n);
	p->in_round = false;
	return r == -EINTR ? 0 : r;
}
