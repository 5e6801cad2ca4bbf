/* SPDX-License-Identifier: Apache-2.0 */
/* Takes events out of the rings, and numbers, seals and appends them. */
#include "audit/write/writer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/log/chain.h"
#include "audit/terms.h"
#include "audit/write/checkpoint.h"
#include "audit/write/counts.h"
#include "audit/write/encode.h"
#include "audit/write/ledger.h"
#include "audit/write/log_sync.h"
#include "audit/write/reserve.h"
#include "audit/write/resume.h"
#include "audit/write/unanswered.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/cut.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/escape.h"

/* Bytes of lines that go out in one write(2). */
#define BATCH_BYTES ((size_t)512 << 10)
/* Records that one ring may give in a batch, so that none starves the others. */
#define BATCH_PER_RING 512
/* [audit] sync = batch: what a crash of the host can take. */
#define BATCH_SYNC_NS WARD_NS_PER_SEC

struct ward_writer {
	char session[WARD_SESSION_NAME_MAX + 1];
	int log_fd;
	struct ward_ledger_files ledger_files;
	struct ward_tlog_key ledger_sign;
	struct ward_ring *rings[WARD_RINGS_MAX];
	size_t n_rings;

	/* the chain */
	uint8_t key[WARD_KEY_BYTES]; /* of the record seq + 1 */
	uint8_t prev[WARD_MAC_BYTES];
	uint64_t seq;
	uint64_t bytes;		      /* of all lines sealed so far */
	uint64_t pos[WARD_RINGS_MAX]; /* in each ring, behind its last record */
	struct ward_ledger_keys ledger;
	struct ward_checkpoints points;

	/* lines on their way; [0, written) is in the log already */
	struct ward_buf batch;
	size_t written;
	/* segments: the log goes on in next_fd as soon as nothing is on its way */
	uint64_t keep_s;      /* for the ledger */
	uint64_t rotate;      /* another segment is wanted after this many bytes; 0: never */
	uint64_t rotate_at;   /* `bytes` at which the next one is wanted */
	int next_fd;	      /* -1: none was given */
	unsigned next_number; /* of the one that was given */
	unsigned begun;	      /* number of the one that was begun last, until it is announced */

	/* the space that the log has, whatever others write to the disk */
	struct ward_reserve reserve;
	uint64_t at; /* bytes of the file log_fd */
	enum ward_reserve_level level;
	uint64_t low_ns; /* CLOCK_REALTIME: little is left since then; 0: enough is */

	bool dirty;	  /* written but not synced */
	bool sync_failed; /* since the log broke */
	uint64_t synced_ns;
	uint64_t sync_every_ns; /* UINT64_MAX: with a checkpoint alone */

	int broken; /* negative errno while the log cannot be written */
	uint64_t broken_ns;
	uint64_t broken_times;

	bool closed; /* no record is taken from here on (ward_writer_close_rings) */
	bool recovered;
	char cause[160]; /* of the recovery */
	bool end_held;	 /* the supervisor's session.end waits in `end` to be the last record */
	bool end_logged; /* a session.end is in the log */
	bool end_signed; /* the last checkpoint is signed */
	bool end_told;	 /* and in the ledger */
	struct ward_event end;
	uint64_t end_pos;
	bool end_lost;	    /* the record says that a process of wardfs died */
	char end_text[160]; /* what it says of the cause, cut; for the ledger */

	uint64_t now_ns;      /* CLOCK_MONOTONIC: when the batch in hand was begun */
	struct ward_event ev; /* the one in hand */
	struct ward_summary sum;
	struct ward_counts counts; /* for session.end */
	struct ward_unanswered unanswered;
};

/* --- records --- */

static void seal(struct ward_writer *w, size_t start)
{
	ward_chain_seal(w->key, w->prev, &w->batch, start);
	ward_checkpoints_add(&w->points, w->batch.data + start, w->batch.len - start - 1);
	ward_chain_ratchet(w->key);
	w->seq++;
	w->bytes += w->batch.len - start;
	w->sum.records++;
}

