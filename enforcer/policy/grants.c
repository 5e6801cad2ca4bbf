/* SPDX-License-Identifier: Apache-2.0 */
/* The set of a session's grants: what is in force, and what it gives at a path. */
#include "enforcer/policy/grants.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/policy/automaton.h"
#include "enforcer/policy/grant_near.h"
#include "enforcer/policy/pattern.h"

static_assert(WARD_RIGHTS_COUNT == WARD_RIGHT_BITS, "an answer has a grant for each right");

#define VISIBLE (WARD_RIGHT_STAT | WARD_RIGHT_LIST)
/* States that are built lazily; past it a look-up is slower, never wrong. */
#define MEMORY_MAX ((size_t)4 << 20)
/* File of a rule: "grant " and the id. */
#define LABEL_SIZE (6 + WARD_GRANT_ID_SIZE)

struct item {
	struct ward_grant_held given; /* first: what callers hold */
	struct ward_pattern pattern;
	char label[LABEL_SIZE];
	int told;  /* enum ward_grant_end */
	bool gone; /* looked up no more */
};

struct ward_grants {
	pthread_rwlock_t lock; /* innermost; protects all but the atomics */
	struct item **v;
	size_t n, cap;
	_Atomic uint32_t active; /* not gone */
	/* Over the patterns of those that are not gone; NULL: of none. */
	struct ward_automaton *automaton;
	struct item **by_pattern;
	/* The same patterns, for those who have no lock; some that are gone may count still. */
	struct ward_grant_near near;
};

int ward_grants_new(struct ward_grants **ret)
{
	struct ward_grants *s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	if (pthread_rwlock_init(&s->lock, NULL) != 0) {
		free(s);
		return -ENOMEM;
	}
	*ret = s;
	return 0;
}

static void item_free(struct item *it)
{
	if (!it)
		return;
	ward_grant_clear(&it->given.grant);
	ward_pattern_clear(&it->pattern);
	free(it);
}

void ward_grants_free(struct ward_grants *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++)
		item_free(s->v[i]);
	ward_automaton_free(s->automaton);
	ward_grant_near_clear(&s->near);
	free(s->by_pattern);
	free(s->v);
	pthread_rwlock_destroy(&s->lock);
	free(s);
}

bool ward_grants_any(const struct ward_grants *s)
{
	return s && atomic_load_explicit(&s->active, memory_order_acquire) > 0;
}

bool ward_grants_near(const struct ward_grants *s, const char *path, size_t len)
{
	return ward_grants_any(s) && ward_grant_near(&s->near, path, len);
}

/* --- what is in force --- */

/* Nothing is computed of a state but what covers it. */
static void no_outcome(const void *ctx, const struct ward_automaton *a, const struct ward_state *s,
	struct ward_outcome *ret)
{
	*ret = (struct ward_outcome){.give = 0};
}

/* Locked for writing: an automaton over what is not gone, and `more`. */
static int build(struct ward_grants *s, struct item *more)
{
	ward_cleanup_free struct ward_pattern *patterns = calloc(s->n + 1, sizeof(*patterns));
	struct item **by = calloc(s->n + 1, sizeof(*by));
	struct ward_automaton *a = NULL;
	size_t n = 0;
	int r = patterns && by ? 0 : -ENOMEM;
	for (size_t i = 0; r == 0 && i <= s->n; i++) {
		struct item *it = i < s->n ? s->v[i] : more;
		if (!it || it->gone || !it->given.grant.pattern)
			continue;
		by[n] = it;
		patterns[n++] = it->pattern;
	}
	if (r == 0 && n > 0)
		r = ward_automaton_new(patterns, n, no_outcome, NULL, MEMORY_MAX, &a);
	if (r == 0)
		r = ward_grant_near_set(&s->near, patterns, n);
	if (r < 0) {
		ward_automaton_free(a);
		free(by);
		return r;
	}
	ward_automaton_free(s->automaton);
	free(s->by_pattern);
	s->automaton = a;
	s->by_pattern = by;
	return 0;
}

