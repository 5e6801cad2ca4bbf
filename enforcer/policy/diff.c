/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the paths that lose or gain rights from one policy to another.
 *
 * Both automata are stepped side by side, breadth first, with one name for each class of names that
 * the patterns of either policy tell apart (classes.h). Two pairs of states may have the same
 * future (put_key()): only the first is followed.
 */
#include "enforcer/policy/diff.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/policy/classes.h"
#include "enforcer/policy/hash.h"
#include "enforcer/policy/internal.h"

/* Pairs of states that are kept. */
#define PAIRS_MAX 65536U
#define TABLE ((size_t)PAIRS_MAX * 2)
/* Bytes of what they are known by. */
#define KEYS_MAX ((size_t)64 << 20)
/* Steps between two looks at the clock. */
#define LOOK_EVERY 64U

struct pair {
	const struct ward_state *a, *b;
	char *path; /* as shown; "" for "/" */
	struct ward_buf key;
};

/* States that live as long as their policy, and that were met together before. */
struct seen {
	const struct ward_state *a, *b;
};

/* A difference that was told. */
struct told {
	const struct ward_rule *a, *b;
	uint32_t lost, gained;
};

struct diff {
	const struct ward_policy *a, *b;
	ward_difference_fn fn;
	ward_diff_tell_fn tell; /* or NULL */
	void *user;
	struct ward_classes *classes; /* names that the patterns of either tell apart */
	struct pair *pairs;
	size_t n_pairs, cap_pairs;
	uint32_t *run_a, *run_b;
	uint32_t *table; /* 1 + number of a pair */
	struct seen *seen;
	struct told *told;
	size_t n_told, cap_told;
	uint32_t steps, steps_max; /* of the walk at hand */
	uint64_t work;		   /* of the walk at hand */
	size_t keys;		   /* bytes */
	uint64_t told_steps;	   /* of all walks, as told */
	bool exact;		   /* each rule counts by itself */
	bool cut;
};

/* One more element's room in a growing array. */
static int grow(void **v, size_t n, size_t *cap, size_t size)
{
	if (n < *cap)
		return 0;
	size_t more = *cap ? *cap * 2 : 64;
	void *p = reallocarray(*v, more, size);
	if (!p)
		return -ENOMEM;
	*v = p;
	*cap = more;
	return 0;
}

/* --- names --- */

static int add_names(struct diff *d, const struct ward_policy *p)
{
	for (size_t i = 0; i < p->n_rules; i++) {
		const struct ward_rule *rule = &p->rules[i];
		struct ward_pattern pattern;
		int r = ward_pattern_parse(rule->pattern, ward_rule_folds(p, rule), &pattern, NULL);
		if (r < 0)
			return r;
		r = ward_classes_add(d->classes, &pattern);
		ward_pattern_clear(&pattern);
		if (r < 0)
			return r;
	}
	return 0;
}

static int find_names(struct diff *d)
{
	bool whole = false;
	int r = ward_classes_new(&d->classes);
	if (r == 0)
		r = add_names(d, d->a);
	if (r == 0)
		r = add_names(d, d->b);
	if (r == 0) {
		const uint64_t a = d->a->study_until_ns, b = d->b->study_until_ns;
		ward_classes_until(d->classes, !b || (a && a < b) ? a : b);
		r = ward_classes_find(d->classes, &whole);
	}
	d->cut = !whole;
	return r;
}

/* --- pairs --- */

/*
 * Numbers the rules of each list, ascending, from 1; of guards and noexec 0. Not exact: those of
 * one verb in a row have one number, since whichever of them decides, what may yet be met changes
 * the same.
 */
static uint32_t *number_runs(const struct ward_policy *p, bool exact)
{
	uint32_t *run = calloc(p->n_rules + 1, sizeof(*run));
	const struct ward_rule *last[WARD_GROUP_COUNT_] = {NULL};
	uint32_t now[WARD_GROUP_COUNT_] = {0};
	for (size_t i = 0; run && i < p->n_rules; i++) {
		const struct ward_rule *r = &p->rules[i];
		if (r->guard || r->verb == WARD_VERB_NOEXEC)
			continue;
		enum ward_rule_group g = ward_rule_group(r);
		now[g] += exact || !last[g] || last[g]->verb != r->verb;
		last[g] = r;
		run[i] = now[g];
	}
	return run;
}