static void add_record(struct ward_writer *w, int ring, uint64_t pos,
	const struct ward_event_head *head, const struct ward_event_fields *fields)
{
	size_t start = w->batch.len;
	struct ward_record_place place = {.seq = w->seq + 1,
		.session = w->session,
		.ring = ring,
		.pos = pos,
		.mono_ns = w->now_ns};
	ward_encode_record(&w->batch, &place, head, fields);
	seal(w, start);
	if (ring >= 0 && ring < WARD_RINGS_MAX)
		w->pos[ring] = pos;
}

/* A record of the writer's own, with a text. */
static void add_note(
	struct ward_writer *w, enum ward_event_kind kind, int ring, uint64_t pos, const char *text)
{
	struct ward_event_fields fields = {
		.of[WARD_TAG_TEXT] = {.p = (const uint8_t *)text, .len = strlen(text)}};
	ward_member_set_add(&fields.members, WARD_TAG_TEXT);
	struct ward_event_head head = {
		.kind = kind, .real_ns = ward_clock_real_ns(), .mono_ns = ward_clock_mono_ns()};
	w->now_ns = head.mono_ns;
	add_record(w, ring, pos, &head, &fields);
}

/*
 * Kinds that speak for the whole session are the supervisor's. A filesystem's record of kind
 * `probe` is one of a refusal during the probes: that a probe held is for the supervisor to say.
 */
static bool speaks_for_another(
	const struct ward_event_head *head, size_t ring, const struct ward_event_fields *fields)
{
	bool verdict = head->kind == WARD_EVENT_PROBE && fields->of[WARD_TAG_RESULT].p;
	return ring > 0 && (ward_record_kind_reserved(head->kind) || verdict);
}

/* A record that its producer may not write is left out; the gap in its place says which. */
static void leave_out(struct ward_writer *w, size_t ring, uint64_t pos, enum ward_event_tag foreign)
{
	char text[160];
	const char *kind = ward_event_kind_name((enum ward_event_kind)w->ev.head.kind);
	if (foreign == WARD_TAG_NONE)
		snprintf(text, sizeof(text), "a record of kind %s came from ring %zu: left out",
			kind, ring);
	else
		snprintf(text, sizeof(text),
			"a record of kind %s came from ring %zu with %s, which is no member of its kind: left out",
			kind, ring, ward_record_members[foreign].name);
	add_note(w, WARD_EVENT_GAP, (int)ring, pos, text);
}

static void take_event(
	struct ward_writer *w, size_t ring, uint64_t pos, const struct ward_event_fields *fields)
{
	const struct ward_event_head *head = &w->ev.head;
	if (speaks_for_another(head, ring, fields)) {
		leave_out(w, ring, pos, WARD_TAG_NONE);
		return;
	}
	enum ward_event_tag foreign = ward_record_kind_foreign(head->kind, &fields->members);
	if (foreign != WARD_TAG_NONE) {
		leave_out(w, ring, pos, foreign);
		return;
	}
	if (head->kind == WARD_EVENT_SESSION_END) {
		memcpy(&w->end, &w->ev, ward_event_size(&w->ev));
		w->end_pos = pos;
		w->end_held = true;
		const struct ward_event_field *text = &fields->of[WARD_TAG_TEXT];
		ward_cut(w->end_text, sizeof(w->end_text), text->p ? (const char *)text->p : "",
			text->p ? text->len : 0);
		const struct ward_event_field *said = &fields->of[WARD_TAG_RESULT];
		w->end_lost = said->len == strlen(WARD_RESULT_INCOMPLETE) &&
			      memcmp(said->p, WARD_RESULT_INCOMPLETE, said->len) == 0;
		return;
	}
	ward_counts_note(&w->counts, (enum ward_event_kind)head->kind, fields);
	ward_unanswered_note(&w->unanswered, (enum ward_event_kind)head->kind, fields);
	if (ward_record_kind_is((enum ward_event_kind)head->kind, WARD_KIND_REFUSAL))
		ward_summary_refusal(&w->sum, fields);
	if (head->kind == WARD_EVENT_CONNECT)
		ward_summary_unreached(&w->sum, fields);
	add_record(w, (int)ring, pos, head, fields);
}