static int item_new(const struct ward_grant *g, struct item **ret, struct ward_err *err)
{
	struct item *it = calloc(1, sizeof(*it));
	int r = it ? ward_grant_copy(g, &it->given.grant) : -ENOMEM;
	if (r == 0 && !*it->given.grant.id)
		r = ward_grant_make_id(it->given.grant.id);
	if (r == 0 && g->pattern)
		r = ward_pattern_parse(g->pattern, false, &it->pattern, err);
	if (r < 0) {
		item_free(it);
		return r == -EINVAL ? r : ward_err_sys(err, r, "grant");
	}
	const struct ward_grant *own = &it->given.grant;
	snprintf(it->label, sizeof(it->label), "grant %s", own->id);
	it->given.rule = (struct ward_rule){.source = WARD_SOURCE_GRANT,
		.file = it->label,
		.verb = own->rights & WARD_RIGHT_WRITE	  ? WARD_VERB_WRITE
			: own->rights & WARD_RIGHT_APPEND ? WARD_VERB_APPEND
							  : WARD_VERB_READ,
		.pattern = own->pattern ? own->pattern : own->host};
	*ret = it;
	return 0;
}

static struct item *find(struct ward_grants *s, const char *id)
{
	for (size_t i = 0; i < s->n; i++)
		if (strcmp(s->v[i]->given.grant.id, id) == 0)
			return s->v[i];
	return NULL;
}

/* Locked for writing. */
static int insert(struct ward_grants *s, struct item *it, struct ward_err *err)
{
	if (find(s, it->given.grant.id))
		return ward_err_set(
			err, -EEXIST, "a grant '%s' is there already", it->given.grant.id);
	if (s->n == WARD_GRANTS_EVER_MAX || atomic_load(&s->active) >= WARD_GRANTS_LIVE_MAX)
		return ward_err_set(err, -ENOSPC, "the session has too many grants");
	if (s->n == s->cap) {
		size_t cap = s->cap ? s->cap * 2 : 16;
		struct item **v = reallocarray(s->v, cap, sizeof(struct item *));
		if (!v)
			return ward_err_sys(err, -ENOMEM, "grants");
		s->v = v;
		s->cap = cap;
	}
	int r = it->given.grant.pattern ? build(s, it) : 0;
	if (r < 0)
		return ward_err_sys(err, r, "grants");
	s->v[s->n++] = it;
	atomic_fetch_add_explicit(&s->active, 1, memory_order_release);
	return 0;
}

int ward_grants_add(struct ward_grants *s, const struct ward_grant *g,
	const struct ward_grant_held **ret, struct ward_err *err)
{
	struct item *it = NULL;
	int r = ward_grant_check(g, err);
	if (r == 0)
		r = item_new(g, &it, err);
	if (r < 0)
		return r;
	pthread_rwlock_wrlock(&s->lock);
	r = insert(s, it, err);
	pthread_rwlock_unlock(&s->lock);
	if (r < 0)
		item_free(it);
	else if (ret)
		*ret = &it->given;
	return r;
}

int ward_grants_revoke(struct ward_grants *s, const char *id)
{
	pthread_rwlock_rdlock(&s->lock);
	struct item *it = find(s, id);
	pthread_rwlock_unlock(&s->lock);
	int live = WARD_GRANT_LIVE;
	if (!it)
		return -ENOENT;
	return atomic_compare_exchange_strong(&it->given.end, &live, WARD_GRANT_REVOKED) ? 0
											 : -ENOENT;
}

const struct ward_grant_held *ward_grants_find(struct ward_grants *s, const char *id)
{
	pthread_rwlock_rdlock(&s->lock);
	struct item *it = find(s, id);
	pthread_rwlock_unlock(&s->lock);
	return it ? &it->given : NULL;
}

void ward_grants_set_used(struct ward_grants *s, const char *id, uint32_t used)
{
	pthread_rwlock_rdlock(&s->lock);
	struct item *it = find(s, id);
	if (it && (!it->given.grant.uses || used <= it->given.grant.uses))
		atomic_store(&it->given.used, used);
	pthread_rwlock_unlock(&s->lock);
}

void ward_grants_each(
	struct ward_grants *s, void (*fn)(void *user, const struct ward_grant_held *g), void *user)
{
	pthread_rwlock_rdlock(&s->lock);
	for (size_t i = 0; i < s->n; i++)
		fn(user, &s->v[i]->given);
	pthread_rwlock_unlock(&s->lock);
}

/* --- ends --- */

