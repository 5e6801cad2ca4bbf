/* SPDX-License-Identifier: Apache-2.0 */
/* What a policy decides: precedence, verbs × rights, passage, renames, hard links. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/policy/policy.h"
#include "tests/support/policies.h"
#include "tests/support/suite.h"

#define S (WARD_RIGHT_STAT | WARD_RIGHT_LIST)
#define R (S | WARD_RIGHT_READ | WARD_RIGHT_EXEC)
#define A (R | WARD_RIGHT_APPEND | WARD_RIGHT_CREATE)
#define W WARD_RIGHTS_ALL
#define HEAD "[policy]\nversion = 1\n"

/* Texts by kind of source; NULL ends at the kinds that are not given. */
struct texts {
	const char *profile, *base, *floor, *project, *run;
};

static struct ward_policy *compile(struct texts t)
{
	const char *texts[WARD_SOURCE_COUNT_] = {[WARD_SOURCE_PROFILE] = t.profile,
		[WARD_SOURCE_BASE] = t.base,
		[WARD_SOURCE_FLOOR] = t.floor,
		[WARD_SOURCE_PROJECT] = t.project,
		[WARD_SOURCE_RUN] = t.run};
	struct ward_source_text s[WARD_SOURCE_COUNT_];
	char heads[WARD_SOURCE_COUNT_][4096];
	size_t n = 0;
	for (enum ward_source_kind k = WARD_SOURCE_PROFILE; k < WARD_SOURCE_COUNT_; k++) {
		if (!texts[k])
			continue;
		snprintf(heads[k], sizeof(heads[k]), HEAD "%s", texts[k]);
		s[n++] = (struct ward_source_text){.kind = k,
			.file = ward_source_name(k),
			.text = heads[k],
			.len = strlen(heads[k])};
	}
	struct ward_policy *p = NULL;
	struct ward_err err = WARD_ERR_INIT;
	int r = ward_policy_compile(s, n, &p, &err);
	ck_assert_msg(r == 0, "%s", err.text);
	return p;
}

static struct ward_policy *base(const char *text)
{
	return compile((struct texts){.base = text});
}

static struct ward_decision ask(const struct ward_policy *p, enum ward_action action,
	const char *path, const char *path2, uint32_t want, uint32_t flags)
{
	const struct ward_state *s = policy_walk(p, path),
				*s2 = path2 ? policy_walk(p, path2) : NULL;
	struct ward_request req = {
		.action = action, .rights = want, .flags = flags, .state = s, .state2 = s2};
	struct ward_decision d = ward_policy_decide(p, &req, NULL);
	ward_policy_state_put(p, s);
	ward_policy_state_put(p, s2);
	return d;
}

#define access_to(p, path, want, flags) ask(p, WARD_ACTION_ACCESS, path, NULL, want, flags)
#define create(p, path) ask(p, WARD_ACTION_CREATE, path, NULL, 0, 0)
#define rename_file(p, a, b) ask(p, WARD_ACTION_RENAME, a, b, 0, 0)
#define rename_dir(p, a, b) ask(p, WARD_ACTION_RENAME, a, b, 0, WARD_REQUEST_DIR)

static void is(struct ward_decision d, enum ward_verdict verdict, int error)
{
	ck_assert_str_eq(ward_verdict_name(d.verdict), ward_verdict_name(verdict));
	ck_assert_int_eq(d.error, error);
}

START_TEST(each_verb_gives_its_rights)
{
	static const struct {
		const char *text;
		uint32_t rights;
	} t[] = {
		{"hide = /f\n", 0},
		{"deny = /f\n", S},
		{"read = /f\n", R},
		{"append = /f\n", A},
		{"write = /f\n", W},
		{"write = /f\nnoexec = /f\n", W & ~(uint32_t)WARD_RIGHT_EXEC},
		{"noexec = /f\nwrite = /f\n", W & ~(uint32_t)WARD_RIGHT_EXEC},
		{"read = /f\nask = /f\n", R},
		{"ask = /f\n", S},
		{"write = /f\nask = /f\n", R},
		{"append = /f\nask = /f\n", R},
		{"deny = /f\nask = /f\n", S},
		{"hide = /f\nask = /f\n", S},
		{"write = /f\nask = /f\nwrite = /f\n", W},
		{"write = /f\n[guard]\nask = /f\n", R},
		{"noexec = /f\n", 0},
		{"", 0},
	};
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		char text[128];
		snprintf(text, sizeof(text), "[files]\n%s", t[i].text);
		struct ward_policy *p = base(text);
		ck_assert_msg(policy_rights(p, "/f") == t[i].rights, "%s: %x", t[i].text,
			policy_rights(p, "/f"));
		ck_assert_uint_eq(policy_rights(p, "/f/beneath"), t[i].rights);
		ck_assert_uint_eq(policy_rights(p, "/g"), 0);
		ward_policy_unref(p);
	}
}
END_TEST

