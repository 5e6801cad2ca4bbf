/* SPDX-License-Identifier: Apache-2.0 */
/* The trail: what producers put into rings is in the log, whichever process dies. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <pthread.h>
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

/* --- writing --- */

START_TEST(a_record_is_one_line_of_json)
{
	struct session s = whole_session(NULL, 4);
	struct ward_buf log = log_of(&s);
	const char *line[LINES_MAX + 1];
	size_t n = 0;
	split(&log, line, &n);
	ck_assert_uint_eq(n, 6);
	for (size_t i = 0; i < n; i++) {
		json_t *j = json_loadb(
			line[i], (size_t)(line[i + 1] - line[i]), JSON_REJECT_DUPLICATES, NULL);
		ck_assert_ptr_nonnull(j);
		ck_assert_int_eq(json_integer_value(json_object_get(j, "seq")), (json_int_t)i + 1);
		ck_assert_str_eq(json_string_value(json_object_get(j, "session")), s.st.name);
		json_decref(j);
	}
	ck_assert_ptr_nonnull(strstr(line[0], "\"kind\":\"session.start\""));
	ck_assert_ptr_nonnull(strstr(line[5], "\"kind\":\"session.end\""));
	json_t *j = json_loadb(line[1], (size_t)(line[2] - line[1]), 0, NULL);
	ck_assert_str_eq(
		json_string_value(json_object_get(j, "path")), "/workspace/file-0\\n\\xff\"\\\\");
	ck_assert_str_eq(json_string_value(json_object_get(j, "verdict")), "deny");
	ck_assert_str_eq(json_string_value(json_object_get(j, "errno")), "EACCES");
	ck_assert_str_eq(json_string_value(json_object_get(j, "source")), "profile");
	ck_assert_int_eq(json_array_size(json_object_get(j, "asked")), 1);
	ck_assert_int_eq(json_array_size(json_object_get(j, "given")), 0);
	json_decref(j);
	j = json_loadb(line[2], (size_t)(line[3] - line[2]), 0, NULL);
	ck_assert_int_eq(json_array_size(json_object_get(j, "given")), 9);
	ck_assert(json_is_null(json_object_get(j, "size_before")));
	json_decref(j);
	const struct ward_summary *sum = ward_writer_summary(s.w);
	ck_assert_uint_eq(sum->records, 6);
	ck_assert_uint_eq(sum->refusals, 2);
	ck_assert_uint_eq(sum->n, 2);
	ck_assert_str_eq(sum->first[1].path, "/workspace/file-3\\n\\xff\"\\\\");
	ck_assert_str_eq(sum->first[1].rule, "medium:12");
	ck_assert_str_eq(sum->first[1].verdict, "deny");
	ward_buf_clear(&log);
	session_free(&s);
}
END_TEST

/* At the end of a run stands what was refused, whatever of it is known. */
START_TEST(a_refusal_is_named_by_what_was_asked_for)
{
	static const struct {
		const char *host, *addr, *text, *is;
		unsigned port;
	} v[] = {{"web.example", NULL, NULL, "web.example:81", 81},
		{NULL, "2001:db8::1", "no", "[2001:db8::1]:81", 81},
		{NULL, NULL, "7 attempts came faster", "7 attempts came faster", 0}};
	struct session s = session_new("network");
	for (size_t i = 0; i < 3; i++) {
		struct ward_event ev;
		ward_event_begin(&ev, WARD_EVENT_DENY);
		ward_event_text(&ev, WARD_TAG_ACTION, "connect");
		ward_event_text(&ev, WARD_TAG_HOST, v[i].host);
		ward_event_text(&ev, WARD_TAG_ADDR, v[i].addr);
		if (v[i].port)
			ward_event_u64(&ev, WARD_TAG_PORT, v[i].port);
		ward_event_text(&ev, WARD_TAG_RULE, "default");
		ward_event_text(&ev, WARD_TAG_TEXT, v[i].text);
		ck_assert_int_eq(ward_ring_put(s.in[1], &ev), 0);
	}
	drain(&s);
	const struct ward_summary *sum = ward_writer_summary(s.w);
	ck_assert_uint_eq(sum->n, 3);
	for (size_t i = 0; i < 3; i++)
		ck_assert_str_eq(sum->first[i].path, v[i].is);
	session_free(&s);
}
END_TEST

START_TEST(text_forms_agree_with_the_slow_ones)
{
	const uint64_t times[] = {0, 1, 951782400999999999ULL, 951868800000000000ULL,
		1709164800123456789ULL, 1798761599999999999ULL, 4102444800000000001ULL,
		18446744073709551615ULL};
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		char slow[WARD_CLOCK_TEXT_MAX];
		char want[WARD_CLOCK_TEXT_MAX + 2];
		ward_clock_format(times[i], slow);
		snprintf(want, sizeof(want), "\"%s\"", slow);
		ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
		ward_put_time(&b, times[i]);
		ck_assert_str_eq(ward_buf_str(&b), want);
		ward_buf_clear(&b);
		ward_put_u64(&b, times[i]);
		snprintf(want, sizeof(want), "%llu", (unsigned long long)times[i]);
		ck_assert_str_eq(ward_buf_str(&b), want);
	}
}
END_TEST

