/* SPDX-License-Identifier: Apache-2.0 */
/* The table of keys: each row agrees with itself, and what is done with a key is what its row says.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/modes/table/mode.h"
#include "enforcer/policy/explain.h"
#include "enforcer/policy/keys.h"
#include "enforcer/policy/reloadable.h"
#include "enforcer/policy/settings.h"
#include "tests/support/policies.h"
#include "tests/support/suite.h"

#define HEAD "[policy]\nversion = 1\n"

static bool counts(const struct ward_key *k)
{
	return k->type == WARD_KEY_TYPE_SIZE || k->type == WARD_KEY_TYPE_APPROVERS ||
	       k->type == WARD_KEY_TYPE_WARM || k->type == WARD_KEY_TYPE_COUNT ||
	       k->type == WARD_KEY_TYPE_TIME || k->type == WARD_KEY_TYPE_SIZE_RATE ||
	       k->type == WARD_KEY_TYPE_COUNT_RATE || k->type == WARD_KEY_TYPE_SIZE_SHARE ||
	       k->type == WARD_KEY_TYPE_CPUS || k->type == WARD_KEY_TYPE_CPU_TIME ||
	       k->type == WARD_KEY_TYPE_MONEY;
}

/* A value of the key that is not its default. */
static const char *other_value(const struct ward_key *k)
{
	switch (k->type) {
	case WARD_KEY_TYPE_WORD:
		return k->fallback && strcmp(k->words[0], k->fallback) == 0 ? k->words[1]
									    : k->words[0];
	case WARD_KEY_TYPE_SIZE:
	case WARD_KEY_TYPE_SIZE_SHARE:
		return "7M";
	case WARD_KEY_TYPE_COUNT:
	case WARD_KEY_TYPE_CHECKPOINT:
		return "77";
	case WARD_KEY_TYPE_TIME:
	case WARD_KEY_TYPE_CPU_TIME:
		return "7s";
	case WARD_KEY_TYPE_SIZE_RATE:
		return "7M/s";
	case WARD_KEY_TYPE_COUNT_RATE:
		return "7/s";
	case WARD_KEY_TYPE_HOST_PATH:
	case WARD_KEY_TYPE_ENGINE:
		return "crun";
	case WARD_KEY_TYPE_IMAGE:
	case WARD_KEY_TYPE_TREE_SOURCE:
	case WARD_KEY_TYPE_TREE_AT:
	case WARD_KEY_TYPE_PROGRAM:
	case WARD_KEY_TYPE_EXPECTED_PATH:
	case WARD_KEY_TYPE_EXPECTED_LOOK:
		return "/seven";
	case WARD_KEY_TYPE_SEED:
		return "seven: 7";
	case WARD_KEY_TYPE_SHELL:
		return "seven -c";
	case WARD_KEY_TYPE_ENV_PASS:
		return "SEVEN";
	case WARD_KEY_TYPE_ENV_SET:
		return "SEVEN=7";
	case WARD_KEY_TYPE_MODULE:
	case WARD_KEY_TYPE_ALLOW:
	case WARD_KEY_TYPE_DENY:
	case WARD_KEY_TYPE_ASK_HOST:
	case WARD_KEY_TYPE_EXPECTED_HOST:
		return "seven.example.org";
	case WARD_KEY_TYPE_PORTS:
		return "777";
	case WARD_KEY_TYPE_URL:
		return "http://127.0.0.1:777";
	case WARD_KEY_TYPE_HEADER:
		return "X-Seven";
	case WARD_KEY_TYPE_ANCHOR:
		return "none";
	case WARD_KEY_TYPE_PUBLIC_KEY:
		return "wardfs/1173586611e397ab+a389e785+AYvCmI4BvI7CjqTac4UydZzcRNkTBO0yhqU0fHR2PsUZ";
	case WARD_KEY_TYPE_EXPECT:
		return "read /seven hide";
	case WARD_KEY_TYPE_LEAST:
		return "process";
	case WARD_KEY_TYPE_RISK_POINTS:
		return "no-time 77";
	case WARD_KEY_TYPE_RISK_FROM:
		return "restricted 7";
	case WARD_KEY_TYPE_SIGNER:
		return "RWRzZXZlbjc3NwECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8g";
	case WARD_KEY_TYPE_TOOLS:
		return "files, mail";
	case WARD_KEY_TYPE_CPUS:
	case WARD_KEY_TYPE_WARM:
	case WARD_KEY_TYPE_APPROVERS:
	case WARD_KEY_TYPE_MONEY:
		return "2";
	case WARD_KEY_TYPE_LIFT:
		return "/workspace/seven";
	case WARD_KEY_TYPE_TEXT:
	case WARD_KEY_TYPE_RULE:
		return "seven";
	case WARD_KEY_TYPE_VERSION:
	case WARD_KEY_TYPE_EXTENDS: /* takes a profile */
	case WARD_KEY_TYPE_NONE:
	case WARD_KEY_TYPE_COUNT_:
		break;
	}
	return NULL;
}

