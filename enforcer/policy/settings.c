/* SPDX-License-Identifier: Apache-2.0 */
/* Merging the keys that are no rules, and what comes of them. */
#include "enforcer/policy/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/modes/table/mode.h"

static int no_memory(struct ward_err *err)
{
	return ward_err_set(err, -ENOMEM, "out of memory");
}

static bool is_key(const struct ward_key *k, const char *section, const char *name)
{
	return strcmp(k->section, section) == 0 && strcmp(k->name, name) == 0;
}

/* --- merging --- */

static int cmp_entries(const void *a, const void *b)
{
	const struct ward_entry *x = *(const struct ward_entry *const *)a;
	const struct ward_entry *y = *(const struct ward_entry *const *)b;
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	int c = strcmp(x->instance, y->instance);
	return c ? c : (x > y) - (x < y);
}

static bool takes_away(const struct ward_entry *e)
{
	return e->source == WARD_SOURCE_FLOOR || e->source == WARD_SOURCE_PROJECT;
}

/* A number for what is not set: the default's, else "none". */
static uint64_t fallback_number(const struct ward_key *k)
{
	uint64_t n;
	if (!k->fallback || ward_key_check(k, k->fallback, &n, NULL) < 0)
		return WARD_UNLIMITED;
	return n;
}

/* The one of the n entries of a key and instance that holds, or NULL: the default does. */
static const struct ward_entry *merge_scalar(const struct ward_entry *const *v, size_t n)
{
	const struct ward_entry *best = NULL;
	uint64_t number = fallback_number(v[0]->key);
	/* entries stand in the order profile, base, run, floor, project */
	for (size_t i = 0; i < n; i++) {
		bool wins = true;
		/* `run --net` opens what is closed; it is no way around a proxy. */
		if (best && v[i]->source == WARD_SOURCE_RUN && is_key(v[i]->key, "network", "mode"))
			wins = v[i]->number > number;
		if (takes_away(v[i]))
			wins = v[i]->key->merge == WARD_MERGE_MAX ? v[i]->number > number
								  : v[i]->number < number;
		if (wins) {
			best = v[i];
			number = v[i]->number;
		}
	}
	return best;
}

/* Does a source that takes away list entries of this key, and not this one? */
static bool cut_from_list(const struct ward_entry *const *v, size_t n, const struct ward_entry *e)
{
	for (enum ward_source_kind k = WARD_SOURCE_FLOOR; k <= WARD_SOURCE_PROJECT; k++) {
		bool speaks = false, has = false;
		for (size_t i = 0; i < n; i++) {
			speaks = speaks || v[i]->source == k;
			has = has || (v[i]->source == k && strcmp(v[i]->value, e->value) == 0);
		}
		if (speaks && !has)
			return true;
	}
	return false;
}

static int merge(struct ward_policy *p, const struct ward_entry *const *v, size_t n)
{
	const struct ward_key *k = v[0]->key;
	if (k->type == WARD_KEY_TYPE_PROGRAM)
		return ward_programs_merge(p, v, n);
	if (!k->repeats) {
		const struct ward_entry *e = merge_scalar(v, n);
		if (e)
			p->effective[p->n_effective++] = e;
		return 0;
	}
	for (size_t i = 0; i < n; i++) {
		if (k->merge == WARD_MERGE_COMMON &&
			(takes_away(v[i]) || cut_from_list(v, n, v[i])))
			continue;
		p->effective[p->n_effective++] = v[i];
	}
	return 0;
}

static int merge_all(struct ward_policy *p)
{
	ward_cleanup_free const struct ward_entry **v =
		calloc(p->n_entries + 1, sizeof(const struct ward_entry *));
	p->effective = calloc(p->n_entries + 1, sizeof(const struct ward_entry *));
	p->n_effective = 0;
	if (!v || !p->effective)
		return -ENOMEM;
	for (size_t i = 0; i < p->n_entries; i++)
		v[i] = &p->entries[i];
	qsort(v, p->n_entries, sizeof(const struct ward_entry *), cmp_entries);
	for (size_t i = 0, n; i < p->n_entries; i += n) {
		for (n = 1; i + n < p->n_entries && v[i + n]->key == v[i]->key &&
			    strcmp(v[i + n]->instance, v[i]->instance) == 0;)
			n++;
		int r = merge(p, v + i, n);
		if (r < 0)
			return r;
	}
	return 0;
}