START_TEST(a_producer_cannot_speak_for_the_supervisor)
{
	struct session s = session_new("forger");
	put_kind(&s, 0, WARD_EVENT_SESSION_START);
	put_kind(&s, 1, WARD_EVENT_SESSION_END);
	put_kind(&s, 1, WARD_EVENT_POLICY);
	put_kind(&s, 1, WARD_EVENT_RELOAD);
	put_kind(&s, 1, WARD_EVENT_GRANT);
	put_access(&s, 1);
	drain(&s);
	ward_cleanup(ward_buf_clear) struct ward_buf log = log_of(&s);
	ck_assert_ptr_null(strstr(log.data, "\"kind\":\"session.end\""));
	ck_assert_ptr_null(strstr(log.data, "\"kind\":\"policy\""));
	ck_assert_ptr_null(strstr(log.data, "\"kind\":\"reload\""));
	ck_assert_ptr_null(strstr(log.data, "\"kind\":\"grant\""));
	ck_assert_ptr_nonnull(strstr(log.data, "a record of kind session.end came from ring 1"));
	ck_assert_ptr_nonnull(strstr(log.data, "\"kind\":\"open\"")); /* control: this passes */
	session_free(&s);
}
END_TEST

/* Of each kind, and each way in: what neither a filesystem nor the broker may write is left out. */
START_TEST(the_table_says_from_whom_a_kind_is_taken)
{
	for (int k = WARD_EVENT_NONE + 1; k < WARD_EVENT_SESSION_END; k++) {
		const struct ward_record_kind *kind = &ward_record_kinds[k];
		const bool foreign = !(kind->by & (WARD_BY_FILESYSTEM | WARD_BY_BROKER));
		char want[64];
		ck_assert_int_eq(ward_record_kind_reserved((uint32_t)k), foreign);
		ck_assert_int_eq(ward_record_kind_find(kind->name, strlen(kind->name)), k);
		/* audit/query/index.c has an index over just these. */
		ck_assert_int_eq(ward_record_kind_is((enum ward_event_kind)k, WARD_KIND_MOVES),
			k == WARD_EVENT_RENAME || k == WARD_EVENT_LINK);
		snprintf(want, sizeof(want), "\"kind\":\"%s\"", kind->name);
		for (unsigned ring = 0; ring < 2; ring++) {
			struct session s = session_new("one");
			put_kind(&s, ring, (enum ward_event_kind)k);
			drain(&s);
			ward_cleanup(ward_buf_clear) struct ward_buf log = log_of(&s);
			/* The gap that tells of it is a gap. */
			bool taken = strstr(log.data, want) &&
				     !strstr(log.data, "came from ring 1: left out");
			ck_assert_int_eq(taken, ring == 0 || !foreign);
			session_free(&s);
		}
	}
	ck_assert(ward_record_kind_reserved(WARD_EVENT_NONE));
	ck_assert(ward_record_kind_reserved(WARD_EVENT_COUNT_));
	ck_assert_int_eq(ward_record_kind_find("deny ", 5), WARD_EVENT_NONE);
	ck_assert(!ward_record_kind_is(WARD_EVENT_NONE, WARD_KIND_REFUSAL));
	ck_assert(!ward_record_named_is(NULL, WARD_KIND_REFUSAL));
	ck_assert(ward_record_named_is("quota", WARD_KIND_REFUSAL)); /* control */
}
END_TEST

/* Something of the member's type. */
static void put_member(struct ward_event *ev, enum ward_event_tag tag)
{
	static const uint8_t zeros[32];
	switch (ward_event_tag_type(tag)) {
	case WARD_TYPE_BYTES:
	case WARD_TYPE_JSON:
		ward_event_text(ev, tag, "{}");
		return;
	case WARD_TYPE_LIST:
	case WARD_TYPE_DIGEST:
		ward_event_bytes(ev, tag, zeros, sizeof(zeros));
		return;
	case WARD_TYPE_NONE:
		ck_abort_msg("member %d has no type", (int)tag);
	case WARD_TYPE_U64:
	case WARD_TYPE_COUNT:
	case WARD_TYPE_OCTAL:
	case WARD_TYPE_RIGHTS:
	case WARD_TYPE_VERDICT:
	case WARD_TYPE_SOURCE:
	case WARD_TYPE_ERRNO:
	case WARD_TYPE_I64:
	case WARD_TYPE_TIME:
		ward_event_u64(ev, tag, 1);
		return;
	}
}

/* How often a text stands in there. */
static size_t count_in(const struct ward_buf *log, const char *text)
{
	size_t n = 0;
	for (const char *p = ward_buf_str(log); (p = strstr(p, text)); p++)
		n++;
	return n;
}