/* Of a key that the floor alone may set: with an empty base. */
static struct ward_policy *floor_of(const char *text)
{
	const struct ward_source_text s[] = {{WARD_SOURCE_BASE, "f", HEAD, sizeof(HEAD) - 1},
		{WARD_SOURCE_FLOOR, "floor", text, strlen(text)}};
	struct ward_policy *p = NULL;
	struct ward_err err = WARD_ERR_INIT;
	ck_assert_msg(ward_policy_compile(s, 2, &p, &err) == 0, "%s: %s", text, err.text);
	return p;
}

/* A policy in which this key alone is set (NULL: none is). */
static struct ward_policy *policy_with(const struct ward_key *k, const char *value)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_buf_puts(&b, HEAD);
	/* what the value of another key asks for */
	if (value && ward_key_in(k, WARD_SECTION_NETWORK) && strcmp(value, "proxy") == 0)
		ward_buf_puts(&b, "[network]\nproxy = http://127.0.0.1:3128\n");
	if (value)
		ward_buf_printf(&b, "[%s%s]\n%s = %s\n", k->section->name,
			k->section->path ? " /workspace" : "", k->name, value);
	return k && k->by == WARD_BY_FLOOR ? floor_of(ward_buf_str(&b))
					   : policy_of(ward_buf_str(&b));
}