enum ward_grant_end ward_held_end(const struct ward_grant_held *g, uint64_t now_ns)
{
	int end = atomic_load(&g->end);
	if (end != WARD_GRANT_LIVE)
		return (enum ward_grant_end)end;
	if (g->grant.until_ns && now_ns >= g->grant.until_ns)
		return WARD_GRANT_EXPIRED;
	return ward_held_left(g) == 0 ? WARD_GRANT_SPENT : WARD_GRANT_LIVE;
}

bool ward_held_holds(const struct ward_grant_held *g, uint64_t now_ns)
{
	const enum ward_grant_end end = ward_held_end(g, now_ns);
	return end == WARD_GRANT_LIVE || end == WARD_GRANT_SPENT;
}

uint32_t ward_held_left(const struct ward_grant_held *g)
{
	return g->grant.uses ? g->grant.uses - atomic_load(&g->used) : UINT32_MAX;
}

uint64_t ward_grants_next_end(struct ward_grants *s)
{
	uint64_t next = UINT64_MAX;
	pthread_rwlock_rdlock(&s->lock);
	for (size_t i = 0; i < s->n; i++) {
		const struct item *it = s->v[i];
		if (!it->gone && it->given.grant.until_ns && it->given.grant.until_ns < next)
			next = it->given.grant.until_ns;
	}
	pthread_rwlock_unlock(&s->lock);
	return next;
}

/* Locked for writing: marks what is over for good. Returns how many. */
static size_t drop_over(struct ward_grants *s, uint64_t now_ns)
{
	size_t n = 0;
	for (size_t i = 0; i < s->n; i++) {
		struct item *it = s->v[i];
		int live = WARD_GRANT_LIVE;
		if (it->gone || ward_held_holds(&it->given, now_ns))
			continue;
		/* From here on it needs no clock. */
		(void)atomic_compare_exchange_strong(&it->given.end, &live, WARD_GRANT_EXPIRED);
		it->gone = true;
		n++;
	}
	return n;
}

void ward_grants_ended(struct ward_grants *s, uint64_t now_ns,
	void (*fn)(void *user, struct ward_grant_held *g, enum ward_grant_end end), void *user)
{
	pthread_rwlock_wrlock(&s->lock);
	size_t n = drop_over(s, now_ns);
	/* Without memory the old one stays: those that have ended give nothing all the same. */
	if (n > 0)
		(void)!build(s, NULL);
	atomic_fetch_sub(&s->active, (uint32_t)n);
	const size_t all = s->n;
	pthread_rwlock_unlock(&s->lock);
	for (size_t i = 0; i < all; i++) {
		pthread_rwlock_rdlock(&s->lock);
		struct item *it = s->v[i];
		pthread_rwlock_unlock(&s->lock);
		const enum ward_grant_end end = ward_held_end(&it->given, now_ns);
		if (end == WARD_GRANT_LIVE || it->told == (int)end)
			continue;
		it->told = end;
		if (fn)
			fn(user, &it->given, end);
	}
}

/* --- uses --- */

int ward_held_use(struct ward_grant_held *g, uint64_t now_ns)
{
	if (ward_held_end(g, now_ns) != WARD_GRANT_LIVE)
		return -EDQUOT;
	uint32_t used = atomic_load(&g->used);
	do
		if (g->grant.uses && used >= g->grant.uses)
			return -EDQUOT;
	while (!atomic_compare_exchange_weak(&g->used, &used, used + 1));
	return 0;
}

int ward_grants_use(const struct ward_granted *m, uint32_t rights, uint64_t now_ns)
{
	struct ward_grant_held *used[WARD_RIGHTS_COUNT];
	size_t n = 0;
	for (unsigned i = 0; i < WARD_RIGHTS_COUNT; i++) {
		struct ward_grant_held *g = rights & ~(uint32_t)VISIBLE & 1U << i ? m->by[i] : NULL;
		bool seen = false;
		for (size_t k = 0; k < n; k++)
			seen = seen || used[k] == g;
		if (!g || seen)
			continue;
		if (ward_held_use(g, now_ns) < 0) {
			while (n > 0)
				atomic_fetch_sub(&used[--n]->used, 1);
			return -EDQUOT;
		}
		used[n++] = g;
	}
	return 0;
}

/* --- asking --- */

