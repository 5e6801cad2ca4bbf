/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `policy check` and `policy diff` say of all paths, against going through all of them: random
 * policies over few letters, whose reachable states can be listed.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/policy/classes.h"
#include "enforcer/policy/diff.h"
#include "enforcer/policy/internal.h"
#include "enforcer/policy/shadow.h"
#include "tests/support/policies.h"
#include "tests/support/suite.h"

#define HEAD "[policy]\nversion = 1\n"

static void random_glob(struct ward_buf *b)
{
	static const char *const parts[] = {"a", "b", "c", "*", "?", "[ab]", "[!a]"};
	unsigned n = 1 + rnd(3), last = 0;
	for (unsigned i = 0; i < n; i++) {
		unsigned part = rnd(7);
		if (part == 3 && last == 3)
			part = 0;
		ward_buf_puts(b, parts[part]);
		last = part;
	}
}

static void random_pattern(struct ward_buf *b)
{
	unsigned n = 1 + rnd(3);
	ward_buf_puts(b, rnd(3) ? "/" : "");
	for (unsigned i = 0; i < n; i++) {
		ward_buf_puts(b, i ? "/" : "");
		if (rnd(6) == 0 && (i == 0 || b->data[b->len - 2] != '*'))
			ward_buf_puts(b, "**");
		else if (rnd(2))
			ward_buf_puts(b, rnd(2) ? "a" : "b");
		else
			random_glob(b);
	}
}

static void random_rules(struct ward_buf *b, unsigned n, bool fold)
{
	static const char *const verbs[] = {
		"hide", "deny", "read", "append", "noexec", "write", "ask"};
	ward_buf_puts(b, HEAD "[files]\n");
	for (unsigned i = 0; i < n; i++) {
		ward_buf_printf(b, "%s = ", verbs[rnd(4) ? rnd(6) : 6]);
		random_pattern(b);
		ward_buf_puts(b, "\n");
	}
	ward_buf_puts(b, fold ? "[guard]\nfold = yes\n" : "[guard]\n");
	for (unsigned i = rnd(4); i > 0; i--) {
		ward_buf_printf(b, "%s = ", verbs[rnd(6) ? rnd(5) : 6]);
		random_pattern(b);
		ward_buf_puts(b, "\n");
	}
	ward_buf_puts(b, "[tree /a]\nsource = /x\n[tree /b]\nsource = /y\n");
}

static void add_all(struct ward_classes *c, const struct ward_policy *p)
{
	for (size_t i = 0; i < p->n_rules; i++) {
		struct ward_pattern pattern;
		ck_assert_int_eq(ward_pattern_parse(p->rules[i].pattern,
					 p->settings.fold && p->rules[i].guard, &pattern, NULL),
			0);
		ck_assert_int_eq(ward_classes_add(c, &pattern), 0);
		ward_pattern_clear(&pattern);
	}
}

/* --- names --- */

/* Every name of up to four letters: its class exists, and the same globs match it. */
static void try_name(struct ward_classes *c, struct ward_names *nm, const char *name, size_t len)
{
	struct ward_name_class k;
	bool found = false;
	ck_assert_int_eq(ward_names_classify(nm, name, len, &k), 0);
	for (size_t i = 0; !found && i < ward_classes_count(c); i++) {
		const struct ward_class *x = ward_classes_at(c, i);
		found = x->literal == k.literal && x->n_globs == k.globs->n &&
			(!x->n_globs || memcmp(x->globs, k.globs->ids,
						x->n_globs * sizeof(*x->globs)) == 0);
	}
	ck_assert_msg(found, "%s", name);
	ward_names_release(&k);
}

static void try_class(struct ward_names *nm, const struct ward_class *x)
{
	struct ward_name_class k;
	ck_assert(x->len > 0 && x->len <= WARD_NAME_MAX && strlen(x->name) == x->len);
	ck_assert(strcmp(x->name, ".") != 0 && strcmp(x->name, "..") != 0);
	ck_assert_ptr_null(strchr(x->name, '/'));
	ck_assert_int_eq(ward_names_classify(nm, x->name, x->len, &k), 0);
	ck_assert_uint_eq(k.literal, x->literal);
	ck_assert_uint_eq(k.globs->n, x->n_globs);
	for (uint32_t i = 0; i < x->n_globs; i++)
		ck_assert_uint_eq(k.globs->ids[i], x->globs[i]);
	ward_names_release(&k);
}

