/* SPDX-License-Identifier: Apache-2.0 */
/* Questions to a trail: what would permit a refusal, one file under all its names, figures. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "audit/query/denials.h"
#include "audit/query/query.h"
#include "audit/query/record_filter.h"
#include "audit/query/summary.h"
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
	ck_assert_int_eq(ward_query_denials(trail_of(s.st.log_fd), NULL, &d, NULL), 0);
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

/* --- who did it --- */

struct told {
	uint64_t pid, process, parent; /* parent 0: unknown */
	int ring;
	const char *path, *exe; /* of an exec */
};

/* As the daemon (rings above 0) and the supervisor (exec) write them. */
static void put_told(struct session *s, const struct told *t)
{
	struct ward_event ev;
	ward_event_begin(&ev, t->path ? WARD_EVENT_EXEC : WARD_EVENT_OPEN);
	ward_event_u64(&ev, WARD_TAG_PID, t->pid);
	if (t->parent)
		ward_event_u64(&ev, WARD_TAG_PARENT, t->parent);
	if (t->process)
		ward_event_u64(&ev, WARD_TAG_PROCESS, t->process);
	ward_event_text(&ev, WARD_TAG_PATH, t->path ? t->path : "/w/a");
	if (t->exe)
		ward_event_text(&ev, WARD_TAG_EXE, t->exe);
	ck_assert_int_eq(ward_ring_put(s->in[t->ring], &ev), 0);
	drain(s);
}

static int note_seq(void *ctx, const char *line, size_t len, const json_t *rec)
{
	char *text = ctx;
	size_t n = strlen(text);
	snprintf(text + n, 64 - n, "%d ", (int)json_integer_value(json_object_get(rec, "seq")));
	return 0;
}

static void expect_actor(struct session *s, struct ward_filter f, const char *want)
{
	const struct ward_query_lines all = {0};
	const struct ward_select sel = {.filter = &f, .lines = &all};
	struct ward_log *log = trail_of(s->st.log_fd);
	char text[64] = "";
	ck_assert_int_eq(ward_filter_prepare(&f, log, &all, NULL), 0);
	ck_assert_int_eq(ward_select_walk(log, &sel, note_seq, text, NULL), 0);
	ck_assert_msg(strcmp(text, want) == 0, "pid %d%s exe %s: %s, not %s", (int)f.pid,
		f.descendants ? "+" : "", f.exe ? f.exe : "-", text, want);
	ward_filter_clear(&f);
}

/* What a record says of a thread applies to later records of this ring, until another record says
 * more. */
START_TEST(a_process_has_its_threads)
{
	static const struct told v[] = {
		{.ring = 0, .pid = 10, .parent = 1, .path = "/bin/a"}, /* 1 */
		{.ring = 1, .pid = 11, .parent = 1, .process = 10},    /* 2 */
		{.ring = 1, .pid = 11},				       /* 3 */
		{.ring = 0, .pid = 11},				       /* 4: of another ring */
		{.ring = 1, .pid = 12, .parent = 1, .process = 9},     /* 5 */
		{.ring = 1, .pid = 12},				       /* 6 */
		{.ring = 1, .pid = 10},				       /* 7 */
		{.ring = 1},					       /* 8: nobody's */
		{.ring = 1, .pid = 11, .parent = 1, .process = 9},     /* 9: now another's */
		{.ring = 1, .pid = 11},				       /* 10 */
		{.ring = 1, .pid = 11, .parent = 1}};		       /* 11: and one of its own */
	struct session s = session_new("threads");
	for (size_t i = 0; i < sizeof(v) / sizeof(*v); i++)
		put_told(&s, &v[i]);
	expect_actor(&s, (struct ward_filter){.pid = 10}, "1 2 3 4 7 ");
	expect_actor(&s, (struct ward_filter){.pid = 10, .kind = "open"}, "2 3 4 7 ");
	expect_actor(&s, (struct ward_filter){.pid = 9}, "5 6 9 10 ");
	/* A thread by its own number. */
	expect_actor(&s, (struct ward_filter){.pid = 12}, "5 6 ");
	expect_actor(&s, (struct ward_filter){.pid = 77}, "");
	session_free(&s);
}
END_TEST

/* sh (20) starts make (21), that cc (22), whose record comes before that of make; 30 is another's.
 */
