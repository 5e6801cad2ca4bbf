/* SPDX-License-Identifier: Apache-2.0 */
/* Verification: whatever is done to a trail afterwards has a name. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/clock.h"
#include "enforcer/base/fd.h"
#include "tests/support/suite.h"
#include "tests/support/trail_session.h"

/* --- verification --- */

START_TEST(an_untouched_session_is_intact)
{
	struct sample x = sample_new(NULL, 30);
	struct ward_verify_result r = sample_verify(&x, &x.log);
	expect(&r, WARD_VERIFY_INTACT, 0, "untouched", 0);
	ck_assert_uint_eq(r.records, 32);
	ck_assert_int_eq(x.view.result.state, WARD_VERIFY_INTACT);
	ck_assert(x.known->complete);
	sample_free(&x);
}
END_TEST

START_TEST(every_changed_byte_is_found)
{
	struct sample x = sample_new("flip", 5);
	const char with[] = {'\n', ' ', '0', '9', 0};
	size_t record = 0;
	for (size_t i = 0; i < x.log.len; i++) {
		if (&x.log.data[i] >= x.line[record + 1])
			record++;
		char old = x.log.data[i];
		for (size_t k = 0; k < 2 + sizeof(with); k++) {
			char c = k < 2 ? (char)(old ^ (k ? 0x80 : 1)) : with[k - 2];
			if (c == old)
				continue;
			x.log.data[i] = c;
			struct ward_verify_result r = sample_verify(&x, &x.log);
			expect(&r, WARD_VERIFY_EDITED, record + 1, "byte", i);
		}
		x.log.data[i] = old;
	}
	struct ward_verify_result r = sample_verify(&x, &x.log);
	expect(&r, WARD_VERIFY_INTACT, 0, "restored", 0);
	sample_free(&x);
}
END_TEST

START_TEST(every_deleted_record_is_found)
{
	struct sample x = sample_new("delete", 10);
	for (size_t from = 0; from < x.n - 1; from++)
		for (size_t len = 1; from + len < x.n; len++) {
			size_t order[LINES_MAX];
			size_t n = 0;
			for (size_t i = 0; i < x.n; i++)
				if (i < from || i >= from + len)
					order[n++] = i;
			ward_cleanup(ward_buf_clear) struct ward_buf b = sample_pick(&x, order, n);
			struct ward_verify_result r = sample_verify(&x, &b);
			expect(&r, WARD_VERIFY_DELETED, from + 1, "deleted", from * 100 + len);
		}
	sample_free(&x);
}
END_TEST

START_TEST(every_moved_record_is_found)
{
	struct sample x = sample_new("move", 10);
	for (size_t from = 0; from < x.n; from++)
		for (size_t to = 0; to < x.n; to++) {
			if (from == to)
				continue;
			size_t order[LINES_MAX];
			size_t n = 0;
			for (size_t i = 0; i < x.n; i++)
				if (i != from)
					order[n++] = i;
			memmove(order + to + 1, order + to, (n - to) * sizeof(*order));
			order[to] = from;
			ward_cleanup(ward_buf_clear) struct ward_buf b =
				sample_pick(&x, order, x.n);
			struct ward_verify_result r = sample_verify(&x, &b);
			expect(&r, WARD_VERIFY_REORDERED, (from < to ? from : to) + 1, "moved",
				from * 100 + to);
		}
	sample_free(&x);
}
END_TEST

START_TEST(every_added_line_is_found)
{
	struct sample x = sample_new("add", 8);
	for (size_t from = 0; from < x.n; from++)
		for (size_t to = 0; to <= x.n; to++) {
			size_t order[LINES_MAX];
			size_t n = 0;
			for (size_t i = 0; i <= x.n; i++) {
				if (i == to)
					order[n++] = from;
				if (i < x.n)
					order[n++] = i;
			}
			ward_cleanup(ward_buf_clear) struct ward_buf b = sample_pick(&x, order, n);
			struct ward_verify_result r = sample_verify(&x, &b);
			/* A copy behind its original is reported at the copy, else at the original.
			 */
			expect(&r, WARD_VERIFY_EDITED, (to == from ? to + 1 : to) + 1, "added",
				from * 100 + to);
		}
	sample_free(&x);
}
END_TEST

