/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tokens: the time is an argument here, so a clock that is set back can be tried. What widens, and
 * forged chains, tests/cases/run/tokens.sh tries with a second implementation.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "audit/log/chain.h"
#include "enforcer/session/grants/grant_token.h"
#include "enforcer/session/grants/token_uses.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

static char *dir;
static struct ward_store *st;
static struct ward_err err;

static void setup(void)
{
	dir = scratch_make();
	ck_assert_int_eq(ward_chain_setup(), 0);
	ck_assert_int_eq(ward_store_open(dir, true, &st, &err), 0);
}

static void teardown(void)
{
	ward_store_close(st);
	scratch_remove(dir);
}

static char session[] = "dev", project[] = "/p", docs[] = "/w/docs/**", manual[] = "/w/docs/m";

static struct ward_token_block a_block(void)
{
	return (struct ward_token_block){.session = session,
		.right = WARD_TOKEN_WRITE,
		.what = docs,
		.from_s = 1000,
		.until_s = 2000,
		.uses = 3};
}

static struct ward_buf make(struct ward_token_block b)
{
	const uint8_t seed[WARD_KEY_BYTES] = {7};
	struct ward_signing_key key;
	struct ward_buf out = WARD_BUF_INIT;
	ward_signing_key_from_seed(seed, &key);
	ck_assert_msg(ward_grant_token_make(&key, &b, &out, &err) == 0, "%s", err.text);
	return out;
}

static struct ward_grant_token take(struct ward_buf *text)
{
	struct ward_grant_token t = {.n = 0};
	ck_assert_msg(ward_grant_token_read(text->data, text->len, &t, &err) == 0, "%s", err.text);
	ward_buf_clear(text);
	return t;
}