/*
 * Every kind with every member, one at a time, from ring 0, which may write all of them. A record
 * is in the log with its member, or there is a gap that names both.
 */
START_TEST(the_table_says_which_members_a_kind_has)
{
	static const enum ward_event_tag who[] = {WARD_TAG_PID, WARD_TAG_UID, WARD_TAG_COMM,
		WARD_TAG_PROCESS, WARD_TAG_PARENT, WARD_TAG_VIA};
	for (int k = WARD_EVENT_NONE + 1; k < WARD_EVENT_SESSION_END; k++) {
		const struct ward_record_kind *kind = &ward_record_kinds[k];
		struct session s = session_new("one");
		size_t n_left_out = 0;
		for (size_t i = 0; i < sizeof(who) / sizeof(*who); i++)
			ck_assert(ward_member_set_has(&kind->has, who[i]));
		for (int t = WARD_TAG_NONE + 1; t < WARD_TAG_COUNT_; t++) {
			struct ward_event ev;
			ward_event_begin(&ev, (enum ward_event_kind)k);
			put_member(&ev, (enum ward_event_tag)t);
			ck_assert_int_eq(ward_ring_put(s.in[0], &ev), 0);
			n_left_out += !ward_member_set_has(&kind->has, (enum ward_event_tag)t);
		}
		drain(&s);
		ward_cleanup(ward_buf_clear) struct ward_buf log = log_of(&s);
		for (int t = WARD_TAG_NONE + 1; t < WARD_TAG_COUNT_; t++) {
			const bool has = ward_member_set_has(&kind->has, (enum ward_event_tag)t);
			const char *name = ward_record_members[t].name;
			char written[64];
			char gap[160];
			snprintf(written, sizeof(written), ",\"%s\":", name);
			snprintf(gap, sizeof(gap),
				"a record of kind %s came from ring 0 with %s, which is no member "
				"of its kind: left out",
				kind->name, name);
			/* The text of the gaps is a member, too. */
			size_t want = has + (t == WARD_TAG_TEXT ? n_left_out : 0);
			ck_assert_msg(
				count_in(&log, written) == want, "%s of %s", name, kind->name);
			ck_assert_msg(count_in(&log, gap) == !has, "%s of %s", name, kind->name);
		}
		ck_assert_uint_gt(n_left_out, 0);
		ck_assert_uint_eq(ward_writer_summary(s.w)->records, WARD_TAG_COUNT_ - 1);
		session_free(&s);
	}
	const struct ward_member_set any = {.word = {0, 1}};
	ck_assert_int_eq(ward_record_kind_foreign(WARD_EVENT_NONE, &any), 64);
	ck_assert_int_eq(ward_record_kind_foreign(WARD_EVENT_COUNT_, &any), 64);
}
END_TEST

/* Two members, one of them foreign: nothing of the record is written, and verify says so.
 */
START_TEST(one_foreign_member_spoils_its_record_alone)
{
	struct session s = session_new("foreign");
	struct ward_event ev;
	put_kind(&s, 0, WARD_EVENT_SESSION_START);
	put_access(&s, 1);
	ward_event_begin(&ev, WARD_EVENT_OPEN);
	ward_event_text(&ev, WARD_TAG_PATH, "/workspace/foreign");
	ward_event_text(&ev, WARD_TAG_BY, "uid 0");
	ck_assert_int_eq(ward_ring_put(s.in[1], &ev), 0);
	put_access(&s, 2);
	put_kind(&s, 0, WARD_EVENT_SESSION_END);
	finish(&s, "");
	ward_cleanup(ward_buf_clear) struct ward_buf log = log_of(&s);
	ward_cleanup(ward_buf_clear) struct ward_buf ledger = slurp(s.st.ledger.fd);
	struct ward_ledger_view v = ledger_of(&ledger, s.root);
	struct ward_verify_result r = verify_bytes(
		log.data, log.len, s.st.name, s.root, ward_ledger_view_find(&v, s.st.name));
	ck_assert_int_eq(r.state, WARD_VERIFY_GAP);
	ck_assert_uint_eq(r.records, 5);
	ck_assert_uint_eq(count_in(&log, "\"kind\":\"open\""), 2);
	ck_assert_uint_eq(count_in(&log, "/workspace/foreign"), 0);
	ck_assert_uint_eq(count_in(&log, "of kind open came from ring 1 with by,"), 1);
	ward_ledger_view_free(&v);
	session_free(&s);
}
END_TEST