START_TEST(classes_are_all_names)
{
	static const char letters[] = "abcx.";
	size_t classes = 0;
	for (unsigned round = 0; round < SUITE_ROUNDS(200U); round++) {
		struct ward_classes *c = NULL;
		struct ward_names *nm = NULL;
		bool whole = false;
		ck_assert_int_eq(ward_classes_new(&c), 0);
		ck_assert_int_eq(ward_names_new(&nm), 0);
		for (unsigned i = 0; i < 6; i++) {
			ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
			struct ward_pattern p;
			uint32_t id;
			random_pattern(&b);
			ck_assert_int_eq(
				ward_pattern_parse(ward_buf_str(&b), rnd(4) == 0, &p, NULL), 0);
			ck_assert_int_eq(ward_classes_add(c, &p), 0);
			for (size_t k = 0; k < p.n; k++)
				ck_assert_int_eq(ward_names_add(nm, &p, &p.components[k], &id), 0);
			ward_pattern_clear(&p);
		}
		ck_assert_int_eq(ward_classes_find(c, &whole), 0);
		ck_assert(whole);
		ck_assert_int_eq(ward_names_seal(nm, 1 << 20), 0);
		for (unsigned i = 0; i < 5 * 6 * 6 * 6; i++) {
			char name[5];
			size_t len = 0;
			for (unsigned n = i; len < 4 && (len == 0 || n); n /= 6) {
				unsigned letter = len == 0 ? n % 5 : n % 6;
				if (len && letter == 5)
					break;
				name[len++] = letters[letter];
			}
			name[len] = 0;
			if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0)
				try_name(c, nm, name, len);
		}
		for (size_t i = 0; i < ward_classes_count(c); i++)
			try_class(nm, ward_classes_at(c, i));
		classes += ward_classes_count(c);
		ward_classes_free(c);
		ward_names_free(nm);
	}
	ck_assert_uint_gt(classes, SUITE_ROUNDS(1500U));
}
END_TEST

START_TEST(names_have_255_bytes_at_most)
{
	/* 255 '?' is a name, and with a byte more around it none; "." and ".." are none */
	char text[600] = "/";
	memset(text + 1, '?', 255);
	struct ward_classes *c = NULL;
	bool whole = false;
	ck_assert_int_eq(ward_classes_new(&c), 0);
	static const char *const more[] = {"*[a]*", "[.]", "[.][.]"};
	for (unsigned i = 0; i < 4; i++) {
		struct ward_pattern p;
		ck_assert_int_eq(ward_pattern_parse(i ? more[i - 1] : text, false, &p, NULL), 0);
		ck_assert_int_eq(ward_classes_add(c, &p), 0);
		ward_pattern_clear(&p);
	}
	ck_assert_int_eq(ward_classes_find(c, &whole), 0);
	ck_assert(whole);
	/* {}, {*a*}, {?255}, {?255, *a*}; the sets {[.]} and {[.][.]} are of no name */
	ck_assert_uint_eq(ward_classes_count(c), 4);
	ward_classes_free(c);
}
END_TEST

/* --- all states --- */

struct states {
	const struct ward_state *v[6000];
	size_t n;
	bool whole;
};

static void add_state(const struct ward_policy *p, struct states *all, const struct ward_state *s)
{
	for (size_t i = 0; i < all->n; i++)
		if (ward_state_same(all->v[i], s)) {
			ward_policy_state_put(p, s);
			return;
		}
	all->whole = all->whole && all->n < 6000;
	if (all->n < 6000)
		all->v[all->n++] = s;
	else
		ward_policy_state_put(p, s);
}

static void list_states(const struct ward_policy *p, struct ward_classes *c, struct states *all)
{
	all->n = 0;
	all->whole = true;
	add_state(p, all, ward_policy_state_get(ward_policy_root(p)));
	for (size_t i = 0; i < all->n && all->whole; i++)
		for (size_t k = 0; k < ward_classes_count(c); k++) {
			const struct ward_class *x = ward_classes_at(c, k);
			const struct ward_state *s = NULL;
			ck_assert_int_eq(ward_policy_step(p, all->v[i], x->name, x->len, &s), 0);
			add_state(p, all, s);
		}
}

