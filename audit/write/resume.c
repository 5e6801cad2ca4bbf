/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the log of a writer that died, and the record with which a segment begins. */
#include "audit/write/resume.h"

#include <errno.h>
#include <string.h>

#include "audit/log/chain.h"
#include "audit/log/lines.h"
#include "audit/record_table.h"
#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"

/* --- what stands at the beginning of a segment --- */

static void put_number(struct ward_buf *b, const char *before, uint64_t v)
{
	ward_buf_puts(b, before);
	ward_put_u64(b, v);
}

void ward_resume_put(struct ward_buf *b, unsigned number, const struct ward_resume *res)
{
	const char *before = "\"";
	put_number(b, "{\"segment\":", number);
	put_number(b, ",\"records\":", res->seq);
	put_number(b, ",\"bytes\":", res->bytes);
	put_number(b, ",\"refusals\":", res->refusals);
	ward_buf_puts(b, ",\"last\":\"");
	ward_put_hex(b, res->prev, sizeof(res->prev));
	ward_buf_puts(b, "\",\"tree\":[");
	for (unsigned i = 0; i < 64; i++) {
		if (!(res->tree.n >> i & 1))
			continue;
		ward_buf_puts(b, before);
		ward_put_hex(b, res->tree.h[i], WARD_HASH_BYTES);
		ward_buf_putc(b, '"');
		before = ",\"";
	}
	ward_buf_puts(b, "],\"rings\":[");
	for (unsigned i = 0; i < WARD_RINGS_MAX; i++)
		put_number(b, i ? "," : "", res->pos[i]);
	ward_buf_puts(b, "]}");
}

/* Reads a text of our own back; sticky. */
struct reader {
	const char *p;
	const char *end;
	bool bad;
};

static void take_text(struct reader *r, const char *text)
{
	size_t n = strlen(text);
	r->bad = r->bad || (size_t)(r->end - r->p) < n || memcmp(r->p, text, n) != 0;
	r->p += r->bad ? 0 : n;
}

static uint64_t take_number(struct reader *r, const char *before)
{
	uint64_t v = 0;
	take_text(r, before);
	const char *from = r->p;
	for (; !r->bad && r->p < r->end && *r->p >= '0' && *r->p <= '9'; r->p++)
		r->bad = __builtin_mul_overflow(v, 10, &v) ||
			 __builtin_add_overflow(v, (uint64_t)(*r->p - '0'), &v);
	r->bad = r->bad || r->p == from;
	return v;
}

static void take_bytes(struct reader *r, uint8_t *ret, size_t n)
{
	static const char digits[] = "0123456789abcdef";
	r->bad = r->bad || (size_t)(r->end - r->p) < 2 * n;
	for (size_t i = 0; i < n && !r->bad; i++, r->p += 2) {
		const char *high = r->p[0] ? strchr(digits, r->p[0]) : NULL;
		const char *low = r->p[1] ? strchr(digits, r->p[1]) : NULL;
		r->bad = !high || !low;
		if (!r->bad)
			ret[i] = (uint8_t)((high - digits) << 4 | (low - digits));
	}
}

/* The state behind the record before this one, as it claims it. False: it is no such record. */
static bool take_state(const struct ward_line *l, struct ward_resume *res)
{
	static const char begin[] = ",\"detail\":";
	const char *at = memmem(l->rest, l->rest_len, begin, sizeof(begin) - 1);
	const char *before = "\"";
	if (!at || !ward_line_is(l, "segment"))
		return false;
	struct reader r = {.p = at + sizeof(begin) - 1, .end = l->rest + l->rest_len};
	(void)take_number(&r, "{\"segment\":");
	res->seq = take_number(&r, ",\"records\":");
	res->bytes = take_number(&r, ",\"bytes\":");
	res->refusals = take_number(&r, ",\"refusals\":");
	take_text(&r, ",\"last\":\"");
	take_bytes(&r, res->prev, sizeof(res->prev));
	take_text(&r, "\",\"tree\":[");
	res->tree.n = res->seq;
	for (unsigned i = 0; i < 64; i++) {
		if (!(res->seq >> i & 1))
			continue;
		take_text(&r, before);
		take_bytes(&r, res->tree.h[i], WARD_HASH_BYTES);
		take_text(&r, "\"");
		before = ",\"";
	}
	take_text(&r, "],\"rings\":[");
	for (unsigned i = 0; i < WARD_RINGS_MAX; i++)
		res->pos[i] = take_number(&r, i ? "," : "");
	take_text(&r, "]}");
	return !r.bad && r.p == r.end && res->seq + 1 == l->seq;
}