/* Takes what ring i has before `reach` into the batch. Returns the number of events. */
static int take_ring(struct ward_writer *w, size_t i, uint64_t reach)
{
	struct ward_event_fields fields;
	int n = 0;
	while (n < BATCH_PER_RING && w->batch.len + WARD_LINE_MAX <= BATCH_BYTES &&
		ward_ring_pos(w->rings[i]) < reach) {
		/* The end waits for the other rings, and nothing of the supervisor's follows it. */
		if (i == 0 && w->end_held)
			break;
		int r = ward_ring_get(w->rings[i], &w->ev, &fields);
		if (r == 0)
			break;
		n++;
		uint64_t pos = ward_ring_pos(w->rings[i]);
		if (r == 1) {
			take_event(w, i, pos, &fields);
			continue;
		}
		char text[96];
		snprintf(text, sizeof(text), "ring %zu: spoiled records were passed over", i);
		add_note(w, WARD_EVENT_GAP, (int)i, pos, text);
	}
	return n;
}

/* --- to the log --- */

static void fail_rings(struct ward_writer *w, bool on)
{
	for (size_t i = 0; i < w->n_rings; i++)
		ward_ring_fail(w->rings[i], on || w->closed);
}

static int broke(struct ward_writer *w, int error)
{
	if (w->broken == 0)
		w->broken_ns = ward_clock_real_ns();
	/* Each time: what was released since the last failure is lost with this one. */
	fail_rings(w, true);
	w->broken = error;
	w->broken_times++;
	return error;
}

/* The log has another file, or was cut. */
static int take_size(struct ward_writer *w)
{
	struct stat st;
	if (fstat(w->log_fd, &st) < 0)
		return -errno;
	w->at = (uint64_t)st.st_size;
	return 0;
}

/* With little of it left, the producers of the session do what makes room, and no more. */
static void look_at_reserve(struct ward_writer *w)
{
	w->level = ward_reserve_fill(&w->reserve, w->log_fd, w->at, ward_clock_mono_ns());
	const bool low = w->level <= WARD_RESERVE_IS_LOW;
	if (low && w->low_ns == 0) {
		w->low_ns = ward_clock_real_ns();
		for (size_t i = 1; i < w->n_rings; i++)
			ward_ring_low(w->rings[i], true);
	}
}

/* There is room again, or the end comes: says what has no record. Into the batch. */
static void tell_low(struct ward_writer *w)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_buf_puts(&b, "the disk was full since ");
	ward_put_time(&b, w->low_ns);
	ward_buf_puts(&b,
		": operations that are recorded were refused meanwhile, except that names were removed");
	w->low_ns = 0;
	add_note(w, WARD_EVENT_GAP, -1, 0, ward_buf_str(&b));
	for (size_t i = 1; i < w->n_rings; i++)
		ward_ring_low(w->rings[i], false);
}

/* Writes what is left of the batch. */
static int flush(struct ward_writer *w)
{
	while (w->written < w->batch.len) {
		ssize_t n = write(w->log_fd, w->batch.data + w->written, w->batch.len - w->written);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return broke(w, n < 0 ? -errno : -EIO);
		w->written += (size_t)n;
		w->at += (uint64_t)n;
		w->dirty = true;
	}
	w->batch.len = 0;
	w->written = 0;
	look_at_reserve(w);
	return 0;
}

static void release_rings(struct ward_writer *w)
{
	for (size_t i = 0; i < w->n_rings; i++)
		if (i != 0 || !w->end_held)
			ward_ring_release(w->rings[i]);
}

