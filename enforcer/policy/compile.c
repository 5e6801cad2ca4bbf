/* SPDX-License-Identifier: Apache-2.0 */
/* From the texts of the sources to a policy. */
#include "enforcer/policy/grants.h"
#include "enforcer/policy/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/embedded.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/policy/image_name.h"
#include "enforcer/policy/read.h"
#include "enforcer/policy/value.h"

/* While one source is read. */
struct reading {
	struct ward_policy *p;
	const struct ward_source *source;
	const struct ward_section *section;
	char *instance; /* owned */
	bool version;
	unsigned shipped; /* how many of its lines are a shipped profile's own */
	/* what the rules count as: the source's kind, but in [files floor] and [files project] */
	enum ward_source_kind kind;
	const char *origin; /* the option that says what follows; NULL: none does */
};

/* What stands in front of the line in messages; 0 for the line where it is an option. */
static const char *place_file(const struct reading *rd)
{
	return rd->origin ? rd->origin : rd->source->file;
}

static int no_memory(struct ward_err *err)
{
	return ward_err_set(err, -ENOMEM, "out of memory");
}

static int grow(void **v, size_t *cap, size_t n, size_t size)
{
	if (n < *cap)
		return 0;
	size_t c = *cap ? *cap * 2 : 32;
	void *m = reallocarray(*v, c, size);
	if (!m)
		return -ENOMEM;
	*v = m;
	*cap = c;
	return 0;
}

/* Which sections a source of this kind may hold at all. */
static int section_allowed(
	enum ward_source_kind kind, const struct ward_section *section, struct ward_err *err)
{
	bool allowed = kind == WARD_SOURCE_PROJECT ? ward_section_of_project(section)
						   : section->run || kind != WARD_SOURCE_RUN;
	if (allowed)
		return 0;
	if (kind == WARD_SOURCE_PROJECT)
		return ward_err_set(err, -EINVAL,
			"a project file cannot contain [%s]: it only takes away (allowed: "
			"[guard] [files] [quota] [limits] [network] deny [test])",
			section->name);
	return ward_err_set(
		err, -EINVAL, "[%s] cannot be given on the command line", section->name);
}

/* Remembers the tree, sorted by path: one beneath another comes behind it. */
static int add_tree(struct ward_policy *p, const char *path, const char *file, unsigned line,
	struct ward_err *err)
{
	size_t at = 0;
	for (size_t i = 0; i < p->n_trees; i++) {
		int c = strcmp(p->trees[i], path);
		if (c == 0)
			return 0;
		at += c < 0;
	}
	if (p->n_trees == WARD_POLICY_TREES_MAX)
		return ward_err_set(err, -EINVAL, "more than %d trees", WARD_POLICY_TREES_MAX);
	char *copy = strdup(path);
	if (!copy)
		return no_memory(err);
	size_t behind = p->n_trees - at;
	memmove(&p->trees[at + 1], &p->trees[at], behind * sizeof(p->trees[0]));
	memmove(&p->tree_places[at + 1], &p->tree_places[at], behind * sizeof(p->tree_places[0]));
	p->trees[at] = copy;
	p->tree_places[at] = (struct ward_place_of){file, line};
	p->n_trees++;
	return 0;
}

/*
 * [files floor] and [files project] in a base: lists that only take away. `policy show` writes
 * them, so that what several sources say together can stand in one file.
 */
static int files_of(struct reading *rd, const char *arg, struct ward_err *err)
{
	bool base = rd->source->kind == WARD_SOURCE_BASE &&
		    rd->section == &ward_sections[WARD_SECTION_FILES];
	if (base && strcmp(arg, "floor") == 0)
		rd->kind = WARD_SOURCE_FLOOR;
	else if (base && strcmp(arg, "project") == 0)
		rd->kind = WARD_SOURCE_PROJECT;
	else
		return ward_err_set(err, -EINVAL, "[%s] takes no '%s'", rd->section->name, arg);
	return 0;
}

