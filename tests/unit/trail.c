/* SPDX-License-Identifier: Apache-2.0 */
/* The trail: what a writer writes verifies, and whatever is done to it afterwards has a name. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/chain.h"
#include "audit/ledger.h"
#include "audit/store.h"
#include "audit/verify.h"
#include "audit/writer.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/fd.h"
#include "enforcer/policy/policy.h"
#include "tests/support/scratch.h"

/* --- a session as the supervisor makes it, with the writer in this process --- */

struct session {
	struct ward_store_session st;
	int wake;
	int ring_fd[2];
	struct ward_ring *in[2];  /* producers' */
	struct ward_ring *out[2]; /* the writer's */
	struct ward_writer *w;
	uint8_t root[WARD_KEY_BYTES];
};

static char *state_path;
static struct ward_store *store;

static void setup(void)
{
	ck_assert_int_eq(ward_chain_setup(), 0);
	state_path = scratch_make();
	char *path = NULL;
	ck_assert_int_gt(asprintf(&path, "%s/state/wardfs", state_path), 0);
	struct ward_err err = WARD_ERR_INIT;
	ck_assert_msg(ward_store_open(path, true, &store, &err) == 0, "%s", err.text);
	free(path);
}

static void teardown(void)
{
	ward_store_close(store);
	scratch_remove(state_path);
}

static void writer_start(struct session *s, bool recover, const char *cause)
{
	struct ward_err err = WARD_ERR_INIT;
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(ward_ring_open(s->ring_fd[i], s->wake, &s->out[i], NULL), 0);
	struct ward_writer_setup setup_writer = {.session = s->st.name,
		.log_fd = s->st.log_fd,
		.ledger_fd = s->st.ledger_fd,
		.root_key = s->root,
		.rings = s->out,
		.n_rings = 2,
		.recover = recover,
		.cause = cause};
	ck_assert_msg(ward_writer_new(&setup_writer, &s->w, &err) == 0, "%s", err.text);
}

/* As if the writer had been killed. */
static void writer_dies(struct session *s)
{
	ward_writer_free(s->w);
	for (int i = 0; i < 2; i++)
		ward_ring_close(s->out[i]);
}

static struct session session_new(const char *name)
{
	struct session s = {.st = WARD_STORE_SESSION_INIT};
	struct ward_err err = WARD_ERR_INIT;
	ck_assert_msg(ward_store_create_session(store, name, "policy text", 11, &s.st, &err) == 0,
		"%s", err.text);
	ck_assert_int_eq(ward_store_read_key(store, s.root, &err), 0);
	s.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(ward_ring_create((size_t)64 << 10, &s.ring_fd[i], NULL), 0);
		ck_assert_int_eq(ward_ring_open(s.ring_fd[i], s.wake, &s.in[i], NULL), 0);
	}
	writer_start(&s, false, "");
	return s;
}

static void session_free(struct session *s)
{
	writer_dies(s);
	for (int i = 0; i < 2; i++) {
		ward_ring_close(s->in[i]);
		close(s->ring_fd[i]);
	}
	close(s->wake);
	ward_store_session_close(&s->st);
}

static void put_kind(struct session *s, int ring, enum ward_event_kind kind)
{
	struct ward_event ev;
	ward_event_begin(&ev, kind);
	ck_assert_int_eq(ward_ring_put(s->in[ring], &ev), 0);
}

static void put_access(struct session *s, int n)
{
	struct ward_event ev;
	char path[64];
	snprintf(path, sizeof(path), "/workspace/file-%d\n\xff\"\\", n);
	ward_event_begin(&ev, n % 3 ? WARD_EVENT_OPEN : WARD_EVENT_DENY);
	ward_event_u64(&ev, WARD_TAG_PID, 100 + (uint64_t)n);
	ward_event_text(&ev, WARD_TAG_COMM, "cat");
	ward_event_text(&ev, WARD_TAG_ACTION, "open");
	ward_event_text(&ev, WARD_TAG_PATH, path);
	ward_event_u64(&ev, WARD_TAG_ASKED, WARD_RIGHT_READ);
	ward_event_u64(&ev, WARD_TAG_GIVEN, n % 3 ? WARD_RIGHTS_ALL : 0);
	ward_event_u64(
		&ev, WARD_TAG_VERDICT, n % 3 ? (uint64_t)WARD_VERDICT_ALLOW : WARD_VERDICT_DENY);
	ward_event_text(&ev, WARD_TAG_RULE, "medium:12");
	ward_event_text(&ev, WARD_TAG_RULE_TEXT, "deny = .env");
	ward_event_u64(&ev, WARD_TAG_SOURCE, WARD_SOURCE_PROFILE);
	ward_event_u64(&ev, WARD_TAG_ERRNO, n % 3 ? 0 : EACCES);
	ward_event_u64(&ev, WARD_TAG_READ, WARD_EVENT_UNKNOWN);
	ck_assert_int_eq(ward_ring_put(s->in[1], &ev), 0);
}