/* Every verb against every right: what the request answers. */
START_TEST(each_verb_answers_each_right)
{
	static const struct {
		const char *verb;
		uint32_t allowed;
		enum ward_verdict verdict;
		int error, create_error;
	} t[] = {
		{"hide", 0, WARD_VERDICT_HIDE, ENOENT, EACCES},
		{"deny", S, WARD_VERDICT_DENY, EACCES, EACCES},
		{"read", R, WARD_VERDICT_DENY, EACCES, EACCES},
		{"append", A, WARD_VERDICT_DENY, EACCES, 0},
		{"write", W, WARD_VERDICT_DENY, EACCES, 0},
		{"ask", S, WARD_VERDICT_ASK, EACCES, EACCES},
	};
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		char text[128];
		snprintf(text, sizeof(text), "[files]\n%s = /f\n", t[i].verb);
		struct ward_policy *p = base(text);
		for (unsigned b = 0; b < 9; b++) {
			struct ward_decision d = access_to(p, "/f", 1U << b, 0);
			if (t[i].allowed & 1U << b)
				is(d, WARD_VERDICT_ALLOW, 0);
			else
				is(d, t[i].verdict, t[i].error);
			ck_assert_ptr_nonnull(d.rule);
			ck_assert_str_eq(ward_verb_name(d.rule->verb), t[i].verb);
			ck_assert_uint_eq(d.rule->line, 4);
		}
		ck_assert_int_eq(create(p, "/f").error, t[i].create_error);
		ck_assert_int_eq(ask(p, WARD_ACTION_REMOVE, "/f", NULL, 0, 0).error,
			strcmp(t[i].verb, "write") == 0 ? 0 : t[i].error);
		ward_policy_unref(p);
	}
}
END_TEST

START_TEST(default_hides)
{
	struct ward_policy *p = base("[files]\nwrite = /workspace\n");
	struct ward_decision d = access_to(p, "/etc", WARD_RIGHT_STAT, 0);
	is(d, WARD_VERDICT_HIDE, ENOENT);
	ck_assert_ptr_null(d.rule);
	is(create(p, "/etc"), WARD_VERDICT_HIDE, EACCES);
	is(access_to(p, "/workspace/a", WARD_RIGHT_STAT, 0), WARD_VERDICT_ALLOW, 0);
	ward_policy_unref(p);
}
END_TEST

START_TEST(last_rule_wins)
{
	struct ward_policy *p = base("[files]\nread = /workspace\nwrite = /workspace/src\n"
				     "deny = *.key\nread = /workspace/pub.key\n");
	ck_assert_uint_eq(policy_rights(p, "/workspace/x"), R);
	ck_assert_uint_eq(policy_rights(p, "/workspace/src/x"), W);
	ck_assert_uint_eq(policy_rights(p, "/workspace/src/x.key"), S);
	ck_assert_uint_eq(policy_rights(p, "/workspace/pub.key"), R);
	ward_policy_unref(p);
}
END_TEST

START_TEST(run_grants_after_base_and_base_after_profile)
{
	struct ward_policy *p = compile((struct texts){
		.profile = "[files]\nwrite = /workspace\nread = /workspace/a\n",
		.base = "[files]\ndeny = /workspace/a\nhide = /workspace/b\n",
		.run = "[files]\nread = /workspace/b\n",
	});
	ck_assert_uint_eq(policy_rights(p, "/workspace/c"), W);
	ck_assert_uint_eq(policy_rights(p, "/workspace/a"), S);
	ck_assert_uint_eq(policy_rights(p, "/workspace/b"), R);
	ward_policy_unref(p);
}
END_TEST

START_TEST(others_only_take_away)
{
	struct ward_policy *p = compile((struct texts){
		.base = "[files]\nread = /workspace\nwrite = /workspace/src\n",
		.floor = "[files]\nhide = *.pem\nwrite = /workspace\n",
		.project = "[files]\ndeny = /workspace/src\nwrite = /workspace/src/a\n"
			   "write = /elsewhere\n",
	});
	ck_assert_uint_eq(policy_rights(p, "/workspace/x"), R);
	ck_assert_uint_eq(policy_rights(p, "/workspace/x.pem"), R); /* the floor's later rule */
	ck_assert_uint_eq(policy_rights(p, "/workspace/src/b"), S);
	ck_assert_uint_eq(policy_rights(p, "/workspace/src/a"), W);
	ck_assert_uint_eq(policy_rights(p, "/elsewhere"), 0);
	ward_policy_unref(p);
}
END_TEST

START_TEST(guards_are_ceilings)
{
	struct ward_policy *p = compile((struct texts){
		.base = "[guard]\ndeny = .env\nread = .git/hooks\n[files]\nwrite = /workspace\n"
			"write = .env\n",
		.run = "[files]\nwrite = .git/hooks\n",
		.project = "[guard]\nhide = /workspace/.git/hooks/secret\n",
	});
	ck_assert_uint_eq(policy_rights(p, "/workspace/a/.env"), S);
	ck_assert_uint_eq(policy_rights(p, "/workspace/a/.env/x"), S);
	ck_assert_uint_eq(policy_rights(p, "/workspace/a/.envrc"), W);
	ck_assert_uint_eq(policy_rights(p, "/workspace/.git/hooks"), R);
	ck_assert_uint_eq(policy_rights(p, "/workspace/deep/.git/hooks/x"), R);
	ck_assert_uint_eq(policy_rights(p, "/workspace/.git/config"), W);
	ck_assert_uint_eq(policy_rights(p, "/workspace/.git/hooks/secret"), 0);
	struct ward_decision d = access_to(p, "/workspace/.git/hooks/x", WARD_RIGHT_WRITE, 0);
	is(d, WARD_VERDICT_DENY, EACCES);
	ck_assert(d.rule->guard);
	ck_assert_uint_eq(d.rule->line, 5);
	ward_policy_unref(p);
}
END_TEST

