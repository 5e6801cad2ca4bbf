/* SPDX-License-Identifier: Apache-2.0 */
/* Sends batches of records to a collector until it has them. */
#include "enforcer/cli/audit/export_batch.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/cli/audit/dial.h"
#include "enforcer/cli/audit/export_carry.h"
#include "enforcer/cli/audit/export_files.h"
#include "enforcer/cli/base/say.h"

/* Collectors take requests of some MiB; a record has at most 131,072 bytes, some forms of it more.
 */
#define BATCH_RECORDS 512
#define BATCH_BYTES ((size_t)1 << 20)
/* Between two attempts: doubled from the first to the last. */
#define PAUSE_MS UINT64_C(500)
#define PAUSE_MAX_MS UINT64_C(30000)

enum { TOO_LARGE = 413, TOO_MANY = 429, BAD_GATEWAY = 502, UNAVAILABLE = 503, GATEWAY_LATE = 504 };

struct ward_export_batch {
	const struct ward_export_how *how;
	const struct ward_export_cursor *cursor;
	struct ward_carrier carrier;
	struct ward_buf request; /* http: the head but for the length */
	struct ward_buf text;	 /* the messages */
	struct {
		uint64_t seq;
		size_t end; /* in text */
	} part[BATCH_RECORDS];
	size_t n;
};

/* How one attempt went. */
enum outcome {
	OUTCOME_ERROR = 0, /* told in err */
	OUTCOME_ARRIVED,
	OUTCOME_AGAIN, /* told in err, and may pass */
	OUTCOME_LARGE,
};

bool ward_export_is_http(const char *target)
{
	return strncmp(target, "http://", 7) == 0 || strncmp(target, "https://", 8) == 0;
}

bool ward_export_is_tls(const char *target)
{
	return strncmp(target, "tls:", 4) == 0 || strncmp(target, "https://", 8) == 0;
}

/* --- set-up --- */

static int set_target(struct ward_export_batch *b, struct ward_err *err)
{
	struct ward_dial_url u;
	struct ward_carrier *c = &b->carrier;
	const char *target = b->how->target;
	c->tls = ward_export_is_tls(target);
	c->http = ward_export_is_http(target);
	if (!c->http) {
		const char *place = target + strlen("tls:");
		return ward_dial_split(place, strlen(place), NULL, c->host, c->port) < 0
			       ? ward_err_set(err, -EINVAL, "%s: give tls:HOST:PORT", target)
			       : 0;
	}
	if (ward_dial_url(target, &u) < 0)
		return ward_err_set(err, -EINVAL, "%s: give http[s]://HOST[:PORT][/PATH]", target);
	memcpy(c->host, u.host, sizeof(c->host));
	memcpy(c->port, u.port, sizeof(c->port));
	const bool six = strchr(u.host, ':') != NULL;
	/* OTLP/HTTP: the signal's path where the endpoint has none. */
	ward_buf_printf(&b->request,
		"POST %.*s HTTP/1.1\r\nHost: %s%s%s:%s\r\nUser-Agent: wardfs/" WARD_VERSION
		"\r\nContent-Type: application/json\r\nConnection: close\r\n",
		u.path_len ? (int)u.path_len : 8, u.path_len ? u.path : "/v1/logs", six ? "[" : "",
		u.host, six ? "]" : "", u.port);
	return 0;
}

static int open_files(struct ward_export_batch *b, struct ward_err *err)
{
	const struct ward_export_how *how = b->how;
	int r = 0;
	if (how->headers && !b->carrier.http)
		return ward_err_set(err, -EINVAL, "--headers is for http and https");
	if (!b->carrier.tls && (how->ca || how->cert || how->key))
		return ward_err_set(
			err, -EINVAL, "--ca, --cert and --key are for tls: and https://");
	if (b->carrier.tls)
		r = ward_export_file_open(how->ca ? how->ca : WARD_EXPORT_CA, WARD_EXPORT_PUBLIC,
			&b->carrier.ca, err);
	if (r == -ENOENT && !how->ca)
		return ward_err_wrap(err, "install ca-certificates, or give --ca FILE");
	if (r == 0 && how->cert)
		r = ward_export_file_open(how->cert, WARD_EXPORT_PUBLIC, &b->carrier.cert, err);
	if (r == 0 && how->key)
		r = ward_export_file_open(how->key, WARD_EXPORT_SECRET, &b->carrier.key, err);
	if (r == 0 && how->headers)
		r = ward_export_headers(how->headers, &b->request, err);
	return r;
}