START_TEST(beneath)
{
	static const struct {
		const char *in, *what;
		bool yes;
	} rows[] = {
		{"/w/docs", "/w/docs", true},
		{"/w/docs", "/w/docs/a/**", true},
		{"/w/docs", "/w/doc", false},
		{"/w/docs", "/w/docs2", false},
		{"/w/docs", "/w", false},
		{"/w/docs/**", "/w/docs/*", true},
		{"/w/docs/**", "/w/docs", false},
		{"/w/*/a", "/w/x/a", true},
		{"/w/*/a", "/w/x/b", false},
		{"/w/*/a", "/w/*/a/b", true},
		{"/w/a*", "/w/abc", true},
		{"/w/a*", "/w/a*", true},
		{"/w/a*", "/w/a*c", false}, /* it is, but this is not told */
		{"/w/a", "/w/*", false},
		{"/w/a", "/w/?", false},
		{"/w/[ab]", "/w/a", true},
		{"/w/[ab]", "/w/[ab]/c", true},
		{"/w/[ab]", "/w/[abc]", false},
		{"/w/[ab]", "/w/[!ab]", false},
		{"/w/**/x", "/w/a/b/x", true},
		{"/w/**/x", "/w/**/x/y", true},
		{"/w/**/x", "/w/**/y", false},
		{"/w/a/b", "/w/**/b", false},
		{"/w/docs", "/w/docs/../src", false},
		{"/w/docs", "/w/docs/./a", false},
		{"/w/docs", "docs", false},
		{"docs", "/w/docs", false},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		ck_assert_msg(ward_token_pattern_beneath(rows[i].in, rows[i].what) == rows[i].yes,
			"%s in %s", rows[i].what, rows[i].in);
}
END_TEST

START_TEST(time_and_session)
{
	struct ward_buf text = make(a_block());
	struct ward_grant_token t = take(&text);
	ck_assert_int_eq(ward_grant_token_meant(&t, "dev", "/p", 1000, &err), 0);
	ck_assert_int_eq(ward_grant_token_meant(&t, "dev", NULL, 1999, &err), 0);
	ck_assert_int_eq(ward_grant_token_meant(&t, "dev", "/p", 999, &err), -EPERM);
	ck_assert_int_eq(ward_grant_token_meant(&t, "dev", "/p", 2000, &err), -EPERM);
	ck_assert_int_eq(ward_grant_token_meant(&t, "dev2", "/p", 1000, &err), -EPERM);
	ck_assert_int_eq(ward_grant_token_meant(&t, NULL, "/p", 1000, &err), -EPERM);
	ward_grant_token_clear(&t);
	/* Nothing was read: nothing is given. */
	ck_assert_int_eq(ward_grant_token_meant(&t, "dev", "/p", 1000, &err), -EPERM);
	struct ward_token_block b = a_block();
	b.session = NULL;
	b.project = project;
	text = make(b);
	t = take(&text);
	ck_assert_int_eq(ward_grant_token_meant(&t, "any", "/p", 1000, &err), 0);
	ck_assert_int_eq(ward_grant_token_meant(&t, "any", "/p2", 1000, &err), -EPERM);
	ck_assert_int_eq(ward_grant_token_meant(&t, "any", NULL, 1000, &err), -EPERM);
	ward_grant_token_clear(&t);
}
END_TEST

START_TEST(clock_set_back)
{
	struct ward_buf text = make(a_block());
	struct ward_grant_token t = take(&text);
	struct ward_token_block later = a_block();
	uint32_t uses = 0;
	uint64_t now = 1500;
	ck_assert_int_eq(ward_token_take(st, &t, 1, &now, &uses, &err), 0);
	ck_assert_uint_eq(uses, 1);
	/* Control: back, and its time is not over. What is left counts from the later time. */
	now = 1100;
	ck_assert_int_eq(ward_token_take(st, &t, 1, &now, &uses, &err), 0);
	ck_assert_uint_eq(now, 1500);
	later.until_s = 9000;
	text = make(later);
	struct ward_grant_token u = take(&text);
	now = 2500;
	ck_assert_int_eq(ward_token_take(st, &u, 1, &now, &uses, &err), 0);
	/* Now its time is over, whatever the clock says. */
	now = 1100;
	ck_assert_int_eq(ward_token_take(st, &t, 1, &now, &uses, &err), -EPERM);
	ward_grant_token_clear(&t);
	ward_grant_token_clear(&u);
}
END_TEST

START_TEST(uses_are_shared)
{
	struct ward_buf text = make(a_block()), one = WARD_BUF_INIT, two = WARD_BUF_INIT;
	const struct ward_token_block b = {.uses = 2, .right = WARD_TOKEN_READ, .what = manual};
	uint32_t uses = 0;
	uint64_t now = 1500;
	ck_assert_int_eq(ward_grant_token_narrow(text.data, text.len, &b, &one, &err), 0);
	ck_assert_int_eq(ward_grant_token_narrow(text.data, text.len, &b, &two, &err), 0);
	struct ward_grant_token t = take(&text), t1 = take(&one), t2 = take(&two);
	ck_assert_int_eq(ward_token_take(st, &t1, 3, &now, &uses, &err), -EDQUOT);
	ck_assert_int_eq(ward_token_take(st, &t1, 0, &now, &uses, &err), 0);
	ck_assert_uint_eq(uses, 2);
	ck_assert_int_eq(ward_token_take(st, &t1, 0, &now, &uses, &err), -EDQUOT);
	/* Of the other one's two the first one's have left one. */
	ck_assert_int_eq(ward_token_take(st, &t2, 0, &now, &uses, &err), 0);
	ck_assert_uint_eq(uses, 1);
	ck_assert_int_eq(ward_token_take(st, &t, 0, &now, &uses, &err), -EDQUOT);
	ward_grant_token_clear(&t);
	ward_grant_token_clear(&t1);
	ward_grant_token_clear(&t2);
}
END_TEST

START_TEST(revoked_with_what_came_of_it)
{
	struct ward_buf text = make(a_block()), one = WARD_BUF_INIT;
	const struct ward_token_block b = {.uses = 1};
	uint32_t uses = 0;
	uint64_t now = 1500;
	ck_assert_int_eq(ward_grant_token_narrow(text.data, text.len, &b, &one, &err), 0);
	struct ward_grant_token t = take(&text), t1 = take(&one);
	ck_assert_int_eq(ward_token_revoke(st, "t12", &err), -EINVAL);
	ck_assert_int_eq(ward_token_revoke(st, t1.gives.id, &err), 0);
	ck_assert_int_eq(ward_token_revoke(st, t1.gives.id, &err), 0);
	ck_assert_int_eq(ward_token_take(st, &t1, 0, &now, &uses, &err), -EPERM);
	/* Control: what it came from counts. */
	ck_assert_int_eq(ward_token_take(st, &t, 1, &now, &uses, &err), 0);
	ck_assert_int_eq(ward_token_revoke(st, t.gives.id, &err), 0);
	ck_assert_int_eq(ward_token_take(st, &t, 1, &now, &uses, &err), -EPERM);
	ward_grant_token_clear(&t);
	ward_grant_token_clear(&t1);
}
END_TEST

START_TEST(damaged_file)
{
	static const char *const texts[] = {"", "{", "[]", "{\"seen\":1,\"used\":{}}",
		"{\"seen\":\"1\",\"used\":{},\"revoked\":[]}"};
	struct ward_buf text = make(a_block());
	struct ward_grant_token t = take(&text);
	uint32_t uses = 0;
	uint64_t now = 1500;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		int fd = openat(ward_store_dir(st), "tokens",
			O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		ck_assert_int_eq(write(fd, texts[i], strlen(texts[i])), (ssize_t)strlen(texts[i]));
		close(fd);
		ck_assert_int_lt(ward_token_take(st, &t, 1, &now, &uses, &err), 0);
	}
	ck_assert_int_eq(unlinkat(ward_store_dir(st), "tokens", 0), 0);
	ck_assert_int_eq(ward_token_take(st, &t, 1, &now, &uses, &err), 0);
	ward_grant_token_clear(&t);
}
END_TEST

/* Each byte of a token, changed: it is no token, or (in the words of its texts) never another. */
START_TEST(flipped)
{
	const struct ward_token_block b = {.uses = 1};
	struct ward_buf text = make(a_block()), one = WARD_BUF_INIT;
	struct ward_grant_token t = {.n = 0};
	ck_assert_int_eq(ward_grant_token_narrow(text.data, text.len, &b, &one, &err), 0);
	ck_assert_int_eq(ward_grant_token_read(one.data, one.len, &t, &err), 0);
	ward_grant_token_clear(&t);
	for (size_t i = 0; i < one.len; i++) {
		one.data[i] ^= 1;
		ck_assert_msg(ward_grant_token_read(one.data, one.len, &t, &err) < 0, "%zu", i);
		one.data[i] ^= 1;
		ck_assert_msg(ward_grant_token_read(one.data, i, &t, &err) < 0, "cut at %zu", i);
	}
	ward_buf_clear(&text);
	ward_buf_clear(&one);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("grant_token");
	TCase *c = tcase_create("token");
	tcase_add_checked_fixture(c, setup, teardown);
	tcase_set_timeout(c, 120);
	tcase_add_test(c, beneath);
	tcase_add_test(c, time_and_session);
	tcase_add_test(c, clock_set_back);
	tcase_add_test(c, uses_are_shared);
	tcase_add_test(c, revoked_with_what_came_of_it);
	tcase_add_test(c, damaged_file);
	tcase_add_test(c, flipped);
	suite_add_tcase(s, c);
	return suite_run(s);
}