START_TEST(ask_leaves_what_was_before)
{
	struct ward_policy *p = compile((struct texts){
		.base = "[files]\nread = /workspace\nask = /workspace/.github\nwrite = /w\n"
			"[guard]\nask = /w/g\n",
		.floor = "[guard]\ndeny = /workspace/.github/f\n",
	});
	ck_assert_uint_eq(policy_rights(p, "/workspace/.github"), R);
	is(access_to(p, "/workspace/.github/x", WARD_RIGHT_READ, 0), WARD_VERDICT_ALLOW, 0);
	is(access_to(p, "/workspace/.github/x", WARD_RIGHT_WRITE, 0), WARD_VERDICT_ASK, EACCES);
	is(create(p, "/workspace/.github/x"), WARD_VERDICT_ASK, EACCES);
	/* what a ceiling forbids, nobody is asked */
	is(access_to(p, "/workspace/.github/f", WARD_RIGHT_WRITE, 0), WARD_VERDICT_DENY, EACCES);
	is(access_to(p, "/w/g", WARD_RIGHT_READ, 0), WARD_VERDICT_ALLOW, 0);
	is(access_to(p, "/w/g", WARD_RIGHT_WRITE, 0), WARD_VERDICT_ASK, EACCES);
	is(access_to(p, "/w/h", WARD_RIGHT_WRITE, 0), WARD_VERDICT_ALLOW, 0);
	ward_policy_unref(p);
}
END_TEST

/* What is staged is not asked about; reading is, and nothing else gives way. */
START_TEST(ask_under_review)
{
	struct ward_policy *p = compile((struct texts){
		.base = "[files]\nwrite = /w\nask = /w/a\nask = /p\nread = /r\n"
			"[guard]\nask = /w/g\ndeny = /w/a/no\nnoexec = /w/a/x\n",
		.floor = "[files]\nask = /w/f\n",
	});
	const uint32_t staged = WARD_REQUEST_STAGED;
	static const char *const names[] = {"/w/a/f", "/w/g/f", "/w/f/f"};
	for (size_t i = 0; i < 3; i++) {
		const char *f = names[i];
		is(access_to(p, f, WARD_RIGHT_WRITE, 0), WARD_VERDICT_ASK, EACCES);
		is(access_to(p, f, WARD_RIGHT_WRITE, staged), WARD_VERDICT_ALLOW, 0);
		is(access_to(p, f, WARD_RIGHT_ATTR, staged), WARD_VERDICT_ALLOW, 0);
		is(ask(p, WARD_ACTION_CREATE, f, NULL, 0, staged), WARD_VERDICT_ALLOW, 0);
		is(ask(p, WARD_ACTION_REMOVE, f, NULL, 0, staged), WARD_VERDICT_ALLOW, 0);
		is(ask(p, WARD_ACTION_RENAME, f, "/w/x", 0, staged), WARD_VERDICT_ALLOW, 0);
		is(ask(p, WARD_ACTION_RENAME, "/w/x", f, 0, staged), WARD_VERDICT_ALLOW, 0);
		is(ask(p, WARD_ACTION_LINK, f, "/w/x", 0, staged), WARD_VERDICT_ALLOW, 0);
		is(ask(p, WARD_ACTION_LINK, "/r/x", f, 0, staged), WARD_VERDICT_DENY, EXDEV);
	}
	is(access_to(p, "/p/f", WARD_RIGHT_READ, staged), WARD_VERDICT_ASK, EACCES);
	is(access_to(p, "/w/a/no", WARD_RIGHT_WRITE, staged), WARD_VERDICT_DENY, EACCES);
	is(access_to(p, "/w/a/x", WARD_RIGHT_EXEC, staged), WARD_VERDICT_DENY, EACCES);
	is(access_to(p, "/r/f", WARD_RIGHT_WRITE, staged), WARD_VERDICT_DENY, EACCES);
	is(access_to(p, "/h", WARD_RIGHT_WRITE, staged), WARD_VERDICT_HIDE, ENOENT);
	is(ask(p, WARD_ACTION_RENAME, "/w/a/no", "/w/a/yes", 0, staged), WARD_VERDICT_DENY, EACCES);
	ward_policy_unref(p);
}
END_TEST