/* The log can be written again: say since when not, and let the producers go on. */
static int mend(struct ward_writer *w)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_buf_puts(&b, "the log could not be written since ");
	ward_put_time(&b, w->broken_ns);
	ward_buf_printf(&b,
		" (%s): operations that are recorded were refused meanwhile, except that files "
		"were closed, and changed by others, without a record; bytes of passthrough handles and of mappings could "
		"be written",
		strerrordesc_np(-w->broken));
	/* The kernel reports a failure once, and then treats the pages as written. */
	if (w->sync_failed)
		ward_buf_puts(&b, "; what was written since the last sync may not be on disk");
	w->sync_failed = false;
	w->broken = 0;
	add_note(w, WARD_EVENT_GAP, -1, 0, ward_buf_str(&b));
	int r = flush(w);
	if (r == 0)
		fail_rings(w, false);
	return r;
}

/* What stands in the batch since the last call goes out, then the rings get their room back. */
static int flush_and_release(struct ward_writer *w)
{
	int r = flush(w);
	if (r < 0)
		return r;
	release_rings(w);
	if (w->broken == 0)
		return 0;
	/* A disk that takes a write may yet refuse to keep it. */
	r = ward_log_sync(w->log_fd);
	if (r == 0)
		r = ward_checkpoints_flush(&w->points);
	return r < 0 ? broke(w, r) : mend(w);
}

/* --- segments --- */

/* The record with which a segment begins, into the batch. */
static int put_segment(struct ward_writer *w)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = {.max = WARD_SEGMENT_DETAIL_MAX};
	struct ward_resume res = {.seq = w->seq,
		.bytes = w->bytes,
		.refusals = w->sum.refusals,
		.tree = w->points.tree};
	memcpy(res.prev, w->prev, sizeof(res.prev));
	memcpy(res.pos, w->pos, sizeof(res.pos));
	ward_resume_put(&b, w->next_number, &res);
	if (ward_buf_error(&b) < 0)
		return -ENOMEM;
	struct ward_event_fields fields = {
		.of[WARD_TAG_JSON] = {.p = (const uint8_t *)b.data, .len = b.len}};
	ward_member_set_add(&fields.members, WARD_TAG_JSON);
	struct ward_event_head head = {.kind = WARD_EVENT_SEGMENT,
		.real_ns = ward_clock_real_ns(),
		.mono_ns = ward_clock_mono_ns()};
	w->now_ns = head.mono_ns;
	add_record(w, -1, 0, &head, &fields);
	return 0;
}

/*
 * Nothing is on its way: the log goes on in the next file. What is in the one before is on disk
 * before anything is in the new one, and that before it is announced.
 */
static int begin_segment(struct ward_writer *w)
{
	int r = ward_log_sync(w->log_fd);
	if (r < 0) {
		w->sync_failed = true;
		return broke(w, r);
	}
	r = put_segment(w);
	if (r < 0)
		return broke(w, r);
	/* What it gives back is there for the next one. */
	ward_reserve_drop(w->log_fd);
	close(w->log_fd);
	w->log_fd = w->next_fd;
	w->next_fd = -1;
	w->at = 0;
	w->reserve.end = 0;
	w->rotate_at = w->bytes + w->rotate;
	w->begun = w->next_number;
	return flush(w);
}

bool ward_writer_wants_segment(const struct ward_writer *w)
{
	return w->rotate > 0 && w->bytes >= w->rotate_at && w->next_fd < 0;
}

void ward_writer_give_segment(struct ward_writer *w, int fd, unsigned number)
{
	/* None was available: try again later. */
	if (fd < 0)
		w->rotate_at = w->bytes + w->rotate / 16 + 1;
	w->next_fd = fd;
	w->next_number = number;
}

unsigned ward_writer_begun_segment(struct ward_writer *w)
{
	if (w->begun == 0 || w->written < w->batch.len || ward_log_sync(w->log_fd) < 0)
		return 0;
	unsigned number = w->begun;
	w->begun = 0;
	return number;
}