static bool takes(const struct ward_rule *r)
{
	return r->guard || r->verb == WARD_VERB_NOEXEC;
}

/* By the words of wardfs-policy(5): does rule i count where the path is in state s? */
static bool counts(const struct ward_policy *p, const struct ward_state *s, uint32_t i)
{
	const struct ward_rule *r = &p->rules[i];
	uint32_t rights = ward_verb_rights(r->verb);
	bool hit = false, beaten = false;
	for (uint32_t k = 0; k < s->n_hits; k++) {
		uint32_t n = ward_state_hits(s)[k];
		const struct ward_rule *l = &p->rules[n];
		uint32_t left = ward_verb_rights(l->verb);
		hit = hit || n == i;
		if (n == i || l->verb == WARD_VERB_ASK)
			continue;
		if (!takes(r) && !takes(l) && n > i)
			beaten = true;
		if (!takes(r) && l->guard && l->verb != WARD_VERB_NOEXEC && rights & ~left)
			beaten = true;
		if (takes(r) && takes(l) && (left & rights) == left && (left != rights || n < i))
			beaten = true;
	}
	return hit && !beaten;
}

struct answers {
	enum ward_shadow_answer v[64];
	size_t n;
};

static void on_shadow(void *user, uint32_t number, const struct ward_shadow *s)
{
	struct answers *a = user;
	ck_assert_uint_eq(number, a->n);
	ck_assert(
		s->answer == WARD_SHADOW_NEVER || s->n_by == 0 || s->answer != WARD_SHADOW_NOWHERE);
	a->v[a->n++] = s->answer;
}

START_TEST(rules_that_never_decide)
{
	static struct states all;
	size_t never = 0, decided = 0, nowhere = 0;
	for (unsigned round = 0; round < SUITE_ROUNDS(1200U); round++) {
		ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
		random_rules(&text, 2 + rnd(5), rnd(4) == 0);
		struct ward_policy *p = policy_of(ward_buf_str(&text));
		struct ward_classes *c = NULL;
		struct answers a = {.n = 0};
		bool whole = false;
		ck_assert_int_eq(ward_classes_new(&c), 0);
		add_all(c, p);
		ck_assert_int_eq(ward_classes_find(c, &whole), 0);
		ck_assert(whole);
		list_states(p, c, &all);
		ck_assert_int_eq(ward_policy_shadows(p, on_shadow, &a), 0);
		ck_assert_uint_eq(a.n, p->n_rules);
		for (uint32_t i = 0; all.whole && i < p->n_rules; i++) {
			bool somewhere = false;
			for (size_t k = 0; k < all.n && !somewhere; k++)
				somewhere = counts(p, all.v[k], i);
			nowhere += a.v[i] == WARD_SHADOW_NOWHERE;
			ck_assert_msg(a.v[i] == WARD_SHADOW_NOWHERE ||
					      a.v[i] == (somewhere ? WARD_SHADOW_COUNTS
								   : WARD_SHADOW_NEVER),
				"line %u: %d\n%s", p->rules[i].line, a.v[i], text.data);
			never += !somewhere;
			decided++;
		}
		for (size_t i = 0; i < all.n; i++)
			ward_policy_state_put(p, all.v[i]);
		ward_classes_free(c);
		ward_policy_unref(p);
	}
	ck_assert_uint_gt(decided, SUITE_ROUNDS(4000U));
	ck_assert_uint_gt(never, SUITE_ROUNDS(300U));
	/* such as /c/x, where only /a, /b and /workspace are served */
	ck_assert_uint_gt(nowhere, SUITE_ROUNDS(50U));
	ck_assert_uint_lt(nowhere, decided / 4);
}
END_TEST

/* --- diff --- */

struct found {
	struct ward_difference v[512];
	size_t n;
};

static void on_difference(void *user, const struct ward_difference *d)
{
	struct found *f = user;
	if (!d->key && f->n < 512)
		f->v[f->n++] = *d;
}

static bool has(const struct found *f, const struct ward_difference *d)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->v[i].lost == d->lost && f->v[i].gained == d->gained && f->v[i].a == d->a &&
			f->v[i].b == d->b)
			return true;
	return false;
}

struct pairs {
	const struct ward_state *a[6000], *b[6000];
	size_t n;
};