/* A session whose end cannot be written as it was said has no end. */
START_TEST(an_end_with_a_foreign_member_is_none)
{
	static const enum ward_event_tag tags[] = {WARD_TAG_TEXT, WARD_TAG_PATH};
	for (size_t i = 0; i < 2; i++) {
		struct session s = session_new("end");
		struct ward_event ev;
		put_kind(&s, 0, WARD_EVENT_SESSION_START);
		ward_event_begin(&ev, WARD_EVENT_SESSION_END);
		ward_event_text(&ev, tags[i], "x");
		ck_assert_int_eq(ward_ring_put(s.in[0], &ev), 0);
		finish(&s, "");
		ward_cleanup(ward_buf_clear) struct ward_buf log = log_of(&s);
		ward_cleanup(ward_buf_clear) struct ward_buf ledger = slurp(s.st.ledger.fd);
		ck_assert_uint_eq(
			count_in(&log, "of kind session.end came from ring 0 with path,"), i);
		/* The ledger is that of both: the first one, the control, is complete. */
		ck_assert_uint_eq(count_in(&ledger, "\"verdict\":\"complete\""), 1);
		ck_assert_uint_eq(count_in(&ledger, "the supervisor gave no end record"), i);
		session_free(&s);
	}
}
END_TEST

START_TEST(the_end_record_is_the_last)
{
	struct session s = session_new("order");
	put_kind(&s, 0, WARD_EVENT_SESSION_START);
	put_kind(&s, 0, WARD_EVENT_SESSION_END); /* in ring 0, which is read first */
	for (int i = 0; i < 20; i++)
		put_access(&s, i);
	finish(&s, "");
	ward_cleanup(ward_buf_clear) struct ward_buf log = log_of(&s);
	const char *line[LINES_MAX + 1];
	size_t n = 0;
	split(&log, line, &n);
	ck_assert_uint_eq(n, 22);
	ck_assert_ptr_nonnull(strstr(line[21], "\"kind\":\"session.end\""));
	session_free(&s);
}
END_TEST

START_TEST(a_description_that_is_no_object_stays_out)
{
	const char *const bad[] = {"{\"a\":1", "[1]", "{} {}", "{},\"mac\":{}", "", "{\"a\":\"}",
		"{\"a\":\"\\\"}", "{\n}", "{\"a\":\"\xc3\xa4\"}", "{]}}", "}{", "{\"a\":\"\\\n\"}"};
	const size_t n_bad = sizeof(bad) / sizeof(*bad);
	struct session s = session_new("json");
	struct ward_event ev;
	for (size_t i = 0; i < n_bad; i++) {
		ward_event_begin(&ev, WARD_EVENT_SESSION_START);
		ward_event_text(&ev, WARD_TAG_JSON, bad[i]);
		ck_assert_int_eq(ward_ring_put(s.in[0], &ev), 0);
	}
	ward_event_begin(&ev, WARD_EVENT_SESSION_START);
	ward_event_text(&ev, WARD_TAG_JSON, "{\"owner\":\"}\\\"{\",\"n\":[1,{}]}");
	ck_assert_int_eq(ward_ring_put(s.in[0], &ev), 0);
	drain(&s);
	ward_cleanup(ward_buf_clear) struct ward_buf log = log_of(&s);
	const char *line[LINES_MAX + 1];
	size_t n = 0;
	split(&log, line, &n);
	ck_assert_uint_eq(n, n_bad + 1);
	for (size_t i = 0; i < n_bad; i++)
		ck_assert_msg(strstr(line[i], ",\"detail\":null,\"cut\":true,\"mac\"") &&
				      strstr(line[i], ",\"detail\":null") < line[i + 1],
			"%.*s", (int)(line[i + 1] - line[i]), line[i]);
	ck_assert_ptr_nonnull(
		strstr(line[n_bad], ",\"detail\":{\"owner\":\"}\\\"{\",\"n\":[1,{}]},\"mac\""));
	session_free(&s);
}
END_TEST

START_TEST(a_spoiled_ring_leaves_a_gap_and_spares_the_others)
{
	struct session s = session_new("spoiled");
	uint8_t *m = mmap(NULL, WARD_RING_HEADER_BYTES + 4096, PROT_READ | PROT_WRITE, MAP_SHARED,
		s.ring_fd[1], 0);
	put_kind(&s, 0, WARD_EVENT_SESSION_START);
	put_access(&s, 1);
	m[WARD_RING_HEADER_BYTES + 8] ^= 0xff; /* its length */
	put_kind(&s, 0, WARD_EVENT_SESSION_END);
	finish(&s, "");
	munmap(m, WARD_RING_HEADER_BYTES + 4096);
	ward_cleanup(ward_buf_clear) struct ward_buf log = log_of(&s);
	ward_cleanup(ward_buf_clear) struct ward_buf ledger = slurp(s.st.ledger.fd);
	struct ward_ledger_view v = ledger_of(&ledger, s.root);
	struct ward_verify_result r = verify_bytes(
		log.data, log.len, s.st.name, s.root, ward_ledger_view_find(&v, s.st.name));
	ck_assert_int_eq(r.state, WARD_VERIFY_GAP);
	ck_assert_uint_eq(r.records, 3);
	ward_ledger_view_free(&v);
	session_free(&s);
}
END_TEST