/*
 * The first line of a later segment: the writer before wrote it and what it says, so its mac is
 * right with the key of this record and the mac that it tells itself.
 */
static bool begin_segment(
	struct ward_resume *res, const char *session, const struct ward_lines_line *text)
{
	struct ward_line l;
	uint8_t mac[WARD_MAC_BYTES];
	if (!text->whole || ward_line_parse(text->p, text->len, &l) < 0)
		return true; /* the first segment can begin with anything */
	if (l.seq == 1 || !ward_line_is(&l, "segment"))
		return l.seq == 1;
	if (!ward_line_of(&l, session) || !take_state(&l, res))
		return false;
	for (uint64_t i = 0; i < res->seq; i++)
		ward_chain_ratchet(res->key);
	ward_chain_mac(res->key, res->prev, text->p, l.body_len, mac);
	return memcmp(mac, l.mac, sizeof(mac)) == 0;
}

/* --- walking --- */

/* Numbers that are tried in all, for lines that claim to be further on: an end to that. */
#define TRIED_MAX (4 * WARD_RESUME_LOST_MAX)

struct walk {
	struct ward_resume *res;
	const char *session;
	uint64_t tried;
	/* A line that is further on than expected, and that only the next line can prove. 0: none
	 */
	uint64_t orphan;
	struct ward_buf orphan_text;
	uint64_t orphan_offset;
	bool orphan_behind_damage;
	struct ward_resume before; /* it */
};

static bool mac_is_right(const struct ward_resume *res, const char *text, const struct ward_line *l)
{
	uint8_t mac[WARD_MAC_BYTES];
	if (l->seq != res->seq + 1)
		return false;
	ward_chain_mac(res->key, res->prev, text, l->body_len, mac);
	return memcmp(mac, l->mac, sizeof(mac)) == 0;
}

/* Numbers that have no line: in the tree each is the leaf of an empty one. */
static void lose(struct ward_resume *res, uint64_t n)
{
	uint8_t leaf[WARD_HASH_BYTES];
	ward_merkle_leaf("", 0, leaf);
	for (uint64_t i = 0; i < n; i++) {
		ward_merkle_add(&res->tree, leaf);
		ward_chain_ratchet(res->key);
	}
	res->seq += n;
	res->lost += n;
}

/* The next line, whatever it is; l NULL: it has not the form of one. */
static void count(struct ward_resume *res, const char *p, size_t len, uint64_t offset,
	const struct ward_line *l)
{
	uint8_t leaf[WARD_HASH_BYTES];
	res->seq++;
	res->bytes += len + 1;
	res->segment = offset + len + 1;
	res->ended = false;
	ward_merkle_leaf(p, len, leaf);
	ward_merkle_add(&res->tree, leaf);
	/* The next record follows on what stands there, as verify will see it. */
	if (l)
		memcpy(res->prev, l->mac, sizeof(res->prev));
	ward_chain_ratchet(res->key);
}

/* A record that counts, when it was counted. */
static void take_meaning(struct ward_resume *res, const struct ward_line *l)
{
	int64_t ring = -1;
	uint64_t pos = 0;
	res->ended = ward_line_is(l, "session.end");
	res->refusals +=
		ward_record_kind_is(ward_record_kind_find(l->kind, l->kind_len), WARD_KIND_REFUSAL);
	if (res->unanswered)
		ward_unanswered_read(res->unanswered, ward_record_kind_find(l->kind, l->kind_len),
			l->rest, l->rest_len);
	if (ward_line_source(l, &ring, &pos) == 0 && ring >= 0 && ring < WARD_RINGS_MAX)
		res->pos[ring] = pos;
}

/* May as many numbers be passed over? */
static bool may_lose(struct walk *w, const struct ward_resume *from, uint64_t n)
{
	if (n > WARD_RESUME_LOST_MAX - from->lost || n > TRIED_MAX - w->tried)
		return false;
	w->tried += n;
	return true;
}

/* *ret: the state behind the orphan, if it is what it claims to be. False: that is too far. */
static bool take_orphan(struct walk *w, struct ward_resume *ret)
{
	struct ward_line l;
	const uint64_t lost = w->orphan - w->before.seq - 1;
	if (ward_line_parse(w->orphan_text.data, w->orphan_text.len, &l) < 0 ||
		!may_lose(w, &w->before, lost))
		return false;
	*ret = w->before;
	lose(ret, lost);
	count(ret, w->orphan_text.data, w->orphan_text.len, w->orphan_offset, &l);
	take_meaning(ret, &l);
	return true;
}

