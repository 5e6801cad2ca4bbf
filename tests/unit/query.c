/* SPDX-License-Identifier: Apache-2.0 */
/* Questions to a trail: what would permit a refusal, one file under all its names, figures. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "audit/filter.h"
#include "audit/query.h"
#include "audit/summary.h"
#include "enforcer/policy/policy.h"
#include "tests/support/suite.h"
#include "tests/support/trail_session.h"

static void start_record(struct session *s, const char *detail)
{
	struct ward_event ev;
	ward_event_begin(&ev, WARD_EVENT_SESSION_START);
	ward_event_text(&ev, WARD_TAG_JSON, detail);
	ck_assert_int_eq(ward_ring_put(s->in[0], &ev), 0);
}

static void refuse(struct session *s, const char *path, uint64_t asked, const char *rule_text,
	enum ward_source_kind source, int error)
{
	struct ward_event ev;
	ward_event_begin(&ev, WARD_EVENT_DENY);
	ward_event_text(&ev, WARD_TAG_ACTION, "open");
	ward_event_text(&ev, WARD_TAG_PATH, path);
	ward_event_u64(&ev, WARD_TAG_ASKED, asked);
	ward_event_u64(&ev, WARD_TAG_VERDICT, WARD_VERDICT_DENY);
	ward_event_text(&ev, WARD_TAG_RULE, "some.policy:7");
	ward_event_text(&ev, WARD_TAG_RULE_TEXT, rule_text);
	ward_event_u64(&ev, WARD_TAG_SOURCE, source);
	ward_event_u64(&ev, WARD_TAG_ERRNO, (uint64_t)error);
	ck_assert_int_eq(ward_ring_put(s->in[1], &ev), 0);
}

START_TEST(each_refusal_says_what_would_permit_it)
{
	struct session s = session_new("advice");
	struct ward_denials d;
	start_record(&s, "{\"owner_policy_file\":\"/etc/a\\\\x2db.policy\"}");
	for (int i = 0; i < 3; i++)
		refuse(&s, "/workspace/a", WARD_RIGHT_READ, "deny = a", WARD_SOURCE_BASE, EACCES);
	refuse(&s, "/workspace/b", WARD_RIGHT_READ | WARD_RIGHT_WRITE, "read = b",
		WARD_SOURCE_PROFILE, EACCES);
	refuse(&s, "/workspace/log", WARD_RIGHT_APPEND, NULL, WARD_SOURCE_NONE, EACCES);
	refuse(&s, "/workspace/.env", WARD_RIGHT_READ, "[guard] deny = .env", WARD_SOURCE_PROFILE,
		EACCES);
	refuse(&s, "/workspace/c", WARD_RIGHT_READ, "deny = c", WARD_SOURCE_FLOOR, EACCES);
	refuse(&s, "/workspace/[x]", WARD_RIGHT_READ, "deny = *", WARD_SOURCE_BASE, EACCES);
	refuse(&s, "/workspace/dir", WARD_RIGHT_REMOVE, "write = x", WARD_SOURCE_BASE, EXDEV);
	drain(&s);
	ck_assert_int_eq(ward_query_denials(trail_of(s.st.log_fd), &d, NULL), 0);
	ck_assert_uint_eq(d.n, 7);
	ck_assert_uint_eq(d.total, 9);
	ck_assert_uint_eq(d.v[0].count, 3);
	ck_assert_str_eq(d.v[0].line, "read = /workspace/a");
	ck_assert_str_eq(d.v[0].file, "/etc/a-b.policy"); /* as it is typed, not as escaped */
	ck_assert_str_eq(d.v[1].line, "write = /workspace/b");
	ck_assert_str_eq(d.v[2].line, "append = /workspace/log");
	ck_assert_ptr_null(d.v[3].line);
	ck_assert_str_eq(d.v[3].forbidden_by, "some.policy:7  [guard] deny = .env");
	ck_assert_ptr_null(d.v[4].line);
	ck_assert_str_eq(d.v[4].forbidden_by, "some.policy:7  deny = c");
	/* As a pattern it would mean /workspace/x. */
	ck_assert_ptr_null(d.v[5].line);
	ck_assert_ptr_nonnull(d.v[5].reason);
	ck_assert_ptr_null(d.v[6].line);
	ck_assert_ptr_nonnull(d.v[6].reason);
	ward_denials_free(&d);
	session_free(&s);
}
END_TEST

