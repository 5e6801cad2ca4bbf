/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the questions that have no answer yet, and who waits for one. */
#include "fs/request/questions.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/random.h>
#include <unistd.h>

#include "enforcer/base/clock.h"
#include "enforcer/base/question_id.h"
#include "enforcer/ipc/helper.h"
#include "enforcer/ipc/msg.h"
#include "enforcer/policy/grants.h"
#include "fs/node/dir_cookie.h"

#define BUCKETS 4096U
#define RULE_MAX 1024
/* Of a path that are summed at once. */
#define MIX_WORDS 64

/* One path of a question. */
struct question {
	LIST_ENTRY(question) of_key, of_id, of_group;
	uint64_t key;	/* of path and rights */
	uint64_t group; /* of rule, rights and directory; 0: nothing joins, and it joined nothing */
	uint32_t id;	/* the question's: all its paths have it */
	uint32_t index; /* 0: the first path; it alone is in by_group */
	uint32_t n;	/* of the first: paths; of the others 0 */
	size_t names;	/* of the first: bytes of the names that joined */
	bool two;	/* of an operation on two paths */
	uint64_t ends[2]; /* sums of these paths; of no path: 0 */
	bool object;	  /* something is there, and this */
	struct ward_file_id of;
	uint64_t until_ns; /* CLOCK_MONOTONIC: its end, or that of its rest */
	uint64_t due_ns;   /* until then requests wait for it; 0: none has */
	bool rests;	   /* it was refused, or nobody answered */
};

LIST_HEAD(question_list, question);

struct waiter {
	struct ward_delayed *place; /* NULL: free */
	uint32_t id, process;
};

/* A grant that is for one object alone, or for none: there was no room for the object. */
struct bound {
	LIST_ENTRY(bound) at;
	char grant[WARD_GRANT_ID_SIZE];
	uint32_t pair_of, pair; /* the question about two paths that it answers, and which; or 0 */
	bool any;
	struct ward_file_id of;
};

struct ward_questions {
	pthread_mutex_t lock; /* all below; before that of answer_later.h */
	LIST_HEAD(, bound) bounds;
	atomic_size_t n_bounds;
	atomic_bool lost; /* one is missing there */
	struct question_list by_key[BUCKETS], by_id[BUCKETS], by_group[BUCKETS];
	size_t n;		 /* paths of all questions */
	struct ward_dir_key key; /* of sums of paths */
	struct waiter waiters[WARD_QUESTION_WAITERS];
	bool asleep; /* the host is, or soon will be: nothing waits */
};

int ward_questions_new(struct ward_questions **ret)
{
	struct ward_questions *q = calloc(1, sizeof(*q));
	int r;

	if (!q)
		return -ENOMEM;
	pthread_mutex_init(&q->lock, NULL);
	/* Without it questions of different paths can be made to meet, which then ask once. */
	r = ward_dir_key_new(&q->key);
	if (r < 0) {
		ward_questions_free(q);
		return r;
	}
	*ret = q;
	return 0;
}

/* Locked. */
static void drop(struct ward_questions *q, struct question *a)
{
	LIST_REMOVE(a, of_key);
	LIST_REMOVE(a, of_id);
	if (a->group && a->index == 0)
		LIST_REMOVE(a, of_group);
	q->n--;
	free(a);
}

void ward_questions_free(struct ward_questions *q)
{
	struct bound *b;

	if (!q)
		return;
	while ((b = LIST_FIRST(&q->bounds))) {
		LIST_REMOVE(b, at);
		free(b);
	}
	for (size_t i = 0; i < BUCKETS; i++)
		while (!LIST_EMPTY(&q->by_key[i]))
			drop(q, LIST_FIRST(&q->by_key[i]));
	pthread_mutex_destroy(&q->lock);
	free(q);
}

/*
 * SipHash of h, the length and the data. Sums decide which paths are one question, so whoever
 * chooses names must not find two with one sum; under FNV-1a two such names are so behind any
 * beginning.
 */