static int on_section(
	void *user, const char *kind, const char *arg, unsigned line, struct ward_err *err)
{
	struct reading *rd = user;
	int r = ward_section_find(kind, &rd->section, err);
	if (r == 0)
		r = section_allowed(rd->source->kind, rd->section, err);
	if (r < 0)
		return r;
	rd->kind = rd->source->kind;
	if (rd->section->path) {
		if (!*arg)
			return ward_err_set(err, -EINVAL,
				"write [%s PATH], such as [%s /workspace]", rd->section->name,
				rd->section->name);
		r = ward_value_sandbox_path(arg, false, err);
		if (r == 0 && rd->section == &ward_sections[WARD_SECTION_TREE] &&
			rd->source->kind != WARD_SOURCE_FLOOR)
			r = add_tree(rd->p, arg, place_file(rd), rd->origin ? 0 : line, err);
	} else if (*arg) {
		r = files_of(rd, arg, err);
	}
	if (r < 0)
		return r;
	free(rd->instance);
	rd->instance = strdup(arg);
	return rd->instance ? 0 : no_memory(err);
}

static int key_allowed(const struct reading *rd, const struct ward_key *k, struct ward_err *err)
{
	enum ward_source_kind kind = rd->source->kind;
	if (kind == WARD_SOURCE_PROJECT && !(k->by & WARD_BY_PROJECT))
		return ward_err_set(err, -EINVAL, "a project file cannot set %s in [%s]", k->name,
			k->section->name);
	if (kind == WARD_SOURCE_FLOOR && !(k->by & WARD_BY_FLOOR))
		return ward_err_set(err, -EINVAL,
			"the floor cannot set %s in [%s]: only the base may", k->name,
			k->section->name);
	if (kind != WARD_SOURCE_PROJECT && kind != WARD_SOURCE_FLOOR && !(k->by & WARD_BY_BASE))
		return ward_err_set(err, -EINVAL, "only the floor can set %s in [%s]", k->name,
			k->section->name);
	if (k->type == WARD_KEY_TYPE_EXTENDS && kind == WARD_SOURCE_PROFILE)
		return ward_err_set(err, -EINVAL,
			"this file cannot extend another one, because a file that extends it is loaded already");
	return 0;
}

/* Lines of a shipped profile's text; 0: there is none of that name. */
static unsigned shipped_lines(const char *file)
{
	unsigned lines = 0;
	const struct ward_embedded *e = ward_embedded_profiles;
	while (e->name && strcmp(e->name, file) != 0)
		e++;
	for (size_t i = 0; e->name && i < e->len; i++)
		lines += e->data[i] == '\n';
	return lines;
}

/*
 * Those for secrets that a shipped profile has as lines of its own: not the guards for repositories
 * that are added behind them.
 */
static bool liftable(const struct reading *rd, const struct ward_key *k, unsigned line)
{
	const enum ward_source_kind kind = rd->source->kind;
	return (kind == WARD_SOURCE_PROFILE || kind == WARD_SOURCE_BASE) &&
	       ward_key_in(k, WARD_SECTION_GUARD) &&
	       (k->verb == WARD_VERB_SECRET || k->verb == WARD_VERB_DENY ||
		       k->verb == WARD_VERB_HIDE) &&
	       line <= rd->shipped;
}

static int add_rule(struct reading *rd, const struct ward_key *k, const char *value, unsigned line,
	struct ward_err *err)
{
	struct ward_policy *p = rd->p;
	if (p->n_rules == WARD_POLICY_RULES_MAX)
		return ward_err_set(err, -EINVAL, "more than %u rules", WARD_POLICY_RULES_MAX);
	if (grow((void **)&p->rules, &p->cap_rules, p->n_rules, sizeof(*p->rules)) < 0)
		return no_memory(err);
	char *copy = strdup(value);
	if (!copy)
		return no_memory(err);
	p->rules[p->n_rules++] = (struct ward_rule){.source = rd->kind,
		.file = place_file(rd),
		.line = rd->origin ? 0 : line,
		.text_line = line,
		.guard = ward_key_in(k, WARD_SECTION_GUARD) || k->type == WARD_KEY_TYPE_LIFT,
		.liftable = liftable(rd, k, line),
		.verb = k->verb,
		.pattern = copy};
	return 0;
}

/*
 * A path of the host: relative ones belong to the directory of the file that holds them, if that is
 * known; "." is the project, and what cannot be resolved here stays as written
 * (ward_tree_source_resolve()).
 */
static char *host_path(const char *file, const char *value)
{
	const char *slash = file[0] == '/' ? strrchr(file, '/') : NULL;
	if (value[0] == '/' || value[0] == '~' || strcmp(value, ".") == 0 || !slash)
		return strdup(value);
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_buf_add(&b, file, (size_t)(slash - file) + 1);
	ward_buf_puts(&b, strncmp(value, "./", 2) == 0 ? value + 2 : value);
	return ward_buf_steal(&b);
}

