/* SPDX-License-Identifier: Apache-2.0 */
/* Names what happened to the lines behind the first one that does not verify. */
#include "audit/verify/suspect.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/log/chain.h"
#include "audit/log/damage.h"
#include "enforcer/base/cleanup.h"

struct suspect_line {
	uint64_t seq; /* as claimed; 0: could not be taken apart */
	uint64_t offset;
	uint32_t len;
	uint8_t mac[WARD_MAC_BYTES];
};

struct examination {
	const struct ward_suspect *s;
	struct suspect_line *v; /* in the order of the file */
	size_t n;
	struct suspect_line **by_seq; /* those with a seq, sorted */
	size_t n_by_seq;
	bool edited;
	size_t genuine;
	bool zeros;			/* the first wrong line has a block of them */
	char why[WARD_DAMAGE_TEXT_MAX]; /* of edited: what was seen first */
};

bool ward_suspect_ledger_key(const uint8_t root[WARD_KEY_BYTES], const struct ward_line *l,
	uint8_t ret_key[WARD_KEY_BYTES])
{
	char label[32];
	char session[WARD_SESSION_NAME_MAX + 1];
	static const char *const kinds[] = {"start", "end", "torn", "rotate", "read", "removed",
		"expired", "enroll", "revoke", "question", "hold", "release", "review"};
	bool known = false;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds) && !known; i++)
		known = ward_line_is(l, kinds[i]);
	if (!known)
		return false;
	snprintf(label, sizeof(label), "wardfs ledger %.*s", (int)l->kind_len, l->kind);
	snprintf(session, sizeof(session), "%.*s", (int)l->session_len, l->session);
	ward_chain_derive(root, label, session, ret_key);
	return true;
}

static void __attribute__((format(printf, 2, 3)))
edited(struct examination *x, const char *fmt, ...)
{
	if (!x->edited) {
		va_list ap;
		va_start(ap, fmt);
		vsnprintf(x->why, sizeof(x->why), fmt, ap);
		va_end(ap);
	}
	x->edited = true;
}

/* Reads the window. A last line without end is left to the caller's judgement of the end. */
static int load(struct examination *x)
{
	const struct ward_suspect *s = x->s;
	ward_cleanup(ward_lines_close) struct ward_lines lines = {0};
	int r = ward_lines_open(&lines, s->log, s->offset);
	if (r < 0)
		return r;
	size_t cap = 0;
	struct ward_lines_line text = {0};
	while (x->n < WARD_VERIFY_WINDOW && (r = ward_lines_next(&lines, &text)) == 1) {
		struct ward_line l;
		if (!text.whole && text.len < WARD_LINE_MAX)
			break; /* the line that a writer did not finish */
		if (x->n == cap) {
			cap = cap ? 2 * cap : 256;
			struct suspect_line *v = reallocarray(x->v, cap, sizeof(*v));
			if (!v)
				return -ENOMEM;
			x->v = v;
		}
		struct suspect_line *sl = &x->v[x->n++];
		*sl = (struct suspect_line){.offset = text.offset, .len = (uint32_t)text.len};
		uint64_t at = s->expected + x->n - 1;
		/* Between the head of one line and the mac of another they can look like one. */
		if (x->n == 1 && ward_damage_tell(s->log, &text, at, x->why))
			x->zeros = x->edited = true;
		if (!text.whole || ward_line_parse(text.p, text.len, &l) < 0) {
			edited(x, "line %" PRIu64 " is not one that the writer writes", at);
		} else if (s->session && !ward_line_of(&l, s->session)) {
			edited(x, "line %" PRIu64 " is of session %.*s", at, (int)l.session_len,
				l.session);
		} else if (l.seq < s->expected || (s->records && l.seq > s->records)) {
			edited(x, "line %" PRIu64 " claims to be record %" PRIu64, at, l.seq);
		} else {
			sl->seq = l.seq;
			memcpy(sl->mac, l.mac, sizeof(sl->mac));
		}
	}
	return r < 0 ? r : 0;
}