/*
 * What the supervisor says comes before what others do because of it: a grant before its use, a
 * policy before what it decides. So of the others' rings only that is taken which was there before
 * the supervisor's was looked at.
 */
static int take_rings(struct ward_writer *w)
{
	uint64_t reach[WARD_RINGS_MAX];
	for (size_t i = 1; i < w->n_rings; i++)
		reach[i] = ward_ring_reach(w->rings[i]);
	int n = take_ring(w, 0, UINT64_MAX);
	/* There may be more: the others wait for the next step. */
	const bool all = n < BATCH_PER_RING && w->batch.len + WARD_LINE_MAX <= BATCH_BYTES;
	for (size_t i = 1; all && i < w->n_rings; i++)
		n += take_ring(w, i, reach[i]);
	return n;
}

int ward_writer_step(struct ward_writer *w)
{
	/* The rest of the reserve is for the end, and for what the producers were promised before.
	 */
	if (w->level == WARD_RESERVE_IS_LAST && !w->closed) {
		look_at_reserve(w);
		if (w->level == WARD_RESERVE_IS_LAST)
			return broke(w, -ENOSPC);
	}
	if (w->low_ns && w->level == WARD_RESERVE_IS_LOW)
		look_at_reserve(w);
	if (w->low_ns && w->level > WARD_RESERVE_IS_LOW && w->batch.len == 0)
		tell_low(w);
	if (w->batch.len > 0 || w->broken) {
		int r = flush_and_release(w);
		if (r < 0)
			return r;
	}
	if (w->next_fd >= 0 && !w->end_logged) {
		int r = begin_segment(w);
		if (r < 0)
			return r;
	}
	w->now_ns = ward_clock_mono_ns();
	const int n = take_rings(w);
	if (n == 0)
		return 0;
	int r = flush_and_release(w);
	return r < 0 ? r : n;
}

int ward_writer_sync(struct ward_writer *w, bool force)
{
	uint64_t now = ward_clock_mono_ns();
	bool point = ward_checkpoints_due_ns(&w->points, now) == 0;
	if (w->dirty && (force || point || now - w->synced_ns >= w->sync_every_ns)) {
		int r = ward_log_sync(w->log_fd);
		if (r < 0) {
			w->sync_failed = true;
			return broke(w, r);
		}
		w->dirty = false;
		w->synced_ns = now;
		/* Only released records were written; nothing else in the ring is trusted. */
		for (size_t i = 0; i < w->n_rings; i++)
			ward_ring_durable(w->rings[i]);
	}
	/* Checkpoints speak of what is on disk alone. */
	if (w->dirty || w->batch.len > 0)
		return 0;
	/* On a full disk what is left is for the last one. */
	if (point && w->points.tree.n > w->points.at && w->level == WARD_RESERVE_IS_WHOLE) {
		ward_reserve_small(w->points.fd);
		ward_checkpoints_sign(&w->points, WARD_CHECKPOINT_OPEN);
	}
	int r = ward_checkpoints_flush(&w->points);
	return r < 0 ? broke(w, r) : 0;
}

int ward_writer_sync_due_ms(const struct ward_writer *w)
{
	uint64_t now = ward_clock_mono_ns();
	uint64_t left = ward_checkpoints_due_ns(&w->points, now);
	uint64_t since = now - w->synced_ns;
	if (w->dirty) {
		uint64_t sync = since >= w->sync_every_ns ? 0 : w->sync_every_ns - since;
		left = sync < left ? sync : left;
	}
	if (left == UINT64_MAX)
		return -1;
	/* Poll takes an int; to look once an hour is no harm. */
	return left == 0 ? 0 : (int)(left / 1000000 < 3600000 ? left / 1000000 + 1 : 3600000);
}

static uint64_t sync_every(enum ward_audit_sync sync)
{
	switch (sync) {
	case WARD_SYNC_RECORD:
		return 0;
	case WARD_SYNC_BATCH:
		return BATCH_SYNC_NS;
	case WARD_SYNC_CLOSE:
		return UINT64_MAX;
	}
	return 0;
}