static bool is_host_path(const struct ward_key *k, const char *value)
{
	return ward_key_types[k->type].host_path &&
	       (k->type != WARD_KEY_TYPE_TREE_SOURCE || !ward_tree_tmpfs(value)) &&
	       (k->type != WARD_KEY_TYPE_IMAGE || ward_image_name_is_path(value));
}

static int add_entry(struct reading *rd, const struct ward_key *k, const char *value,
	uint64_t number, unsigned line, struct ward_err *err)
{
	struct ward_policy *p = rd->p;
	for (size_t i = 0; !k->repeats && i < p->n_entries; i++) {
		const struct ward_entry *e = &p->entries[i];
		if (e->key == k && e->source == rd->source->kind &&
			strcmp(e->instance, rd->instance) == 0)
			return ward_err_set(
				err, -EINVAL, "%s was already set in line %u", k->name, e->line);
	}
	if (p->n_entries == WARD_POLICY_ENTRIES_MAX)
		return ward_err_set(err, -EINVAL, "more than %u keys", WARD_POLICY_ENTRIES_MAX);
	if (grow((void **)&p->entries, &p->cap_entries, p->n_entries, sizeof(*p->entries)) < 0)
		return no_memory(err);
	struct ward_entry e = {.key = k,
		.instance = strdup(rd->instance),
		.value =
			is_host_path(k, value) ? host_path(rd->source->file, value) : strdup(value),
		.number = number,
		.shipped = line <= rd->shipped && (rd->source->kind == WARD_SOURCE_PROFILE ||
							  rd->source->kind == WARD_SOURCE_BASE),
		.source = rd->source->kind,
		.file = place_file(rd),
		.line = rd->origin ? 0 : line};
	p->entries[p->n_entries++] = e;
	return e.instance && e.value ? 0 : no_memory(err);
}

static int on_pair(
	void *user, const char *key, const char *value, unsigned line, struct ward_err *err)
{
	struct reading *rd = user;
	const struct ward_key *k = NULL;
	uint64_t number = 0;
	int r = ward_key_find(rd->section, key, &k, err);
	if (r == 0)
		r = key_allowed(rd, k, err);
	if (r < 0)
		return r;
	r = ward_key_check(k, value, &number, err);
	if (r < 0) {
		ward_err_wrap(err, "%s", key);
		return r;
	}
	rd->version = rd->version || k->type == WARD_KEY_TYPE_VERSION;
	if (k->type == WARD_KEY_TYPE_RULE || k->type == WARD_KEY_TYPE_LIFT)
		return add_rule(rd, k, value, line, err);
	return add_entry(rd, k, value, number, line, err);
}

/* The text of a source with this mark is ours: no other source may say whose its lines are. */
static int on_origin(void *user, const char *text, const char **ret_file, struct ward_err *err)
{
	struct reading *rd = user;
	struct ward_policy *p = rd->p;
	if (grow((void **)&p->origins, &p->cap_origins, p->n_origins, sizeof(*p->origins)) < 0)
		return no_memory(err);
	char *copy = strdup(text);
	if (!copy)
		return no_memory(err);
	p->origins[p->n_origins++] = copy;
	rd->origin = *ret_file = copy;
	return 0;
}

static int read_source(struct ward_policy *p, const struct ward_source *s, struct ward_err *err)
{
	const struct ward_read_ops ops = {
		on_section, on_pair, s->kind == WARD_SOURCE_RUN ? on_origin : NULL};
	struct reading rd = {.p = p, .source = s, .shipped = shipped_lines(s->file)};
	int r = ward_policy_read(s->file, s->text, s->len, &ops, &rd, err);
	free(rd.instance);
	if (r == 0 && !rd.version && s->kind != WARD_SOURCE_RUN)
		r = ward_err_set(err, -EINVAL,
			"%s:1: the version is missing: a policy begins with [policy] and version "
			"= 1",
			s->file);
	return r;
}

