/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/trail_session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "enforcer/base/fd.h"
#include "enforcer/policy/policy.h"
#include "tests/support/scratch.h"

/* --- a session as the supervisor makes it, with the writer in this process --- */

static char *state_path;
static struct ward_store *store;
static struct ward_log *last_trail;

void trail_setup(void)
{
	ck_assert_int_eq(ward_chain_setup(), 0);
	state_path = scratch_make();
	char *path = NULL;
	ck_assert_int_gt(asprintf(&path, "%s/state/wardfs", state_path), 0);
	struct ward_err err = WARD_ERR_INIT;
	ck_assert_msg(ward_store_open(path, true, &store, &err) == 0, "%s", err.text);
	free(path);
}

struct ward_store *trail_store(void)
{
	return store;
}

void trail_teardown(void)
{
	ward_log_close(last_trail);
	last_trail = NULL;
	ward_store_close(store);
	scratch_remove(state_path);
}

void writer_start(struct session *s, bool recover, const char *cause)
{
	struct ward_err err = WARD_ERR_INIT;
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(ward_ring_open(s->ring_fd[i], s->wake, &s->out[i], NULL), 0);
	struct ward_writer_setup setup_writer = {.session = s->st.name,
		.log_fd = s->st.log_fd,
		.ledger = s->st.ledger,
		.checkpoints_fd = s->st.checkpoints_fd,
		.root_key = s->root,
		.sign_seed = s->seed,
		.sync = s->sync,
		.checkpoint_records = 10,
		.rings = s->out,
		.n_rings = 2,
		.recover = recover,
		.cause = cause};
	ck_assert_msg(ward_writer_new(&setup_writer, &s->w, &err) == 0, "%s", err.text);
}

/* As if the writer had been killed. */
void writer_dies(struct session *s)
{
	ward_writer_free(s->w);
	for (int i = 0; i < 2; i++)
		ward_ring_close(s->out[i]);
}

struct session session_new(const char *name)
{
	struct session s = {.st = WARD_STORE_SESSION_INIT, .sync = WARD_SYNC_BATCH};
	struct ward_err err = WARD_ERR_INIT;
	ck_assert_msg(ward_store_create_session(store, name, "policy text", 11, &s.st, &err) == 0,
		"%s", err.text);
	ck_assert_int_eq(ward_store_read_key(store, s.root, &err), 0);
	ck_assert_int_eq(ward_store_read_seed(store, s.seed, &err), 0);
	s.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(ward_ring_create((size_t)64 << 10, &s.ring_fd[i], NULL), 0);
		ck_assert_int_eq(ward_ring_open(s.ring_fd[i], s.wake, &s.in[i], NULL), 0);
	}
	writer_start(&s, false, "");
	return s;
}

void session_free(struct session *s)
{
	writer_dies(s);
	for (int i = 0; i < 2; i++) {
		ward_ring_close(s->in[i]);
		close(s->ring_fd[i]);
	}
	close(s->wake);
	ward_store_session_close(&s->st);
}

void put_kind(struct session *s, int ring, enum ward_event_kind kind)
{
	struct ward_event ev;
	ward_event_begin(&ev, kind);
	ck_assert_int_eq(ward_ring_put(s->in[ring], &ev), 0);
}

void put_access(struct session *s, int n)
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
	if (n % 3)
		ward_event_u64(&ev, WARD_TAG_SIZE_BEFORE, WARD_EVENT_UNKNOWN);
	ck_assert_int_eq(ward_ring_put(s->in[1], &ev), 0);
}

void drain(struct session *s)
{
	int n = 0;
	while ((n = ward_writer_step(s->w)) > 0)
		;
	ck_assert_int_eq(n, 0);
}

void finish(struct session *s, const char *cause)
{
	struct ward_err err = WARD_ERR_INIT;
	drain(s);
	ck_assert_msg(ward_writer_finish(s->w, cause, &err) == 0, "%s", err.text);
}

/* start, n accesses, end. */
struct session whole_session(const char *name, int n)
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

struct ward_buf slurp(int fd)
{
	struct ward_buf b = WARD_BUF_INIT;
	ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
	ck_assert_int_eq(ward_fd_read_all(fd, 1U << 26, &b), 0);
	return b;
}

struct ward_buf log_of(struct session *s)
{
	return slurp(s->st.log_fd);
}

struct ward_log *trail_of(int fd)
{
	ward_log_close(last_trail);
	last_trail = NULL;
	ck_assert_int_eq(ward_log_open_file(fd, &last_trail), 0);
	return last_trail;
}

struct ward_ledger_view ledger_of(const struct ward_buf *text, const uint8_t *root)
{
	int fd = memfd_create("t", MFD_CLOEXEC);
	struct ward_ledger_view v;
	ck_assert_int_eq(ward_fd_write_all(fd, text->data, text->len), 0);
	ck_assert_int_eq(ward_verify_ledger(fd, WARD_LEDGER_NOTES_UNSEEN, root, &v, NULL), 0);
	close(fd);
	return v;
}

struct ward_verify_result verify_bytes(const char *data, size_t len, const char *name,
	const uint8_t *root, const struct ward_ledger_session *known)
{
	struct ward_verify_result r;
	struct ward_err err = WARD_ERR_INIT;
	int fd = memfd_create("t", MFD_CLOEXEC);
	ck_assert_int_eq(ward_fd_write_all(fd, data, len), 0);
	ck_assert_msg(ward_verify_trail(trail_of(fd), name, root, known, NULL, &r, &err) == 0, "%s",
		err.text);
	close(fd);
	return r;
}

void split(const struct ward_buf *b, const char **line, size_t *ret_n)
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

struct sample sample_new(const char *name, int n)
{
	struct sample x = {.s = whole_session(name, n)};
	x.log = log_of(&x.s);
	x.ledger = slurp(x.s.st.ledger.fd);
	x.view = ledger_of(&x.ledger, x.s.root);
	x.known = ward_ledger_view_find(&x.view, x.s.st.name);
	ck_assert_ptr_nonnull(x.known);
	split(&x.log, x.line, &x.n);
	return x;
}

void sample_free(struct sample *x)
{
	ward_ledger_view_free(&x->view);
	ward_buf_clear(&x->log);
	ward_buf_clear(&x->ledger);
	session_free(&x->s);
}

struct ward_buf sample_pick(const struct sample *x, const size_t *order, size_t n)
{
	struct ward_buf b = WARD_BUF_INIT;
	for (size_t i = 0; i < n; i++)
		ward_buf_add(
			&b, x->line[order[i]], (size_t)(x->line[order[i] + 1] - x->line[order[i]]));
	return b;
}

struct ward_verify_result sample_verify(const struct sample *x, const struct ward_buf *b)
{
	return verify_bytes(ward_buf_str(b), b->len, x->s.st.name, x->s.root, x->known);
}

void expect(const struct ward_verify_result *r, enum ward_verify_state state, uint64_t first_bad,
	const char *what, uint64_t where)
{
	ck_assert_msg(r->state == state && r->first_bad == first_bad,
		"%s %llu: %s, record %llu (%s), not %s, record %llu", what,
		(unsigned long long)where, ward_verify_state_name(r->state),
		(unsigned long long)r->first_bad, r->text, ward_verify_state_name(state),
		(unsigned long long)first_bad);
}