/* --- beginning --- */

/* Takes over what the first writer left: see writer.h. */
static int resume(struct ward_writer *w, const char *cause, struct ward_err *err)
{
	struct ward_resume res = {.unanswered = &w->unanswered};
	memcpy(res.key, w->key, sizeof(res.key));
	int r = ward_resume_walk(w->log_fd, w->session, &res, err);
	if (r < 0)
		return r;
	memcpy(w->key, res.key, sizeof(w->key));
	memcpy(w->prev, res.prev, sizeof(w->prev));
	ward_chain_wipe(res.key, sizeof(res.key));
	w->seq = res.seq;
	w->points.tree = res.tree;
	w->points.at = res.tree.n;
	w->bytes = res.bytes;
	w->sum.records = res.seq;
	w->sum.refusals = res.refusals;
	w->end_logged = res.ended;
	memcpy(w->pos, res.pos, sizeof(w->pos));
	w->rotate_at = w->bytes - res.segment + w->rotate;
	w->recovered = true;
	for (size_t i = 0; i < w->n_rings; i++) {
		r = ward_ring_seek(w->rings[i], res.pos[i]);
		if (r < 0)
			return ward_err_sys(err, r, "ring %zu", i);
	}
	if (res.torn > 0 && ftruncate(w->log_fd, (off_t)res.segment) < 0)
		return ward_err_sys(err, -errno, "log: cut off a line without end");
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_buf_printf(&b, "recovery: %s", cause);
	if (res.torn > 0)
		ward_buf_printf(&b, "; %llu bytes of a line without end were cut off",
			(unsigned long long)res.torn);
	if (res.damaged > 0)
		ward_buf_printf(
			&b, "; record %llu was damaged before", (unsigned long long)res.damaged);
	if (res.lost > 0)
		ward_buf_printf(&b, "; %llu number%s no record", (unsigned long long)res.lost,
			res.lost == 1 ? " has" : "s have");
	add_note(w, WARD_EVENT_GAP, -1, 0, ward_buf_str(&b));
	fail_rings(w, false);
	return 0;
}

/* Before the first record: the ledger knows the session, and with which key it signs. */
static int tell_start(struct ward_writer *w, struct ward_err *err)
{
	char key[WARD_VKEY_MAX];
	ward_checkpoints_sign(&w->points, WARD_CHECKPOINT_OPEN);
	ward_public_key_print(&w->points.key.pub, key);
	struct ward_ledger_start start = {
		.key = key, .checkpoint = w->points.last, .keep_s = w->keep_s};
	int r = ward_ledger_append(
		&w->ledger_files, &w->ledger_sign, w->session, &w->ledger, &start, NULL, err);
	if (r < 0)
		return r;
	r = ward_checkpoints_flush(&w->points);
	return r < 0 ? ward_err_sys(err, r, "checkpoints") : 0;
}

static int begin(struct ward_writer *w, const struct ward_writer_setup *setup, struct ward_err *err)
{
	struct stat st;
	if (fstat(w->log_fd, &st) < 0)
		return ward_err_sys(err, -errno, "log");
	if (st.st_size > 0 && !setup->recover)
		return ward_err_set(err, -EEXIST, "log: not empty");
	/* Once and for all: the loop never needs memory for lines. */
	static const char nothing[4096];
	while (w->batch.len < BATCH_BYTES + WARD_LINE_MAX && ward_buf_error(&w->batch) == 0)
		ward_buf_add(&w->batch, nothing, sizeof(nothing));
	if (ward_buf_error(&w->batch) < 0)
		return ward_err_sys(err, -ENOMEM, "writer");
	w->batch.len = 0;
	int r = ward_checkpoints_resume(&w->points);
	if (r < 0)
		return ward_err_sys(err, r, "checkpoints");
	ward_reserve_small(w->points.fd);
	ward_reserve_small(w->ledger_files.fd);
	ward_reserve_small(w->ledger_files.notes_fd);
	if (st.st_size == 0)
		r = tell_start(w, err);
	if (r == 0 && setup->recover)
		r = resume(w, setup->cause, err);
	int e = r < 0 ? r : take_size(w);
	if (r == 0 && e < 0)
		return ward_err_sys(err, e, "log");
	if (r == 0)
		look_at_reserve(w);
	return r;
}