static int copy_source(
	struct ward_policy *p, const struct ward_source_text *t, struct ward_err *err)
{
	if (t->kind <= WARD_SOURCE_NONE || t->kind >= WARD_SOURCE_COUNT_ ||
		t->kind == WARD_SOURCE_GRANT)
		return ward_err_set(err, -EINVAL, "%s: the source has no kind", t->file);
	size_t at = 0;
	for (size_t i = 0; i < p->n_sources; i++) {
		if (p->sources[i].kind == t->kind)
			return ward_err_set(err, -EINVAL,
				"%s: there is already a source of this kind", t->file);
		at += p->sources[i].kind < t->kind;
	}
	struct ward_source s = {.kind = t->kind, .file = strdup(t->file), .len = t->len};
	s.text = malloc(t->len + 1);
	if (!s.file || !s.text) {
		free(s.file);
		free(s.text);
		return no_memory(err);
	}
	if (t->len)
		memcpy(s.text, t->text, t->len);
	s.text[t->len] = 0;
	memmove(&p->sources[at + 1], &p->sources[at], (p->n_sources - at) * sizeof(s));
	p->sources[at] = s;
	p->n_sources++;
	return 0;
}

/*
 * Holds in every policy. A project file says what the agent may do, and what it asks the owner for
 * is the repository's to say. What an apply writes beside a file has the content of one that
 * another rule may hide, and stays there if the apply is killed (enforcer/review/apply.c).
 */
static int add_built_in(struct ward_policy *p, struct ward_err *err)
{
	static const struct ward_source built_in = {.kind = WARD_SOURCE_NONE};
	static const struct {
		enum ward_verb verb;
		const char *pattern;
	} rules[] = {{WARD_VERB_READ, "/workspace/.wardfs.policy"},
		{WARD_VERB_READ, "/workspace/.wardfs.propose"},
		{WARD_VERB_DENY, ".wardfs-apply-*"}};
	struct reading rd = {.p = p, .source = &built_in};
	int r = 0;
	for (unsigned i = 0; r == 0 && i < sizeof(rules) / sizeof(*rules); i++) {
		const struct ward_key *k = NULL;
		r = ward_key_find(
			&ward_sections[WARD_SECTION_GUARD], ward_verb_name(rules[i].verb), &k, err);
		if (r == 0)
			r = add_rule(&rd, k, rules[i].pattern, i + 1, err);
		if (r == 0)
			p->rules[p->n_rules - 1].file = "built-in";
	}
	return r;
}

/* The order in which lists are read: what grants first (profile, base, run), then the others. */
static int read_all(struct ward_policy *p, struct ward_err *err)
{
	static const enum ward_source_kind order[] = {WARD_SOURCE_PROFILE, WARD_SOURCE_BASE,
		WARD_SOURCE_RUN, WARD_SOURCE_FLOOR, WARD_SOURCE_PROJECT};
	int r = add_tree(p, "/workspace", "", 0, err);
	for (size_t k = 0; r == 0 && k < sizeof(order) / sizeof(order[0]); k++)
		for (size_t i = 0; r == 0 && i < p->n_sources; i++)
			if (p->sources[i].kind == order[k])
				r = read_source(p, &p->sources[i], err);
	if (r == 0)
		r = add_built_in(p, err);
	if (r < 0)
		return r;
	bool profile = p->n_sources && p->sources[0].kind == WARD_SOURCE_PROFILE;
	for (size_t i = 0; i < p->n_entries; i++) {
		const struct ward_entry *e = &p->entries[i];
		if (e->key->type == WARD_KEY_TYPE_EXTENDS && !profile)
			return ward_err_set(err, -EINVAL,
				WARD_PLACE_FMT ": extends: '%s' was not loaded",
				WARD_PLACE(e->file, e->line), e->value);
	}
	return 0;
}