/* A rule before `ask` that gives changes keeps reading alone, in every source. */
START_TEST(ask_takes_changes_that_were_given)
{
	struct ward_policy *p = compile((struct texts){
		.base = "[files]\nwrite = /w\nask = /w/.github\n",
		.floor = "[files]\nask = /w/ci\n",
		.project = "[files]\nwrite = /w\nask = /w/doc\n",
	});
	static const char *const names[] = {"/w/.github/x", "/w/ci/x", "/w/doc/x"};
	for (size_t i = 0; i < 3; i++) {
		is(access_to(p, names[i], WARD_RIGHT_READ, 0), WARD_VERDICT_ALLOW, 0);
		is(access_to(p, names[i], WARD_RIGHT_WRITE, 0), WARD_VERDICT_ASK, EACCES);
		is(access_to(p, names[i], WARD_RIGHT_APPEND, 0), WARD_VERDICT_ASK, EACCES);
		is(access_to(p, names[i], WARD_RIGHT_ATTR, 0), WARD_VERDICT_ASK, EACCES);
		is(create(p, names[i]), WARD_VERDICT_ASK, EACCES);
		is(ask(p, WARD_ACTION_REMOVE, names[i], NULL, 0, 0), WARD_VERDICT_ASK, EACCES);
		is(rename_file(p, names[i], "/w/x"), WARD_VERDICT_ASK, EACCES);
		is(rename_file(p, "/w/x", names[i]), WARD_VERDICT_ASK, EACCES);
		is(ask(p, WARD_ACTION_LINK, names[i], "/w/x", 0, 0), WARD_VERDICT_DENY, EXDEV);
	}
	/* The parent stays where it is, and no link is made in its place. */
	is(rename_dir(p, "/w", "/v"), WARD_VERDICT_HIDE, EACCES);
	is(ask(p, WARD_ACTION_CREATE, "/w/.github", NULL, 0, WARD_REQUEST_SYMLINK),
		WARD_VERDICT_ASK, EACCES);
	ward_policy_unref(p);
	p = base("[files]\nwrite = /w\nask = /w/a/b\n");
	is(rename_dir(p, "/w/a", "/w/c"), WARD_VERDICT_DENY, EXDEV);
	is(ask(p, WARD_ACTION_CREATE, "/w/a", NULL, 0, WARD_REQUEST_SYMLINK), WARD_VERDICT_DENY,
		EACCES);
	is(ask(p, WARD_ACTION_CREATE, "/w/c", NULL, 0, WARD_REQUEST_SYMLINK), WARD_VERDICT_ALLOW,
		0);
	ward_policy_unref(p);
	/* `ask` and `secret` at the name leave in force what is beneath. */
	p = base("[files]\nwrite = /w\nask = /w/a/b\nask = *.x\n");
	is(ask(p, WARD_ACTION_CREATE, "/w/a", NULL, 0, WARD_REQUEST_SYMLINK), WARD_VERDICT_DENY,
		EACCES);
	ward_policy_unref(p);
	p = base("[files]\nwrite = /w\ndeny = /w/a/b\nsecret = /w/a\n");
	const struct ward_state *s = policy_walk(p, "/w/a");
	struct ward_request req = {.action = WARD_ACTION_CREATE,
		.flags = WARD_REQUEST_SYMLINK,
		.fact = WARD_FACT_ABSENT,
		.state = s};
	is(ward_policy_decide(p, &req, NULL), WARD_VERDICT_DENY, EACCES);
	req.flags = 0; /* control: what is no link */
	is(ward_policy_decide(p, &req, NULL), WARD_VERDICT_ALLOW, 0);
	ward_policy_state_put(p, s);
	ward_policy_unref(p);
}
END_TEST

START_TEST(passage_is_for_directories_on_the_way)
{
	struct ward_policy *p = base("[files]\nwrite = /workspace/a/b\nhide = /workspace/a/b/c\n"
				     "read = /workspace/a/b/c/d\nhide = /workspace/a/b/e\n");
	is(access_to(p, "/", S, WARD_REQUEST_DIR), WARD_VERDICT_ALLOW, 0);
	is(access_to(p, "/workspace/a", S, WARD_REQUEST_DIR), WARD_VERDICT_ALLOW, 0);
	is(access_to(p, "/workspace/a", S, 0), WARD_VERDICT_HIDE, ENOENT);
	is(access_to(p, "/workspace/x", S, WARD_REQUEST_DIR), WARD_VERDICT_HIDE, ENOENT);
	is(access_to(p, "/workspace/a", WARD_RIGHT_WRITE, WARD_REQUEST_DIR), WARD_VERDICT_DENY,
		EACCES);
	is(access_to(p, "/workspace/a/b/c", S, WARD_REQUEST_DIR), WARD_VERDICT_ALLOW, 0);
	is(access_to(p, "/workspace/a/b/c/x", S, WARD_REQUEST_DIR), WARD_VERDICT_HIDE, ENOENT);
	is(access_to(p, "/workspace/a/b/e", S, WARD_REQUEST_DIR), WARD_VERDICT_HIDE, ENOENT);
	/* making the directory on the way is another matter */
	is(create(p, "/workspace/a"), WARD_VERDICT_HIDE, EACCES);
	is(create(p, "/workspace/a/b"), WARD_VERDICT_ALLOW, 0);
	ward_policy_unref(p);
}
END_TEST

START_TEST(no_passage_below_a_ceiling_of_hide)
{
	struct ward_policy *p = base("[guard]\nhide = /w/secret\n"
				     "[files]\nhide = /\nread = *.txt\n");
	is(access_to(p, "/w/other", S, WARD_REQUEST_DIR), WARD_VERDICT_ALLOW, 0);
	is(access_to(p, "/w/secret", S, WARD_REQUEST_DIR), WARD_VERDICT_HIDE, ENOENT);
	is(access_to(p, "/w/secret/a.txt", S, 0), WARD_VERDICT_HIDE, ENOENT);
	ward_policy_unref(p);
}
END_TEST