START_TEST(rows_agree_with_themselves)
{
	for (const struct ward_key *k = ward_keys; k->section; k++) {
		const struct ward_section *section = NULL;
		const struct ward_key *found = NULL;
		uint64_t n = 0;
		ck_assert_int_eq(ward_section_find(k->section->name, &section, NULL), 0);
		ck_assert_ptr_eq(section, k->section);
		/* a second row of the same name would never be found */
		ck_assert_int_eq(ward_key_find(k->section, k->name, &found, NULL), 0);
		ck_assert_msg(found == k, "[%s] %s stands twice", k->section->name, k->name);
		ck_assert_msg(k->doc && strlen(k->doc) > 9 && k->doc[strlen(k->doc) - 1] == '.',
			"[%s] %s: no sentence says what it is", k->section->name, k->name);
		ck_assert_msg(!strpbrk(k->doc, "|\n\t"), "[%s] %s: no text for a table",
			k->section->name, k->name);
		ck_assert_msg(ward_key_types[k->type].parse, "[%s] %s: its type does nothing",
			k->section->name, k->name);
		ck_assert_msg(k->words || (ward_key_types[k->type].name &&
						  ward_key_check(k, ward_key_types[k->type].example,
							  &n, NULL) == 0),
			"[%s] %s: the example of its type is no value", k->section->name, k->name);
		ck_assert_msg(k->type != WARD_KEY_TYPE_RULE ||
				      strcmp(k->name, ward_verb_name(k->verb)) == 0,
			"[%s] %s: its verb is another", k->section->name, k->name);
		ck_assert_msg((k->into.fill == WARD_FILL_READER) == (k->into.read != NULL),
			"[%s] %s: a reader goes with its fill", k->section->name, k->name);
		ck_assert_msg((k->type == WARD_KEY_TYPE_WORD) == (k->words != NULL),
			"[%s] %s: words go with their type", k->section->name, k->name);
		ck_assert_msg(!k->fallback || k->type == WARD_KEY_TYPE_TREE_AT ||
				      ward_key_check(k, k->fallback, &n, NULL) == 0,
			"[%s] %s: its default is no value of it", k->section->name, k->name);
		ck_assert_msg(k->by & (WARD_BY_BASE | WARD_BY_FLOOR), "[%s] %s: nobody may set it",
			k->section->name, k->name);
		ck_assert_msg((k->merge == WARD_MERGE_BASE) == (k->by == WARD_BY_BASE) ||
				      k->type == WARD_KEY_TYPE_VERSION,
			"[%s] %s: who sets it and how it merges disagree", k->section->name,
			k->name);
		ck_assert_msg(k->repeats == (k->merge == WARD_MERGE_ADD ||
						    k->merge == WARD_MERGE_COMMON) ||
				      k->merge == WARD_MERGE_BASE,
			"[%s] %s: a list does not merge so", k->section->name, k->name);
		ck_assert_msg(k->ready == WARD_READY_ALL || k->fallback,
			"[%s] %s: nothing of it is ready, and nothing holds", k->section->name,
			k->name);
	}
}
END_TEST

START_TEST(members_fit_their_rows)
{
	for (const struct ward_key *k = ward_keys; k->section; k++) {
		switch (k->into.fill) {
		case WARD_FILL_NONE:
			continue;
		case WARD_FILL_NUMBER:
			ck_assert_msg(
				counts(k) && !k->repeats, "[%s] %s", k->section->name, k->name);
			break;
		case WARD_FILL_FLAG:
			ck_assert_msg(k->words && !k->repeats && k->words[1] && !k->words[2],
				"[%s] %s: a flag has two words", k->section->name, k->name);
			break;
		case WARD_FILL_MODE:
			ck_assert_msg((k->words || k->type == WARD_KEY_TYPE_LEAST) && !k->repeats,
				"[%s] %s", k->section->name, k->name);
			break;
		case WARD_FILL_WORD:
			ck_assert_msg(
				k->words && !k->repeats, "[%s] %s", k->section->name, k->name);
			break;
		case WARD_FILL_WORDS:
			ck_assert_msg(k->words && k->repeats, "[%s] %s", k->section->name, k->name);
			break;
		case WARD_FILL_TEXT:
			ck_assert_msg(
				!k->words && !k->repeats, "[%s] %s", k->section->name, k->name);
			break;
		case WARD_FILL_PROXY:
			ck_assert_msg(
				k->type == WARD_KEY_TYPE_URL, "[%s] %s", k->section->name, k->name);
			break;
		case WARD_FILL_STRINGS:
			ck_assert_msg(k->repeats, "[%s] %s", k->section->name, k->name);
			break;
		case WARD_FILL_READER: /* may fill several, from the start of its structure */
			continue;
		}
		for (const struct ward_key *o = ward_keys; o < k; o++)
			ck_assert_msg(o->into.fill == WARD_FILL_NONE ||
					      o->into.fill == WARD_FILL_READER ||
					      o->section->path != k->section->path ||
					      o->into.offset != k->into.offset,
				"[%s] %s and [%s] %s fill one member", k->section->name, k->name,
				o->section->name, o->name);
	}
}
END_TEST

static const void *member(const struct ward_policy *p, const struct ward_key *k)
{
	const struct ward_settings *s = ward_policy_settings(p);
	const void *base = s;
	if (ward_key_in(k, WARD_SECTION_TREE))
		base = s->trees;
	return (const char *)base + k->into.offset;
}