static uint64_t mix(const struct ward_questions *q, uint64_t h, const void *data, size_t len)
{
	uint64_t words[2 + MIX_WORDS];
	const char *p = data;

	do {
		const size_t n = len < sizeof(words) - 16 ? len : sizeof(words) - 16;

		memset(words, 0, sizeof(words));
		words[0] = h;
		words[1] = len;
		if (n)
			memcpy(words + 2, p, n);
		h = ward_dir_siphash(&q->key, words, 2 + (n + 7) / 8);
		p += n;
		len -= n;
	} while (len > 0);
	return h;
}

/* Locked. */
static struct question *find(struct ward_questions *q, uint64_t key)
{
	struct question *a;

	LIST_FOREACH(a, &q->by_key[key % BUCKETS], of_key)
		if (a->key == key)
			return a;
	return NULL;
}

/* Locked. */
static struct question *find_id(struct ward_questions *q, uint32_t id)
{
	struct question *a;

	LIST_FOREACH(a, &q->by_id[id % BUCKETS], of_id)
		if (a->id == id)
			return a;
	return NULL;
}

/* Locked. */
static struct question *find_path(struct ward_questions *q, uint32_t id, uint32_t index)
{
	struct question *a;

	LIST_FOREACH(a, &q->by_id[id % BUCKETS], of_id)
		if (a->id == id && a->index == index)
			return a;
	return NULL;
}

/*
 * Locked. Has one of two paths a place in the question already? One name in two renames would have
 * two grants, and either could stand for the other.
 */
static bool shares_path(struct ward_questions *q, uint32_t id, const uint64_t ends[2])
{
	struct question *a;

	LIST_FOREACH(a, &q->by_id[id % BUCKETS], of_id)
		if (a->id == id)
			for (unsigned i = 0; i < 4; i++)
				if (a->ends[i / 2] == ends[i % 2])
					return true;
	return false;
}

/* Locked. NULL: nothing waits there that another path, or two (ends), can join. */
static struct question *find_group(struct ward_questions *q, uint64_t group, size_t name,
	const uint64_t ends[2], uint64_t now, uint64_t least_ns)
{
	struct question *a;

	LIST_FOREACH(a, &q->by_group[group % BUCKETS], of_group)
		if (a->group == group && !a->rests && a->until_ns > now &&
			a->until_ns - now >= least_ns &&
			a->n < (ends[1] ? WARD_QUESTION_PAIRS : WARD_QUESTION_PATHS) &&
			a->names + name <= WARD_QUESTION_JOIN_NAMES &&
			!(ends[1] && shares_path(q, a->id, ends)))
			return a;
	return NULL;
}

/* Locked: those whose time is over. */
static void sweep(struct ward_questions *q, uint64_t now)
{
	for (size_t i = 0; i < BUCKETS; i++) {
		struct question *a = LIST_FIRST(&q->by_key[i]);

		while (a) {
			struct question *next = LIST_NEXT(a, of_key);

			if (a->until_ns <= now)
				drop(q, a);
			a = next;
		}
	}
}

/* Locked: a random id that no question has. */
static bool choose_id(struct ward_questions *q, uint32_t *ret)
{
	uint32_t id;

	do {
		if (getrandom(&id, sizeof(id), GRND_NONBLOCK) != sizeof(id))
			return false;
		/* Odd ones are wardfs-net's. */
		id &= ((UINT32_C(1) << WARD_QUESTION_BITS) - 1) & ~UINT32_C(1);
	} while (id == 0 || find_id(q, id));
	*ret = id;
	return true;
}

/*
 * Locked. first: the question that it joins, or NULL: a new one, which others can join if group is
 * not 0. NULL: there is no room, or no memory.
 */
