/* SPDX-License-Identifier: Apache-2.0 */
/* Counts what each user has, and what that leaves for the others. */
#include "fs/base/user_shares.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

/* A sixteenth is root's. */
#define RESERVE 16U
#define CHAINS 256U

/* In memory while the user has something. */
struct user {
	struct user *next;
	uid_t uid;
	unsigned n[WARD_SHARE_KINDS_];
};

struct ward_shares {
	pthread_mutex_t lock; /* protects the rest; innermost */
	unsigned most[WARD_SHARE_KINDS_], total[WARD_SHARE_KINDS_];
	struct user *users[CHAINS];
};

int ward_shares_new(const unsigned most[WARD_SHARE_KINDS_], struct ward_shares **ret)
{
	struct ward_shares *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	pthread_mutex_init(&s->lock, NULL);
	for (size_t i = 0; i < WARD_SHARE_KINDS_; i++)
		s->most[i] = most[i];
	*ret = s;
	return 0;
}

void ward_shares_free(struct ward_shares *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < CHAINS; i++)
		while (s->users[i]) {
			struct user *u = s->users[i];

			s->users[i] = u->next;
			free(u);
		}
	pthread_mutex_destroy(&s->lock);
	free(s);
}

bool ward_share_fair(uid_t uid, unsigned mine, unsigned total, unsigned most)
{
	const unsigned others = most - most / RESERVE;

	if (total > most)
		return false;
	return uid == 0 || (total <= others && mine <= others - total);
}

/* Locked. Where the user's entry is, or would be. */
static struct user **place(struct ward_shares *s, uid_t uid)
{
	struct user **at = &s->users[uid % CHAINS];

	while (*at && (*at)->uid != uid)
		at = &(*at)->next;
	return at;
}

/* Locked. NULL: no memory. */
static struct user *user(struct ward_shares *s, uid_t uid)
{
	struct user **at = place(s, uid);

	if (!*at && (*at = calloc(1, sizeof(**at))))
		(*at)->uid = uid;
	return *at;
}

/* Locked. */
static void drop_empty(struct user **at)
{
	struct user *u = *at;

	for (size_t i = 0; i < WARD_SHARE_KINDS_; i++)
		if (u->n[i])
			return;
	*at = u->next;
	free(u);
}

bool ward_share_take(struct ward_shares *s, enum ward_share kind, uid_t uid, unsigned n)
{
	struct user *u;
	bool fair;

	if (!s)
		return true;
	pthread_mutex_lock(&s->lock);
	u = user(s, uid);
	fair = u && ward_share_fair(uid, u->n[kind] + n, s->total[kind] + n, s->most[kind]);
	if (fair) {
		u->n[kind] += n;
		s->total[kind] += n;
	} else if (u) {
		drop_empty(place(s, uid));
	}
	pthread_mutex_unlock(&s->lock);
	return fair;
}

void ward_share_add(struct ward_shares *s, enum ward_share kind, uid_t uid, unsigned n)
{
	struct user *u;

	if (!s)
		return;
	pthread_mutex_lock(&s->lock);
	u = user(s, uid);
	if (u)
		u->n[kind] += n;
	s->total[kind] += n;
	pthread_mutex_unlock(&s->lock);
}

void ward_share_give(struct ward_shares *s, enum ward_share kind, uid_t uid, unsigned n)
{
	struct user **at;

	if (!s || !n)
		return;
	pthread_mutex_lock(&s->lock);
	at = place(s, uid);
	s->total[kind] -= n < s->total[kind] ? n : s->total[kind];
	if (*at) {
		(*at)->n[kind] -= n < (*at)->n[kind] ? n : (*at)->n[kind];
		drop_empty(at);
	}
	pthread_mutex_unlock(&s->lock);
}

bool ward_share_over(struct ward_shares *s, enum ward_share kind, uid_t uid, unsigned percent)
{
	struct user *u;
	unsigned more;
	bool fair;

	if (!s)
		return false;
	pthread_mutex_lock(&s->lock);
	u = *place(s, uid);
	more = s->most[kind] / 100 * percent;
	fair = ward_share_fair(
		uid, (u ? u->n[kind] : 0) + more, s->total[kind] + more, s->most[kind]);
	pthread_mutex_unlock(&s->lock);
	return !fair;
}