static void *put_synced(void *arg)
{
	struct ward_event ev;
	ward_event_begin(&ev, WARD_EVENT_OPEN);
	return (void *)(intptr_t)ward_ring_put(arg, &ev);
}

/* How an operation ends whose record was written, and then: sync(fd of the log). */
static int answer_of(bool sync_works)
{
	struct session s = {.st = WARD_STORE_SESSION_INIT};
	pthread_t id;
	void *result = NULL;
	s = session_new(sync_works ? "kept" : "refused");
	ward_ring_sync(s.in[1], true);
	ck_assert_int_eq(pthread_create(&id, NULL, put_synced, s.in[1]), 0);
	while (ward_writer_step(s.w) == 0)
		usleep(1000);
	int pipe_fd[2] = {-1, -1};
	if (!sync_works) {
		/* A file that takes bytes and cannot keep them: fdatasync(2) of a pipe fails. */
		ck_assert_int_eq(pipe(pipe_fd), 0);
		ck_assert_int_eq(dup2(pipe_fd[1], s.st.log_fd), s.st.log_fd);
	}
	ck_assert_int_eq(ward_writer_sync(s.w, true), sync_works ? 0 : -EINVAL);
	pthread_join(id, &result);
	session_free(&s);
	if (!sync_works) {
		close(pipe_fd[0]);
		close(pipe_fd[1]);
	}
	return (int)(intptr_t)result;
}

START_TEST(an_answer_waits_for_the_disk_and_fails_with_it)
{
	ck_assert_int_eq(answer_of(true), 0);
	ck_assert_int_eq(answer_of(false), -EIO);
}
END_TEST

START_TEST(each_way_to_sync_owes_what_it_says)
{
	static const struct {
		enum ward_audit_sync sync;
		const char *name;
		bool now; /* a sync without force has brought it to the disk */
	} t[] = {{WARD_SYNC_RECORD, "record", true}, {WARD_SYNC_BATCH, "batch", false},
		{WARD_SYNC_CLOSE, "close", false}};
	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		struct session s = session_new(t[i].name);
		writer_dies(&s);
		s.sync = t[i].sync;
		writer_start(&s, true, "restarted with another sync");
		/* More than two checkpoints: close owes them, and a sync before. */
		for (int k = 0; k < 25; k++)
			put_access(&s, k);
		drain(&s);
		ck_assert_int_eq(ward_writer_sync(s.w, false), 0);
		int due = ward_writer_sync_due_ms(s.w);
		/* close: with the next checkpoint, ten seconds after the last one. */
		ck_assert_msg(
			t[i].now ? due > 1000
				 : due >= 0 && due <= (t[i].sync == WARD_SYNC_BATCH ? 1001 : 10001),
			"%s: %d ms", t[i].name, due);
		if (t[i].sync == WARD_SYNC_CLOSE)
			ck_assert_int_gt(due, 1001);
		session_free(&s);
	}
}
END_TEST

/* --- writers that die --- */

START_TEST(a_recovery_writer_loses_nothing_and_doubles_nothing)
{
	struct session s = session_new("recover");
	put_kind(&s, 0, WARD_EVENT_SESSION_START);
	for (int i = 0; i < 30; i++)
		put_access(&s, i);
	drain(&s);
	for (int i = 30; i < 60; i++)
		put_access(&s, i);
	writer_dies(&s);
	ck_assert_int_eq(ward_fd_write_all(s.st.log_fd, "{\"v\":1,", 7), 0);
	writer_start(&s, true, "killed by signal 9");
	put_access(&s, 60);
	put_kind(&s, 0, WARD_EVENT_SESSION_END);
	finish(&s, "");
	ward_cleanup(ward_buf_clear) struct ward_buf log = log_of(&s);
	ward_cleanup(ward_buf_clear) struct ward_buf ledger = slurp(s.st.ledger.fd);
	int next = 0;
	for (const char *p = log.data; (p = strstr(p, "\"path\":\"/workspace/file-")); p++)
		ck_assert_int_eq(atoi(p + strlen("\"path\":\"/workspace/file-")), next++);
	ck_assert_int_eq(next, 61);
	ck_assert_ptr_nonnull(strstr(log.data,
		"recovery: killed by signal 9; 7 bytes of a line without end were cut off"));
	struct ward_ledger_view v = ledger_of(&ledger, s.root);
	const struct ward_ledger_session *known = ward_ledger_view_find(&v, "recover");
	struct ward_verify_result r = verify_bytes(log.data, log.len, s.st.name, s.root, known);
	expect(&r, WARD_VERIFY_INCOMPLETE, 0, "recovered", 0);
	ck_assert_uint_eq(r.records, 64);
	ck_assert_uint_eq(r.gaps, 1);
	ward_ledger_view_free(&v);
	session_free(&s);
}
END_TEST