START_TEST(renames)
{
	struct ward_policy *p = base("[guard]\ndeny = .env\nread = .git/hooks\n"
				     "[files]\nwrite = /w\nread = /w/ro\nappend = /w/log\n"
				     "hide = /w/h\n");
	/* an atomic save, and moves among equals */
	is(rename_file(p, "/w/f.tmp", "/w/f"), WARD_VERDICT_ALLOW, 0);
	is(rename_file(p, "/w/.git/index.lock", "/w/.git/index"), WARD_VERDICT_ALLOW, 0);
	is(rename_dir(p, "/w/src", "/w/lib"), WARD_VERDICT_ALLOW, 0);
	is(rename_dir(p, "/w/a/src", "/w/b/c/lib"), WARD_VERDICT_ALLOW, 0);
	/* the classic hole: move the parent, then reach the protected child */
	is(rename_dir(p, "/w/.git", "/w/git"), WARD_VERDICT_DENY, EXDEV);
	is(rename_dir(p, "/w/evil", "/w/.git"), WARD_VERDICT_DENY, EXDEV);
	/* rights of the two names */
	is(rename_file(p, "/w/ro/f", "/w/f"), WARD_VERDICT_DENY, EACCES);
	is(rename_file(p, "/w/f", "/w/ro/f"), WARD_VERDICT_DENY, EACCES);
	is(rename_file(p, "/w/f", "/w/log/f"), WARD_VERDICT_ALLOW, 0);
	is(rename_file(p, "/w/log/f", "/w/f"), WARD_VERDICT_DENY, EACCES);
	is(rename_file(p, "/w/f", "/w/h"), WARD_VERDICT_HIDE, EACCES);
	is(rename_file(p, "/w/h", "/w/f"), WARD_VERDICT_HIDE, ENOENT);
	is(rename_file(p, "/w/f", "/w/.env"), WARD_VERDICT_DENY, EACCES);
	is(ask(p, WARD_ACTION_RENAME, "/w/f", "/w/log/f", 0, WARD_REQUEST_DST_EXISTS),
		WARD_VERDICT_DENY, EACCES);
	is(ask(p, WARD_ACTION_RENAME, "/w/f", "/w/g", 0,
		   WARD_REQUEST_DST_EXISTS | WARD_REQUEST_EXCHANGE),
		WARD_VERDICT_ALLOW, 0);
	is(ask(p, WARD_ACTION_RENAME, "/w/f", "/w/.git", 0,
		   WARD_REQUEST_DST_EXISTS | WARD_REQUEST_EXCHANGE | WARD_REQUEST_DST_DIR),
		WARD_VERDICT_DENY, EXDEV);
	ward_policy_unref(p);
}
END_TEST

START_TEST(a_name_that_gives_more_is_refused)
{
	struct ward_policy *p = base("[files]\nwrite = /w\nnoexec = /w/dl\n");
	is(rename_file(p, "/w/dl/x", "/w/x"), WARD_VERDICT_DENY, EXDEV);
	is(rename_file(p, "/w/x", "/w/dl/x"), WARD_VERDICT_ALLOW, 0);
	is(ask(p, WARD_ACTION_LINK, "/w/dl/x", "/w/x", 0, 0), WARD_VERDICT_DENY, EXDEV);
	is(ask(p, WARD_ACTION_LINK, "/w/x", "/w/dl/x", 0, 0), WARD_VERDICT_ALLOW, 0);
	is(ask(p, WARD_ACTION_LINK, "/w/x", "/w/y", 0, WARD_REQUEST_DIR), WARD_VERDICT_DENY, EXDEV);
	ward_policy_unref(p);
}
END_TEST

START_TEST(directories_move_where_nothing_is_gained)
{
	struct ward_policy *p = base("[guard]\nnoexec = /w/dl\nread = /w/a/keep\nhide = .env\n"
				     "[files]\nwrite = /w\nwrite = /w/b\nappend = /w/log\n"
				     "deny = *.pem\nwrite = /w/c\nread = /w/d/e/f\n");
	/* another rule with the same verb; fewer rights beneath; a float that is later than both */
	is(rename_dir(p, "/w/x", "/w/b/x"), WARD_VERDICT_ALLOW, 0);
	is(rename_dir(p, "/w/b/x", "/w/x"), WARD_VERDICT_ALLOW, 0);
	is(rename_dir(p, "/w/x", "/w/dl/x"), WARD_VERDICT_ALLOW, 0);
	is(rename_dir(p, "/w/x", "/w/log/x"), WARD_VERDICT_ALLOW, 0);
	/* the way back gains */
	is(rename_dir(p, "/w/dl/x", "/w/x"), WARD_VERDICT_DENY, EXDEV);
	/* c lifts the denial of *.pem: what is a .pem in x would be readable there */
	is(rename_dir(p, "/w/x", "/w/c/x"), WARD_VERDICT_DENY, EXDEV);
	/* and from there a .pem that could be made would come where none can */
	is(rename_dir(p, "/w/c/x", "/w/x"), WARD_VERDICT_DENY, EXDEV);
	/* a protected child moves away with its parent, or is brought */
	is(rename_dir(p, "/w/a", "/w/x"), WARD_VERDICT_DENY, EXDEV);
	is(rename_dir(p, "/w/x", "/w/a"), WARD_VERDICT_DENY, EXDEV);
	is(rename_dir(p, "/w/d", "/w/x"), WARD_VERDICT_DENY, EXDEV);
	is(rename_dir(p, "/w/x", "/w/d"), WARD_VERDICT_DENY, EXDEV);
	is(rename_dir(p, "/w/d/e", "/w/e"), WARD_VERDICT_DENY, EXDEV);
	/* control: beside them nothing is protected */
	is(rename_dir(p, "/w/a/x", "/w/d/x"), WARD_VERDICT_ALLOW, 0);
	ward_policy_unref(p);
}
END_TEST

START_TEST(a_refused_move_names_what_makes_the_difference)
{
	struct ward_policy *p = base("[guard]\nread = /w/.git/hooks\nnoexec = /w/dl\n"
				     "[files]\nwrite = /w\ndeny = /w/d/secret\n");
	static const struct {
		const char *from, *to, *pattern;
	} t[] = {
		{"/w/.git", "/w/git", "/w/.git/hooks"},
		{"/w/evil", "/w/.git", "/w/.git/hooks"},
		{"/w/dl/x", "/w/x", "/w/dl"},
		{"/w/d", "/w/x", "/w/d/secret"},
		{"/w/x", "/w/d", "/w/d/secret"},
	};
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct ward_decision d = rename_dir(p, t[i].from, t[i].to);
		is(d, WARD_VERDICT_DENY, EXDEV);
		ck_assert_ptr_nonnull(d.rule);
		ck_assert_str_eq(d.rule->pattern, t[i].pattern);
	}
	ward_policy_unref(p);
}
END_TEST

