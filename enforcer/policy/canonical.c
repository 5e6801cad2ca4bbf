/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a policy means, as one text and its digest.
 *
 * The meaning is a policy text itself: without comments, spacing, files and lines; keys in the
 * order of the table of keys; guards sorted, since they know no order; then the lists of rules in
 * order.
 */
#include "enforcer/policy/explain.h"
#include "enforcer/policy/internal.h"

#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/quantity.h"

static int cmp_guards(const void *a, const void *b)
{
	const struct ward_rule *x = *(const struct ward_rule *const *)a;
	const struct ward_rule *y = *(const struct ward_rule *const *)b;
	if (x->verb != y->verb)
		return x->verb < y->verb ? -1 : 1;
	return strcmp(x->pattern, y->pattern);
}

/*
 * What only takes away and is never contradicted by a later line of its list is the same as a
 * guard, and is written as one: true where the rights of the list's rules only get fewer.
 */
static bool list_is_guards(const struct ward_policy *p, enum ward_rule_group group)
{
	/* a guard that was none would be folded */
	if (p->settings.fold)
		return false;
	uint32_t before = WARD_RIGHTS_ALL;
	for (size_t i = 0; i < p->n_rules; i++) {
		const struct ward_rule *r = &p->rules[i];
		if (r->guard || ward_rule_group(r) != group || r->verb == WARD_VERB_NOEXEC)
			continue;
		uint32_t rights = ward_verb_rights(r->verb);
		/* what `ask` gives depends on what matched before it */
		if (rights & ~before || r->verb == WARD_VERB_ASK || r->verb == WARD_VERB_SECRET)
			return false;
		before = rights;
	}
	return true;
}

/* Does this rule stand under [guard] in the meaning? lists: which groups are guards as a whole. */
static bool means_guard_in(const struct ward_rule *r, const bool *lists)
{
	enum ward_rule_group g = ward_rule_group(r);
	if (r->source == WARD_SOURCE_NONE)
		return false; /* built in: everywhere */
	return r->guard || (g != WARD_GROUP_BASE && (r->verb == WARD_VERB_NOEXEC || lists[g]));
}

/* Does the key say something that its absence does not? */
static bool is_meant(const struct ward_policy *p, const struct ward_entry *e)
{
	const struct ward_key *k = e->key;
	if (k->type == WARD_KEY_TYPE_VERSION || k->type == WARD_KEY_TYPE_EXTENDS ||
		k->type == WARD_KEY_TYPE_EXPECT)
		return false;
	if (!ward_entry_of_tree(p, e))
		return false; /* the floor speaks of a tree that this policy does not have */
	if (k->repeats || !k->fallback)
		return true;
	return strcmp(e->value, k->fallback) != 0;
}

/* What a share comes to here, as a comment: the meaning is the share. */
static void put_share(const struct ward_policy *p, const struct ward_entry *e, struct ward_buf *b)
{
	if (e->key->type == WARD_KEY_TYPE_CPUS) {
		ward_buf_printf(b, "   ; %llu.%llu of %llu.%llu here",
			(unsigned long long)e->number / 10, (unsigned long long)e->number % 10,
			(unsigned long long)p->host.cpus / 10,
			(unsigned long long)p->host.cpus % 10);
		return;
	}
	if (e->key->type == WARD_KEY_TYPE_CPU_TIME) {
		char text[WARD_DURATION_TEXT_MAX];
		ward_quantity_duration_text(e->number, text);
		ward_buf_printf(b, "   ; %s here", text);
		return;
	}
	ward_buf_printf(b, "   ; %lluM of %lluM here", (unsigned long long)e->number >> 20,
		(unsigned long long)p->host.memory >> 20);
}

/* here: with what shares come to on this host. */
static void put_settings(const struct ward_policy *p, bool here, struct ward_buf *b)
{
	ward_buf_puts(b, "[policy]\nversion = 1\n");
	for (size_t i = 0; i < p->n_trees; i++)
		ward_buf_printf(b, "[tree %s]\n", p->trees[i]);
	const struct ward_section *section = NULL;
	const char *instance = "";
	for (size_t i = 0; i < p->n_effective; i++) {
		const struct ward_entry *e = p->effective[i];
		if (!is_meant(p, e))
			continue;
		if (section != e->key->section || strcmp(instance, e->instance) != 0)
			ward_buf_printf(b, "[%s%s%s]\n", e->key->section->name,
				*e->instance ? " " : "", e->instance);
		section = e->key->section;
		instance = e->instance;
		ward_buf_printf(b, "%s = %s", e->key->name, e->value);
		if (here && e->share && p->host_known)
			put_share(p, e, b);
		ward_buf_putc(b, '\n');
	}
}

/*
 * Can the rule match something in the tree? NULL: any. False only where the pattern, as far as it
 * has no wildcard, leads elsewhere.
 */
static bool concerns(const struct ward_rule *r, const char *tree)
{
	const char *a = r->pattern, *t = tree;
	if (!tree || *a != '/')
		return true;
	while (*a && *a == *t) {
		a++;
		t++;
	}
	if (!*t)
		return !*a || *a == '/' || strpbrk(a, "*?[\\");
	return !*a ? *t == '/' || a[-1] == '/' : strpbrk(r->pattern, "*?[\\") != NULL;
}

