/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the smallest policy that gives what a trail says was used. */
#include "enforcer/cli/policy/learn.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "audit/query/query.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"
#include "enforcer/cli/policy/learn_names.h"
#include "enforcer/policy/policy.h"

#define TREE "/workspace"
/* From so many changed names in one directory on, more will come there. */
#define SAME_DIR 2U
/* Directories of one name, in which everything that was used was changed too: __pycache__ */
#define SAME_NAME 2U

/* Directories that tools fill for themselves: a run that finds them full only reads them, and the
 * next one, after a change of a source, fills them again. */
static const char *const caches[] = {"__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache",
	".hypothesis", ".cache", ".vite", ".vite-temp", ".parcel-cache", ".turbo"};

int ward_learned_init(struct ward_learned *l)
{
	*l = (struct ward_learned){json_object(), json_object(), json_object(), 0};
	return l->used && l->refused && l->asked ? 0 : -ENOMEM;
}

void ward_learned_clear(struct ward_learned *l)
{
	json_decref(l->used);
	json_decref(l->refused);
	json_decref(l->asked);
	*l = (struct ward_learned){NULL, NULL, NULL, 0};
}

/* --- from records --- */

static const char *text(const json_t *o, const char *name)
{
	const char *s = json_string_value(json_object_get(o, name));
	return s ? s : "";
}

static int count(json_t *o, const char *key)
{
	return json_object_set_new(
		       o, key, json_integer(json_integer_value(json_object_get(o, key)) + 1)) < 0
		       ? -ENOMEM
		       : 0;
}

static int use(struct ward_learned *l, const char *path, bool write)
{
	const size_t n = strlen(TREE);
	if (strncmp(path, TREE "/", n + 1) != 0)
		return 0; /* the tree itself, or another one, which the policy gives as a whole */
	json_t *o = json_object_get(l->used, path + n + 1);
	if (!o) {
		o = json_pack("[i, i]", 0, 0);
		if (!o || json_object_set_new(l->used, path + n + 1, o) < 0)
			return -ENOMEM;
	}
	json_t *times = json_array_get(o, write);
	return json_integer_set(times, json_integer_value(times) + 1) < 0 ? -ENOMEM : 0;
}

static bool asks_to_write(const json_t *record)
{
	const json_t *a = json_object_get(record, "asked"), *v = NULL;
	size_t i = 0;
	bool yes = false;
	json_array_foreach(a, i, v)
	{
		const char *s = json_string_value(v);
		yes = yes || (s && strcmp(s, "read") != 0 && strcmp(s, "exec") != 0);
	}
	return yes;
}

static int take_refusal(struct ward_learned *l, const json_t *record)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	const char *host = text(record, "host");
	const json_int_t port = json_integer_value(json_object_get(record, "port"));
	if (*host || *text(record, "addr")) {
		ward_buf_puts(&b, *host ? host : text(record, "addr"));
		if (port)
			ward_buf_printf(&b, ":%d", (int)port);
		return ward_buf_error(&b) < 0 ? -ENOMEM : count(l->asked, ward_buf_str(&b));
	}
	ward_buf_printf(&b, "%s (%s)", text(record, "path"), text(record, "rule"));
	return ward_buf_error(&b) < 0 ? -ENOMEM : count(l->refused, ward_buf_str(&b));
}

int ward_learned_take(struct ward_learned *l, const json_t *record)
{
	const enum ward_event_kind kind = ward_query_kind(record);
	if (ward_record_kind_is(kind, WARD_KIND_REFUSAL))
		return take_refusal(l, record);
	const bool write = ward_record_kind_is(kind, WARD_KIND_CHANGE);
	if (!write && kind != WARD_EVENT_OPEN)
		return 0;
	l->records++;
	int r = use(l, text(record, "path"), write || asks_to_write(record));
	/* Of a symbolic link the second one is only its text. */
	if (r == 0 && write && strcmp(text(record, "action"), "symlink") != 0)
		r = use(l, text(record, "path2"), true);
	return r;
}

/* --- to rules --- */

/* One name of the tree and what is beneath. */
struct node {
	char *name; /* owned; escaped as in the trail, or a pattern */
	bool glob;  /* a pattern that stands for several names */
	json_int_t names;
	struct node **sub;
	size_t n;
	json_int_t reads, writes; /* of itself */
	bool rewritten;		  /* itself, or something beneath, not only by growing */
	json_int_t files, times;  /* used beneath and itself */
	size_t changed;		  /* names changed, beneath and itself */
	bool done;		  /* a rule for a name in many places has it */
};

static void node_free(struct node *t)
{
	for (size_t i = 0; t && i < t->n; i++)
		node_free(t->sub[i]);
	if (t) {
		free(t->sub);
		free(t->name);
		free(t);
	}
}

static struct node *node_sub(struct node *t, const char *name, size_t len, bool glob)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->sub[i]->glob == glob && strlen(t->sub[i]->name) == len &&
			memcmp(t->sub[i]->name, name, len) == 0)
			return t->sub[i];
	struct node **v = reallocarray(t->sub, t->n + 1, sizeof(struct node *));
	if (!v)
		return NULL;
	t->sub = v;
	struct node *s = calloc(1, sizeof(*s));
	if (!s || !(s->name = strndup(name, len))) {
		free(s);
		return NULL;
	}
	s->glob = glob;
	v[t->n++] = s;
	return s;
}