/* Which guard or noexec takes each right, as 1 + its number (outcome.c: the first one); 0: none. */
static void find_takers(const struct ward_policy *p, const struct ward_state *s,
	const uint32_t *run, uint32_t ret[WARD_RIGHT_BITS])
{
	memset(ret, 0, WARD_RIGHT_BITS * sizeof(*ret));
	for (uint32_t i = 0; i < s->n_hits; i++) {
		uint32_t n = ward_state_hits(s)[i];
		uint32_t give = ward_verb_rights(p->rules[n].verb);
		if (p->rules[n].verb == WARD_VERB_SECRET)
			continue; /* changes nothing for files that are no secrets: put_key() */
		for (unsigned k = 0; !run[n] && k < WARD_RIGHT_BITS; k++)
			if (!ret[k] && !(give & 1U << k))
				ret[k] = n + 1;
	}
}

/* Would guard n, were it matched too, take a right that is left, or (exact) be who takes one? */
static bool would_take(const struct diff *d, const struct ward_policy *p,
	const struct ward_state *s, uint32_t n, const uint32_t takers[WARD_RIGHT_BITS])
{
	if (p->rules[n].verb == WARD_VERB_SECRET)
		return d->exact || !s->outcome.secret || s->outcome.secret_give;
	uint32_t give = ward_verb_rights(p->rules[n].verb);
	if (ward_rule_lifts(&p->rules[n]))
		return true;
	for (unsigned k = 0; k < WARD_RIGHT_BITS; k++)
		if (!(give & 1U << k) && (!takers[k] || (d->exact && takers[k] > n + 1)))
			return true;
	return false;
}

/*
 * What the future of a state depends on: what guards have left (exact: which ones), the run that
 * decides in each list and, where that is `ask`, the one before that it leaves in force, and where
 * the path stands in patterns that may still change that.
 */
static void put_key(const struct diff *d, const struct ward_policy *p, const uint32_t *run,
	const struct ward_state *s, struct ward_buf *b)
{
	/* of all rules, and of those that are not `ask` */
	uint32_t last[WARD_GROUP_COUNT_] = {0}, firm[WARD_GROUP_COUNT_] = {0};
	uint32_t takers[WARD_RIGHT_BITS], n_live = 0;
	bool listed = ward_policy_listed(p, s) == WARD_LISTED;
	for (uint32_t i = 0; i < s->n_hits; i++) {
		uint32_t n = ward_state_hits(s)[i];
		if (!run[n])
			continue;
		enum ward_rule_group g = ward_rule_group(&p->rules[n]);
		last[g] = run[n];
		if (p->rules[n].verb != WARD_VERB_ASK && p->rules[n].verb != WARD_VERB_SECRET)
			firm[g] = run[n];
	}
	find_takers(p, s, run, takers);
	for (uint32_t i = 0; i < s->n_live; i++) {
		uint32_t n = ward_automaton_pattern(p->automaton, s->ids[i]);
		enum ward_rule_group g = ward_rule_group(&p->rules[n]);
		bool ask =
			p->rules[n].verb == WARD_VERB_ASK || p->rules[n].verb == WARD_VERB_SECRET;
		bool changes = run[n] ? run[n] > (ask ? last[g] : firm[g])
				      : would_take(d, p, s, n, takers);
		changes = changes || (p->rules[n].verb == WARD_VERB_PROGRAM && !listed);
		if (!changes)
			continue;
		ward_buf_add(b, &s->ids[i], sizeof(s->ids[i]));
		n_live++;
	}
	for (unsigned k = 0; k < WARD_RIGHT_BITS && !d->exact; k++)
		takers[k] = takers[k] != 0;
	ward_buf_add(b, &n_live, sizeof(n_live));
	ward_buf_add(b, last, sizeof(last));
	ward_buf_add(b, firm, sizeof(firm));
	ward_buf_add(b, takers, sizeof(takers));
	ward_buf_add(b, &listed, sizeof(listed));
	uint32_t secret = d->exact ? s->outcome.secret : s->outcome.secret != 0;
	ward_buf_add(b, &secret, sizeof(secret));
	ward_buf_add(b, &s->outcome.secret_give, sizeof(s->outcome.secret_give));
}