static void drain(struct session *s)
{
	int n = 0;
	while ((n = ward_writer_step(s->w)) > 0)
		;
	ck_assert_int_eq(n, 0);
}

static void finish(struct session *s, const char *cause)
{
	struct ward_err err = WARD_ERR_INIT;
	drain(s);
	ck_assert_msg(ward_writer_finish(s->w, cause, &err) == 0, "%s", err.text);
}

/* start, n accesses, end. */
static struct session whole_session(const char *name, int n)
{
	struct session s = session_new(name);
	put_kind(&s, 0, WARD_EVENT_SESSION_START);
	for (int i = 0; i < n; i++) {
		put_access(&s, i);
		if (i % 50 == 49)
			drain(&s);
	}
	put_kind(&s, 0, WARD_EVENT_SESSION_END);
	finish(&s, "");
	return s;
}

/* --- files in memory --- */

static struct ward_buf slurp(int fd)
{
	struct ward_buf b = WARD_BUF_INIT;
	ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
	ck_assert_int_eq(ward_fd_read_all(fd, 1U << 26, &b), 0);
	return b;
}

static struct ward_buf log_of(struct session *s)
{
	return slurp(s->st.log_fd);
}

static struct ward_ledger_view ledger_of(const struct ward_buf *text, const uint8_t *root)
{
	int fd = memfd_create("t", MFD_CLOEXEC);
	struct ward_ledger_view v;
	ck_assert_int_eq(ward_fd_write_all(fd, text->data, text->len), 0);
	ck_assert_int_eq(ward_verify_ledger(fd, root, &v, NULL), 0);
	close(fd);
	return v;
}

static struct ward_verify_result verify_bytes(const char *data, size_t len, const char *name,
	const uint8_t *root, const struct ward_ledger_session *known)
{
	struct ward_verify_result r;
	struct ward_err err = WARD_ERR_INIT;
	int fd = memfd_create("t", MFD_CLOEXEC);
	ck_assert_int_eq(ward_fd_write_all(fd, data, len), 0);
	ck_assert_msg(ward_verify_trail(fd, name, root, known, &r, &err) == 0, "%s", err.text);
	close(fd);
	return r;
}

/* A log taken apart, with what the ledger says. */
#define LINES_MAX 64
struct sample {
	struct session s;
	struct ward_buf log;
	struct ward_buf ledger;
	struct ward_ledger_view view;
	const struct ward_ledger_session *known;
	const char *line[LINES_MAX + 1]; /* line[n] is the end */
	size_t n;
};

static void split(const struct ward_buf *b, const char **line, size_t *ret_n)
{
	const char *p = b->data;
	size_t n = 0;
	while (p < b->data + b->len) {
		ck_assert_uint_lt(n, LINES_MAX);
		line[n++] = p;
		p = memchr(p, '\n', (size_t)(b->data + b->len - p));
		ck_assert_ptr_nonnull(p);
		p++;
	}
	line[n] = p;
	*ret_n = n;
}

static struct sample sample_new(const char *name, int n)
{
	struct sample x = {.s = whole_session(name, n)};
	x.log = log_of(&x.s);
	x.ledger = slurp(x.s.st.ledger_fd);
	x.view = ledger_of(&x.ledger, x.s.root);
	x.known = ward_ledger_view_find(&x.view, x.s.st.name);
	ck_assert_ptr_nonnull(x.known);
	split(&x.log, x.line, &x.n);
	return x;
}

static void sample_free(struct sample *x)
{
	ward_ledger_view_free(&x->view);
	ward_buf_clear(&x->log);
	ward_buf_clear(&x->ledger);
	session_free(&x->s);
}

static struct ward_verify_result sample_verify(const struct sample *x, const struct ward_buf *b)
{
	return verify_bytes(ward_buf_str(b), b->len, x->s.st.name, x->s.root, x->known);
}