/* False: there are too many. */
static bool list_pairs(const struct ward_policy *a, const struct ward_policy *b,
	struct ward_classes *c, struct pairs *all)
{
	static const char *const trees[] = {"/a", "/b", "/workspace"};
	for (all->n = 0; all->n < 3; all->n++) {
		const char *t = trees[all->n];
		ck_assert_int_eq(ward_policy_walk(a, t, strlen(t), &all->a[all->n]), 0);
		ck_assert_int_eq(ward_policy_walk(b, t, strlen(t), &all->b[all->n]), 0);
	}
	for (size_t i = 0; i < all->n; i++)
		for (size_t k = 0; k < ward_classes_count(c); k++) {
			const struct ward_class *x = ward_classes_at(c, k);
			const struct ward_state *s = NULL, *t = NULL;
			bool known = false;
			ck_assert_int_eq(ward_policy_step(a, all->a[i], x->name, x->len, &s), 0);
			ck_assert_int_eq(ward_policy_step(b, all->b[i], x->name, x->len, &t), 0);
			for (size_t n = 0; n < all->n && !known; n++)
				known = ward_state_same(all->a[n], s) &&
					ward_state_same(all->b[n], t);
			if (!known && all->n < 6000) {
				all->a[all->n] = s;
				all->b[all->n++] = t;
				continue;
			}
			ward_policy_state_put(a, s);
			ward_policy_state_put(b, t);
			if (!known)
				return false;
		}
	return true;
}

/* Whether the same rights are lost and gained somewhere, whatever rules decide. */
static bool has_rights(const struct found *f, const struct ward_difference *d)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->v[i].lost == d->lost && f->v[i].gained == d->gained)
			return true;
	return false;
}

START_TEST(differences_are_all)
{
	static struct pairs all;
	static struct found f, rights;
	size_t differences = 0, compared = 0;
	for (unsigned round = 0; round < SUITE_ROUNDS(250U); round++) {
		ward_cleanup(ward_buf_clear) struct ward_buf x = WARD_BUF_INIT;
		ward_cleanup(ward_buf_clear) struct ward_buf y = WARD_BUF_INIT;
		random_rules(&x, 1 + rnd(3), rnd(4) == 0);
		random_rules(&y, 1 + rnd(3), false);
		struct ward_policy *a = policy_of(ward_buf_str(&x)),
				   *b = policy_of(ward_buf_str(&y));
		struct ward_classes *c = NULL;
		enum ward_diff_reach reach = WARD_DIFF_CUT;
		bool whole = false;
		ck_assert_int_eq(ward_classes_new(&c), 0);
		add_all(c, a);
		add_all(c, b);
		ck_assert_int_eq(ward_classes_find(c, &whole), 0);
		f.n = 0;
		ck_assert_int_eq(ward_policy_diff(a, b, on_difference, NULL, &f, &reach), 0);
		ck_assert_int_eq(reach, WARD_DIFF_WHOLE);
		rights.n = 0;
		ck_assert_int_eq(
			ward_policy_diff_rights(a, b, on_difference, NULL, &rights, &reach), 0);
		ck_assert_int_eq(reach, WARD_DIFF_RIGHTS);
		if (list_pairs(a, b, c, &all)) {
			size_t n = 0;
			compared++;
			for (size_t i = 0; i < all.n; i++) {
				struct ward_difference d = {.path = NULL};
				if (!ward_policy_differ(a, all.a[i], b, all.b[i], false, &d))
					continue;
				n++;
				ck_assert_msg(has(&f, &d), "%s\n%s", x.data, y.data);
				ck_assert_msg(has_rights(&rights, &d), "%s\n%s", x.data, y.data);
			}
			ck_assert((n > 0) == (f.n > 0));
			differences += f.n;
		}
		for (size_t i = 0; i < all.n; i++) {
			ward_policy_state_put(a, all.a[i]);
			ward_policy_state_put(b, all.b[i]);
		}
		ward_classes_free(c);
		ward_policy_unref(a);
		ward_policy_unref(b);
	}
	ck_assert_uint_gt(compared, SUITE_ROUNDS(150U));
	ck_assert_uint_gt(differences, SUITE_ROUNDS(400U));
}
END_TEST

/* --- bounds --- */