static void put_paths(
	struct session *s, enum ward_event_kind kind, const char *path, const char *path2)
{
	struct ward_event ev;
	ward_event_begin(&ev, kind);
	ward_event_text(&ev, WARD_TAG_PATH, path);
	ward_event_text(&ev, WARD_TAG_PATH2, path2);
	ck_assert_int_eq(ward_ring_put(s->in[1], &ev), 0);
}

struct matches {
	const struct ward_file_names *names;
	char text[64];
};

static int note_match(void *ctx, const char *line, size_t len, const json_t *rec)
{
	struct matches *m = ctx;
	if (ward_file_names_match(m->names, rec)) {
		size_t n = strlen(m->text);
		snprintf(m->text + n, sizeof(m->text) - n, "%d ",
			(int)json_integer_value(json_object_get(rec, "seq")));
	}
	return 0;
}

static void expect_records(struct session *s, const char *path, const char *want)
{
	struct matches m = {0};
	struct ward_file_names *names = NULL;
	ck_assert_int_eq(ward_file_names_find(trail_of(s->st.log_fd), path, &names, NULL), 0);
	m.names = names;
	ck_assert_int_eq(ward_query_walk(trail_of(s->st.log_fd), true, note_match, &m, NULL), 0);
	ck_assert_str_eq(m.text, want);
	ward_file_names_free(names);
}

START_TEST(a_file_is_followed_through_its_names)
{
	struct session s = session_new("names");
	put_paths(&s, WARD_EVENT_OPEN, "/w/a", NULL);	       /* 1 */
	put_paths(&s, WARD_EVENT_CREATE, "/w/.a.tmp", NULL);   /* 2: an atomic save of a */
	put_paths(&s, WARD_EVENT_RENAME, "/w/.a.tmp", "/w/a"); /* 3 */
	put_paths(&s, WARD_EVENT_CREATE, "/w/.a.tmp", NULL);   /* 4: of something else, later */
	put_paths(&s, WARD_EVENT_RENAME, "/w/.a.tmp", "/w/b"); /* 5 */
	put_paths(&s, WARD_EVENT_RENAME, "/w", "/v");	       /* 6: the directory moves */
	put_paths(&s, WARD_EVENT_OPEN, "/v/a", NULL);	       /* 7 */
	put_paths(&s, WARD_EVENT_LINK, "/v/a", "/v/c");	       /* 8 */
	put_paths(&s, WARD_EVENT_OPEN, "/v/c", NULL);	       /* 9 */
	put_paths(&s, WARD_EVENT_OPEN, "/v/ab", NULL);	       /* 10: another file */
	put_paths(&s, WARD_EVENT_RENAME, "/v/a", "/v/d");      /* 11 */
	put_paths(&s, WARD_EVENT_CREATE, "/v/a", NULL);	       /* 12: a new file */
	put_paths(&s, WARD_EVENT_OPEN, "/v/d", NULL);	       /* 13 */
	drain(&s);
	expect_records(&s, "/w/a", "1 2 3 7 8 9 11 13 ");
	expect_records(&s, "/v/d", "1 2 3 7 8 9 11 13 ");
	expect_records(&s, "/w/b", "4 5 ");
	expect_records(&s, "/v/ab", "10 ");
	expect_records(&s, "/v/none", "");
	session_free(&s);
}
END_TEST

static void put_rename(
	struct session *s, const char *path, const char *path2, bool exchange, int error)
{
	struct ward_event ev;
	ward_event_begin(&ev, WARD_EVENT_RENAME);
	ward_event_text(&ev, WARD_TAG_ACTION, exchange ? "exchange" : "rename");
	ward_event_text(&ev, WARD_TAG_PATH, path);
	ward_event_text(&ev, WARD_TAG_PATH2, path2);
	if (error)
		ward_event_u64(&ev, WARD_TAG_ERRNO, (uint64_t)error);
	ck_assert_int_eq(ward_ring_put(s->in[1], &ev), 0);
}