START_TEST(every_cut_is_found)
{
	struct sample x = sample_new("cut", 6);
	size_t whole = 0;
	for (size_t len = 0; len < x.log.len; len++) {
		if (x.log.data + len >= x.line[whole + 1])
			whole++;
		struct ward_verify_result r =
			verify_bytes(x.log.data, len, x.s.st.name, x.s.root, x.known);
		expect(&r, WARD_VERIFY_TRUNCATED, whole + 1, "cut at", len);
	}
	/* Without the ledger's end there is no telling from a writer that died: not intact. */
	struct ward_ledger_session open_end = *x.known;
	open_end.ended = false;
	size_t len = (size_t)(x.line[4] - x.log.data);
	struct ward_verify_result r =
		verify_bytes(x.log.data, len, x.s.st.name, x.s.root, &open_end);
	expect(&r, WARD_VERIFY_INCOMPLETE, 0, "no end", 0);
	r = verify_bytes(x.log.data, len + 20, x.s.st.name, x.s.root, &open_end);
	expect(&r, WARD_VERIFY_INCOMPLETE, 0, "torn", 0);
	r = verify_bytes(x.log.data, x.log.len, x.s.st.name, x.s.root, NULL);
	ck_assert_int_eq(r.state, WARD_VERIFY_DELETED); /* the ledger's entries */
	sample_free(&x);
}
END_TEST

START_TEST(flips_in_a_log_without_end_are_found)
{
	struct sample x = sample_new("flip-open", 5);
	struct ward_ledger_session open_end = *x.known;
	open_end.ended = false;
	/* All but the last line: it has no successor that would tell a wrong seq from a gap. */
	for (size_t i = 0; &x.log.data[i] < x.line[x.n - 1]; i++) {
		x.log.data[i] ^= 1;
		struct ward_verify_result r =
			verify_bytes(x.log.data, x.log.len, x.s.st.name, x.s.root, &open_end);
		ck_assert_msg(r.state == WARD_VERIFY_EDITED, "byte %zu: %s", i,
			ward_verify_state_name(r.state));
		x.log.data[i] ^= 1;
	}
	sample_free(&x);
}
END_TEST

START_TEST(a_splice_of_two_sessions_is_found)
{
	struct sample a = sample_new("one", 6);
	struct sample b = sample_new("two", 6);
	for (size_t i = 0; i < a.n; i++) {
		ward_cleanup(ward_buf_clear) struct ward_buf mix = WARD_BUF_INIT;
		ward_buf_add(&mix, a.log.data, (size_t)(a.line[i] - a.log.data));
		ward_buf_add(&mix, b.line[i], (size_t)(b.line[b.n] - b.line[i]));
		struct ward_verify_result r = sample_verify(&a, &mix);
		expect(&r, WARD_VERIFY_EDITED, i + 1, "splice", i);
	}
	/* The other session's log whole under this name. */
	struct ward_verify_result r = sample_verify(&a, &b.log);
	expect(&r, WARD_VERIFY_EDITED, 1, "swapped", 0);
	sample_free(&a);
	sample_free(&b);
}
END_TEST

START_TEST(a_log_of_another_key_is_foreign)
{
	struct sample x = sample_new("foreign", 6);
	uint8_t other[WARD_KEY_BYTES] = {1, 2, 3};
	struct ward_ledger_view v = ledger_of(&x.ledger, other);
	ck_assert_int_eq(v.result.state, WARD_VERIFY_FOREIGN);
	ck_assert_ptr_null(ward_ledger_view_find(&v, "foreign"));
	struct ward_verify_result r = verify_bytes(x.log.data, x.log.len, x.s.st.name, other, NULL);
	expect(&r, WARD_VERIFY_FOREIGN, 1, "foreign", 0);
	/* A forger has no key: re-chained with one of his own, under the ledger's eyes. */
	ward_cleanup(ward_buf_clear) struct ward_buf forged = WARD_BUF_INIT;
	uint8_t key[WARD_KEY_BYTES];
	uint8_t prev[WARD_MAC_BYTES] = {0};
	ward_chain_first_key(other, x.s.st.name, key);
	for (size_t i = 0; i < x.n; i++) {
		struct ward_line l;
		size_t len = (size_t)(x.line[i + 1] - x.line[i]) - 1;
		ck_assert_int_eq(ward_line_parse(x.line[i], len, &l), 0);
		size_t start = forged.len;
		ward_buf_add(&forged, x.line[i], l.body_len);
		ward_chain_seal(key, prev, &forged, start);
		ward_chain_ratchet(key);
	}
	ck_assert_uint_eq(forged.len, x.log.len);
	r = sample_verify(&x, &forged);
	expect(&r, WARD_VERIFY_EDITED, 1, "re-chained", 0);
	ward_ledger_view_free(&v);
	sample_free(&x);
}
END_TEST