static struct question *add(struct ward_questions *q, uint64_t key, struct question *first,
	uint64_t group, uint64_t now)
{
	struct question *a;

	if (q->n >= WARD_QUESTIONS_MAX)
		sweep(q, now);
	a = q->n < WARD_QUESTIONS_MAX ? calloc(1, sizeof(*a)) : NULL;
	if (!a)
		return NULL;
	if (!first && !choose_id(q, &a->id)) {
		free(a);
		return NULL;
	}
	a->key = key;
	a->group = group;
	if (first) {
		a->id = first->id;
		a->index = first->n;
		a->until_ns = first->until_ns;
	} else {
		a->n = 1;
		if (group)
			LIST_INSERT_HEAD(&q->by_group[group % BUCKETS], a, of_group);
	}
	LIST_INSERT_HEAD(&q->by_key[key % BUCKETS], a, of_key);
	LIST_INSERT_HEAD(&q->by_id[a->id % BUCKETS], a, of_id);
	q->n++;
	return a;
}

/* The two paths of a request, as records have them. */
struct names {
	char path[WARD_NODE_PATH_MAX], path2[WARD_NODE_PATH_MAX];
	const char *p, *p2; /* p2 NULL: there is none */
	size_t len, len2;
};

static void name(struct ward_op *op, const struct ward_record_paths *paths, struct names *n)
{
	struct ward_nodes *nodes = op->tree->nodes;

	n->p = ward_node_path(nodes, paths->node, paths->name, n->path, &n->len);
	n->p2 = NULL;
	n->len2 = 0;
	if (paths->node2)
		n->p2 = ward_node_path(nodes, paths->node2, paths->name2, n->path2, &n->len2);
}

/* It does not wait: a question that is lost so is refused. */
static bool send(struct ward_op *op, const struct question *a, const struct names *n,
	uint32_t process, uint32_t asked, const struct ward_decision *d)
{
	char rule[RULE_MAX] = "default", text[RULE_MAX] = "";
	struct ward_msg m;
	int r;

	if (d->rule) {
		(void)snprintf(rule, sizeof(rule), WARD_PLACE_FMT,
			WARD_PLACE(d->rule->file, d->rule->line));
		(void)snprintf(text, sizeof(text), "%s%s = %s", d->rule->guard ? "[guard] " : "",
			ward_verb_name(d->rule->verb), d->rule->pattern);
	}
	ward_msg_init(&m, WARD_MSG_FS_ASK);
	ward_msg_put_u32(&m, a->id);
	ward_msg_put_u32(&m, a->index);
	ward_msg_put_u64(&m, a->due_ns);
	ward_msg_put_u64(&m, a->until_ns);
	ward_msg_put_u32(&m, op->pid);
	ward_msg_put_u32(&m, process);
	ward_msg_put_u32(&m, op->uid);
	ward_msg_put_u32(&m, asked);
	ward_msg_put_str(&m, op->action);
	ward_msg_put_bytes(&m, n->p, n->len);
	ward_msg_put_bytes(&m, n->p2 ? n->p2 : "", n->len2);
	ward_msg_put_u64(&m, a->object ? op->tree->dev : 0);
	ward_msg_put_u64(&m, a->object ? a->of.ino : 0);
	ward_msg_put_str(&m, rule);
	ward_msg_put_str(&m, text);
	ward_msg_put_u32(&m, d->rule ? d->rule->source : WARD_SOURCE_NONE);
	r = ward_msg_try_send(WARD_FD_CONTROL, &m);
	ward_msg_clear(&m);
	return r == 0;
}

/* Locked. */
static bool has_place(const struct ward_questions *q, uint32_t process)
{
	size_t all = 0, of_process = 0;

	if (q->asleep)
		return false;
	for (size_t i = 0; i < WARD_QUESTION_WAITERS; i++) {
		all += q->waiters[i].place != NULL;
		of_process += q->waiters[i].place && q->waiters[i].process == process;
	}
	return all < WARD_QUESTION_WAITERS && of_process < WARD_QUESTION_OF_PROCESS;
}

/* Locked. What is known of the question; NULL: nothing, or its time is over. */
static struct question *known(
	struct ward_questions *q, uint64_t key, const struct ward_file_id *object, uint64_t now)
{
	struct question *a = find(q, key);
	/* Something else has the name now: that is another question. */
	const bool other =
		a && !a->rests && a->object && object && !ward_file_id_equal(&a->of, object);