static void expect(const struct ward_verify_result *r, enum ward_verify_state state,
	uint64_t first_bad, const char *what, uint64_t where)
{
	ck_assert_msg(r->state == state && r->first_bad == first_bad,
		"%s %llu: %s, record %llu (%s), not %s, record %llu", what,
		(unsigned long long)where, ward_verify_state_name(r->state),
		(unsigned long long)r->first_bad, r->text, ward_verify_state_name(state),
		(unsigned long long)first_bad);
}

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
	ck_assert(json_is_null(json_object_get(j, "read")));
	ck_assert_int_eq(json_array_size(json_object_get(j, "asked")), 1);
	ck_assert_int_eq(json_array_size(json_object_get(j, "given")), 0);
	json_decref(j);
	j = json_loadb(line[2], (size_t)(line[3] - line[2]), 0, NULL);
	ck_assert_int_eq(json_array_size(json_object_get(j, "given")), 9);
	json_decref(j);
	const struct ward_writer_summary *sum = ward_writer_summary(s.w);
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
	put_access(&s, 1);
	drain(&s);
	ward_cleanup(ward_buf_clear) struct ward_buf log = log_of(&s);
	ck_assert_ptr_null(strstr(log.data, "\"kind\":\"session.end\""));
	ck_assert_ptr_null(strstr(log.data, "\"kind\":\"policy\""));
	ck_assert_ptr_nonnull(strstr(log.data, "a record of kind session.end came from ring 1"));
	ck_assert_ptr_nonnull(strstr(log.data, "\"kind\":\"open\"")); /* control: this passes */
	session_free(&s);
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
	const char *const bad[] = {"{\"a\":1", "[1]", "{} {}", "{\"a\":1,\"a\":2}", ""};
	struct session s = session_new("json");
	struct ward_event ev;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		ward_event_begin(&ev, WARD_EVENT_SESSION_START);
		ward_event_text(&ev, WARD_TAG_JSON, bad[i]);
		ck_assert_int_eq(ward_ring_put(s.in[0], &ev), 0);
	}
	ward_event_begin(&ev, WARD_EVENT_SESSION_START);
	ward_event_text(&ev, WARD_TAG_JSON, "{ \"owner\" :\n\"\xc3\xa4\" }");
	ck_assert_int_eq(ward_ring_put(s.in[0], &ev), 0);
	drain(&s);
	ward_cleanup(ward_buf_clear) struct ward_buf log = log_of(&s);
	const char *line[LINES_MAX + 1];
	size_t n = 0;
	split(&log, line, &n);
	ck_assert_uint_eq(n, 6);
	for (size_t i = 0; i < 5; i++)
		ck_assert_msg(strstr(line[i], ",\"detail\":null,\"cut\":true,\"mac\"") &&
				      strstr(line[i], ",\"detail\":null") < line[i + 1],
			"%.*s", (int)(line[i + 1] - line[i]), line[i]);
	ck_assert_ptr_nonnull(strstr(line[5], ",\"detail\":{\"owner\":\"\\u00E4\"},\"mac\""));
	session_free(&s);
}
END_TEST

START_TEST(a_spoiled_ring_leaves_a_gap_and_spares_the_others)
{
	struct session s = session_new("spoiled");
	uint8_t *m = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, s.ring_fd[1], 0);
	put_kind(&s, 0, WARD_EVENT_SESSION_START);
	put_access(&s, 1);
	m[4096 + 8] ^= 0xff; /* its length */
	put_kind(&s, 0, WARD_EVENT_SESSION_END);
	finish(&s, "");
	munmap(m, 8192);
	ward_cleanup(ward_buf_clear) struct ward_buf log = log_of(&s);
	ward_cleanup(ward_buf_clear) struct ward_buf ledger = slurp(s.st.ledger_fd);
	struct ward_ledger_view v = ledger_of(&ledger, s.root);
	struct ward_verify_result r = verify_bytes(
		log.data, log.len, s.st.name, s.root, ward_ledger_view_find(&v, s.st.name));
	ck_assert_int_eq(r.state, WARD_VERIFY_GAP);
	ck_assert_uint_eq(r.records, 3);
	ward_ledger_view_free(&v);
	session_free(&s);
}
END_TEST

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

/* Builds a log of the lines of x whose numbers are in order[]. */
static struct ward_buf pick(const struct sample *x, const size_t *order, size_t n)
{
	struct ward_buf b = WARD_BUF_INIT;
	for (size_t i = 0; i < n; i++)
		ward_buf_add(
			&b, x->line[order[i]], (size_t)(x->line[order[i] + 1] - x->line[order[i]]));
	return b;
}

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
			ward_cleanup(ward_buf_clear) struct ward_buf b = pick(&x, order, n);
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
			ward_cleanup(ward_buf_clear) struct ward_buf b = pick(&x, order, x.n);
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
			ward_cleanup(ward_buf_clear) struct ward_buf b = pick(&x, order, n);
			struct ward_verify_result r = sample_verify(&x, &b);
			/* A copy behind its original is told at the copy, else at the original. */
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
	ck_assert_int_eq(ward_fd_write_all(a.s.st.ledger_fd, "{\"v\":1,\"se", 10), 0);
	ward_cleanup(ward_buf_clear) struct ward_buf torn = slurp(a.s.st.ledger_fd);
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
	ward_cleanup(ward_buf_clear) struct ward_buf ledger = slurp(s.st.ledger_fd);
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