int ward_writer_new(
	const struct ward_writer_setup *setup, struct ward_writer **ret, struct ward_err *err)
{
	if (!ward_session_name_valid(setup->session, strlen(setup->session)) ||
		setup->n_rings > WARD_RINGS_MAX)
		return ward_err_set(err, -EINVAL, "writer: bad session or rings");
	struct ward_writer *w = calloc(1, sizeof(*w));
	if (!w)
		return ward_err_sys(err, -ENOMEM, "writer");
	snprintf(w->session, sizeof(w->session), "%s", setup->session);
	w->log_fd = setup->log_fd;
	w->ledger_files = setup->ledger;
	w->n_rings = setup->n_rings;
	for (size_t i = 0; i < setup->n_rings; i++)
		w->rings[i] = setup->rings[i];
	w->next_fd = -1;
	w->rotate = w->rotate_at = setup->rotate;
	w->keep_s = setup->keep_s;
	w->synced_ns = ward_clock_mono_ns();
	w->sync_every_ns = sync_every(setup->sync);
	ward_cut(w->cause, sizeof(w->cause), setup->cause ? setup->cause : "", SIZE_MAX);
	ward_chain_first_key(setup->root_key, w->session, w->key);
	ward_ledger_keys_derive(setup->root_key, w->session, &w->ledger);
	ward_tlog_key_derive(setup->root_key, &w->ledger_sign);
	w->points = (struct ward_checkpoints){.fd = setup->checkpoints_fd,
		.session = w->session,
		.every = setup->checkpoint_records ? setup->checkpoint_records
						   : WARD_CHECKPOINT_RECORDS,
		.every_ns = (setup->checkpoint_ms ? setup->checkpoint_ms : WARD_CHECKPOINT_MS) *
			    (WARD_NS_PER_SEC / 1000)};
	ward_signing_key_from_seed(setup->sign_seed, &w->points.key);
	int r = begin(w, setup, err);
	if (r < 0) {
		ward_writer_free(w);
		return r;
	}
	*ret = w;
	return 0;
}

void ward_writer_free(struct ward_writer *w)
{
	if (!w)
		return;
	if (w->next_fd >= 0)
		close(w->next_fd);
	ward_summary_clear(&w->sum);
	ward_unanswered_clear(&w->unanswered);
	ward_buf_clear(&w->batch);
	ward_checkpoints_clear(&w->points);
	ward_chain_wipe(w, sizeof(*w));
	free(w);
}

/* --- end --- */

static void log_end(struct ward_writer *w, const char *cause)
{
	struct ward_event_fields fields;
	w->now_ns = ward_clock_mono_ns();
	if (w->end_held && ward_event_decode(&w->end, ward_event_size(&w->end), &fields) == 0) {
		w->counts.refusals = w->sum.refusals;
		if (!w->recovered)
			ward_counts_put(&w->counts, &fields);
		add_record(w, 0, w->end_pos, &w->end.head, &fields);
	} else {
		add_note(w, WARD_EVENT_SESSION_END, -1, 0, cause);
	}
	w->end_logged = true;
}

/*
 * Questions that nobody can answer any more, because the supervisor died: each has a record that
 * says so.
 */