static int put_guards(const struct ward_policy *p, const char *tree, struct ward_buf *b)
{
	ward_cleanup_free const struct ward_rule **v =
		calloc(p->n_rules + 1, sizeof(const struct ward_rule *));
	if (!v)
		return -ENOMEM;
	size_t n = 0;
	bool lists[WARD_GROUP_COUNT_];
	for (unsigned g = 0; g < WARD_GROUP_COUNT_; g++)
		lists[g] = g != WARD_GROUP_BASE && list_is_guards(p, (enum ward_rule_group)g);
	for (size_t i = 0; i < p->n_rules; i++) {
		const struct ward_rule *r = &p->rules[i];
		/* in a list that only takes away, `write` takes nothing */
		if (concerns(r, tree) && r->verb != WARD_VERB_PROGRAM && !ward_rule_lifts(r) &&
			means_guard_in(r, lists) && (r->guard || r->verb != WARD_VERB_WRITE))
			v[n++] = r;
	}
	qsort(v, n, sizeof(const struct ward_rule *), cmp_guards);
	for (size_t i = 0; i < n; i++) {
		if (i == 0)
			ward_buf_puts(b, "[guard]\n");
		if (i == 0 || cmp_guards(&v[i], &v[i - 1]) != 0)
			ward_buf_printf(b, "%s = %s\n", ward_verb_name(v[i]->verb), v[i]->pattern);
	}
	return 0;
}

/* Sorted, for they know no order. */
static int put_lifts(const struct ward_policy *p, struct ward_buf *b)
{
	ward_cleanup_free const struct ward_rule **v =
		calloc(p->n_rules + 1, sizeof(const struct ward_rule *));
	size_t n = 0;
	for (size_t i = 0; v && i < p->n_rules; i++)
		if (ward_rule_lifts(&p->rules[i]))
			v[n++] = &p->rules[i];
	if (n)
		qsort(v, n, sizeof(const struct ward_rule *), cmp_guards);
	for (size_t i = 0; i < n; i++) {
		ward_buf_puts(b, i ? "" : "[lift]\n");
		if (i == 0 || cmp_guards(&v[i], &v[i - 1]) != 0)
			ward_buf_printf(b, "%s = %s\n", ward_verb_name(v[i]->verb), v[i]->pattern);
	}
	return v ? 0 : -ENOMEM;
}

static void put_list(const struct ward_policy *p, enum ward_rule_group group, const char *tree,
	struct ward_buf *b)
{
	static const char *const headers[] = {"[files]", "[files floor]", "[files project]"};
	bool header = false, guards = group != WARD_GROUP_BASE && list_is_guards(p, group);
	for (size_t i = 0; i < p->n_rules; i++) {
		const struct ward_rule *r = &p->rules[i];
		if (r->guard || ward_rule_group(r) != group || guards || !concerns(r, tree) ||
			(group != WARD_GROUP_BASE && r->verb == WARD_VERB_NOEXEC))
			continue;
		if (!header)
			ward_buf_printf(b, "%s\n", headers[group]);
		header = true;
		ward_buf_printf(b, "%s = %s\n", ward_verb_name(r->verb), r->pattern);
	}
}

static int put_rules(const struct ward_policy *p, const char *tree, struct ward_buf *ret_text)
{
	int r = put_guards(p, tree, ret_text);
	if (r == 0)
		r = put_lifts(p, ret_text);
	for (unsigned g = 0; g < WARD_GROUP_COUNT_; g++)
		put_list(p, (enum ward_rule_group)g, tree, ret_text);
	return r < 0 ? r : ward_buf_error(ret_text);
}

static int put_all(const struct ward_policy *p, bool here, struct ward_buf *ret_text)
{
	put_settings(p, here, ret_text);
	return put_rules(p, NULL, ret_text);
}

int ward_policy_show(const struct ward_policy *p, struct ward_buf *ret_text)
{
	return put_all(p, true, ret_text);
}

int ward_policy_meaning(const struct ward_policy *p, struct ward_buf *ret_text)
{
	return put_all(p, false, ret_text);
}

static void digest_of(const struct ward_buf *b, char ret[WARD_POLICY_DIGEST_MAX])
{
	unsigned char hash[crypto_hash_sha256_BYTES];
	crypto_hash_sha256(hash, (const unsigned char *)ward_buf_str(b), b->len);
	sodium_bin2hex(ret, WARD_POLICY_DIGEST_MAX, hash, sizeof(hash));
}

int ward_policy_rules_digest(
	const struct ward_policy *p, const char *tree, char ret[WARD_POLICY_DIGEST_MAX])
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_buf_printf(&b, "fold = %d\n", p->settings.fold);
	int r = put_rules(p, tree, &b);
	if (r == 0)
		digest_of(&b, ret);
	return r;
}

int ward_policy_digest_fill(struct ward_policy *p, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	if (ward_policy_meaning(p, &b) < 0)
		return ward_err_set(err, -ENOMEM, "out of memory");
	digest_of(&b, p->digest);
	return 0;
}