	if (!a || (a->until_ns > now && !other))
		return a;
	if (a->rests || other) {
		drop(q, a);
		return NULL;
	}
	/* Nobody has answered. */
	a->rests = true;
	a->until_ns = now + WARD_QUESTION_RESTS_NS;
	return a;
}

/* Locked. A new one, which goes to the supervisor; also when the first request waits for it. */
static bool tell(struct ward_op *op, struct question *a, const struct names *n, uint32_t process,
	uint32_t asked, const struct ward_decision *d, bool fresh, uint64_t now)
{
	const uint64_t wait = ward_policy_settings(op->tree->fs->policy)->ask_ns;
	const bool first = op->may_wait && !a->due_ns;

	if (first)
		a->due_ns = now + wait;
	/* What joined a question ends with it. */
	if (a->index > 0 && a->due_ns > a->until_ns)
		a->due_ns = a->until_ns;
	if (fresh && a->index == 0)
		a->until_ns = first ? a->due_ns : now + WARD_QUESTION_STAYS_NS;
	return !(fresh || first) || send(op, a, n, process, asked, d);
}

/* Bytes of the path's name if it can stand in a list of names; 0: it cannot. */
static size_t plain_name(const char *p, size_t len)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				    "0123456789._+@%=~-";
	const char *slash = memrchr(p, '/', len);
	const size_t n = slash ? len - (size_t)(slash + 1 - p) : 0;

	if (len > WARD_QUESTION_JOIN_PATH || n > WARD_QUESTION_JOIN_NAMES)
		return 0;
	for (size_t i = 0; i < n; i++)
		if (!slash[1 + i] || !strchr(plain, slash[1 + i]))
			return 0;
	return n;
}

/* Of all names of the request, as a list has them ("a -> b"); 0: they cannot stand there. */
static size_t plain_names(const struct names *n)
{
	const size_t one = plain_name(n->p, n->len);
	const size_t two = n->p2 ? plain_name(n->p2, n->len2) : 0;

	if (!one || (n->p2 && !two))
		return 0;
	return n->p2 ? one + two + strlen(" -> ") : one;
}

/*
 * Of what the same rule asks about, for the same rights, in the same directory; of two paths in the
 * same two directories.
 */
static uint64_t group_of(const struct ward_questions *q, const struct names *n, uint32_t asked,
	const struct ward_decision *d)
{
	uint64_t h;

	if (plain_names(n) == 0)
		return 0;
	h = mix(q, mix(q, 0, "group", 5), &asked, sizeof(asked));
	h = mix(q, h, n->p, n->len - plain_name(n->p, n->len));
	if (n->p2)
		h = mix(q, mix(q, h, "two", 3), n->p2, n->len2 - plain_name(n->p2, n->len2));
	if (d->rule) {
		h = mix(q, h, d->rule->file, strlen(d->rule->file));
		h = mix(q, h, &d->rule->line, sizeof(d->rule->line));
	}
	return h ? h : 1;
}

/* Locked. What nobody was asked about: it joins a question, or is a new one. */
static struct question *put_new(struct ward_questions *q, uint64_t key, const struct names *n,
	uint32_t asked, const struct ward_decision *d, uint64_t now, uint64_t wait_ns)
{
	const uint64_t group = group_of(q, n, asked, d);
	const uint64_t ends[2] = {
		n->p2 ? mix(q, 1, n->p, n->len) | 1 : 0, n->p2 ? mix(q, 1, n->p2, n->len2) | 1 : 0};
	/* A person has time enough for what joined. */
	struct question *first =
		group ? find_group(q, group, plain_names(n), ends, now, wait_ns / 2) : NULL;
	struct question *a = add(q, key, first, group, now);

	if (a) {
		a->two = n->p2 != NULL;
		memcpy(a->ends, ends, sizeof(a->ends));
	}
	return a;
}

/* Locked. It was told: the next one comes behind it. */
static void count_joined(struct ward_questions *q, const struct question *a, size_t name)
{
	struct question *first;

	if (a->index == 0)
		return;
	LIST_FOREACH(first, &q->by_group[a->group % BUCKETS], of_group)
		if (first->id == a->id) {
			first->n++;
			first->names += name;
			return;
		}
}