/* Does it speak of this process, now? */
static bool applies(const struct item *it, uint64_t pid, uint64_t now_ns)
{
	const struct ward_grant *g = &it->given.grant;
	return !it->gone && (!g->pid || g->pid == pid) && g->from_ns <= now_ns &&
	       ward_held_holds(&it->given, now_ns);
}

static void add(struct ward_granted *ret, struct item *it, uint64_t now_ns)
{
	uint32_t rights = it->given.grant.rights | VISIBLE;
	if (it->given.grant.lifts) {
		ret->glass = &it->given;
		ret->glass_holds = rights;
		ret->glass_rights =
			ward_held_end(&it->given, now_ns) == WARD_GRANT_SPENT ? VISIBLE : rights;
		return;
	}
	ret->holds |= rights;
	/* Files opened under the grant can still be listed. */
	if (ward_held_end(&it->given, now_ns) == WARD_GRANT_SPENT)
		rights = VISIBLE;
	ret->rights |= rights;
	for (unsigned i = 0; i < WARD_RIGHTS_COUNT; i++) {
		struct ward_grant_held **by = &ret->by[i];
		if (rights & 1U << i && (!*by || ((*by)->grant.uses && !it->given.grant.uses)))
			*by = &it->given;
	}
}

/* Locked: the state of path; *ret is one reference. */
static int walk(
	struct ward_automaton *a, const char *path, size_t len, const struct ward_state **ret)
{
	const struct ward_state *at = ward_state_get(ward_automaton_root(a)), *next;
	int r = 0;
	for (size_t i = 1, n; r == 0 && i < len; i += n + 1) {
		const char *slash = memchr(path + i, '/', len - i);
		n = slash ? (size_t)(slash - path) - i : len - i;
		r = ward_automaton_step(a, at, path + i, n, &next);
		if (r == 0) {
			ward_state_put(at);
			at = next;
		}
	}
	if (r < 0)
		ward_state_put(at);
	else
		*ret = at;
	return r;
}

int ward_grants_match(struct ward_grants *s, const char *path, size_t len, uint64_t pid,
	uint64_t now_ns, struct ward_granted *ret)
{
	return ward_grants_match_some(s, path, len, pid, now_ns, NULL, NULL, ret);
}

int ward_grants_match_some(struct ward_grants *s, const char *path, size_t len, uint64_t pid,
	uint64_t now_ns, ward_grants_some_fn *some, void *user, struct ward_granted *ret)
{
	const struct ward_state *at = NULL;
	int r = 0;
	*ret = (struct ward_granted){.rights = 0};
	if (!len || *path != '/')
		return 0; /* cut: the path is too deep to judge */
	pthread_rwlock_rdlock(&s->lock);
	if (s->automaton)
		r = walk(s->automaton, path, len, &at);
	for (uint32_t i = 0; r == 0 && at && i < at->n_hits; i++) {
		struct item *it = s->by_pattern[ward_state_hits(at)[i]];
		if (applies(it, pid, now_ns) && (!some || some(user, &it->given)))
			add(ret, it, now_ns);
	}
	for (uint32_t i = 0; r == 0 && at && !ret->passage && i < at->n_live; i++)
		ret->passage =
			applies(s->by_pattern[ward_automaton_pattern(s->automaton, at->ids[i])],
				pid, now_ns);
	ward_state_put(at);
	pthread_rwlock_unlock(&s->lock);
	return r;
}

void ward_grants_hosts(struct ward_grants *s, uint64_t now_ns, bool spent,
	void (*fn)(void *user, struct ward_grant_held *g), void *user)
{
	pthread_rwlock_rdlock(&s->lock);
	for (size_t i = 0; i < s->n; i++) {
		struct item *it = s->v[i];
		if (it->given.grant.host && applies(it, 0, now_ns) &&
			(spent || ward_held_end(&it->given, now_ns) == WARD_GRANT_LIVE))
			fn(user, &it->given);
	}
	pthread_rwlock_unlock(&s->lock);
}

const char *ward_grant_end_name(enum ward_grant_end end)
{
	switch (end) {
	case WARD_GRANT_LIVE:
		return "live";
	case WARD_GRANT_EXPIRED:
		return "expired";
	case WARD_GRANT_SPENT:
		return "spent";
	case WARD_GRANT_REVOKED:
		return "revoked";
	}
	return "?";
}