static void count_undecided(void *user, uint32_t number, const struct ward_shadow *s)
{
	size_t *n = user;
	(void)number;
	*n += s->answer == WARD_SHADOW_UNDECIDED;
}

START_TEST(hostile_patterns_are_not_decided)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	size_t undecided = 0;
	ward_buf_puts(&b, HEAD "[files]\n");
	for (unsigned i = 1; i < 40; i++) {
		ward_buf_puts(&b, "deny = *a");
		for (unsigned k = 0; k < i; k++)
			ward_buf_putc(&b, '?');
		ward_buf_puts(&b, "\n");
	}
	struct ward_policy *p = policy_of(ward_buf_str(&b));
	ck_assert_int_eq(ward_policy_shadows(p, count_undecided, &undecided), 0);
	ck_assert_uint_eq(undecided, p->n_rules);
	ward_policy_unref(p);
}
END_TEST

START_TEST(many_rules_are_decided)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	size_t undecided = 0;
	ward_buf_puts(&b, HEAD "[files]\nwrite = /workspace\n");
	for (unsigned i = 1; i < 10000; i++)
		if (i % 100 == 0)
			ward_buf_printf(&b, "deny = part%u-*.log\n", i);
		else if (i % 10 == 0)
			ward_buf_printf(&b, "read = name%u.txt\n", i);
		else
			ward_buf_printf(
				&b, "append = /workspace/dir%u/sub%u/file%u\n", i / 100, i / 10, i);
	struct ward_policy *p = policy_of(ward_buf_str(&b));
	ck_assert_int_eq(ward_policy_shadows(p, count_undecided, &undecided), 0);
	ck_assert_uint_eq(undecided, 0);
	ward_policy_unref(p);
}
END_TEST

static void ignore_difference(void *user, const struct ward_difference *d)
{
	(void)user;
	(void)d;
}

/* How far a comparison of a with b comes, and how many rules of a stay undecided. */
static enum ward_diff_reach study(
	const struct ward_policy *a, const struct ward_policy *b, size_t *ret_undecided)
{
	enum ward_diff_reach reach = WARD_DIFF_CUT;
	*ret_undecided = 0;
	ck_assert_int_eq(ward_policy_shadows(a, count_undecided, ret_undecided), 0);
	ck_assert_int_eq(ward_policy_diff_rights(a, b, ignore_difference, NULL, NULL, &reach), 0);
	return reach;
}

/* Where the time is over, nothing is said to be known. */
START_TEST(no_time_is_left)
{
	struct ward_policy *a = policy_of(HEAD "[files]\nwrite = /workspace\ndeny = *.log\n");
	struct ward_policy *b = policy_of(HEAD "[files]\nwrite = /workspace\n");
	size_t undecided = 0;
	ck_assert(!ward_policy_study_over(a));
	ck_assert_int_eq(study(a, b, &undecided), WARD_DIFF_RIGHTS);
	ck_assert_uint_eq(undecided, 0);
	/* The control: in time that is far away, the same. */
	ward_policy_study_until(a, UINT64_MAX);
	ck_assert_int_eq(study(a, b, &undecided), WARD_DIFF_RIGHTS);
	ck_assert_uint_eq(undecided, 0);
	ward_policy_study_until(a, 1);
	ck_assert(ward_policy_study_over(a));
	ck_assert_int_eq(study(a, b, &undecided), WARD_DIFF_CUT);
	ck_assert_uint_eq(undecided, a->n_rules);
	/* That of either policy counts. */
	ward_policy_study_until(a, 0);
	ward_policy_study_until(b, 1);
	ck_assert_int_eq(study(a, b, &undecided), WARD_DIFF_CUT);
	ward_policy_unref(a);
	ward_policy_unref(b);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("policy_exact");
	TCase *t = tcase_create("all");
	tcase_set_timeout(t, 280);
	tcase_add_test(t, classes_are_all_names);
	tcase_add_test(t, names_have_255_bytes_at_most);
	tcase_add_test(t, rules_that_never_decide);
	tcase_add_test(t, differences_are_all);
	tcase_add_test(t, hostile_patterns_are_not_decided);
	tcase_add_test(t, many_rules_are_decided);
	tcase_add_test(t, no_time_is_left);
	suite_add_tcase(s, t);
	return suite_run(s);
}