/*
 * A line claims to be further on than the ones before it, because lines are missing or damaged. The
 * claim is true if its mac is right at that place, or if the mac of the next line is, which then
 * proves both.
 */
static void find_place(
	struct walk *w, const struct ward_lines_line *text, const struct ward_line *l)
{
	struct ward_resume then;
	if (w->orphan && l->seq == w->orphan + 1 && take_orphan(w, &then)) {
		if (mac_is_right(&then, text->p, l))
			*w->res = then;
		ward_chain_wipe(&then, sizeof(then));
	}
	w->orphan = 0;
	if (l->seq <= w->res->seq + 1 || l->seq - w->res->seq - 1 > WARD_RESUME_LOST_MAX)
		return;
	bool behind = w->res->damaged > 0;
	if (!behind)
		w->res->damaged = w->res->seq + 1;
	then = *w->res;
	const uint64_t lost = l->seq - w->res->seq - 1;
	if (!may_lose(w, &then, lost)) {
		ward_chain_wipe(&then, sizeof(then));
		return;
	}
	lose(&then, lost);
	if (mac_is_right(&then, text->p, l)) {
		*w->res = then;
	} else {
		w->orphan_text.len = 0;
		ward_buf_add(&w->orphan_text, text->p, text->len);
		w->orphan = ward_buf_error(&w->orphan_text) < 0 ? 0 : l->seq;
		w->orphan_offset = text->offset;
		w->orphan_behind_damage = behind;
		w->before = *w->res;
	}
	ward_chain_wipe(&then, sizeof(then));
}

static void take_line(struct walk *w, const struct ward_lines_line *text)
{
	struct ward_resume *res = w->res;
	struct ward_line l;
	bool form = ward_line_parse(text->p, text->len, &l) == 0;
	bool ours = form && ward_line_of(&l, w->session);
	bool good = ours && mac_is_right(res, text->p, &l);
	if (ours && !good) {
		find_place(w, text, &l);
		good = mac_is_right(res, text->p, &l);
	} else {
		w->orphan = 0;
	}
	if (!good && res->damaged == 0)
		res->damaged = res->seq + 1;
	count(res, text->p, text->len, text->offset, form ? &l : NULL);
	if (good)
		take_meaning(res, &l);
}

/* The last line is one that nothing behind it can prove: not given out twice, where it is not the
 * first that is wrong. */
static void take_last(struct walk *w)
{
	struct ward_resume then;
	if (w->orphan && w->orphan_behind_damage && take_orphan(w, &then)) {
		*w->res = then;
		ward_chain_wipe(&then, sizeof(then));
	}
}

/* Everything behind the last whole line. */
static int torn(struct ward_log *log, struct ward_resume *res)
{
	uint64_t size = 0;
	int r = ward_log_size(log, &size);
	if (r == 0 && size > res->segment)
		res->torn = size - res->segment;
	return r;
}

int ward_resume_walk(int log_fd, const char *session, struct ward_resume *res, struct ward_err *err)
{
	ward_cleanup(ward_log_closep) struct ward_log *log = NULL;
	ward_cleanup(ward_lines_close) struct ward_lines lines = {0};
	int r = ward_log_open_file(log_fd, &log);
	if (r == 0)
		r = ward_lines_open(&lines, log, 0);
	if (r < 0)
		return ward_err_sys(err, r, "log");
	struct ward_lines_line text;
	struct walk w = {.res = res, .session = session, .orphan_text = {.max = WARD_LINE_MAX}};
	while (r >= 0 && (r = ward_lines_next(&lines, &text)) == 1) {
		if (text.offset == 0 && !begin_segment(res, session, &text)) {
			r = -EBADMSG;
			break;
		}
		if (text.whole)
			take_line(&w, &text);
		else
			r = torn(log, res);
	}
	if (r == 0)
		take_last(&w);
	ward_buf_clear(&w.orphan_text);
	ward_chain_wipe(&w.before, sizeof(w.before));
	if (r == -EBADMSG)
		return ward_err_set(err, r, "log: its first record cannot begin a segment");
	return r < 0 ? ward_err_sys(err, r, "log") : 0;
}