START_TEST(hard_links_have_the_intersection)
{
	struct ward_policy *p = base("[files]\nwrite = /w\ndeny = /w/secret\n");
	const struct ward_state *a = policy_walk(p, "/w/a"), *secret = policy_walk(p, "/w/secret");
	struct ward_request req = {.action = WARD_ACTION_ACCESS,
		.rights = WARD_RIGHT_READ,
		.state = a,
		.others = &secret,
		.n_others = 0};
	is(ward_policy_decide(p, &req, NULL), WARD_VERDICT_ALLOW, 0);
	req.n_others = 1;
	struct ward_decision d = ward_policy_decide(p, &req, NULL);
	is(d, WARD_VERDICT_DENY, EACCES);
	ck_assert_str_eq(d.rule->pattern, "/w/secret");
	req.rights = WARD_RIGHT_STAT;
	is(ward_policy_decide(p, &req, NULL), WARD_VERDICT_ALLOW, 0);
	req.action = WARD_ACTION_REMOVE;
	is(ward_policy_decide(p, &req, NULL), WARD_VERDICT_ALLOW, 0);
	/* links that are not known: [tree] hardlinks as a ceiling */
	req = (struct ward_request){
		.action = WARD_ACTION_ACCESS, .rights = WARD_RIGHT_WRITE, .state = a, .ceiling = R};
	is(ward_policy_decide(p, &req, NULL), WARD_VERDICT_DENY, EACCES);
	req.rights = WARD_RIGHT_READ;
	is(ward_policy_decide(p, &req, NULL), WARD_VERDICT_ALLOW, 0);
	ward_policy_state_put(p, a);
	ward_policy_state_put(p, secret);
	ward_policy_unref(p);
}
END_TEST

START_TEST(malformed_requests_are_refused)
{
	struct ward_policy *p = base("[files]\nwrite = /\n");
	const struct ward_state *root = ward_policy_root(p);
	struct ward_request req = {.action = WARD_ACTION_ACCESS, .rights = W, .state = root};
	is(ward_policy_decide(p, &req, NULL), WARD_VERDICT_ALLOW, 0);
	req.rights = W + 1;
	is(ward_policy_decide(p, &req, NULL), WARD_VERDICT_DENY, EACCES);
	req = (struct ward_request){.state = root};
	is(ward_policy_decide(p, &req, NULL), WARD_VERDICT_DENY, EACCES);
	req = (struct ward_request){.action = WARD_ACTION_RENAME, .state = root};
	is(ward_policy_decide(p, &req, NULL), WARD_VERDICT_DENY, EACCES);
	req = (struct ward_request){.action = WARD_ACTION_ACCESS, .rights = S};
	is(ward_policy_decide(p, &req, NULL), WARD_VERDICT_DENY, EACCES);
	req = (struct ward_request){.action = (enum ward_action)77, .state = root, .state2 = root};
	is(ward_policy_decide(p, &req, NULL), WARD_VERDICT_DENY, EACCES);
	const struct ward_state *s = NULL;
	static const char *const bad[] = {"", "x", "/a/..", "/./a", "/a/."};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_int_eq(ward_policy_walk(p, bad[i], strlen(bad[i]), &s), -EINVAL);
	ck_assert_int_eq(ward_policy_step(p, root, "a/b", 3, &s), -EINVAL);
	ck_assert_int_eq(ward_policy_step(p, root, "a\0b", 3, &s), -EINVAL);
	ward_policy_unref(p);
}
END_TEST

START_TEST(trace_tells_who_was_beaten)
{
	struct ward_policy *p = compile((struct texts){
		.base = "[guard]\nread = /w\n[files]\nwrite = /w\ndeny = /w/a\nread = /w/a\n",
		.floor = "[files]\ndeny = /w/a/x\n",
	});
	const struct ward_state *s = policy_walk(p, "/w/a/x");
	struct ward_request req = {
		.action = WARD_ACTION_ACCESS, .rights = WARD_RIGHT_READ, .state = s};
	struct ward_trace t;
	struct ward_decision d = ward_policy_decide(p, &req, &t);
	is(d, WARD_VERDICT_DENY, EACCES);
	ck_assert_int_eq(d.rule->source, WARD_SOURCE_FLOOR);
	ck_assert_uint_eq(t.n, 5);
	static const bool decides[] = {true, false, false, true, true};
	for (size_t i = 0; i < 5; i++)
		ck_assert_int_eq(t.entries[i].decides, decides[i]);
	ward_policy_state_put(p, s);
	ward_policy_unref(p);
}
END_TEST

/* A link at path in the tree /w, or another one moved, linked or exchanged there from /w/l. */
static void link_is(struct ward_policy *p, const char *path, int error, unsigned line)
{
	static const struct {
		enum ward_action action;
		uint32_t flags;
		bool back; /* the link is what is exchanged away */
	} ways[] = {
		{WARD_ACTION_CREATE, WARD_REQUEST_SYMLINK, false},
		{WARD_ACTION_RENAME, WARD_REQUEST_SYMLINK, false},
		{WARD_ACTION_RENAME, WARD_REQUEST_SYMLINK | WARD_REQUEST_EXCHANGE, false},
		{WARD_ACTION_RENAME, WARD_REQUEST_DST_SYMLINK | WARD_REQUEST_EXCHANGE, true},
		{WARD_ACTION_LINK, WARD_REQUEST_SYMLINK, false},
	};
	const struct ward_state *root = policy_walk(p, "/w"), *s = policy_walk(p, path),
				*other = policy_walk(p, "/w/l");
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		bool one = ways[i].action == WARD_ACTION_CREATE || ways[i].back;
		struct ward_request req = {.action = ways[i].action,
			.flags = ways[i].flags,
			.state = one ? s : other,
			.state2 = one ? other : s,
			.root = root};
		struct ward_decision d = ward_policy_decide(p, &req, NULL);
		ck_assert_msg(d.error == error, "%s, way %zu: %d", path, i, d.error);
		ck_assert_int_eq(d.link, error != 0);
		ck_assert_uint_eq(error ? d.rule->line : line, line);
		/* control: what is no link */
		req.flags &= ~(uint32_t)(WARD_REQUEST_SYMLINK | WARD_REQUEST_DST_SYMLINK);
		is(ward_policy_decide(p, &req, NULL), WARD_VERDICT_ALLOW, 0);
	}
	ward_policy_state_put(p, root);
	ward_policy_state_put(p, s);
	ward_policy_state_put(p, other);
}