/*
 * The child for the last name of the path that is len bytes long. A name that the command made and
 * that will be another one the next time becomes a pattern.
 */
static struct node *node_at(
	struct node *t, const json_t *used, const char *path, size_t from, size_t len)
{
	ward_cleanup_free char *whole = strndup(path, len);
	ward_cleanup(ward_buf_clear) struct ward_buf bytes = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf pattern = WARD_BUF_INIT;
	if (!whole)
		return NULL;
	const json_t *o = json_object_get(used, whole);
	if (json_integer_value(json_array_get(o, 1)) == 0 ||
		ward_unescape(&bytes, path + from, len - from) < 0 ||
		!learn_generalise(ward_buf_str(&bytes), bytes.len, &pattern))
		return node_sub(t, path + from, len - from, false);
	return ward_buf_error(&pattern) < 0
		       ? NULL
		       : node_sub(t, ward_buf_str(&pattern), pattern.len, true);
}

static int plant(struct node *root, const json_t *used)
{
	const char *path = NULL;
	json_t *o = NULL;
	json_object_foreach((json_t *)(uintptr_t)used, path, o)
	{
		struct node *t = root;
		for (const char *s = path; t && *s;) {
			size_t n = strcspn(s, "/");
			t = node_at(t, used, path, (size_t)(s - path), (size_t)(s - path) + n);
			s += n;
			s += *s == '/';
		}
		if (!t)
			return -ENOMEM;
		t->names++;
		t->reads += json_integer_value(json_array_get(o, 0));
		t->writes += json_integer_value(json_array_get(o, 1));
		t->rewritten = t->rewritten || (json_integer_value(json_array_get(o, 1)) > 0 &&
						       json_array_size(o) == 2);
	}
	return 0;
}

static void sum(struct node *t)
{
	t->files = t->names;
	t->times = t->reads + t->writes;
	t->changed = t->writes > 0;
	for (size_t i = 0; i < t->n; i++) {
		sum(t->sub[i]);
		t->files += t->sub[i]->files;
		t->times += t->sub[i]->times;
		t->changed += t->sub[i]->changed;
		t->rewritten = t->rewritten || t->sub[i]->rewritten;
	}
}

static int add(
	struct ward_learned_rules *r, struct ward_buf *pattern, struct ward_learned_rule rule)
{
	struct ward_learned_rule *v = reallocarray(r->v, r->n + 1, sizeof(*v));
	if (!v)
		return -ENOMEM;
	r->v = v;
	rule.pattern = ward_buf_steal(pattern);
	v[r->n] = rule;
	return v[r->n].pattern ? (r->n++, 0) : -ENOMEM;
}

/* above: of the directory, as a policy writes it */
static int put_path(struct ward_buf *b, const char *above, const struct node *s)
{
	ward_cleanup(ward_buf_clear) struct ward_buf bytes = WARD_BUF_INIT;
	const char *name = s->name;
	if (s->glob) {
		ward_buf_printf(b, "%s/%s", above, name);
		return ward_buf_error(b) ? -ENOMEM : 0;
	}
	int r = ward_unescape(&bytes, name, strlen(name));
	if (r < 0)
		return r;
	ward_buf_printf(b, "%s/", above);
	ward_pattern_quote(b, ward_buf_str(&bytes), bytes.len);
	return ward_buf_error(b) ? -ENOMEM : 0;
}

/* Everything that was used beneath was changed there. */
static bool all_changed(const struct node *t)
{
	if (t->n == 0)
		return t->writes > 0;
	for (size_t i = 0; i < t->n; i++)
		if (!all_changed(t->sub[i]))
			return false;
	return true;
}

static bool is_cache(const struct node *t)
{
	for (size_t i = 0; i < sizeof(caches) / sizeof(*caches); i++)
		if (t->n && strcmp(t->name, caches[i]) == 0)
			return true;
	return false;
}

/* Is what lies in it only changed, or as good as that? */
static bool is_filled(const struct node *t)
{
	return t->n && (is_cache(t) || all_changed(t));
}

/* Directories of this name that are is_filled(). */
static unsigned same_name(const struct node *t, const char *name)
{
	unsigned n = 0;
	for (size_t i = 0; i < t->n; i++) {
		const struct node *s = t->sub[i];
		if (strcmp(s->name, name) == 0 && is_filled(s))
			n++;
		else
			n += same_name(s, name);
	}
	return n;
}

static void take_name(struct node *t, const char *name, struct ward_learned_rule *rule)
{
	for (size_t i = 0; i < t->n; i++) {
		struct node *s = t->sub[i];
		if (strcmp(s->name, name) == 0 && is_filled(s)) {
			s->done = true;
			rule->files += s->files;
			rule->times += s->times;
			rule->append = rule->append && s->changed && !s->rewritten;
		} else {
			take_name(s, name, rule);
		}
	}
}