/* Takes the states and path; forgets them where such a pair is known. */
static int add_pair(
	struct diff *d, const struct ward_state *a, const struct ward_state *b, char *path)
{
	struct pair p = {.a = a, .b = b, .path = path};
	put_key(d, d->a, d->run_a, a, &p.key);
	put_key(d, d->b, d->run_b, b, &p.key);
	int r = path ? ward_buf_error(&p.key) : -ENOMEM;
	bool known = false;
	uint64_t h = 14695981039346656037ULL; /* FNV-1a */
	for (size_t i = 0; r == 0 && i < p.key.len; i++)
		h = (h ^ (uint8_t)p.key.data[i]) * 1099511628211ULL;
	size_t at = (size_t)(h % TABLE);
	for (; r == 0 && d->table[at] && !known; at = (at + 1) % TABLE) {
		const struct ward_buf *k = &d->pairs[d->table[at] - 1].key;
		known = k->len == p.key.len && memcmp(k->data, p.key.data, k->len) == 0;
	}
	if (!known && (d->n_pairs == PAIRS_MAX || d->keys + p.key.len > KEYS_MAX))
		d->cut = known = true;
	if (r == 0 && !known) {
		void *v = d->pairs;
		r = grow(&v, d->n_pairs, &d->cap_pairs, sizeof(*d->pairs));
		d->pairs = v;
	}
	if (r < 0 || known) {
		ward_policy_state_put(d->a, a);
		ward_policy_state_put(d->b, b);
		ward_buf_clear(&p.key);
		free(path);
		return r;
	}
	d->keys += p.key.len;
	d->pairs[d->n_pairs++] = p;
	d->table[at] = (uint32_t)d->n_pairs;
	return 0;
}

bool ward_policy_differ(const struct ward_policy *a, const struct ward_state *sa,
	const struct ward_policy *b, const struct ward_state *sb, bool dir,
	struct ward_difference *ret)
{
	/* Where they agree about what was there before, they may differ about what comes to be. */
	static const enum ward_fact facts[] = {WARD_FACT_THERE, WARD_FACT_DIFFERS, WARD_FACT_OWN};
	struct ward_request req = {
		.action = WARD_ACTION_ACCESS, .flags = dir ? WARD_REQUEST_DIR : 0};
	struct ward_decision da, db;
	uint32_t differ = 0;
	for (size_t i = 0; !differ && i < sizeof(facts) / sizeof(facts[0]); i++) {
		req.fact = facts[i];
		req.state = sa;
		da = ward_policy_decide(a, &req, NULL);
		req.state = sb;
		db = ward_policy_decide(b, &req, NULL);
		differ = da.granted ^ db.granted;
	}
	if (!differ)
		return false;
	ret->lost = da.granted & differ;
	ret->gained = db.granted & differ;
	req.rights = differ & -differ;
	ret->b = ward_policy_decide(b, &req, NULL).rule;
	req.state = sa;
	ret->a = ward_policy_decide(a, &req, NULL).rule;
	return true;
}

/* Tells in what the states differ, unless the same was told. class: the name beneath path. */
static int look_at(struct diff *d, const struct ward_state *a, const struct ward_state *b,
	const char *path, const size_t *class)
{
	struct ward_difference e = {.path = NULL};
	if (!ward_policy_differ(d->a, a, d->b, b, false, &e))
		return 0;
	for (size_t i = 0; i < d->n_told; i++)
		if (d->told[i].a == e.a && d->told[i].b == e.b && d->told[i].lost == e.lost &&
			d->told[i].gained == e.gained)
			return 0;
	void *v = d->told;
	int r = grow(&v, d->n_told, &d->cap_told, sizeof(*d->told));
	d->told = v;
	if (r < 0)
		return r;
	d->told[d->n_told++] = (struct told){e.a, e.b, e.lost, e.gained};
	ward_cleanup(ward_buf_clear) struct ward_buf shown = WARD_BUF_INIT;
	ward_buf_puts(&shown, path);
	if (class || !*path)
		ward_buf_putc(&shown, '/');
	if (class)
		ward_classes_show(d->classes, *class, &shown);
	e.path = ward_buf_str(&shown);
	r = ward_buf_error(&shown);
	if (r == 0)
		d->fn(d->user, &e);
	return r;
}