static int compare_seq(const void *a, const void *b)
{
	const struct suspect_line *x = *(struct suspect_line *const *)a;
	const struct suspect_line *y = *(struct suspect_line *const *)b;
	if (x->seq != y->seq)
		return x->seq < y->seq ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static int sort(struct examination *x)
{
	x->by_seq = reallocarray(NULL, x->n + 1, sizeof(struct suspect_line *));
	if (!x->by_seq)
		return -ENOMEM;
	for (size_t i = 0; i < x->n; i++)
		if (x->v[i].seq)
			x->by_seq[x->n_by_seq++] = &x->v[i];
	if (x->n_by_seq > 0)
		qsort(x->by_seq, x->n_by_seq, sizeof(struct suspect_line *), compare_seq);
	return 0;
}

/*
 * Computes the mac of the line behind prev, with key (trail) or its own key (ledger). 1, 0 if it
 * cannot be computed, negative errno.
 */
static int compute(const struct examination *x, const struct suspect_line *sl,
	const uint8_t prev[WARD_MAC_BYTES], const uint8_t key[WARD_KEY_BYTES],
	uint8_t ret_mac[WARD_MAC_BYTES])
{
	ward_cleanup(ward_lines_close) struct ward_lines lines = {0};
	struct ward_lines_line text = {0};
	struct ward_line l;
	uint8_t own[WARD_KEY_BYTES];
	int r = ward_lines_open_one(&lines, x->s->log, sl->offset, sl->len);
	if (r == 0)
		r = ward_lines_next(&lines, &text);
	if (r <= 0)
		return r;
	if (ward_line_parse(text.p, text.len, &l) < 0)
		return 0; /* the file changed under us */
	if (!x->s->session) {
		if (!ward_suspect_ledger_key(x->s->root, &l, own))
			return 0;
		key = own;
	}
	ward_chain_mac(key, prev, text.p, l.body_len, ret_mac);
	return 1;
}

/* The macs that the line before may have: as written, and as it should be. */
struct before {
	uint64_t seq; /* 0: none */
	uint8_t written[WARD_MAC_BYTES];
	uint8_t computed[WARD_MAC_BYTES]; /* the same as written where it could not be */
};

static int judge_line(struct examination *x, const struct suspect_line *sl, struct before *b,
	const uint8_t key[WARD_KEY_BYTES])
{
	uint8_t mac[WARD_MAC_BYTES];
	int r = compute(x, sl, b->written, key, mac);
	bool good = r == 1 && memcmp(mac, sl->mac, sizeof(mac)) == 0;
	if (r == 1 && !good) {
		/* Only the mac of the line before was changed? */
		uint8_t other[WARD_MAC_BYTES];
		r = compute(x, sl, b->computed, key, other);
		good = r == 1 && memcmp(other, sl->mac, sizeof(other)) == 0;
	}
	if (r < 0)
		return r;
	if (good)
		x->genuine++;
	else
		edited(x, "record %" PRIu64 " does not match its mac", sl->seq);
	b->seq = sl->seq;
	memcpy(b->written, sl->mac, sizeof(b->written));
	memcpy(b->computed, r == 1 && !good ? mac : sl->mac, sizeof(b->computed));
	return 0;
}

/* Walks the lines in order of seq: genuine, orphan or edited. */
static int judge(struct examination *x)
{
	const struct ward_suspect *s = x->s;
	uint8_t key[WARD_KEY_BYTES];
	uint64_t at = s->expected;
	struct before b = {.seq = s->expected - 1};
	int r = 0;
	memcpy(key, s->key, sizeof(key));
	memcpy(b.written, s->prev, sizeof(b.written));
	memcpy(b.computed, s->prev, sizeof(b.computed));
	for (size_t i = 0; r == 0 && i < x->n_by_seq; i++) {
		struct suspect_line *sl = x->by_seq[i];
		if (b.seq == sl->seq) {
			edited(x, "record %" PRIu64 " is there twice", sl->seq);
			continue;
		}
		if (b.seq + 1 != sl->seq) {
			b.seq = sl->seq; /* an orphan: nothing to check it with */
			memcpy(b.written, sl->mac, sizeof(b.written));
			memcpy(b.computed, sl->mac, sizeof(b.computed));
			continue;
		}
		if (s->session && sl->seq - s->expected > WARD_VERIFY_STEPS) {
			edited(x, "record %" PRIu64 " is far beyond the others", sl->seq);
			break;
		}
		for (; s->session && at < sl->seq; at++)
			ward_chain_ratchet(key);
		r = judge_line(x, sl, &b, key);
	}
	ward_chain_wipe(key, sizeof(key));
	return r;
}

static void conclude(struct examination *x, struct ward_verify_result *ret)
{
	uint64_t e = x->s->expected;
	uint64_t missing = 0; /* the first */
	bool ordered = true;
	for (size_t i = 1; i < x->n; i++)
		ordered &= x->v[i].seq > x->v[i - 1].seq;
	uint64_t want = e;
	for (size_t i = 0; i < x->n_by_seq && missing == 0; i++, want++)
		if (x->by_seq[i]->seq > want)
			missing = want;
	ret->first_bad = e;
	if (x->n == 0) {
		ret->state = WARD_VERIFY_EDITED;
		snprintf(ret->text, sizeof(ret->text), "it changed while it was read");
	} else if (e == 1 && x->genuine == 0 && !x->s->known) {
		ret->state = WARD_VERIFY_FOREIGN;
		snprintf(ret->text, sizeof(ret->text), "no line was written under this root key");
	} else if (x->zeros) {
		ret->state = WARD_VERIFY_EDITED;
		snprintf(ret->text, sizeof(ret->text), "%s; %zu of the lines behind it verify",
			x->why, x->genuine);
	} else if (x->edited || (!ordered && missing)) {
		ret->state = WARD_VERIFY_EDITED;
		snprintf(ret->text, sizeof(ret->text), "%s",
			x->edited ? x->why : "lines are missing and others are out of order");
	} else if (missing) {
		ret->state = WARD_VERIFY_DELETED;
		ret->first_bad = missing;
		snprintf(ret->text, sizeof(ret->text), "record %" PRIu64 " is missing", missing);
	} else {
		ret->state = WARD_VERIFY_REORDERED;
		snprintf(ret->text, sizeof(ret->text),
			"line %" PRIu64 " is record %" PRIu64 ": out of order", e, x->v[0].seq);
	}
}

int ward_suspect_examine(
	const struct ward_suspect *s, struct ward_verify_result *ret, struct ward_err *err)
{
	struct examination x = {.s = s};
	int r = load(&x);
	if (r == 0)
		r = sort(&x);
	if (r == 0)
		r = judge(&x);
	if (r == 0)
		conclude(&x, ret);
	free(x.v);
	free(x.by_seq);
	return r < 0 ? ward_err_sys(err, r, "log") : 0;
}