static int build_automaton(struct ward_policy *p, struct ward_err *err)
{
	struct ward_pattern *patterns = calloc(p->n_rules + 1, sizeof(*patterns));
	int r = patterns ? 0 : no_memory(err);
	p->floats = calloc(p->n_rules + 1, sizeof(*p->floats));
	if (r == 0 && !p->floats)
		r = no_memory(err);
	size_t positions = 0;
	for (size_t i = 0; r == 0 && i < p->n_rules; i++) {
		const struct ward_rule *rule = &p->rules[i];
		r = ward_pattern_parse(rule->pattern, ward_rule_folds(p, rule), &patterns[i], err);
		positions += patterns[i].n;
		if (r == 0 && positions > WARD_AUTOMATON_POSITIONS_MAX)
			r = ward_err_set(err, -EINVAL,
				WARD_PLACE_FMT ": the patterns up to here are too long together",
				WARD_PLACE(rule->file, rule->line));
		if (r < 0 || !patterns[i].n || !patterns[i].components[0].loop)
			continue;
		p->floats[p->n_floats++] = (uint32_t)i;
		if (!rule->guard && rule->verb != WARD_VERB_HIDE &&
			rule->verb != WARD_VERB_NOEXEC && rule->verb != WARD_VERB_SECRET)
			p->float_visible[ward_rule_group(rule)] = (uint32_t)i + 1;
		p->float_hides =
			p->float_hides || !(ward_verb_rights(rule->verb) & WARD_RIGHT_STAT);
	}
	if (r == 0) {
		r = ward_automaton_new(patterns, p->n_rules, ward_policy_outcome, p,
			WARD_POLICY_MEMORY_MAX, &p->automaton);
		if (r < 0)
			ward_err_set(err, r, "out of memory");
	}
	for (size_t i = 0; patterns && i < p->n_rules; i++)
		ward_pattern_clear(&patterns[i]);
	free(patterns);
	return r;
}

static void policy_free(struct ward_policy *p)
{
	ward_automaton_free(p->automaton);
	for (size_t i = 0; i < p->n_rules; i++)
		free((void *)(uintptr_t)p->rules[i].pattern);
	for (size_t i = 0; i < p->n_entries; i++) {
		free(p->entries[i].instance);
		free(p->entries[i].value);
	}
	for (size_t i = 0; i < p->n_trees; i++)
		free(p->trees[i]);
	for (size_t i = 0; i < p->n_sources; i++) {
		free(p->sources[i].file);
		free(p->sources[i].text);
	}
	ward_expected_clear(p);
	ward_settings_clear(&p->settings);
	ward_found_clear(&p->found);
	for (size_t i = 0; i < p->n_origins; i++)
		free(p->origins[i]);
	free(p->origins);
	free(p->rules);
	free(p->entries);
	free(p->effective);
	free(p->floats);
	free(p);
}

int ward_policy_compile_parts(const struct ward_source_text *sources, size_t n, unsigned parts,
	struct ward_policy **ret, struct ward_err *err)
{
	struct ward_policy *p = calloc(1, sizeof(*p));
	if (!p)
		return no_memory(err);
	atomic_init(&p->refs, 1);
	p->fold_all = parts & WARD_POLICY_FOLD_ALL;
	int r = 0;
	for (size_t i = 0; r == 0 && i < n; i++)
		r = copy_source(p, &sources[i], err);
	if (r == 0)
		r = read_all(p, err);
	for (size_t i = 0; r == 0 && i < p->n_sources; i++)
		if (p->sources[i].kind == WARD_SOURCE_FOUND)
			r = ward_found_parse(p->sources[i].text, p->sources[i].len, &p->found, err);
	if (r == 0)
		r = ward_policy_settle(p, err);
	if (r == 0 && parts & WARD_POLICY_PATHS)
		r = build_automaton(p, err);
	if (r == 0 && parts & WARD_POLICY_DIGEST)
		r = ward_policy_digest_fill(p, err);
	if (r < 0) {
		policy_free(p);
		return r;
	}
	*ret = p;
	return 0;
}

int ward_policy_compile(const struct ward_source_text *sources, size_t n, struct ward_policy **ret,
	struct ward_err *err)
{
	return ward_policy_compile_parts(
		sources, n, WARD_POLICY_PATHS | WARD_POLICY_DIGEST, ret, err);
}

int ward_policy_set_found(struct ward_policy *p, const char *text, size_t len, struct ward_err *err)
{
	const struct ward_source_text t = {
		.kind = WARD_SOURCE_FOUND, .file = "found", .text = text, .len = len};
	struct ward_found found = {0};
	int r = ward_found_parse(text, len, &found, err);
	if (r == 0)
		r = copy_source(p, &t, err);
	if (r < 0) {
		ward_found_clear(&found);
		return r;
	}
	ward_found_clear(&p->found);
	p->found = found;
	return 0;
}

bool ward_policy_source(
	const struct ward_policy *p, enum ward_source_kind kind, struct ward_source_text *ret)
{
	for (size_t i = 0; i < p->n_sources; i++) {
		const struct ward_source *s = &p->sources[i];
		if (s->kind != kind)
			continue;
		*ret = (struct ward_source_text){
			.kind = kind, .file = s->file, .text = s->text, .len = s->len};
		return true;
	}
	return false;
}