bool ward_question_put(struct ward_op *op, const struct ward_record_paths *paths, uint32_t asked,
	const struct ward_decision *d, const struct ward_file_id *object)
{
	struct ward_questions *q = op->tree->fs->questions;
	const uint64_t now = ward_clock_mono_ns();
	const uint32_t process = ward_comm_process(op->pid);
	struct question *a;
	struct names n;
	uint64_t key;
	bool wait = false, fresh;

	op->question = 0;
	if (!q || op->asks || ward_ring_probing(op->tree->fs->ring))
		return false;
	name(op, paths, &n);
	/* The front is missing, so nobody could tell the question. */
	if (*n.p != '/' || (n.p2 && *n.p2 != '/'))
		return false;
	key = mix(q, mix(q, 0, &asked, sizeof(asked)), n.p, n.len);
	key = mix(q, mix(q, key, "", 1), n.p2 ? n.p2 : "", n.len2);
	pthread_mutex_lock(&q->lock);
	a = known(q, key, object, now);
	fresh = !a && (a = put_new(q, key, &n, asked, d, now,
			       ward_policy_settings(op->tree->fs->policy)->ask_ns));
	if (fresh && object) {
		a->object = true;
		a->of = *object;
	}
	if (a && !a->rests && !tell(op, a, &n, process, asked, d, fresh, now)) {
		drop(q, a);
		a = NULL;
	}
	if (a && fresh)
		count_joined(q, a, plain_names(&n));
	if (a) {
		op->question = a->id;
		op->question_path = a->index;
	}
	wait = a && !a->rests && op->may_wait && a->due_ns > now && has_place(q, process);
	pthread_mutex_unlock(&q->lock);
	return wait;
}

bool ward_question_wait(struct ward_op *op, struct ward_delayed *place, ward_delayed_fn *fn)
{
	struct ward_questions *q = op->tree->fs->questions;
	const uint32_t process = ward_comm_process(op->pid);
	const struct question *a;
	bool room;

	pthread_mutex_lock(&q->lock);
	room = has_place(q, process);
	for (size_t i = 0; room && i < WARD_QUESTION_WAITERS; i++) {
		if (q->waiters[i].place)
			continue;
		q->waiters[i] = (struct waiter){place, op->question, process};
		a = find_path(q, op->question, op->question_path);
		/* Answered meanwhile: at once. */
		ward_delay_until(
			op->tree->fs->delay, place, op->req, a && !a->rests ? a->due_ns : 0, fn);
		break;
	}
	pthread_mutex_unlock(&q->lock);
	return room;
}

/* Locked. */
static bool somebody_waits(const struct ward_questions *q)
{
	for (size_t i = 0; i < WARD_QUESTION_WAITERS; i++)
		if (q->waiters[i].place)
			return true;
	return false;
}

bool ward_questions_wait(struct ward_fs *fs)
{
	struct ward_questions *q = fs->questions;
	bool waits;

	if (!q)
		return false;
	pthread_mutex_lock(&q->lock);
	waits = somebody_waits(q);
	pthread_mutex_unlock(&q->lock);
	return waits;
}

void ward_question_sleep(struct ward_fs *fs, bool soon)
{
	struct ward_questions *q = fs->questions;
	bool waits = soon;

	if (!q)
		return;
	pthread_mutex_lock(&q->lock);
	q->asleep = soon;
	pthread_mutex_unlock(&q->lock);
	if (soon)
		ward_question_ended(fs, 0, 0, false, 0);
	for (unsigned ms = 0; waits && ms < WARD_QUESTION_SLEEP_MS; ms++) {
		pthread_mutex_lock(&q->lock);
		waits = somebody_waits(q);
		pthread_mutex_unlock(&q->lock);
		if (waits)
			(void)usleep(1000);
	}
}

void ward_question_waited(struct ward_fs *fs, const void *data)
{
	struct ward_questions *q = fs->questions;

	pthread_mutex_lock(&q->lock);
	for (size_t i = 0; i < WARD_QUESTION_WAITERS; i++)
		if (q->waiters[i].place && ward_delayed_data(q->waiters[i].place) == data)
			q->waiters[i].place = NULL;
	pthread_mutex_unlock(&q->lock);
}