/* --- the ledger --- */

START_TEST(the_ledger_is_guarded_like_a_trail)
{
	struct sample a = sample_new("l1", 1);
	struct sample b = sample_new("l2", 1);
	struct sample x = sample_new("l3", 1);
	ck_assert_int_eq(x.view.result.state, WARD_VERIFY_INTACT);
	ck_assert_uint_eq(x.view.n, 3);
	const char *line[LINES_MAX + 1];
	size_t n = 0;
	split(&x.ledger, line, &n);
	ck_assert_uint_eq(n, 6);
	size_t record = 0;
	for (size_t i = 0; i < x.ledger.len - 1; i++) {
		if (&x.ledger.data[i] >= line[record + 1])
			record++;
		x.ledger.data[i] ^= 1;
		struct ward_ledger_view v = ledger_of(&x.ledger, x.s.root);
		/* The last entry's seq: nothing behind it tells a wrong number from a gap. */
		bool last_seq = record == n - 1 && i < (size_t)(line[n - 1] - x.ledger.data) + 14;
		ck_assert_msg(v.result.state == WARD_VERIFY_EDITED ||
				      (last_seq && v.result.state == WARD_VERIFY_DELETED),
			"byte %zu: %s", i, ward_verify_state_name(v.result.state));
		ck_assert_uint_eq(v.result.first_bad, record + 1);
		ward_ledger_view_free(&v);
		x.ledger.data[i] ^= 1;
	}
	for (size_t gone = 0; gone + 1 < n; gone++) {
		ward_cleanup(ward_buf_clear) struct ward_buf cut = WARD_BUF_INIT;
		ward_buf_add(&cut, x.ledger.data, (size_t)(line[gone] - x.ledger.data));
		ward_buf_add(&cut, line[gone + 1], (size_t)(line[n] - line[gone + 1]));
		struct ward_ledger_view v = ledger_of(&cut, x.s.root);
		expect(&v.result, WARD_VERIFY_DELETED, gone + 1, "entry", gone);
		ward_ledger_view_free(&v);
	}
	sample_free(&a);
	sample_free(&b);
	sample_free(&x);
}
END_TEST

START_TEST(a_torn_entry_is_told_and_the_ledger_goes_on)
{
	struct sample a = sample_new("t1", 1);
	ck_assert_int_eq(ward_fd_write_all(a.s.st.ledger.fd, "{\"v\":1,\"se", 10), 0);
	ward_cleanup(ward_buf_clear) struct ward_buf torn = slurp(a.s.st.ledger.fd);
	struct ward_ledger_view v = ledger_of(&torn, a.s.root);
	expect(&v.result, WARD_VERIFY_INCOMPLETE, 0, "torn", 0);
	ward_ledger_view_free(&v);
	struct sample b = sample_new("t2", 1);
	expect(&b.view.result, WARD_VERIFY_GAP, 0, "mended", 0);
	ck_assert_uint_eq(b.view.result.records, 5);
	ck_assert(ward_ledger_view_find(&b.view, "t2")->complete);
	sample_free(&a);
	sample_free(&b);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("verify");
	TCase *t = tcase_create("verify");
	tcase_set_timeout(t, 300);
	tcase_add_checked_fixture(t, trail_setup, trail_teardown);
	tcase_add_test(t, an_untouched_session_is_intact);
	tcase_add_test(t, every_changed_byte_is_found);
	tcase_add_test(t, every_deleted_record_is_found);
	tcase_add_test(t, every_moved_record_is_found);
	tcase_add_test(t, every_added_line_is_found);
	tcase_add_test(t, every_cut_is_found);
	tcase_add_test(t, flips_in_a_log_without_end_are_found);
	tcase_add_test(t, a_splice_of_two_sessions_is_found);
	tcase_add_test(t, a_log_of_another_key_is_foreign);
	tcase_add_test(t, the_ledger_is_guarded_like_a_trail);
	tcase_add_test(t, a_torn_entry_is_told_and_the_ledger_goes_on);
	suite_add_tcase(s, t);
	return suite_run(s);
}