/* --- looking up --- */

static const struct ward_entry *find(
	const struct ward_policy *p, const char *section, const char *instance, const char *name)
{
	for (size_t i = 0; i < p->n_effective; i++)
		if (is_key(p->effective[i]->key, section, name) &&
			strcmp(p->effective[i]->instance, instance) == 0)
			return p->effective[i];
	return NULL;
}

/* Of a key without a path. */
static uint64_t number(const struct ward_policy *p, const struct ward_key *k)
{
	const struct ward_entry *e = find(p, k->section, "", k->name);
	return e ? e->number : fallback_number(k);
}

static int add_string(struct ward_strings *s, char *text)
{
	char **v = text ? reallocarray(s->v, s->n + 1, sizeof(*v)) : NULL;
	if (!v) {
		free(text);
		return -ENOMEM;
	}
	s->v = v;
	s->v[s->n++] = text;
	return 0;
}

static int list(const struct ward_policy *p, const struct ward_key *k, struct ward_strings *ret)
{
	int r = 0;
	for (size_t i = 0; r == 0 && i < p->n_effective; i++)
		if (p->effective[i]->key == k)
			r = add_string(ret, strdup(p->effective[i]->value));
	return r;
}

/* --- filling --- */

static int fill_tree(const struct ward_policy *p, const char *path,
	const struct ward_place_of *where, struct ward_tree *t, struct ward_err *err)
{
	const struct ward_entry *source = find(p, "tree", path, "source");
	const struct ward_entry *at = find(p, "tree", path, "at");
	const struct ward_entry *links = find(p, "tree", path, "hardlinks");
	if (!source && strcmp(path, "/workspace") != 0)
		return ward_err_set(err, -EINVAL, "%s:%u: [tree %s] has no source", where->file,
			where->line, path);
	if (source && strncmp(source->value, "tmpfs:", 6) == 0) {
		t->tmpfs_size = source->number;
	} else {
		t->source = strdup(source ? source->value : ".");
		if (!t->source)
			return no_memory(err);
	}
	t->path = strdup(path);
	/* what has no path on the host cannot be seen there */
	t->at = strdup(at ? at->value : t->tmpfs_size ? "none" : "same");
	t->hardlinks = links ? (enum ward_hardlinks)links->number : WARD_HARDLINKS_READ;
	t->of_run = source && source->source == WARD_SOURCE_RUN;
	return t->path && t->at ? 0 : no_memory(err);
}

static int fill_trees(struct ward_policy *p, struct ward_err *err)
{
	struct ward_settings *s = &p->settings;
	s->trees = calloc(p->n_trees, sizeof(*s->trees));
	if (!s->trees)
		return no_memory(err);
	s->n_trees = p->n_trees;
	int r = 0;
	for (size_t i = 0; r == 0 && i < p->n_trees; i++)
		r = fill_tree(p, p->trees[i], &p->tree_places[i], &s->trees[i], err);
	return r;
}

static int fill_name(struct ward_policy *p, struct ward_err *err)
{
	const struct ward_entry *e = find(p, "policy", "", "name");
	const char *name = e ? e->value : "";
	for (size_t i = 0; !e && i < p->n_sources; i++) {
		if (p->sources[i].kind != WARD_SOURCE_BASE)
			continue;
		const char *slash = strrchr(p->sources[i].file, '/');
		name = slash ? slash + 1 : p->sources[i].file;
	}
	p->settings.name = strdup(name);
	if (!p->settings.name)
		return no_memory(err);
	char *suffix = e ? NULL : strstr(p->settings.name, ".policy");
	if (suffix && suffix > p->settings.name && !suffix[7])
		*suffix = 0;
	return 0;
}