void ward_question_bind(
	struct ward_fs *fs, uint32_t id, uint32_t index, bool any, const char *grant)
{
	struct ward_questions *q = fs->questions;
	const struct question *a;
	struct bound *b;

	if (!q)
		return;
	b = calloc(1, sizeof(*b));
	if (!b) {
		atomic_store(&q->lost, true);
		return;
	}
	(void)snprintf(b->grant, sizeof(b->grant), "%s", grant);
	pthread_mutex_lock(&q->lock);
	a = find_path(q, id, index);
	/* A question that has ended meanwhile: its grant gives nothing. */
	b->any = any || (a && !a->object);
	if (a && a->object)
		b->of = a->of;
	b->pair_of = a && a->two ? id : 0;
	b->pair = index;
	LIST_INSERT_HEAD(&q->bounds, b, at);
	atomic_fetch_add(&q->n_bounds, 1);
	pthread_mutex_unlock(&q->lock);
}

/* Locked. */
static const struct bound *find_bound(const struct ward_questions *q, const char *grant)
{
	const struct bound *b;

	LIST_FOREACH(b, &q->bounds, at)
		if (strcmp(b->grant, grant) == 0)
			return b;
	return NULL;
}

bool ward_question_answers(struct ward_fs *fs, const char *grant)
{
	struct ward_questions *q = fs->questions;
	bool found;

	pthread_mutex_lock(&q->lock);
	found = find_bound(q, grant) != NULL;
	pthread_mutex_unlock(&q->lock);
	return found;
}

bool ward_question_bound(struct ward_fs *fs, const char *grant, const struct ward_file_id *object)
{
	struct ward_questions *q = fs->questions;
	const struct bound *b;
	bool good = true;

	if (!q || (!atomic_load(&q->n_bounds) && !atomic_load(&q->lost)))
		return true;
	pthread_mutex_lock(&q->lock);
	b = find_bound(q, grant);
	if (b)
		good = b->any || ward_file_id_equal(&b->of, object);
	else
		good = !atomic_load(&q->lost);
	pthread_mutex_unlock(&q->lock);
	return good;
}

bool ward_question_pairs(struct ward_fs *fs, const char *one, const char *two)
{
	struct ward_questions *q = fs->questions;
	const struct bound *a, *b;
	bool good;

	if (!q || !atomic_load(&q->n_bounds))
		return true;
	pthread_mutex_lock(&q->lock);
	a = find_bound(q, one);
	b = two ? find_bound(q, two) : NULL;
	good = !a || !a->pair_of || (two && (!b || a->pair_of != b->pair_of || a->pair == b->pair));
	pthread_mutex_unlock(&q->lock);
	return good;
}

/* Locked. What became of the paths of a question that has an answer about its first n. */
static void end_paths(
	struct ward_questions *q, uint32_t id, uint32_t n, bool refused, uint32_t rest_ms)
{
	struct question *a = LIST_FIRST(&q->by_id[id % BUCKETS]);

	while (a) {
		struct question *next = LIST_NEXT(a, of_id);

		if (a->id == id && refused && a->index < n) {
			a->rests = true;
			a->until_ns = ward_clock_mono_ns() + rest_ms * UINT64_C(1000000);
		} else if (a->id == id) {
			drop(q, a);
		}
		a = next;
	}
}

void ward_question_ended(
	struct ward_fs *fs, uint32_t id, uint32_t n, bool refused, uint32_t rest_ms)
{
	struct ward_questions *q = fs->questions;

	if (!q)
		return;
	pthread_mutex_lock(&q->lock);
	if (id)
		end_paths(q, id, n, refused, rest_ms);
	for (size_t i = 0; i < WARD_QUESTION_WAITERS; i++)
		if (q->waiters[i].place && (!id || q->waiters[i].id == id))
			ward_delay_now(fs->delay, q->waiters[i].place);
	pthread_mutex_unlock(&q->lock);
}