/* Directories of one name in several places become one rule. */
static int common_names(struct node *root, const struct node *t, struct ward_learned_rules *r)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct node *s = t->sub[i];
		struct ward_learned_rule rule = {.write = true, .append = true};
		if (s->done || s->n == 0)
			continue;
		if (!is_cache(s) && (!all_changed(s) || same_name(root, s->name) < SAME_NAME)) {
			int e = common_names(root, s, r);
			if (e < 0)
				return e;
			continue;
		}
		ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
		take_name(root, s->name, &rule);
		int e = put_path(&b, TREE "/**", s);
		if (e == 0)
			e = add(r, &b, rule);
		if (e < 0)
			return e;
	}
	return 0;
}

static size_t changed_here(const struct node *t)
{
	size_t n = 0;
	for (size_t i = 0; i < t->n; i++)
		n += !t->sub[i]->done && t->sub[i]->writes > 0;
	return n;
}

static size_t dirs_changed(const struct node *t)
{
	size_t n = 0;
	for (size_t i = 0; i < t->n; i++)
		n += !t->sub[i]->done && t->sub[i]->n > 0 && t->sub[i]->changed > 0;
	return n;
}

/* depth: how far down single names have rules; less of it makes fewer rules. */
static int writes_of(struct node *t, const char *path, unsigned depth, struct ward_learned_rules *r)
{
	for (size_t i = 0; i < t->n; i++) {
		struct node *s = t->sub[i];
		ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
		if (s->done || s->changed == 0)
			continue;
		int e = put_path(&b, path, s);
		/* git's is one thing, and its guards hold nevertheless */
		bool whole = s->n == 0 || s->writes > 0 || depth == 0 ||
			     changed_here(s) >= SAME_DIR || dirs_changed(s) > SAME_DIR ||
			     strcmp(s->name, ".git") == 0;
		if (e == 0 && whole)
			s->done = true;
		if (e == 0)
			e = whole ? add(r, &b,
					    (struct ward_learned_rule){.write = true,
						    .append = !s->rewritten,
						    .files = s->files,
						    .times = s->times})
				  : writes_of(s, ward_buf_str(&b), depth - 1, r);
		if (e < 0)
			return e;
	}
	return 0;
}

/* For a path that was read and has no rule yet: the closest directory around it. */
static int reads_of(struct node *t, const char *path, struct ward_learned_rules *r)
{
	for (size_t i = 0; i < t->n; i++) {
		struct node *s = t->sub[i];
		ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
		if (s->done || s->files == 0)
			continue;
		int e = put_path(&b, path, s);
		size_t used = 0;
		for (size_t k = 0; k < s->n; k++)
			used += s->sub[k]->files > 0 && !s->sub[k]->done;
		if (e == 0 && s->n > 0 && used == 0)
			continue; /* all of it is written */
		if (e == 0)
			e = s->n > 0 && used == 1 && !s->reads
				    ? reads_of(s, ward_buf_str(&b), r)
				    : add(r, &b,
					      (struct ward_learned_rule){
						      .files = s->files, .times = s->times});
		if (e < 0)
			return e;
	}
	return 0;
}

static int compare(const void *left, const void *right)
{
	const struct ward_learned_rule *a = left, *b = right;
	return a->write != b->write ? a->write - b->write : strcmp(a->pattern, b->pattern);
}

static int make(
	const struct ward_learned *l, bool reads, unsigned depth, struct ward_learned_rules *r)
{
	struct node *root = calloc(1, sizeof(*root));
	if (!root)
		return -ENOMEM;
	int e = plant(root, l->used);
	if (e == 0) {
		sum(root);
		e = common_names(root, root, r);
	}
	if (e == 0 && changed_here(root) > WARD_LEARN_RULES_MAX) {
		ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
		ward_buf_puts(&b, TREE);
		r->whole = true;
		e = add(r, &b,
			(struct ward_learned_rule){
				.write = true, .files = root->files, .times = root->times});
	} else if (e == 0) {
		e = writes_of(root, TREE, depth, r);
		if (e == 0 && reads)
			e = reads_of(root, TREE, r);
	}
	node_free(root);
	if (e == 0 && r->n)
		qsort(r->v, r->n, sizeof(*r->v), compare);
	return e;
}

int ward_learned_rules(const struct ward_learned *l, bool reads, struct ward_learned_rules *ret)
{
	struct ward_learned_rules r = {NULL, 0, false};
	int e = 0;
	for (unsigned depth = 8;; depth /= 2) {
		e = make(l, reads, depth, &r);
		if (e < 0 || depth == 0 || r.n <= WARD_LEARN_RULES_MAX)
			break;
		ward_learned_rules_clear(&r);
	}
	if (e < 0)
		ward_learned_rules_clear(&r);
	else
		*ret = r;
	return e;
}

void ward_learned_rules_clear(struct ward_learned_rules *r)
{
	for (size_t i = 0; i < r->n; i++)
		free(r->v[i].pattern);
	free(r->v);
	*r = (struct ward_learned_rules){NULL, 0, false};
}