/* Most names lead where others have led: asked first, since it takes no key and no path. */
static bool met_before(struct diff *d, const struct ward_state *a, const struct ward_state *b)
{
	if (!a->kept || !b->kept)
		return false;
	struct seen *s = &d->seen[ward_hash_mix((uintptr_t)a, (uintptr_t)b) % TABLE];
	if (s->a == a && s->b == b)
		return true;
	*s = (struct seen){a, b};
	return false;
}

/* Every child of the pair that stands at i. */
static int children(struct diff *d, size_t i)
{
	for (size_t k = 0; k < ward_classes_count(d->classes); k++) {
		const struct ward_class *n = ward_classes_at(d->classes, k);
		const struct ward_state *a = NULL, *b = NULL;
		/* d->pairs may move */
		const struct pair p = d->pairs[i];
		const bool over = d->steps % LOOK_EVERY == 0 &&
				  (ward_policy_study_over(d->a) || ward_policy_study_over(d->b));
		if (over || d->steps++ >= d->steps_max || d->work >= WARD_DIFF_WORK_MAX) {
			d->cut = true;
			return 0;
		}
		if (d->tell && d->steps % WARD_DIFF_STEPS_TELL == 0)
			d->tell(d->user, d->told_steps += WARD_DIFF_STEPS_TELL);
		int r = ward_policy_step(d->a, p.a, n->name, n->len, &a);
		if (r < 0)
			return r;
		r = ward_policy_step(d->b, p.b, n->name, n->len, &b);
		if (r < 0) {
			ward_policy_state_put(d->a, a);
			return r;
		}
		d->work += a->n_live + a->n_hits + b->n_live + b->n_hits;
		if (met_before(d, a, b))
			continue;
		r = look_at(d, a, b, p.path, &k);
		if (r < 0) {
			ward_policy_state_put(d->a, a);
			ward_policy_state_put(d->b, b);
			return r;
		}
		ward_cleanup(ward_buf_clear) struct ward_buf path = WARD_BUF_INIT;
		ward_buf_printf(&path, "%s/", p.path);
		ward_classes_show(d->classes, k, &path);
		r = add_pair(d, a, b, ward_buf_steal(&path));
		if (r < 0)
			return r;
	}
	return 0;
}

/* What lies in no tree is served nowhere. */
static int add_trees(struct diff *d, const struct ward_policy *p)
{
	for (size_t i = 0; i < p->settings.n_trees; i++) {
		const char *path = p->settings.trees[i].path;
		const struct ward_state *a = NULL, *b = NULL;
		int r = ward_policy_walk(d->a, path, strlen(path), &a);
		if (r < 0)
			return r;
		r = ward_policy_walk(d->b, path, strlen(path), &b);
		if (r < 0) {
			ward_policy_state_put(d->a, a);
			return r;
		}
		r = look_at(d, a, b, strcmp(path, "/") == 0 ? "" : path, NULL);
		if (r < 0) {
			ward_policy_state_put(d->a, a);
			ward_policy_state_put(d->b, b);
			return r;
		}
		r = add_pair(d, a, b, strdup(strcmp(path, "/") == 0 ? "" : path));
		if (r < 0)
			return r;
	}
	return 0;
}

static void forget_walk(struct diff *d)
{
	for (size_t i = 0; i < d->n_pairs; i++) {
		ward_policy_state_put(d->a, d->pairs[i].a);
		ward_policy_state_put(d->b, d->pairs[i].b);
		free(d->pairs[i].path);
		ward_buf_clear(&d->pairs[i].key);
	}
	d->n_pairs = 0;
	d->keys = 0;
	free(d->table);
	free(d->seen);
	free(d->run_a);
	free(d->run_b);
	d->table = d->run_a = d->run_b = NULL;
	d->seen = NULL;
}

static int walk(struct diff *d, bool exact)
{
	int r = 0;
	forget_walk(d);
	d->exact = exact;
	d->steps = 0;
	d->work = 0;
	d->steps_max = exact ? WARD_DIFF_EXACT_STEPS_MAX : WARD_DIFF_STEPS_MAX;
	d->table = calloc(TABLE, sizeof(*d->table));
	d->seen = calloc(TABLE, sizeof(*d->seen));
	d->run_a = number_runs(d->a, exact);
	d->run_b = number_runs(d->b, exact);
	if (!d->table || !d->seen || !d->run_a || !d->run_b)
		r = -ENOMEM;
	if (r == 0)
		r = add_trees(d, d->a);
	if (r == 0)
		r = add_trees(d, d->b);
	for (size_t i = 0; r == 0 && i < d->n_pairs && !(exact && d->cut); i++)
		r = children(d, i);
	return r;
}