/* As check_member(), of a key that a function reads. */
static void check_read(
	const struct ward_policy *p, const struct ward_key *k, const char *value, uint64_t n)
{
	const struct ward_settings *s = ward_policy_settings(p);
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	const struct ward_quota *q = s->quotas;
	bool ok = false;
	ward_buf_printf(&text, "%s = %s", k->name, value ? value : "");
	if (ward_key_in(k, WARD_SECTION_QUOTA) || ward_key_in(k, WARD_SECTION_REVIEW)) {
		const struct ward_quota_limit *l =
			ward_key_in(k, WARD_SECTION_REVIEW) ? &s->review_size
			: q ? (const void *)((const char *)q + k->into.offset)
			    : NULL;
		ok = value ? l && l->text && strcmp(l->text, ward_buf_str(&text)) == 0
			   : !l || (!l->text && l->value == WARD_UNLIMITED);
	} else if (k->type == WARD_KEY_TYPE_TREE_SOURCE) {
		ok = strcmp(s->trees[0].source, value ? value : ".") == 0;
	} else if (k->type == WARD_KEY_TYPE_TREE_AT) {
		ok = strcmp(s->trees[0].at, value ? value : k->fallback) == 0;
	} else if (k->type == WARD_KEY_TYPE_PROGRAM) {
		ok = ward_policy_has_programs(p) == (value != NULL);
	} else if (k->type == WARD_KEY_TYPE_EXPECTED_PATH ||
		   k->type == WARD_KEY_TYPE_EXPECTED_LOOK) {
		const char *file = NULL;
		unsigned line = 0;
		const bool absent = k->type == WARD_KEY_TYPE_EXPECTED_LOOK;
		const bool all =
			ward_policy_expects_path(p, "/seven/beneath", 14, false, &file, &line);
		const bool looks =
			ward_policy_expects_path(p, "/seven/beneath", 14, true, &file, &line);
		ok = (absent ? looks && !all : all) == (value != NULL) &&
		     !ward_policy_expects_path(p, "/sevent", 7, true, &file, &line);
	} else if (k->type == WARD_KEY_TYPE_CHECKPOINT) {
		ok = s->checkpoint_records == (value ? n : 0);
	} else if (k->type == WARD_KEY_TYPE_TOOLS) {
		ok = s->agent_tools == (value ? n : 0);
	} else if (k->type == WARD_KEY_TYPE_ANCHOR) {
		ok = value ? s->anchors.n == 1 && strcmp(s->anchors.v[0], value) == 0
			   : s->anchors.n == 0;
	}
	ck_assert_msg(ok, "[%s] %s", k->section->name, k->name);
}

/* What the key fills holds this value (NULL: the default). */
static void check_member(const struct ward_policy *p, const struct ward_key *k, const char *value)
{
	const void *at = member(p, k);
	const struct ward_strings *list = at;
	const struct ward_word_set *set = at;
	const char *const *string = at;
	const char *text = value ? value : k->fallback;
	uint64_t n = WARD_UNLIMITED;
	bool ok = true;
	if (text)
		ck_assert_int_eq(ward_key_check(k, text, &n, NULL), 0);
	switch (k->into.fill) {
	case WARD_FILL_NONE:
		break;
	case WARD_FILL_NUMBER:
		ok = *(const uint64_t *)at == n;
		break;
	case WARD_FILL_FLAG:
		ok = *(const bool *)at == (n == 1);
		break;
	case WARD_FILL_WORD:
		ok = *(const unsigned *)at == n;
		break;
	case WARD_FILL_WORDS:
		ok = set->bits == (value ? UINT32_C(1) << n : 0);
		break;
	case WARD_FILL_MODE:
		ok = *(const struct ward_mode *const *)at == ward_mode_at(n);
		break;
	case WARD_FILL_TEXT: /* the name has a default of its own: the file's */
		ok = value ? strcmp(*string, value) == 0
			   : !*string || k->type == WARD_KEY_TYPE_TEXT;
		break;
	case WARD_FILL_STRINGS:
		ok = !value || (list->n && strcmp(list->v[list->n - 1], value) == 0);
		break;
	case WARD_FILL_PROXY:
		ok = ((const struct ward_proxy *)at)->port == (value ? 777 : 0);
		break;
	case WARD_FILL_READER:
		check_read(p, k, value, n);
		break;
	}
	ck_assert_msg(ok, "[%s] %s", k->section->name, k->name);
}