START_TEST(a_recovery_writer_takes_over_at_any_byte)
{
	struct session s = session_new("anywhere");
	put_kind(&s, 0, WARD_EVENT_SESSION_START);
	for (int i = 0; i < 4; i++)
		put_access(&s, i);
	drain(&s);
	writer_dies(&s);
	ward_cleanup(ward_buf_clear) struct ward_buf log = log_of(&s);
	/* The room of what the log lost is not given back, so it is in the ring still. */
	for (size_t len = log.len; len > 0; len--) {
		ck_assert_int_eq(ftruncate(s.st.log_fd, (off_t)len - 1), 0);
		writer_start(&s, true, "test");
		drain(&s);
		ward_cleanup(ward_buf_clear) struct ward_buf now = log_of(&s);
		int next = 0;
		for (const char *p = now.data; (p = strstr(p, "\"path\":\"/workspace/file-")); p++)
			ck_assert_int_eq(atoi(p + strlen("\"path\":\"/workspace/file-")), next++);
		ck_assert_int_eq(next, 4);
		ck_assert_ptr_nonnull(strstr(now.data, "\"kind\":\"session.start\""));
		writer_dies(&s);
		ck_assert_int_eq(ftruncate(s.st.log_fd, 0), 0);
		ck_assert_int_eq(ward_fd_write_all(s.st.log_fd, log.data, log.len), 0);
	}
	writer_start(&s, true, "test");
	session_free(&s);
}
END_TEST

/*
 * A session of 21 records whose writer died, lines [from, to) then overwritten with `fill` (or, 0,
 * cut out), and which another writer ends.
 */
static struct ward_verify_result recovered(struct session *s, size_t from, size_t to, char fill,
	uint64_t *ret_records, char *ret_gap, size_t gap_size)
{
	const char *line[LINES_MAX + 1];
	size_t n = 0;
	put_kind(s, 0, WARD_EVENT_SESSION_START);
	for (int i = 0; i < 20; i++)
		put_access(s, i);
	drain(s);
	writer_dies(s);
	ward_cleanup(ward_buf_clear) struct ward_buf log = log_of(s);
	split(&log, line, &n);
	ck_assert_uint_eq(n, 21);
	size_t a = (size_t)(line[from] - log.data), b = (size_t)(line[to] - log.data);
	ck_assert_int_eq(ftruncate(s->st.log_fd, 0), 0);
	ck_assert_int_eq(ward_fd_write_all(s->st.log_fd, log.data, a), 0);
	/* From within the first of them to within the last: one line is left of them. */
	if (fill) {
		memset(log.data + a + 20, fill, b - a - 40);
		ck_assert_int_eq(ward_fd_write_all(s->st.log_fd, log.data + a, b - a), 0);
	}
	ck_assert_int_eq(ward_fd_write_all(s->st.log_fd, log.data + b, log.len - b), 0);
	writer_start(s, true, "test");
	put_access(s, 20);
	put_kind(s, 0, WARD_EVENT_SESSION_END);
	finish(s, "");
	ward_cleanup(ward_buf_clear) struct ward_buf now = log_of(s);
	ward_cleanup(ward_buf_clear) struct ward_buf ledger = slurp(s->st.ledger.fd);
	struct ward_ledger_view v = ledger_of(&ledger, s->root);
	const struct ward_ledger_session *known = ward_ledger_view_find(&v, s->st.name);
	const char *text = strstr(now.data, "recovery: ");
	ck_assert_ptr_nonnull(text);
	snprintf(ret_gap, gap_size, "%.*s", (int)strcspn(text, "\""), text);
	/* The last checkpoint covers as many records as the ledger says: the tree goes along. */
	ck_assert(known->has_checkpoint);
	*ret_records = known->records;
	struct ward_verify_result r = verify_bytes(now.data, now.len, s->st.name, s->root, known);
	ward_ledger_view_free(&v);
	return r;
}

START_TEST(a_recovery_writer_goes_on_behind_what_is_proved)
{
	static const struct {
		size_t from, to;
		char fill; /* '\0': the lines are gone */
		enum ward_verify_state state;
		uint64_t first_bad, records;
		const char *gap;
	} t[] = {
		/* 21 lines, the gap, one access, the end: 24 numbers whatever became of the lines.
		 */
		{9, 13, '\0', WARD_VERIFY_DELETED, 10, 24, "; 4 numbers have no record"},
		{9, 13, ' ', WARD_VERIFY_EDITED, 10, 24, "; 3 numbers have no record"},
		/* The start is in its ring still, and is taken again. */
		{0, 4, ' ', WARD_VERIFY_EDITED, 1, 25, "; 3 numbers have no record"},
		/* All but the last one: nothing behind it proves it, but something before is wrong.
		 */
		{9, 20, ' ', WARD_VERIFY_EDITED, 10, 24, "; 10 numbers have no record"},
		/* Nothing behind it tells of a number, nor of a place in a ring: what was lost is
		   there still. */
		{9, 21, ' ', WARD_VERIFY_EDITED, 10, 25, "record 10 was damaged before"},
	};
	struct session s = session_new(NULL);
	uint64_t records = 0;
	char gap[256];
	const size_t i = (size_t)_i;
	struct ward_verify_result r =
		recovered(&s, t[i].from, t[i].to, t[i].fill, &records, gap, sizeof(gap));
	expect(&r, t[i].state, t[i].first_bad, "a hole", i);
	ck_assert_uint_eq(records, t[i].records);
	ck_assert_msg(strstr(gap, t[i].gap), "%s", gap);
	session_free(&s);
}
END_TEST

