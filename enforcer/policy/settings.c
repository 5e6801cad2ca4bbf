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

/* The one of the n entries of a key and instance that holds, or NULL: the default does. */
static const struct ward_entry *merge_scalar(const struct ward_entry *const *v, size_t n)
{
	const struct ward_entry *best = NULL;
	uint64_t number = ward_key_fallback(v[0]->key);
	/* entries stand in the order profile, base, run, floor, project */
	for (size_t i = 0; i < n; i++) {
		bool wins = true;
		/* `run --net` opens what is closed; it is no way around a proxy. */
		if (best && v[i]->source == WARD_SOURCE_RUN &&
			v[i]->key->merge == WARD_MERGE_MIN_OPEN)
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
			has = has || (v[i]->source == k &&
					     ward_key_same_text(e->key, v[i]->value, e->value));
		}
		if (speaks && !has)
			return true;
	}
	return false;
}

static int merge(struct ward_policy *p, const struct ward_entry *const *v, size_t n)
{
	const struct ward_key *k = v[0]->key;
	if (ward_key_types[k->type].merge)
		return ward_key_types[k->type].merge(p, v, n);
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

/* --- filling --- */

static uint64_t number(const struct ward_policy *p, const struct ward_key *k, const char *instance)
{
	const struct ward_entry *e = ward_entry_of(p, k, instance);
	return e ? e->number : ward_key_fallback(k);
}

static int fill_strings(const struct ward_policy *p, const struct ward_key *k, const char *instance,
	struct ward_strings *ret)
{
	int r = 0;
	for (size_t i = 0; r == 0 && i < p->n_effective; i++)
		if (p->effective[i]->key == k && strcmp(p->effective[i]->instance, instance) == 0)
			r = ward_strings_add(ret, strdup(p->effective[i]->value));
	return r;
}

static struct ward_word_set words(const struct ward_policy *p, const struct ward_key *k)
{
	struct ward_word_set all = {0};
	for (size_t i = 0; i < p->n_effective; i++)
		if (p->effective[i]->key == k)
			all.bits |= UINT32_C(1) << p->effective[i]->number;
	return all;
}

static int fill_text(const struct ward_policy *p, const struct ward_key *k, char **ret)
{
	const struct ward_entry *e = ward_entry_of(p, k, "");
	const char *text = e ? e->value : k->fallback;
	*ret = text ? strdup(text) : NULL;
	return text && !*ret ? -ENOMEM : 0;
}

/* One member, as the row of its key says. base: what the offset counts from. */
static int fill(struct ward_policy *p, const struct ward_key *k, const char *instance, void *base,
	struct ward_err *err)
{
	void *to = (char *)base + k->into.offset;
	const struct ward_entry *e = ward_entry_of(p, k, instance);
	switch (k->into.fill) {
	case WARD_FILL_NONE:
		return 0;
	case WARD_FILL_NUMBER:
		*(uint64_t *)to = number(p, k, instance);
		return 0;
	case WARD_FILL_FLAG:
		*(bool *)to = number(p, k, instance) == 1;
		return 0;
	case WARD_FILL_WORD:
		*(unsigned *)to = (unsigned)number(p, k, instance);
		return 0;
	case WARD_FILL_WORDS:
		*(struct ward_word_set *)to = words(p, k);
		return 0;
	case WARD_FILL_MODE:
		*(const struct ward_mode **)to = ward_mode_at(number(p, k, instance));
		return 0;
	case WARD_FILL_TEXT:
		return fill_text(p, k, to);
	case WARD_FILL_STRINGS:
		return fill_strings(p, k, instance, to);
	case WARD_FILL_PROXY:
		return e ? ward_proxy_parse(e->value, to, err) : 0;
	case WARD_FILL_READER:
		return k->into.read(p, k, instance, to, err);
	}
	return -EINVAL;
}

/* Every path of its section, or the settings themselves. */
static int fill_all(struct ward_policy *p, const struct ward_key *k, struct ward_err *err)
{
	struct ward_settings *s = &p->settings;
	int r = 0;
	if (!k->section->path)
		return fill(p, k, "", s, err);
	for (size_t i = 0; r == 0 && ward_key_in(k, WARD_SECTION_TREE) && i < s->n_trees; i++)
		r = fill(p, k, s->trees[i].path, &s->trees[i], err);
	for (size_t i = 0; r == 0 && ward_key_in(k, WARD_SECTION_QUOTA) && i < s->n_quotas; i++)
		r = fill(p, k, s->quotas[i].path, &s->quotas[i], err);
	return r;
}

/* A policy without a name is called as the file of its base. */
static int default_name(struct ward_policy *p)
{
	const char *name = "";
	if (p->settings.name)
		return 0;
	for (size_t i = 0; i < p->n_sources; i++) {
		if (p->sources[i].kind != WARD_SOURCE_BASE)
			continue;
		const char *slash = strrchr(p->sources[i].file, '/');
		name = slash ? slash + 1 : p->sources[i].file;
	}
	p->settings.name = strdup(name);
	if (!p->settings.name)
		return -ENOMEM;
	char *suffix = strstr(p->settings.name, ".policy");
	if (suffix && suffix > p->settings.name && !suffix[7])
		*suffix = 0;
	return 0;
}

/* --- keys that have to fit each other --- */

/* Mode proxy takes a proxy; what identifies has to have a place in the proxy's protocol. */
static int check_proxy(const struct ward_policy *p, struct ward_err *err)
{
	const struct ward_settings *s = &p->settings;
	const struct ward_entry *mode = WARD_ENTRY(p, net);
	const struct ward_entry *identify = WARD_ENTRY(p, net_identify);
	if (mode && s->net == WARD_NET_PROXY && !s->net_proxy.port)
		return ward_err_set(err, -EINVAL,
			WARD_PLACE_FMT
			": [network] mode = proxy needs a proxy: proxy = http://HOST:PORT "
			"or socks5://HOST:PORT",
			WARD_PLACE(mode->file, mode->line));
	if (identify && s->net_proxy.socks && !ward_proxy_is_authorization(identify->value))
		return ward_err_set(err, -EINVAL,
			WARD_PLACE_FMT
			": SOCKS5 has no header '%s': identify = proxy-authorization sends "
			"user "
			"and password",
			WARD_PLACE(identify->file, identify->line), identify->value);
	return 0;
}

/* A command with low trust does not get the host's network. */
static int check_trust(const struct ward_policy *p, struct ward_err *err)
{
	const struct ward_entry *trust = WARD_ENTRY(p, trust);
	const struct ward_entry *mode = WARD_ENTRY(p, net);
	if (!trust || p->settings.trust != WARD_TRUST_LOW || p->settings.net != WARD_NET_HOST)
		return 0;
	return ward_err_set(err, -EINVAL,
		WARD_PLACE_FMT
		": [network] trust = low (" WARD_PLACE_FMT
		") does not allow mode = host; use mode = allowlist, and allow the hosts that you need",
		WARD_PLACE(mode ? mode->file : "", mode ? mode->line : 0),
		WARD_PLACE(trust->file, trust->line));
}

/* Nobody stands between the command and the network of the host who could ask. */
static int check_asked_hosts(const struct ward_policy *p, struct ward_err *err)
{
	const struct ward_entry *mode = WARD_ENTRY(p, net);
	for (size_t i = 0; p->settings.net == WARD_NET_HOST && i < p->n_effective; i++) {
		const struct ward_entry *e = p->effective[i];
		if (e->key->type == WARD_KEY_TYPE_ASK_HOST)
			return ward_err_set(err, -EINVAL,
				WARD_PLACE_FMT
				": [network] ask = %s cannot be asked with mode = host (" WARD_PLACE_FMT
				"); use mode = allowlist",
				WARD_PLACE(e->file, e->line), e->value,
				WARD_PLACE(mode ? mode->file : "", mode ? mode->line : 0));
	}
	return 0;
}

/* Does what this entry asks for exist already? */
static bool ready(const struct ward_entry *e)
{
	const struct ward_key *k = e->key;
	if (k->words)
		return ward_key_word_ready(k, e->number);
	return k->ready == WARD_READY_ALL || (k->fallback && e->number == ward_key_fallback(k));
}

static int fill_unavailable(struct ward_policy *p)
{
	for (size_t i = 0; i < p->n_effective; i++) {
		const struct ward_entry *e = p->effective[i];
		if (ready(e))
			continue;
		ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
		ward_buf_printf(&b, WARD_PLACE_FMT ": ", WARD_PLACE(e->file, e->line));
		ward_entry_name(&b, e);
		ward_buf_printf(&b, " = %s", e->value);
		int r = ward_strings_add(&p->settings.unavailable, ward_buf_steal(&b));
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
		r = ward_strings_add(&s->env_pass, strdup(always[i]));
	s->env_pass_always = s->env_pass.n;
	return r;
}

int ward_policy_settle(struct ward_policy *p, struct ward_err *err)
{
	int r = ward_shares_settle(p, err);
	if (r < 0)
		return r;
	r = merge_all(p);
	if (r < 0)
		return no_memory(err);
	r = ward_trees_settle(p, err);
	if (r == 0)
		r = ward_quotas_settle(p, err);
	if (r < 0)
		return r;
	r = pass_always(&p->settings);
	if (r < 0)
		return no_memory(err);
	for (const struct ward_key *k = ward_keys; r == 0 && k->section; k++)
		r = fill_all(p, k, err);
	if (r == 0)
		r = default_name(p);
	if (r == 0)
		r = fill_unavailable(p);
	if (r == -ENOMEM)
		return no_memory(err);
	ward_shares_trim(p);
	if (r == 0)
		r = check_trust(p, err);
	if (r == 0)
		r = check_asked_hosts(p, err);
	return r < 0 ? r : check_proxy(p, err);
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
	ward_trees_clear(s);
	ward_quotas_clear(s);
	for (const struct ward_key *k = ward_keys; k->section; k++) {
		void *member = (char *)s + k->into.offset;
		if (!k->section->path && k->into.fill == WARD_FILL_STRINGS)
			clear_strings(member);
		if (!k->section->path && k->into.fill == WARD_FILL_TEXT)
			free(*(char **)member);
	}
	clear_strings(&s->anchors);
	clear_strings(&s->unavailable);
	*s = (struct ward_settings){0};
}