START_TEST(settings_follow_the_rows)
{
	struct ward_policy *bare = policy_with(NULL, NULL);
	for (const struct ward_key *k = ward_keys; k->section; k++) {
		check_member(bare, k, NULL);
		if (k->into.fill == WARD_FILL_NONE)
			continue;
		const char *value = other_value(k);
		ck_assert_msg(value, "[%s] %s", k->section->name, k->name);
		struct ward_policy *p = policy_with(k, value);
		check_member(p, k, value);
		for (const struct ward_key *o = ward_keys; o->section; o++)
			if (o != k)
				check_member(p, o, NULL);
		ward_policy_unref(p);
		for (size_t i = 0; k->words && k->words[i]; i++) {
			p = policy_with(k, k->words[i]);
			check_member(p, k, k->words[i]);
			ward_policy_unref(p);
		}
	}
	ward_policy_unref(bare);
}
END_TEST

/* What a reload says of it, where before is in force. */
static size_t fixed(const struct ward_policy *before, const struct ward_policy *now)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	size_t n = 0;
	ck_assert_int_eq(ward_policy_fixed(before, now, &b, &n), 0);
	return n;
}

START_TEST(reloads_follow_the_rows)
{
	struct ward_policy *bare = policy_with(NULL, NULL);
	for (const struct ward_key *k = ward_keys; k->section; k++) {
		const char *value = other_value(k);
		if (!value)
			continue;
		struct ward_policy *p = policy_with(k, value);
		size_t want = k->live != WARD_LIVE_YES;
		ck_assert_msg(
			fixed(bare, p) == want, "[%s] %s = %s", k->section->name, k->name, value);
		ck_assert_msg(
			fixed(p, bare) == want, "[%s] %s left out", k->section->name, k->name);
		ck_assert_uint_eq(fixed(p, p), 0);
		/* another value of what both have */
		if (counts(k)) {
			const char *more = k->type == WARD_KEY_TYPE_SIZE	 ? "8M"
					   : k->type == WARD_KEY_TYPE_APPROVERS	 ? "3"
					   : k->type == WARD_KEY_TYPE_SIZE_RATE	 ? "8M/s"
					   : k->type == WARD_KEY_TYPE_COUNT_RATE ? "8/s"
										 : "8";
			struct ward_policy *q = policy_with(k, more);
			ck_assert_msg(fixed(p, q) == (k->live == WARD_LIVE_NO), "[%s] %s = %s",
				k->section->name, k->name, more);
			ward_policy_unref(q);
		}
		ward_policy_unref(p);
	}
	ward_policy_unref(bare);
}
END_TEST

static int set_by(enum ward_source_kind kind, const struct ward_key *k, const char *value)
{
	static const char base[] = HEAD "[files]\nwrite = /\n";
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	struct ward_policy *p = NULL;
	ward_buf_printf(&b, HEAD "[%s%s]\n%s = %s\n", k->section->name,
		k->section->path ? " /workspace" : "", k->name, value);
	const struct ward_source_text s[] = {
		{WARD_SOURCE_BASE, "base", base, sizeof(base) - 1},
		{kind, "f", ward_buf_str(&b), b.len},
	};
	int r = ward_policy_compile(s, 2, &p, NULL);
	ward_policy_unref(p);
	return r;
}