START_TEST(a_supervisor_that_dies_leaves_the_cause)
{
	struct session s = session_new("orphan");
	put_kind(&s, 0, WARD_EVENT_SESSION_START);
	put_access(&s, 1);
	finish(&s, "the supervisor died");
	ward_cleanup(ward_buf_clear) struct ward_buf log = log_of(&s);
	ward_cleanup(ward_buf_clear) struct ward_buf ledger = slurp(s.st.ledger.fd);
	struct ward_ledger_view v = ledger_of(&ledger, s.root);
	struct ward_verify_result r = verify_bytes(
		log.data, log.len, s.st.name, s.root, ward_ledger_view_find(&v, "orphan"));
	expect(&r, WARD_VERIFY_INCOMPLETE, 0, "orphan", 0);
	ck_assert_str_eq(r.text, "the supervisor died");
	ward_ledger_view_free(&v);
	session_free(&s);
}
END_TEST

START_TEST(an_end_with_a_reason_is_whole_and_tells_it)
{
	struct session s = session_new("reason");
	struct ward_event ev;
	put_kind(&s, 0, WARD_EVENT_SESSION_START);
	ward_event_begin(&ev, WARD_EVENT_SESSION_END);
	ward_event_text(&ev, WARD_TAG_TEXT, "a helper died");
	ck_assert_int_eq(ward_ring_put(s.in[0], &ev), 0);
	finish(&s, "");
	ward_cleanup(ward_buf_clear) struct ward_buf log = log_of(&s);
	ward_cleanup(ward_buf_clear) struct ward_buf ledger = slurp(s.st.ledger.fd);
	struct ward_ledger_view v = ledger_of(&ledger, s.root);
	struct ward_verify_result r = verify_bytes(
		log.data, log.len, s.st.name, s.root, ward_ledger_view_find(&v, "reason"));
	expect(&r, WARD_VERIFY_INTACT, 0, "reason", 0);
	ck_assert_str_eq(r.text, "a helper died");
	ward_ledger_view_free(&v);
	session_free(&s);
}
END_TEST

/* --- the store --- */