int ward_export_batch_open(const struct ward_export_how *how,
	const struct ward_export_cursor *cursor, struct ward_export_batch **ret,
	struct ward_err *err)
{
	struct ward_export_batch *b = calloc(1, sizeof(*b));
	if (!b)
		return ward_err_sys(err, -ENOMEM, "export");
	b->how = how;
	b->cursor = cursor;
	b->carrier.ca = b->carrier.cert = b->carrier.key = -1;
	b->carrier.seconds = how->seconds ? how->seconds : WARD_EXPORT_SECONDS;
	int r = set_target(b, err);
	if (r == 0)
		r = open_files(b, err);
	if (r < 0) {
		ward_export_batch_free(b);
		return r;
	}
	*ret = b;
	return 0;
}

void ward_export_batch_free(struct ward_export_batch *b)
{
	if (!b)
		return;
	const int fds[] = {b->carrier.ca, b->carrier.cert, b->carrier.key};
	for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	ward_buf_clear(&b->request);
	ward_buf_clear(&b->text);
	free(b);
}

/* --- one attempt --- */

/* Messages first to last of the batch, as they go over the wire. */
static int put_payload(
	const struct ward_export_batch *b, size_t first, size_t last, struct ward_buf *out)
{
	size_t at = first ? b->part[first - 1].end : 0;
	const size_t begin = at, end = b->part[last].end;
	if (b->carrier.http) {
		/* Between the records stand commas. */
		const size_t len = strlen(b->how->head) + (end - begin) + (last - first) +
				   strlen(b->how->tail);
		ward_buf_add(out, b->request.data, b->request.len);
		ward_buf_printf(out, "Content-Length: %zu\r\n\r\n%s", len, b->how->head);
	}
	for (size_t i = first; i <= last; i++) {
		const size_t len = b->part[i].end - at;
		if (!b->carrier.http)
			ward_buf_printf(out, "%zu ", len);
		else if (i > first)
			ward_buf_putc(out, ',');
		ward_buf_add(out, b->text.data + at, len);
		at = b->part[i].end;
	}
	if (b->carrier.http)
		ward_buf_puts(out, b->how->tail);
	return ward_buf_error(out);
}

/* "record 7" or "records 7 to 9" */
static const char *name_records(
	const struct ward_export_batch *b, size_t first, size_t last, char *buf, size_t size)
{
	if (first == last)
		snprintf(buf, size, "record %" PRIu64, b->part[first].seq);
	else
		snprintf(buf, size, "records %" PRIu64 " to %" PRIu64, b->part[first].seq,
			b->part[last].seq);
	return buf;
}

/* An answer of 2xx: are all records there? */
static enum outcome judge_taken(const struct ward_export_batch *b, size_t first, size_t last,
	const struct ward_send_told *t, const char *text, struct ward_err *err)
{
	char which[64];
	if (t->rejected > 0) {
		(void)ward_err_set(err, -EBADMSG,
			"%s rejected %" PRId64 " of %s%s%s. They are not sent again by "
			"themselves (OTLP): see the collector's log; --after %" PRIu64
			" passes over them",
			b->how->target, t->rejected,
			name_records(b, first, last, which, sizeof(which)), *text ? ": " : "", text,
			b->part[last].seq);
		return OUTCOME_ERROR;
	}
	if (*text)
		ward_sayf("audit export: %s took all and says: %s", b->how->target, text);
	return OUTCOME_ARRIVED;
}

static enum outcome judge(const struct ward_export_batch *b, size_t first, size_t last,
	const struct ward_send_told *t, const char *text, struct ward_err *err)
{
	switch ((enum ward_send_result)t->result) {
	case WARD_SEND_ARRIVED:
		return OUTCOME_ARRIVED;
	case WARD_SEND_CUT:
		(void)ward_err_set(err, -ECONNRESET, "%s: %s", b->how->target, text);
		return OUTCOME_AGAIN;
	case WARD_SEND_NOTHING:
	case WARD_SEND_REFUSED:
	case WARD_SEND_BAD:
	case WARD_SEND_FILES:
		(void)ward_err_set(err, -EACCES, "%s: %s", b->how->target, text);
		return OUTCOME_ERROR;
	case WARD_SEND_ANSWERED:
		break;
	}
	if (t->status < 300)
		return judge_taken(b, first, last, t, text, err);
	(void)ward_err_set(err, -EREMOTEIO, "%s answers %u%s%s", b->how->target, t->status,
		*text ? ": " : "", text);
	if (t->status == TOO_LARGE)
		return OUTCOME_LARGE;
	return t->status == TOO_MANY || t->status == BAD_GATEWAY || t->status == UNAVAILABLE ||
			       t->status == GATEWAY_LATE
		       ? OUTCOME_AGAIN
		       : OUTCOME_ERROR;
}