/* A difference is reported once. */
static int walk_all(struct diff *d, bool exact, enum ward_diff_reach *ret)
{
	int r = find_names(d);
	const bool cut = d->cut;
	if (r == 0 && exact)
		r = walk(d, true);
	*ret = d->cut || !exact ? WARD_DIFF_RIGHTS : WARD_DIFF_WHOLE;
	if (r < 0 || *ret == WARD_DIFF_WHOLE)
		return r;
	d->cut = false;
	r = walk(d, false);
	if (cut || d->cut)
		*ret = WARD_DIFF_CUT;
	return r;
}

/* --- settings --- */

static bool is_meta(const struct ward_entry *e)
{
	return e->key->type == WARD_KEY_TYPE_EXPECT || e->key->type == WARD_KEY_TYPE_VERSION ||
	       e->key->type == WARD_KEY_TYPE_EXTENDS || WARD_ENTRY_IS(e, name);
}

static bool same_key(const struct ward_entry *x, const struct ward_entry *y)
{
	return x->key == y->key && strcmp(x->instance, y->instance) == 0;
}

/* The value in p of what e sets: of a list the same entry, else the one there is. */
static const struct ward_entry *partner(const struct ward_policy *p, const struct ward_entry *e)
{
	for (size_t i = 0; i < p->n_effective; i++)
		if (same_key(p->effective[i], e) &&
			(!e->key->repeats ||
				ward_key_same_text(e->key, p->effective[i]->value, e->value)))
			return p->effective[i];
	return NULL;
}

/* Tells what p sets and other sets otherwise or not; swapped: p is the second policy. */
static int settings(const struct diff *d, const struct ward_policy *p,
	const struct ward_policy *other, bool swapped)
{
	for (size_t i = 0; i < p->n_effective; i++) {
		const struct ward_entry *e = p->effective[i], *o = partner(other, e);
		bool same = o && (e->number ? o->number == e->number
					    : ward_key_same_text(e->key, o->value, e->value));
		if (is_meta(e) || (o && swapped) || same)
			continue;
		ward_cleanup(ward_buf_clear) struct ward_buf key = WARD_BUF_INIT;
		ward_entry_name(&key, e);
		int r = ward_buf_error(&key);
		if (r < 0)
			return r;
		const char *theirs = o ? o->value : NULL;
		const struct ward_difference x = {.key = ward_buf_str(&key),
			.value_a = swapped ? theirs : e->value,
			.value_b = swapped ? e->value : theirs};
		d->fn(d->user, &x);
	}
	return 0;
}

int ward_policy_diff_settings(
	const struct ward_policy *a, const struct ward_policy *b, ward_difference_fn fn, void *user)
{
	const struct diff d = {.a = a, .b = b, .fn = fn, .user = user};
	int r = settings(&d, a, b, false);
	return r < 0 ? r : settings(&d, b, a, true);
}

static int compare(const struct ward_policy *a, const struct ward_policy *b, bool exact,
	ward_difference_fn fn, ward_diff_tell_fn tell, void *user, enum ward_diff_reach *ret)
{
	struct diff d = {.a = a, .b = b, .fn = fn, .tell = tell, .user = user};
	enum ward_diff_reach reach = exact ? WARD_DIFF_WHOLE : WARD_DIFF_RIGHTS;
	int r = 0;
	if (strcmp(a->digest, b->digest) != 0) {
		r = walk_all(&d, exact, &reach);
		if (r == 0)
			r = ward_policy_diff_settings(a, b, fn, user);
	}
	forget_walk(&d);
	ward_classes_free(d.classes);
	free(d.pairs);
	free(d.told);
	if (r == 0)
		*ret = reach;
	return r;
}

int ward_policy_diff(const struct ward_policy *a, const struct ward_policy *b,
	ward_difference_fn fn, ward_diff_tell_fn tell, void *user, enum ward_diff_reach *ret)
{
	return compare(a, b, true, fn, tell, user, ret);
}

int ward_policy_diff_rights(const struct ward_policy *a, const struct ward_policy *b,
	ward_difference_fn fn, ward_diff_tell_fn tell, void *user, enum ward_diff_reach *ret)
{
	return compare(a, b, false, fn, tell, user, ret);
}