START_TEST(an_exchange_goes_both_ways)
{
	struct session s = session_new("exchange");
	put_paths(&s, WARD_EVENT_OPEN, "/w/a", NULL);  /* 1 */
	put_paths(&s, WARD_EVENT_OPEN, "/w/b", NULL);  /* 2 */
	put_rename(&s, "/w/a", "/w/b", true, 0);       /* 3 */
	put_paths(&s, WARD_EVENT_OPEN, "/w/a", NULL);  /* 4: what was b */
	put_paths(&s, WARD_EVENT_OPEN, "/w/b", NULL);  /* 5: what was a */
	put_rename(&s, "/w/b", "/w/c", false, 0);      /* 6 */
	put_paths(&s, WARD_EVENT_OPEN, "/w/c", NULL);  /* 7: what was a */
	put_paths(&s, WARD_EVENT_OPEN, "/w/b", NULL);  /* 8: a third file */
	put_rename(&s, "/w/a", "/w/e", false, 0);      /* 9: and fails */
	put_rename(&s, "/w/a", "/w/e", false, EACCES); /* 10 */
	put_paths(&s, WARD_EVENT_OPEN, "/w/e", NULL);  /* 11: was never a */
	put_paths(&s, WARD_EVENT_OPEN, "/w/a", NULL);  /* 12 */
	drain(&s);
	/* Asked by a name: all files that had it, under all their names. */
	expect_records(&s, "/w/c", "1 3 5 6 7 ");
	expect_records(&s, "/w/a", "1 2 3 4 5 6 7 9 10 12 ");
	expect_records(&s, "/w/e", "9 10 11 ");
	session_free(&s);
}
END_TEST

START_TEST(directories_that_exchange_take_their_files_along)
{
	struct session s = session_new("exchange-dirs");
	put_paths(&s, WARD_EVENT_OPEN, "/w/x/f", NULL); /* 1 */
	put_paths(&s, WARD_EVENT_OPEN, "/w/y/f", NULL); /* 2 */
	put_rename(&s, "/w/x", "/w/y", true, 0);	/* 3 */
	put_paths(&s, WARD_EVENT_REMOVE, "/w/x", NULL); /* 4: another one is in the way */
	put_rename(&s, "/w/y/f", "/w/g", false, 0);	/* 5: what was x/f */
	put_paths(&s, WARD_EVENT_OPEN, "/w/g", NULL);	/* 6 */
	drain(&s);
	expect_records(&s, "/w/g", "1 5 6 ");
	session_free(&s);
}
END_TEST

START_TEST(renames_in_a_circle_come_to_an_end)
{
	struct session s = session_new("circle");
	for (int i = 0; i < 100; i++) {
		put_paths(&s, WARD_EVENT_RENAME, "/a", "/b");
		put_paths(&s, WARD_EVENT_RENAME, "/b", "/a");
		put_paths(&s, WARD_EVENT_RENAME, "/a", "/a/a"); /* no file system does this */
		drain(&s);
	}
	struct ward_file_names *names = NULL;
	int r = ward_file_names_find(trail_of(s.st.log_fd), "/a", &names, NULL);
	ck_assert(r == 0 || r == -E2BIG);
	ward_file_names_free(names);
	session_free(&s);
}
END_TEST

START_TEST(filters_take_what_they_say)
{
	struct session s = session_new("filter");
	put_paths(&s, WARD_EVENT_OPEN, "/w/a/b", NULL);
	drain(&s);
	json_t *rec = json_pack("{s:s,s:s,s:s,s:s,s:I}", "kind", "open", "path", "/w/a/b", "time",
		"2026-01-02T03:04:05.5Z", "comm", "cat", "pid", (json_int_t)7);
	const struct {
		struct ward_filter f;
		bool want;
	} t[] = {{{0}, true}, {{.kind = "open"}, true}, {{.kind = "close"}, false},
		{{.path = "/w/a"}, true}, {{.path = "/w/a/b"}, true}, {{.path = "/"}, true},
		{{.path = "/w/a/"}, true}, {{.path = "/w/a/b/c"}, false}, {{.path = "/w/"}, true},
		{{.path = "/w/a/bc"}, false}, {{.path = "/w/?/b"}, true}, {{.path = "*b"}, true},
		{{.path = "b"}, false}, {{.since = "2026-01-02T03:04"}, true},
		{{.since = "2026-01-02T03:05"}, false}, {{.until = "2026-01-02T03:04"}, true},
		{{.until = "2026-01-02T03:03"}, false}, {{.pid = 7}, true}, {{.pid = 8}, false},
		{{.comm = "cat", .kind = "open"}, true}, {{.comm = "cat", .kind = "x"}, false},
		{{.verdict = "allow"}, false}};
	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++)
		ck_assert_msg(ward_filter_match(&t[i].f, rec) == t[i].want, "filter %zu", i);
	json_decref(rec);
	session_free(&s);
}
END_TEST