/* Mode proxy takes a proxy; what identifies has to have a place in the proxy's protocol. */
static int fill_proxy(struct ward_policy *p, struct ward_err *err)
{
	struct ward_settings *s = &p->settings;
	const struct ward_entry *mode = find(p, "network", "", "mode");
	const struct ward_entry *proxy = find(p, "network", "", "proxy");
	const struct ward_entry *identify = find(p, "network", "", "identify");
	if (proxy && ward_proxy_parse(proxy->value, &s->net_proxy, err) < 0)
		return -EINVAL;
	if (mode && s->net == WARD_NET_PROXY && !proxy)
		return ward_err_set(err, -EINVAL,
			"%s:%u: [network] mode = proxy takes a proxy: proxy = http://HOST:PORT or "
			"socks5://HOST:PORT",
			mode->file, mode->line);
	if (!identify)
		return 0;
	if (s->net_proxy.socks && !ward_proxy_is_authorization(identify->value))
		return ward_err_set(err, -EINVAL,
			"%s:%u: SOCKS5 has no header '%s': identify = proxy-authorization sends user "
			"and password",
			identify->file, identify->line, identify->value);
	s->net_identify = strdup(identify->value);
	return s->net_identify ? 0 : no_memory(err);
}

/* Whom little is trusted does not get the network of the host. */
static int check_trust(const struct ward_policy *p, struct ward_err *err)
{
	const struct ward_entry *trust = find(p, "policy", "", "trust");
	const struct ward_entry *mode = find(p, "network", "", "mode");
	if (!trust || strcmp(trust->value, "low") != 0 || p->settings.net != WARD_NET_HOST)
		return 0;
	return ward_err_set(err, -EINVAL,
		"%s:%u: [network] mode = host is not for trust = low (%s:%u): mode = allowlist names "
		"what is needed",
		mode ? mode->file : "", mode ? mode->line : 0, trust->file, trust->line);
}

/* Does what this entry asks for exist already? */
static bool ready(const struct ward_entry *e)
{
	const struct ward_key *k = e->key;
	if (k->words)
		return ward_key_word_ready(k, e->number);
	return k->ready == WARD_READY_ALL || (k->fallback && e->number == fallback_number(k));
}

static int fill_unavailable(struct ward_policy *p)
{
	for (size_t i = 0; i < p->n_effective; i++) {
		const struct ward_entry *e = p->effective[i];
		if (ready(e))
			continue;
		ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
		ward_buf_printf(&b, "%s:%u: [%s%s%s] %s = %s", e->file, e->line, e->key->section,
			*e->instance ? " " : "", e->instance, e->key->name, e->value);
		int r = add_string(&p->settings.unavailable, ward_buf_steal(&b));
		if (r < 0)
			return r;
	}
	return 0;
}

/* Before what the policy adds. */
static int pass_always(struct ward_settings *s)
{
	static const char *const always[] = {"PATH", "TERM", "LANG", "LC_*", "TZ", "COLORTERM"};
	int r = 0;
	for (size_t i = 0; r == 0 && i < sizeof(always) / sizeof(always[0]); i++)
		r = add_string(&s->env_pass, strdup(always[i]));
	s->env_pass_always = s->env_pass.n;
	return r;
}

/* Of several the smallest holds, of counts and of times. */
static void fill_checkpoint(struct ward_policy *p)
{
	struct ward_settings *s = &p->settings;
	for (size_t i = 0; i < p->n_effective; i++) {
		const struct ward_entry *e = p->effective[i];
		if (e->key->type != WARD_KEY_TYPE_CHECKPOINT)
			continue;
		bool time = ward_checkpoint_is_time(e->value);
		uint64_t v = time ? e->number / 1000000 : e->number;
		uint64_t *to = time ? &s->checkpoint_ms : &s->checkpoint_records;
		/* 0 stands for the default: the least that can be meant is 1. */
		v = v ? v : 1;
		if (*to == 0 || v < *to)
			*to = v;
	}
}

/* Of several all count: what one source wants out of the trail stays out. */
static void fill_redact(struct ward_policy *p)
{
	for (size_t i = 0; i < p->n_effective; i++) {
		const struct ward_entry *e = p->effective[i];
		if (!is_key(e->key, "audit", "redact"))
			continue;
		p->settings.redact_argv |= strcmp(e->value, "argv") == 0;
		p->settings.redact_sni |= strcmp(e->value, "sni") == 0;
	}
}

