/* SPDX-License-Identifier: Apache-2.0 */
/* Of strings that do not end, and of those that ask, which parts do several terminals see? */
#include <check.h>
#include <string.h>

#include "enforcer/screen/long_strings.h"
#include "tests/support/suite.h"

struct seen {
	struct ward_pieces pieces;
	struct ward_long string;
	size_t shown, hidden, cuts, text;
	bool open; /* a terminal is within a string */
};

static void on_piece(void *user, enum ward_piece kind, const char *data, size_t n)
{
	struct seen *s = user;
	if (kind != WARD_PIECE_LONG && kind != WARD_PIECE_LONG_END) {
		ck_assert(!s->open);
		s->text += kind == WARD_PIECE_TEXT ? n : 0;
		return;
	}
	switch (ward_long_next(&s->string, kind, data, n)) {
	case WARD_LONG_HIDE:
		s->hidden += n;
		break;
	case WARD_LONG_SHOW:
		s->shown += n;
		s->open = kind == WARD_PIECE_LONG;
		break;
	case WARD_LONG_CUT:
		ck_assert(s->open);
		s->cuts++;
		s->open = false;
		break;
	}
	ck_assert_int_eq(s->open, ward_long_shown(&s->string));
}

static void write_to(struct seen *s, const char *text)
{
	ward_pieces_read(&s->pieces, text, strlen(text), on_piece, s);
}

static void fill(struct seen *s, size_t bytes)
{
	static const char some[] = "QUJDREVGR0hJSktMTU5PUFFSU1RVVldY";
	for (size_t i = 0; i < bytes; i += strlen(some))
		write_to(s, some);
}

START_TEST(a_string_without_an_end_is_cut)
{
	static const char *const begin[] = {
		"\033]52;c;", "\033]1337;File=:", "\033Pq", "\033P0;1;0q"};
	for (size_t i = 0; i < sizeof(begin) / sizeof(*begin); i++) {
		struct seen s = {0};
		write_to(&s, begin[i]);
		fill(&s, WARD_LONG_MAX + (1 << 20));
		ck_assert_uint_eq(s.cuts, 1);
		ck_assert(s.shown <= WARD_LONG_MAX && s.shown > WARD_LONG_MAX - WARD_PIECE_MAX - 8);
		/* The rest of it stays hidden, however it ends; then text is text again. */
		write_to(&s, "\033\\after");
		ck_assert_uint_eq(s.text, 5);
		ck_assert_uint_eq(s.cuts, 1);
		/* The control: the next one, which ends, is shown whole. */
		const size_t before = s.shown;
		write_to(&s, begin[i]);
		fill(&s, 3 * WARD_PIECE_MAX);
		write_to(&s, "\033\\");
		ck_assert_uint_eq(
			s.shown - before, strlen(begin[i]) + 3 * (size_t)WARD_PIECE_MAX + 2);
		ck_assert(!s.open);
	}
}
END_TEST

START_TEST(what_may_ask_is_hidden)
{
	static const char *const begin[] = {"\033]4;", "\033]2;", "\033]1337;ReportCellSize;",
		"\033P+q", "\033P$q", "\033P0$q", "\033_G", "\033^", "\033X", "\033k",
		"\033]52;c;?", "\033]552;"};
	for (size_t i = 0; i < sizeof(begin) / sizeof(*begin); i++) {
		struct seen s = {0};
		write_to(&s, begin[i]);
		fill(&s, 3 * WARD_PIECE_MAX);
		write_to(&s, "\033\\after");
		ck_assert_uint_eq(s.shown, 0);
		ck_assert_uint_gt(s.hidden, 0);
		ck_assert_uint_eq(s.text, 5);
	}
}
END_TEST

START_TEST(a_question_far_behind_is_cut_off)
{
	struct seen s = {0};
	write_to(&s, "\033]52;");
	fill(&s, 3 * WARD_PIECE_MAX);
	write_to(&s, ";?");
	fill(&s, 3 * WARD_PIECE_MAX);
	write_to(&s, "\007after");
	ck_assert_uint_eq(s.cuts, 1);
	ck_assert(s.shown > 0 && s.shown <= 3 * WARD_PIECE_MAX + 8);
	ck_assert_uint_eq(s.text, 5);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("long_strings");
	TCase *t = tcase_create("watchers");
	tcase_add_test(t, a_string_without_an_end_is_cut);
	tcase_add_test(t, what_may_ask_is_hidden);
	tcase_add_test(t, a_question_far_behind_is_cut_off);
	suite_add_tcase(s, t);
	return suite_run(s);
}