START_TEST(a_supervisor_that_dies_leaves_the_cause)
{
	struct session s = session_new("orphan");
	put_kind(&s, 0, WARD_EVENT_SESSION_START);
	put_access(&s, 1);
	finish(&s, "the supervisor died");
	ward_cleanup(ward_buf_clear) struct ward_buf log = log_of(&s);
	ward_cleanup(ward_buf_clear) struct ward_buf ledger = slurp(s.st.ledger_fd);
	struct ward_ledger_view v = ledger_of(&ledger, s.root);
	struct ward_verify_result r = verify_bytes(
		log.data, log.len, s.st.name, s.root, ward_ledger_view_find(&v, "orphan"));
	expect(&r, WARD_VERIFY_INCOMPLETE, 0, "orphan", 0);
	ck_assert_str_eq(r.text, "the supervisor died");
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
	ck_assert_int_eq(ward_store_create_session(store, "job", "p", 1, &a, &err), 0);
	ck_assert_int_eq(ward_store_create_session(store, "job", "p", 1, &b, &err), 0);
	ck_assert_str_eq(a.name, "job");
	ck_assert_str_eq(b.name, "job.2");
	struct stat st;
	ck_assert_int_eq(fstat(a.log_fd, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0600);
	ck_assert_int_eq(fstat(a.key_fd, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0600);
	ck_assert_int_eq(fcntl(a.ledger_fd, F_GETFD), FD_CLOEXEC);
	char *name = NULL;
	ck_assert_int_eq(ward_store_find(store, "job", &name, &err), 0);
	ck_assert_str_eq(name, "job");
	free(name);
	ck_assert_int_eq(ward_store_find(store, "jo", &name, &err), -EEXIST);
	ck_assert_int_eq(ward_store_find(store, "job.", &name, &err), 0);
	ck_assert_str_eq(name, "job.2");
	free(name);
	ck_assert_int_eq(ward_store_find(store, "x", &name, &err), -ENOENT);
	ck_assert_int_eq(ward_store_find(store, "../key", &name, &err), -ENOENT);
	const char *const bad[] = {"", ".", "..", "a/b", "-x", "latest", "a b", "\xc3\xa4"};
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct ward_store_session x = WARD_STORE_SESSION_INIT;
		ck_assert_int_eq(
			ward_store_create_session(store, bad[i], "p", 1, &x, &err), -EINVAL);
	}
	char id[WARD_SESSION_ID_MAX];
	ck_assert_int_eq(ward_store_session_id(id, &err), 0);
	ck_assert(ward_session_name_valid(id, strlen(id)));
	ward_store_session_close(&a);
	ward_store_session_close(&b);
}
END_TEST

START_TEST(the_latest_session_is_the_one_that_started_last)
{
	char *name = NULL;
	ck_assert_int_eq(ward_store_find(store, NULL, &name, NULL), -ENOENT);
	struct session a = whole_session("zzz", 1);
	struct session b = whole_session("aaa", 1);
	ck_assert_int_eq(ward_store_find(store, "latest", &name, NULL), 0);
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
	ward_cleanup_free char *path = strdup(ward_store_path(store));
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
		{7, NULL, "/home/u", "/home/u/.local/state/wardfs"}, {7, "/x", "/h", "/x/wardfs"},
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

static void add_writing(TCase *t)
{
	tcase_add_test(t, a_record_is_one_line_of_json);
	tcase_add_test(t, text_forms_agree_with_the_slow_ones);
	tcase_add_test(t, a_producer_cannot_speak_for_the_supervisor);
	tcase_add_test(t, the_end_record_is_the_last);
	tcase_add_test(t, a_description_that_is_no_object_stays_out);
	tcase_add_test(t, a_spoiled_ring_leaves_a_gap_and_spares_the_others);
	tcase_add_test(t, a_recovery_writer_loses_nothing_and_doubles_nothing);
	tcase_add_test(t, a_recovery_writer_takes_over_at_any_byte);
	tcase_add_test(t, a_supervisor_that_dies_leaves_the_cause);
	tcase_add_test(t, sessions_get_names_and_places);
	tcase_add_test(t, the_latest_session_is_the_one_that_started_last);
	tcase_add_test(t, a_directory_that_others_can_write_is_refused);
	tcase_add_test(t, the_state_directory_follows_the_environment);
}

int main(void)
{
	Suite *s = suite_create("trail");
	TCase *t = tcase_create("trail");
	tcase_set_timeout(t, 300);
	tcase_add_checked_fixture(t, setup, teardown);
	add_writing(t);
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
	SRunner *r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	int failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? 1 : 0;
}