static bool has_string(const struct ward_strings *s, const char *text)
{
	for (size_t i = 0; i < s->n; i++)
		if (strcmp(s->v[i], text) == 0)
			return true;
	return false;
}

/* The floor's first. All count, once; `none` only where nobody names one. */
static int fill_anchors(struct ward_policy *p)
{
	struct ward_strings *to = &p->settings.anchors;
	bool none = false;
	for (int floor = 1; floor >= 0; floor--) {
		for (size_t i = 0; i < p->n_effective; i++) {
			const struct ward_entry *e = p->effective[i];
			if (!is_key(e->key, "audit", "anchor") ||
				(e->source == WARD_SOURCE_FLOOR) != floor)
				continue;
			bool is_none = strcmp(e->value, "none") == 0;
			none = none || is_none;
			if (is_none || has_string(to, e->value))
				continue;
			int r = add_string(to, strdup(e->value));
			if (r < 0)
				return r;
		}
		if (floor)
			p->settings.anchors_floor = to->n;
	}
	return none && to->n == 0 ? add_string(to, strdup("none")) : 0;
}

static void fill_mode(struct ward_policy *p)
{
	const struct ward_key *k = NULL;
	/* Past the end of the table: what no run takes. */
	bool known = ward_key_find("policy", "mode", &k, NULL) == 0;
	p->settings.mode = ward_mode_at(known ? number(p, k) : UINT64_MAX);
}

/* One member, as the row of its key says. */
static int fill_member(struct ward_policy *p, const struct ward_key *k)
{
	char *member = (char *)&p->settings + k->into.offset;
	uint64_t n = k->repeats ? 0 : number(p, k);
	unsigned word = (unsigned)n;
	bool yes = n == 1;
	switch (k->into.fill) {
	case WARD_FILL_NONE:
		return 0;
	case WARD_FILL_NUMBER:
		memcpy(member, &n, sizeof(n));
		return 0;
	case WARD_FILL_FLAG:
		memcpy(member, &yes, sizeof(yes));
		return 0;
	case WARD_FILL_WORD:
		memcpy(member, &word, sizeof(word));
		return 0;
	case WARD_FILL_STRINGS:
		return list(p, k, (struct ward_strings *)(void *)member);
	}
	return -EINVAL;
}

int ward_policy_settle(struct ward_policy *p, struct ward_err *err)
{
	int r = merge_all(p);
	if (r < 0)
		return no_memory(err);
	r = fill_trees(p, err);
	if (r == 0)
		r = ward_quotas_settle(p, err);
	if (r == 0)
		r = fill_name(p, err);
	if (r < 0)
		return r;
	r = pass_always(&p->settings);
	for (const struct ward_key *k = ward_keys; r == 0 && k->section; k++)
		r = fill_member(p, k);
	if (r == 0)
		r = fill_anchors(p);
	if (r == 0)
		r = fill_unavailable(p);
	if (r < 0)
		return no_memory(err);
	fill_mode(p);
	fill_checkpoint(p);
	fill_redact(p);
	r = check_trust(p, err);
	return r < 0 ? r : fill_proxy(p, err);
}

static void clear_strings(struct ward_strings *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->v[i]);
	free(s->v);
	*s = (struct ward_strings){0};
}

void ward_settings_clear(struct ward_settings *s)
{
	for (size_t i = 0; s->trees && i < s->n_trees; i++) {
		free(s->trees[i].path);
		free(s->trees[i].source);
		free(s->trees[i].at);
	}
	free(s->trees);
	ward_quotas_clear(s);
	free(s->name);
	free(s->net_identify);
	for (const struct ward_key *k = ward_keys; k->section; k++)
		if (k->into.fill == WARD_FILL_STRINGS)
			clear_strings((struct ward_strings *)(void *)((char *)s + k->into.offset));
	clear_strings(&s->anchors);
	clear_strings(&s->unavailable);
	*s = (struct ward_settings){0};
}