/* --- until it is there --- */

static uint64_t pause_ms(unsigned attempt, const struct ward_send_told *t)
{
	uint32_t random = 0;
	if (t->retry_after >= 0)
		return (uint64_t)t->retry_after * 1000;
	uint64_t ms = PAUSE_MS << (attempt < 6 ? attempt : 6);
	ms = ms < PAUSE_MAX_MS ? ms : PAUSE_MAX_MS;
	/* Many exporters do not come back at once. */
	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) < 0)
		random = UINT32_MAX;
	return ms / 2 + ms * (random >> 16) / (2 * 65536U);
}

/* Waits before the next attempt. False: that would be beyond what --retry gives. */
static bool wait_for_next(const struct ward_export_batch *b, uint64_t since, unsigned attempt,
	const struct ward_send_told *t, struct ward_err *err)
{
	const uint64_t ms = pause_ms(attempt, t);
	const uint64_t left =
		ward_clock_left_ns(since, b->how->retry_s * WARD_NS_PER_SEC) / 1000000;
	if (ms > left) {
		if (t->retry_after >= 0)
			(void)ward_err_wrap(err,
				"it asks to wait %" PRId64 " s, longer than --retry (%" PRIu64
				" s)",
				t->retry_after, b->how->retry_s);
		return false;
	}
	/* Somebody may be waiting. */
	if (attempt == 0 && err->code != 0)
		ward_sayf("audit export: %s; trying again", err->text);
	const uint64_t from = ward_clock_mono_ns();
	for (uint64_t rest = ms * 1000000; rest > 0; rest = ward_clock_left_ns(from, ms * 1000000))
		(void)poll(NULL, 0, (int)(rest / 1000000) + 1);
	return true;
}

/* Messages first to last, again and again. *ret_large: the other side wants fewer. */
static int send_range(struct ward_export_batch *b, size_t first, size_t last, bool *ret_large,
	struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf payload = WARD_BUF_INIT;
	if (put_payload(b, first, last, &payload) < 0)
		return ward_err_sys(err, -ENOMEM, "export");
	uint64_t since = 0;
	for (unsigned attempt = 0;; attempt++) {
		ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
		struct ward_send_told t = {0};
		int r = ward_carry(&b->carrier, &payload, &t, &text, err);
		if (r < 0)
			return r;
		since = since ? since : ward_clock_mono_ns();
		switch (judge(b, first, last, &t, ward_buf_str(&text), err)) {
		case OUTCOME_ARRIVED:
			r = ward_export_cursor_write(b->cursor, b->part[last].seq);
			return r < 0 ? ward_err_sys(err, r, "cursor") : 0;
		case OUTCOME_LARGE:
			*ret_large = true;
			return 0;
		case OUTCOME_AGAIN:
			if (wait_for_next(b, since, attempt, &t, err))
				continue;
			return err->code;
		case OUTCOME_ERROR:
			return err->code;
		}
	}
}

/* Halves what is too large. Ranges that wait are few: each is half of the one before. */
static int send_all(struct ward_export_batch *b, struct ward_err *err)
{
	size_t first = 0, n = b->n;
	while (first < b->n) {
		bool large = false;
		n = n < b->n - first ? n : b->n - first;
		int r = send_range(b, first, first + n - 1, &large, err);
		if (r < 0)
			return r;
		if (!large) {
			first += n;
		} else if (n > 1) {
			n /= 2;
		} else {
			const uint64_t seq = b->part[first].seq;
			return ward_err_wrap(err,
				"record %" PRIu64 " is larger than the collector accepts; raise "
				"its limit, or pass over this record with --after %" PRIu64,
				seq, seq);
		}
	}
	return 0;
}

int ward_export_batch_flush(struct ward_export_batch *b, struct ward_err *err)
{
	int r = b->n > 0 ? send_all(b, err) : 0;
	b->text.len = 0;
	b->n = 0;
	return r;
}

int ward_export_batch_put(struct ward_export_batch *b, uint64_t seq, const void *msg, size_t len,
	struct ward_err *err)
{
	if (b->n == BATCH_RECORDS || (b->n > 0 && b->text.len + len > BATCH_BYTES)) {
		int r = ward_export_batch_flush(b, err);
		if (r < 0)
			return r;
	}
	ward_buf_add(&b->text, msg, len);
	if (ward_buf_error(&b->text) < 0)
		return ward_err_sys(err, -ENOMEM, "export");
	b->part[b->n].seq = seq;
	b->part[b->n++].end = b->text.len;
	return 0;
}