struct ward_policy *ward_policy_ref(struct ward_policy *p)
{
	atomic_fetch_add_explicit(&p->refs, 1, memory_order_relaxed);
	return p;
}

void ward_policy_unref(struct ward_policy *p)
{
	if (p && atomic_fetch_sub_explicit(&p->refs, 1, memory_order_acq_rel) == 1)
		policy_free(p);
}

void ward_policy_study_until(struct ward_policy *p, uint64_t until_ns)
{
	p->study_until_ns = until_ns;
}

bool ward_policy_study_over(const struct ward_policy *p)
{
	return p->study_until_ns && ward_clock_mono_ns() >= p->study_until_ns;
}

const char *ward_policy_digest(const struct ward_policy *p)
{
	return p->digest;
}

const struct ward_settings *ward_policy_settings(const struct ward_policy *p)
{
	return &p->settings;
}

const struct ward_rule *ward_policy_rule(const struct ward_policy *p, size_t i)
{
	return i < p->n_rules ? &p->rules[i] : NULL;
}

const struct ward_state *ward_policy_root(const struct ward_policy *p)
{
	return ward_automaton_root(p->automaton);
}

int ward_policy_step(const struct ward_policy *p, const struct ward_state *s, const char *name,
	size_t len, const struct ward_state **ret)
{
	return ward_automaton_step(p->automaton, s, name, len, ret);
}

int ward_policy_walk(
	const struct ward_policy *p, const char *path, size_t len, const struct ward_state **ret)
{
	const struct ward_state *s = ward_policy_root(p);
	const char *end = path + len;
	if (len == 0 || *path != '/')
		return -EINVAL;
	while (path < end) {
		if (*path == '/') {
			path++;
			continue;
		}
		const char *slash = memchr(path, '/', (size_t)(end - path));
		size_t n = (size_t)((slash ? slash : end) - path);
		const struct ward_state *next = NULL;
		int r = ward_automaton_step(p->automaton, s, path, n, &next);
		ward_state_put(s);
		if (r < 0)
			return r;
		s = next;
		path += n;
	}
	*ret = s;
	return 0;
}

int ward_policy_tree_root(
	const struct ward_policy *p, const char *path, const struct ward_state **ret)
{
	const struct ward_settings *set = &p->settings;
	const char *best = NULL;
	size_t best_len = 0;
	for (size_t i = 0; i < set->n_trees; i++) {
		const char *t = set->trees[i].path;
		size_t n = strlen(t);
		if (strncmp(t, path, n) == 0 && (!path[n] || path[n] == '/') && n >= best_len) {
			best = t;
			best_len = n;
		}
	}
	*ret = NULL;
	return best ? ward_policy_walk(p, best, best_len, ret) : 0;
}

const struct ward_state *ward_policy_state_get(const struct ward_state *s)
{
	return ward_state_get(s);
}

void ward_policy_state_put(const struct ward_policy *p, const struct ward_state *s)
{
	(void)p;
	ward_state_put(s);
}

bool ward_policy_asks(const struct ward_policy *p)
{
	for (size_t i = 0; i < p->n_rules; i++)
		if (p->rules[i].verb == WARD_VERB_ASK)
			return true;
	return false;
}

bool ward_policy_folds(const struct ward_policy *p)
{
	return p->settings.fold;
}

bool ward_policy_same_state(const struct ward_state *a, const struct ward_state *b)
{
	return ward_state_same(a, b);
}

bool ward_policy_shows_all(const struct ward_state *s)
{
	return s->outcome.open;
}

uint32_t ward_policy_rights(const struct ward_policy *p, const struct ward_state *s)
{
	(void)p;
	return s->outcome.give;
}

uint32_t ward_policy_rights_held(
	const struct ward_policy *p, const struct ward_state *s, const struct ward_granted *grants)
{
	uint32_t glass = 0;
	if (grants->glass) {
		const struct ward_unlifted left =
			ward_policy_unlifted(p, s, grants->glass->grant.lifts);
		glass = left.secret ? 0 : grants->glass_holds & left.grantable;
	}
	/* A secret is none because of any other grant. */
	return glass | ward_policy_rights(p, s) |
	       (s->outcome.secret ? 0 : grants->holds & s->outcome.grantable);
}