START_TEST(a_process_has_what_it_started)
{
	static const struct told v[] = {
		{.ring = 0, .pid = 20, .parent = 2, .path = "/bin/sh", .exe = "/sbin/init"}, /* 1 */
		{.ring = 1, .pid = 22, .parent = 21},					     /* 2 */
		{.ring = 0,
			.pid = 21,
			.parent = 20,
			.path = "/usr/bin/make",
			.exe = "/usr/bin/dash"}, /* 3 */
		{.ring = 0,
			.pid = 22,
			.parent = 21,
			.path = "/usr/bin/cc",
			.exe = "/usr/bin/make"},		     /* 4 */
		{.ring = 1, .pid = 22},				     /* 5 */
		{.ring = 1, .pid = 24, .parent = 21, .process = 22}, /* 6: a thread of cc */
		{.ring = 1, .pid = 25, .parent = 24},		     /* 7: no process' number */
		{.ring = 1, .pid = 23, .parent = 22},		     /* 8: a child, no exec */
		{.ring = 1, .pid = 30, .parent = 2},		     /* 9 */
		{.ring = 1, .pid = 21},				     /* 10 */
		{.ring = 0, .pid = 22, .parent = 21, .path = "/opt/ld", .exe = "/usr/bin/gcc-12"},
		{.ring = 1, .pid = 22},		       /* 12 */
		{.ring = 1, .pid = 40, .parent = 40}}; /* 13: nobody starts itself */
	struct session s = session_new("started");
	for (size_t i = 0; i < sizeof(v) / sizeof(*v); i++)
		put_told(&s, &v[i]);
	expect_actor(&s, (struct ward_filter){.pid = 21}, "3 10 ");
	expect_actor(
		&s, (struct ward_filter){.pid = 21, .descendants = true}, "2 3 4 5 6 8 10 11 12 ");
	expect_actor(&s, (struct ward_filter){.pid = 20, .descendants = true, .kind = "exec"},
		"1 3 4 11 ");
	expect_actor(&s, (struct ward_filter){.pid = 40, .descendants = true}, "13 ");
	/* An exec is of both programs; a child runs what its parent ran. */
	expect_actor(&s, (struct ward_filter){.exe = "/usr/bin/cc"}, "4 5 6 8 ");
	expect_actor(&s, (struct ward_filter){.exe = "cc"}, "4 5 6 8 ");
	/* By the name that the kernel gave it, told by the next exec. */
	expect_actor(&s, (struct ward_filter){.exe = "gcc-*"}, "4 5 6 8 11 ");
	expect_actor(&s, (struct ward_filter){.exe = "/opt"}, "11 12 ");
	expect_actor(&s, (struct ward_filter){.exe = "make", .kind = "open"}, "2 10 ");
	expect_actor(&s, (struct ward_filter){.exe = "/usr/bin/*", .pid = 22}, "2 4 5 6 11 ");
	expect_actor(&s, (struct ward_filter){.exe = "ake"}, "");
	session_free(&s);
}
END_TEST

/* A trail that is followed tells of processes while it grows. */
START_TEST(what_comes_later_is_learned)
{
	struct session s = session_new("grows");
	const struct ward_query_lines all = {0};
	const struct told early = {.ring = 1, .pid = 50, .parent = 2};
	const struct told late[] = {{.ring = 1, .pid = 51, .parent = 50}, {.ring = 1, .pid = 51},
		{.ring = 1, .pid = 52, .parent = 2}};
	char text[64] = "";
	put_told(&s, &early);
	struct ward_log *log = trail_of(s.st.log_fd);
	struct ward_filter f = {.pid = 50, .descendants = true};
	ck_assert_int_eq(ward_filter_prepare(&f, log, &all, NULL), 0);
	for (size_t i = 0; i < sizeof(late) / sizeof(*late); i++)
		put_told(&s, &late[i]);
	const struct ward_select sel = {.filter = &f, .lines = &all};
	ck_assert_int_eq(ward_select_walk(log, &sel, note_seq, text, NULL), 0);
	ck_assert_str_eq(text, "1 2 3 ");
	ck_assert_int_eq(ward_actors_error(f.actors), 0);
	ward_filter_clear(&f);
	session_free(&s);
}
END_TEST

START_TEST(a_summary_counts)
{
	struct session s = whole_session("figures", 9);
	json_t *o = NULL;
	ck_assert_int_eq(ward_query_summary(trail_of(s.st.log_fd), NULL, &o, NULL), 0);
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
	tcase_add_test(t, a_process_has_what_it_started);
	tcase_add_test(t, what_comes_later_is_learned);
	tcase_add_test(t, a_summary_counts);
	suite_add_tcase(s, t);
	return suite_run(s);
}