/* What is told once of a thread holds for what follows, in this ring, until something else is. */
START_TEST(a_process_has_its_threads)
{
	static const struct {
		const char *text;
		bool want;
	} v[] = {{"{'kind':'exec','ring':0,'pid':10,'parent':1}", true},
		{"{'kind':'open','ring':1,'pid':11,'parent':1,'process':10}", true},
		{"{'kind':'open','ring':1,'pid':11}", true},
		{"{'kind':'open','ring':2,'pid':11}", false},
		{"{'kind':'open','ring':1,'pid':12,'parent':1,'process':9}", false},
		{"{'kind':'open','ring':1,'pid':12}", false},
		{"{'kind':'open','ring':1,'pid':9,'parent':1,'process':10}", true},
		{"{'kind':'open','ring':1,'pid':10}", true}, {"{'kind':'close','ring':1}", false},
		/* the number is another process' thread, then a process of its own */
		{"{'kind':'open','ring':1,'pid':11,'parent':1,'process':9}", false},
		{"{'kind':'open','ring':1,'pid':11}", false},
		{"{'kind':'open','ring':1,'pid':9}", true},
		{"{'kind':'open','ring':1,'pid':9,'parent':1}", false},
		{"{'kind':'open','ring':1,'pid':9}", false}};
	struct ward_threads *t = ward_threads_new(10);
	ck_assert_ptr_nonnull(t);
	const struct ward_filter f = {.pid = 10, .threads = t, .kind = "open"};
	for (size_t i = 0; i < sizeof(v) / sizeof(*v); i++) {
		char text[128];
		snprintf(text, sizeof(text), "%s", v[i].text);
		for (char *p = text; *p; p++)
			*p = *p == '\'' ? '"' : *p;
		json_t *rec = json_loads(text, 0, NULL);
		ck_assert_msg(ward_filter_match(&f, rec) == (v[i].want && i > 0), "record %zu", i);
		json_decref(rec);
	}
	ck_assert_int_eq(ward_threads_error(t), 0);
	ward_threads_free(t);
}
END_TEST

START_TEST(a_summary_counts)
{
	struct session s = whole_session("figures", 9);
	json_t *o = NULL;
	ck_assert_int_eq(ward_query_summary(trail_of(s.st.log_fd), &o, NULL), 0);
	ck_assert_int_eq(json_integer_value(json_object_get(o, "records")), 11);
	json_t *refusals = json_object_get(o, "refusals");
	ck_assert_int_eq(json_integer_value(json_object_get(refusals, "count")), 3);
	json_t *files = json_object_get(o, "files");
	ck_assert_int_eq(json_integer_value(json_object_get(files, "read")), 6);
	ck_assert_int_eq(json_integer_value(json_object_get(files, "refused")), 3);
	json_t *kinds = json_object_get(o, "kinds");
	ck_assert_int_eq(json_integer_value(json_object_get(kinds, "open")), 6);
	json_decref(o);
	session_free(&s);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("query");
	TCase *t = tcase_create("query");
	tcase_set_timeout(t, 120);
	tcase_add_checked_fixture(t, trail_setup, trail_teardown);
	tcase_add_test(t, each_refusal_says_what_would_permit_it);
	tcase_add_test(t, a_file_is_followed_through_its_names);
	tcase_add_test(t, an_exchange_goes_both_ways);
	tcase_add_test(t, directories_that_exchange_take_their_files_along);
	tcase_add_test(t, renames_in_a_circle_come_to_an_end);
	tcase_add_test(t, filters_take_what_they_say);
	tcase_add_test(t, a_process_has_its_threads);
	tcase_add_test(t, a_summary_counts);
	suite_add_tcase(s, t);
	return suite_run(s);
}
