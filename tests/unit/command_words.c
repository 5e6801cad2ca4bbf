/* SPDX-License-Identifier: Apache-2.0 */
/* The words of a command line that a shell would run. */
#include "enforcer/policy/command_words.h"

#include <string.h>

#include "enforcer/base/buf.h"
#include "tests/support/suite.h"

/* "P:word S:word word", in order. */
static int put(void *user, const char *word, size_t len, enum ward_word kind)
{
	static const char *const marks[] = {
		[WARD_WORD_OTHER] = "", [WARD_WORD_PROGRAM] = "P:", [WARD_WORD_SCRIPT] = "S:"};
	struct ward_buf *b = user;
	ward_buf_printf(b, "%s%s%.*s", b->len ? " " : "", marks[kind], (int)len, word);
	return 0;
}

START_TEST(known_answers)
{
	static const struct {
		const char *text, *words;
	} t[] = {
		{"", ""},
		{"  $  ", ""},
		{"less -FRX", "P:less -FRX"},
		{"sh x.sh y", "P:sh S:x.sh y"},
		{"sh -e x.sh", "P:sh -e S:x.sh"},
		{"bash -eu -o pipefail x.sh", "P:bash -eu -o pipefail S:x.sh"},
		{"sh -c 'node x.js'", "P:sh -c P:node S:x.js"},
		{"sh -ec \"a/b; c\"", "P:sh -ec P:a/b P:c"},
		{"node -r ./a.js b.js c", "P:node -r S:./a.js S:b.js c"},
		{"node -e require", "P:node -e require"},
		{"perl -e print x", "P:perl -e print x"},
		{"python3.11 -W ignore -u x.py", "P:python3.11 -W ignore -u S:x.py"},
		{"python3 -m a.b c", "P:python3 -m S:a/b.py S:a/b/__main__.py c"},
		{"python3 -c code", "P:python3 -c code"},
		{"/usr/bin/env A=b timeout 9 sh x", "P:/usr/bin/env A=b b P:timeout 9 P:sh S:x"},
		{"busybox sh x", "P:busybox P:sh S:x"},
		{"deno run -A x.ts", "P:deno run -A S:x.ts"},
		{"java -jar a.jar", "P:java -jar S:a.jar"},
		{". ./env.sh && x/y", "P:. S:./env.sh P:x/y"},
		{"!f() { sh x; }; f", "P:f P:sh S:x P:f"},
		{"a | sh x", "P:a P:sh S:x"},
		{"$(git rev-parse --x)/t/y", "P:git rev-parse --x S:t/y P:/t/y"},
		{"${ROOT}/t/y", "S:t/y P:/t/y"},
		{"$HOME/t/y", "S:t/y P:HOME/t/y"},
		{"a --b=c d", "P:a --b=c c d"},
		{"((((((((((a)))))))))) b", "P:a P:b"},
		{"${", ""},
		{"$(", ""},
		{"))))a", "P:a"},
	};
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct ward_buf b = WARD_BUF_INIT;
		ck_assert_int_eq(ward_command_words(t[i].text, put, &b), 0);
		ck_assert_msg(strcmp(ward_buf_str(&b), t[i].words) == 0, "%s: %s, not %s",
			t[i].text, ward_buf_str(&b), t[i].words);
		ward_buf_clear(&b);
	}
}
END_TEST

static int stop(void *user, const char *word, size_t len, enum ward_word kind)
{
	unsigned *n = user;
	(void)word;
	(void)len;
	(void)kind;
	return ++*n == 2 ? -7 : 0;
}

START_TEST(the_first_error_ends_it)
{
	unsigned n = 0;
	ck_assert_int_eq(ward_command_words("a b c", stop, &n), -7);
	ck_assert_uint_eq(n, 2);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("command_words");
	TCase *t = tcase_create("all");
	tcase_add_test(t, known_answers);
	tcase_add_test(t, the_first_error_ends_it);
	suite_add_tcase(s, t);
	return suite_run(s);
}