static int end_unanswered(struct ward_writer *w, const char *cause)
{
	static const char ended[] = "ended";
	struct ward_event_fields fields;
	int r = 0;
	while (r == 0 && ward_unanswered_take(&w->unanswered, &fields)) {
		const struct ward_event_head head = {.kind = WARD_EVENT_ANSWER,
			.real_ns = ward_clock_real_ns(),
			.mono_ns = ward_clock_mono_ns()};
		fields.of[WARD_TAG_RESULT] = (struct ward_event_field){
			.p = (const uint8_t *)ended, .len = strlen(ended)};
		fields.of[WARD_TAG_TEXT] = (struct ward_event_field){
			.p = (const uint8_t *)cause, .len = strlen(cause)};
		ward_member_set_add(&fields.members, WARD_TAG_RESULT);
		ward_member_set_add(&fields.members, WARD_TAG_TEXT);
		w->now_ns = head.mono_ns;
		ward_counts_note(&w->counts, WARD_EVENT_ANSWER, &fields);
		add_record(w, -1, 0, &head, &fields);
		if (w->batch.len + WARD_LINE_MAX > BATCH_BYTES)
			r = flush(w);
	}
	return r;
}

/* The last checkpoint, to disk, and then the ledger's entry that holds it. */
static int tell_end(struct ward_writer *w, const struct ward_ledger_end *given, bool complete,
	struct ward_err *err)
{
	char key[WARD_VKEY_MAX];
	struct ward_ledger_end end = *given;
	if (!w->end_signed)
		ward_checkpoints_sign(&w->points,
			complete ? WARD_CHECKPOINT_COMPLETE : WARD_CHECKPOINT_INCOMPLETE);
	w->end_signed = true;
	int r = ward_checkpoints_flush(&w->points);
	if (r == 0 && fdatasync(w->points.fd) < 0)
		r = -errno;
	if (r < 0)
		return ward_err_sys(err, r, "checkpoints");
	ward_public_key_print(&w->points.key.pub, key);
	end.key = key;
	end.checkpoint = w->points.last;
	return ward_ledger_append(
		&w->ledger_files, &w->ledger_sign, w->session, &w->ledger, NULL, &end, err);
}

void ward_writer_close_rings(struct ward_writer *w)
{
	w->closed = true;
	fail_rings(w, true);
}

/* "": it is complete. */
static const char *why_incomplete(const struct ward_writer *w)
{
	if (!w->recovered && !w->end_held)
		return "the supervisor gave no end record";
	if (w->end_lost)
		return w->end_text[0] ? w->end_text : "a process of wardfs died";
	if (!w->recovered)
		return "";
	if (w->end_text[0])
		return w->end_text;
	return w->end_held || !w->cause[0] ? "the writer was replaced during the session"
					   : w->cause;
}

int ward_writer_finish(struct ward_writer *w, const char *cause, struct ward_err *err)
{
	if (cause[0] == '\0')
		cause = why_incomplete(w);
	const bool complete = cause[0] == '\0';
	int r = flush(w);
	/* A supervisor that ended its session has ended its questions: verify looks at that. */
	if (r == 0 && !w->end_logged && !complete)
		r = end_unanswered(w, cause);
	if (r == 0 && !w->end_logged && w->low_ns)
		tell_low(w);
	if (r == 0 && !w->end_logged) {
		log_end(w, cause);
		r = flush(w);
	}
	if (r == 0)
		r = ward_writer_sync(w, true);
	if (r < 0)
		return ward_err_sys(err, r, "log");
	if (w->end_told)
		return 0;
	struct ward_ledger_end end = {.records = w->seq,
		.bytes = w->bytes,
		.verdict = complete ? "complete" : "incomplete",
		.cause = complete ? w->end_text : cause};
	memcpy(end.last, w->prev, sizeof(end.last));
	r = tell_end(w, &end, complete, err);
	if (r < 0)
		return r; /* the end is held: the next attempt comes to the same verdict */
	w->end_told = true;
	w->end_held = false;
	ward_reserve_drop(w->log_fd);
	ward_reserve_drop(w->points.fd);
	release_rings(w);
	return 0;
}

const struct ward_summary *ward_writer_summary(const struct ward_writer *w)
{
	return &w->sum;
}