START_TEST(sources_follow_the_rows)
{
	for (const struct ward_key *k = ward_keys; k->section; k++) {
		const char *value = other_value(k);
		/* nothing is left of two lists of programs if one is empty */
		if (!value || k->type == WARD_KEY_TYPE_PROGRAM)
			continue;
		ck_assert_msg(
			(set_by(WARD_SOURCE_FLOOR, k, value) == 0) == !!(k->by & WARD_BY_FLOOR),
			"[%s] %s in the floor", k->section->name, k->name);
		ck_assert_msg((set_by(WARD_SOURCE_RUN, k, value) == 0 ||
				      set_by(WARD_SOURCE_PROFILE, k, value) == 0) ==
				      !!(k->by & WARD_BY_BASE),
			"[%s] %s in the base", k->section->name, k->name);
		ck_assert_msg(
			(set_by(WARD_SOURCE_PROJECT, k, value) == 0) == !!(k->by & WARD_BY_PROJECT),
			"[%s] %s in a project file", k->section->name, k->name);
	}
}
END_TEST

/* What the sources say of [guard] fold, NULL: nothing; and whether guards fold then. */
static bool folds(const char *profile, const char *base, const char *floor, const char *project)
{
	const char *says[] = {profile, base, floor, project};
	static const enum ward_source_kind kinds[] = {
		WARD_SOURCE_PROFILE, WARD_SOURCE_BASE, WARD_SOURCE_FLOOR, WARD_SOURCE_PROJECT};
	struct ward_buf texts[4] = {WARD_BUF_INIT, WARD_BUF_INIT, WARD_BUF_INIT, WARD_BUF_INIT};
	struct ward_source_text s[4];
	struct ward_policy *p = NULL;
	for (size_t i = 0; i < 4; i++) {
		ward_buf_puts(&texts[i], HEAD);
		if (kinds[i] == WARD_SOURCE_BASE)
			ward_buf_puts(&texts[i], "extends = profile\n");
		if (says[i])
			ward_buf_printf(&texts[i], "[guard]\nfold = %s\n", says[i]);
		s[i] = (struct ward_source_text){
			kinds[i], "f", ward_buf_str(&texts[i]), texts[i].len};
	}
	ck_assert_int_eq(ward_policy_compile(s, 4, &p, NULL), 0);
	const bool yes = ward_policy_folds(p);
	ward_buf_clear(&texts[0]);
	ck_assert_int_eq(ward_policy_show(p, &texts[0]), 0);
	/* what is shown is what holds */
	ck_assert_int_eq(yes, strstr(ward_buf_str(&texts[0]), "fold = yes") != NULL);
	for (size_t i = 0; i < 4; i++)
		ward_buf_clear(&texts[i]);
	ward_policy_unref(p);
	return yes;
}

START_TEST(fold_merges_as_its_row_says)
{
	ck_assert(!folds(NULL, NULL, NULL, NULL));
	ck_assert(folds("yes", NULL, NULL, NULL));
	ck_assert(!folds("yes", "no", NULL, NULL));
	ck_assert(folds("no", "yes", NULL, NULL));
	/* nobody takes away what makes guards match more */
	ck_assert(folds(NULL, "yes", "no", "no"));
	ck_assert(folds(NULL, "no", "yes", NULL));
	ck_assert(folds("yes", "no", NULL, "yes"));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("policy_keys");
	TCase *t = tcase_create("all");
	tcase_set_timeout(t, 280);
	tcase_add_test(t, rows_agree_with_themselves);
	tcase_add_test(t, members_fit_their_rows);
	tcase_add_test(t, settings_follow_the_rows);
	tcase_add_test(t, reloads_follow_the_rows);
	tcase_add_test(t, sources_follow_the_rows);
	tcase_add_test(t, fold_merges_as_its_row_says);
	suite_add_tcase(s, t);
	return suite_run(s);
}