START_TEST(sessions_get_names_and_places)
{
	struct ward_store_session a = WARD_STORE_SESSION_INIT;
	struct ward_store_session b = WARD_STORE_SESSION_INIT;
	struct ward_err err = WARD_ERR_INIT;
	ck_assert_int_eq(ward_store_create_session(trail_store(), "job", "p", 1, &a, &err), 0);
	ck_assert_int_eq(ward_store_create_session(trail_store(), "job", "p", 1, &b, &err), 0);
	ck_assert_str_eq(a.name, "job");
	ck_assert_str_eq(b.name, "job.2");
	struct stat st;
	ck_assert_int_eq(fstat(a.log_fd, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0600);
	ck_assert_int_eq(fstat(a.key_fd, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0600);
	ck_assert_int_eq(fcntl(a.ledger.fd, F_GETFD), FD_CLOEXEC);
	char *name = NULL;
	ck_assert_int_eq(ward_store_find(trail_store(), "job", &name, &err), 0);
	ck_assert_str_eq(name, "job");
	free(name);
	ck_assert_int_eq(ward_store_find(trail_store(), "jo", &name, &err), -EEXIST);
	ck_assert_int_eq(ward_store_find(trail_store(), "job.", &name, &err), 0);
	ck_assert_str_eq(name, "job.2");
	free(name);
	ck_assert_int_eq(ward_store_find(trail_store(), "x", &name, &err), -ENOENT);
	ck_assert_int_eq(ward_store_find(trail_store(), "../key", &name, &err), -ENOENT);
	const char *const bad[] = {"", ".", "..", "a/b", "-x", "latest", "a b", "\xc3\xa4"};
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct ward_store_session x = WARD_STORE_SESSION_INIT;
		ck_assert_int_eq(ward_store_create_session(trail_store(), bad[i], "p", 1, &x, &err),
			-EINVAL);
	}
	char id[WARD_SESSION_ID_MAX];
	ck_assert_int_eq(ward_store_session_id(id, &err), 0);
	ck_assert(ward_session_name_valid(id, strlen(id)));
	ward_store_session_close(&a);
	ward_store_session_close(&b);
}
END_TEST

START_TEST(a_session_that_never_began_leaves_nothing)
{
	struct ward_store_session s = WARD_STORE_SESSION_INIT;
	struct ward_store_names names;
	ck_assert_int_eq(ward_store_create_session(trail_store(), "gone", "p", 1, &s, NULL), 0);
	ward_store_discard_session(trail_store(), &s);
	ck_assert_int_eq(s.log_fd, -1);
	ck_assert_int_eq(ward_store_list(trail_store(), &names, NULL), 0);
	ck_assert_uint_eq(names.n, 0);
	/* Files with a record stay. */
	ck_assert_int_eq(ward_store_create_session(trail_store(), "kept", "p", 1, &s, NULL), 0);
	ck_assert_int_eq(ward_fd_write_all(s.log_fd, "x", 1), 0);
	ward_store_discard_session(trail_store(), &s);
	ck_assert_int_eq(ward_store_list(trail_store(), &names, NULL), 0);
	ck_assert_uint_eq(names.n, 1);
	ward_store_names_free(&names);
}
END_TEST

START_TEST(the_latest_session_is_the_one_that_started_last)
{
	char *name = NULL;
	ck_assert_int_eq(ward_store_find(trail_store(), NULL, &name, NULL), -ENOENT);
	struct session a = whole_session("zzz", 1);
	struct session b = whole_session("aaa", 1);
	ck_assert_int_eq(ward_store_find(trail_store(), "latest", &name, NULL), 0);
	ck_assert_str_eq(name, "aaa");
	free(name);
	session_free(&a);
	session_free(&b);
}
END_TEST

START_TEST(a_directory_that_others_can_write_is_refused)
{
	struct ward_store *st = NULL;
	struct ward_err err = WARD_ERR_INIT;
	ward_cleanup_free char *path = strdup(ward_store_path(trail_store()));
	ck_assert_int_eq(ward_store_open(path, false, &st, &err), 0); /* control */
	ward_store_close(st);
	ck_assert_int_eq(chmod(path, 0770), 0);
	ck_assert_int_eq(ward_store_open(path, false, &st, &err), -EPERM);
	ck_assert_int_eq(chmod(path, 0700), 0);
	ck_assert_int_eq(ward_store_open("relative", true, &st, &err), -EINVAL);
}
END_TEST

START_TEST(the_state_directory_follows_the_environment)
{
	const struct {
		uid_t uid;
		const char *xdg, *home, *want;
	} t[] = {{0, NULL, "/root", "/var/lib/wardfs"}, {0, "/x", NULL, "/x/wardfs"},
		{7, NULL, "/srv/u", "/srv/u/.local/state/wardfs"}, {7, "/x", "/h", "/x/wardfs"},
		{7, "relative", "/h", "/h/.local/state/wardfs"}, {7, "", NULL, NULL}};
	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		char *path = NULL;
		int r = ward_store_default_path(t[i].uid, t[i].xdg, t[i].home, &path, NULL);
		ck_assert_int_eq(r, t[i].want ? 0 : -ENOENT);
		if (t[i].want)
			ck_assert_str_eq(path, t[i].want);
		free(path);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("trail");
	TCase *t = tcase_create("trail");
	tcase_set_timeout(t, 300);
	tcase_add_checked_fixture(t, trail_setup, trail_teardown);
	tcase_add_test(t, a_record_is_one_line_of_json);
	tcase_add_test(t, text_forms_agree_with_the_slow_ones);
	tcase_add_test(t, a_refusal_is_named_by_what_was_asked_for);
	tcase_add_test(t, a_producer_cannot_speak_for_the_supervisor);
	tcase_add_test(t, the_table_says_from_whom_a_kind_is_taken);
	tcase_add_test(t, the_table_says_which_members_a_kind_has);
	tcase_add_test(t, one_foreign_member_spoils_its_record_alone);
	tcase_add_test(t, an_end_with_a_foreign_member_is_none);
	tcase_add_test(t, the_end_record_is_the_last);
	tcase_add_test(t, a_description_that_is_no_object_stays_out);
	tcase_add_test(t, a_spoiled_ring_leaves_a_gap_and_spares_the_others);
	tcase_add_test(t, an_answer_waits_for_the_disk_and_fails_with_it);
	tcase_add_test(t, each_way_to_sync_owes_what_it_says);
	tcase_add_test(t, a_recovery_writer_loses_nothing_and_doubles_nothing);
	tcase_add_test(t, a_recovery_writer_takes_over_at_any_byte);
	tcase_add_loop_test(t, a_recovery_writer_goes_on_behind_what_is_proved, 0, 5);
	tcase_add_test(t, a_supervisor_that_dies_leaves_the_cause);
	tcase_add_test(t, an_end_with_a_reason_is_whole_and_tells_it);
	tcase_add_test(t, sessions_get_names_and_places);
	tcase_add_test(t, a_session_that_never_began_leaves_nothing);
	tcase_add_test(t, the_latest_session_is_the_one_that_started_last);
	tcase_add_test(t, a_directory_that_others_can_write_is_refused);
	tcase_add_test(t, the_state_directory_follows_the_environment);
	suite_add_tcase(s, t);
	return suite_run(s);
}