START_TEST(links_do_not_lead_past_rules)
{
	struct ward_policy *p = base("[tree /w]\nsource = .\n[files]\n" /* from line 5 */
				     "read = /w/beaten/x\n"
				     "write = /w\n"
				     "read = .claude/settings.json\n"
				     "hide = /w/a/b/c\n"
				     "deny = /w/**/*.key\n"
				     "read = /w/src/**/*.h\n"
				     "noexec = /w/tools/*\n"
				     "append = /w/log/*/x\n"
				     "write = /w/lib/x\n"
				     "ask = /w/maybe/x\n"
				     "deny = id_rsa\n"
				     "[guard]\nread = /w/guarded/x\nask = /w/person/x\n");
	link_is(p, "/w/.claude", EACCES, 8);
	link_is(p, "/w/deep/beneath/.claude", EACCES, 8);
	link_is(p, "/w/a", EACCES, 9);
	link_is(p, "/w/a/b", EACCES, 9);
	link_is(p, "/w/src", EACCES, 11);
	link_is(p, "/w/src/x/y", EACCES, 11);
	link_is(p, "/w/log/y", EACCES, 13);
	link_is(p, "/w/maybe", EACCES, 15);
	link_is(p, "/w/guarded", EACCES, 18);
	link_is(p, "/w/person", EACCES, 19);
	/* nothing beneath that the target might not have as well */
	static const char *const fine[] = {"/w/x", "/w/node_modules/.bin/x", "/w/a/x", "/w/a/b/x",
		"/w/lib", "/w/beaten", "/w/.claude/x"};
	for (size_t i = 0; i < sizeof(fine) / sizeof(fine[0]); i++)
		link_is(p, fine[i], 0, 0);
	ward_policy_unref(p);
}
END_TEST

/* A file beneath a directory that moves may be a link, also where a rule leaves `create`. */
START_TEST(links_do_not_move_along)
{
	struct ward_policy *p = base("[files]\nwrite = /w\nappend = /w/log/*/x\n"
				     "append = /w/flat/x\nread = /w/c/d/e\n");
	is(rename_dir(p, "/w/new", "/w/log"), WARD_VERDICT_DENY, EXDEV);
	is(rename_dir(p, "/w/new", "/w/c"), WARD_VERDICT_DENY, EXDEV);
	/* the name itself, which may be made as a link there as well */
	is(rename_dir(p, "/w/new", "/w/flat"), WARD_VERDICT_ALLOW, 0);
	is(rename_dir(p, "/w/new", "/w/log/x"), WARD_VERDICT_ALLOW, 0);
	is(rename_dir(p, "/w/new", "/w/other"), WARD_VERDICT_ALLOW, 0);
	ward_policy_unref(p);
}
END_TEST

START_TEST(root_of_a_tree)
{
	struct ward_policy *p = base("[tree /w]\nsource = .\n[tree /w/in]\nsource = tmpfs:1M\n"
				     "[files]\nwrite = /w\ndeny = /w/in/**/k\n");
	static const struct {
		const char *path, *root;
	} t[] = {{"/w", "/w"}, {"/w/x", "/w"}, {"/w/in", "/w/in"}, {"/w/in/x/y", "/w/in"},
		{"/w/inn", "/w"}, {"/wx", NULL}, {"/", NULL}};
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		const struct ward_state *s = NULL,
					*want = t[i].root ? policy_walk(p, t[i].root) : NULL;
		ck_assert_int_eq(ward_policy_tree_root(p, t[i].path, &s), 0);
		ck_assert_ptr_eq(s, want);
		ward_policy_state_put(p, s);
		ward_policy_state_put(p, want);
	}
	ward_policy_unref(p);
}
END_TEST

START_TEST(fold_holds_for_guards)
{
	struct ward_policy *p =
		base("[guard]\nfold = yes\ndeny = .git/Config\n[files]\nwrite = /w\nread = /w/A\n");
	ck_assert_uint_eq(policy_rights(p, "/w/.GIT/cONFIG"), S);
	ck_assert_uint_eq(policy_rights(p, "/w/.git/config"), S);
	ck_assert_uint_eq(policy_rights(p, "/w/A"), R);
	ck_assert_uint_eq(policy_rights(p, "/w/a"), W);
	ward_policy_unref(p);
}
END_TEST

START_TEST(blob_goes_and_comes_back)
{
	struct ward_policy *p = compile((struct texts){
		.base = "[files]\nwrite = /w\n", .project = "[files]\nhide = *.pem\n"});
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ck_assert_int_eq(ward_policy_encode(p, &b), 0);
	struct ward_policy *q = NULL;
	ck_assert_int_eq(ward_policy_decode(b.data, b.len, &q, NULL), 0);
	ck_assert_str_eq(ward_policy_digest(p), ward_policy_digest(q));
	ck_assert_uint_eq(policy_rights(q, "/w/a.pem"), 0);
	ck_assert_uint_eq(policy_rights(q, "/w/a"), W);
	ward_policy_unref(q);
	struct ward_policy *none = NULL;
	for (size_t n = 0; n < b.len; n++)
		ck_assert_int_lt(ward_policy_decode(b.data, n, &none, NULL), 0);
	ck_assert_ptr_null(none);
	ward_policy_unref(p);
	p = base("[files]\nwrite = /v\n");
	q = base("; a comment\n[files]\n\nwrite=/v   ; another\n");
	ck_assert_str_eq(ward_policy_digest(p), ward_policy_digest(q));
	ward_policy_unref(q);
	q = base("[files]\nwrite = /u\n");
	ck_assert_str_ne(ward_policy_digest(p), ward_policy_digest(q));
	ward_policy_unref(q);
	ward_policy_unref(p);
}
END_TEST

/* Whatever the rules say of it: the way to another tree stays, and what that covers is not shown.
 */
START_TEST(other_trees_beneath)
{
	const uint32_t leads = WARD_REQUEST_LEADS | WARD_REQUEST_DIR;
	const uint32_t place = leads | WARD_REQUEST_COVERED, within = WARD_REQUEST_COVERED;
	struct ward_policy *p = base("[files]\nwrite = /w\nhide = /w/h\n");
	is(access_to(p, "/w/a", W, WARD_REQUEST_DIR), WARD_VERDICT_ALLOW, 0);
	is(access_to(p, "/w/a", W & ~(uint32_t)WARD_RIGHT_REMOVE, leads), WARD_VERDICT_ALLOW, 0);
	is(ask(p, WARD_ACTION_REMOVE, "/w/a", NULL, 0, 0), WARD_VERDICT_ALLOW, 0);
	is(ask(p, WARD_ACTION_REMOVE, "/w/a", NULL, 0, leads), WARD_VERDICT_DENY, EBUSY);
	is(ask(p, WARD_ACTION_CREATE, "/w/a", NULL, 0, place), WARD_VERDICT_DENY, EBUSY);
	is(rename_dir(p, "/w/a", "/w/b"), WARD_VERDICT_ALLOW, 0);
	is(ask(p, WARD_ACTION_RENAME, "/w/a", "/w/b", 0, leads), WARD_VERDICT_DENY, EBUSY);
	is(access_to(p, "/w/h", S, WARD_REQUEST_DIR), WARD_VERDICT_HIDE, ENOENT);
	is(access_to(p, "/w/h", WARD_RIGHT_STAT, leads), WARD_VERDICT_ALLOW, 0);
	is(access_to(p, "/w/h", WARD_RIGHT_LIST, leads), WARD_VERDICT_DENY, EACCES);
	struct ward_decision d = access_to(p, "/w/a", WARD_RIGHT_STAT, place);
	is(d, WARD_VERDICT_ALLOW, 0);
	ck_assert_uint_eq(d.granted, WARD_RIGHT_STAT);
	is(access_to(p, "/w/a", WARD_RIGHT_LIST, place), WARD_VERDICT_DENY, EACCES);
	for (uint32_t bit = 1; bit < WARD_RIGHTS_ALL; bit <<= 1)
		is(access_to(p, "/w/a/f", bit, within), WARD_VERDICT_DENY, EACCES);
	ck_assert_uint_eq(access_to(p, "/w/a/f", S, within).granted, 0);
	is(create(p, "/w/a/f"), WARD_VERDICT_ALLOW, 0);
	is(ask(p, WARD_ACTION_CREATE, "/w/a/f", NULL, 0, within), WARD_VERDICT_DENY, EACCES);
	is(ask(p, WARD_ACTION_LINK, "/w/f", "/w/a/f", 0, within), WARD_VERDICT_DENY, EACCES);
	ward_policy_unref(p);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("policy_decide");
	TCase *t = tcase_create("all");
	tcase_add_test(t, each_verb_gives_its_rights);
	tcase_add_test(t, each_verb_answers_each_right);
	tcase_add_test(t, default_hides);
	tcase_add_test(t, last_rule_wins);
	tcase_add_test(t, run_grants_after_base_and_base_after_profile);
	tcase_add_test(t, others_only_take_away);
	tcase_add_test(t, guards_are_ceilings);
	tcase_add_test(t, ask_leaves_what_was_before);
	tcase_add_test(t, ask_under_review);
	tcase_add_test(t, ask_takes_changes_that_were_given);
	tcase_add_test(t, passage_is_for_directories_on_the_way);
	tcase_add_test(t, no_passage_below_a_ceiling_of_hide);
	tcase_add_test(t, renames);
	tcase_add_test(t, a_name_that_gives_more_is_refused);
	tcase_add_test(t, directories_move_where_nothing_is_gained);
	tcase_add_test(t, a_refused_move_names_what_makes_the_difference);
	tcase_add_test(t, hard_links_have_the_intersection);
	tcase_add_test(t, other_trees_beneath);
	tcase_add_test(t, malformed_requests_are_refused);
	tcase_add_test(t, trace_tells_who_was_beaten);
	tcase_add_test(t, links_do_not_lead_past_rules);
	tcase_add_test(t, links_do_not_move_along);
	tcase_add_test(t, root_of_a_tree);
	tcase_add_test(t, fold_holds_for_guards);
	tcase_add_test(t, blob_goes_and_comes_back);
	suite_add_tcase(s, t);
	return suite_run(s);
}
