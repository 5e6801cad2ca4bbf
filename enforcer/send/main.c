/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs-send: see send.h. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <openssl/err.h>
#include <poll.h>
#include <seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/ipc/cage.h"
#include "enforcer/send/http_answer.h"
#include "enforcer/send/send.h"
#include "enforcer/send/tls.h"
#include "enforcer/send/wire.h"

/* After the other side's end: until its kernel has acknowledged ours. */
#define LOOK_MS 10

struct sender {
	struct send_wire wire;
	const char *host; /* "": no TLS */
	bool http;
	struct ward_buf batch;
	bool sent;
	struct ward_buf heard; /* http: what was answered so far */
	struct ward_err err;
};

static _Noreturn void tell(struct ward_send_told t, const char *text, size_t len)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	t.len = (uint32_t)(len < WARD_SEND_TEXT_MAX ? len : WARD_SEND_TEXT_MAX);
	ward_buf_putc(&b, WARD_SEND_END);
	ward_buf_add(&b, &t, sizeof(t));
	ward_buf_add(&b, text, t.len);
	if (ward_buf_error(&b) < 0 || ward_fd_write_all(WARD_SEND_TOLD, b.data, b.len) < 0)
		_exit(1);
	_exit(0);
}

static _Noreturn void tell_text(enum ward_send_result result, const char *text)
{
	tell((struct ward_send_told){.result = (uint32_t)result, .retry_after = -1}, text,
		strlen(text));
}

/*
 * A count, which JSON of protocol buffers writes as a number or as a string (64 bits). -1: it is
 * there, and is none.
 */
static int64_t count_of(const json_t *v)
{
	if (!v || json_is_null(v))
		return 0;
	if (json_is_integer(v))
		return json_integer_value(v) < 0 ? -1 : json_integer_value(v);
	const char *text = json_is_string(v) ? json_string_value(v) : "";
	const size_t n = strlen(text);
	if (n == 0 || n > 18 || strspn(text, "0123456789") != n)
		return -1;
	return strtoll(text, NULL, 10);
}

/*
 * OTLP: what a collector took, or why it did not. A body that is no object of JSON comes from
 * something else than a collector, which does not have the records then.
 */
static _Noreturn void tell_answer(const struct send_answer *a, const char *body)
{
	struct ward_send_told t = {
		.result = WARD_SEND_ANSWERED, .status = a->status, .retry_after = a->retry_after};
	const bool good = a->status < 300;
	json_t *o = json_loadb(body, a->len, 0, NULL);
	const json_t *partial = json_object_get(o, "partialSuccess");
	const char *why = json_string_value(
		good ? json_object_get(partial, "errorMessage") : json_object_get(o, "message"));
	if (good && a->len > 0 && !json_is_object(o))
		tell_text(WARD_SEND_BAD, "its answer is not the JSON of OTLP");
	t.rejected = good ? count_of(json_object_get(partial, "rejectedLogRecords")) : 0;
	if (t.rejected < 0 ||
		(good && partial && !json_is_null(partial) && !json_is_object(partial)))
		tell_text(WARD_SEND_BAD, "its answer is not the JSON of OTLP");
	if (why || good)
		tell(t, why ? why : "", why ? strlen(why) : 0);
	tell(t, body, a->len);
}

/* The connection is over. What TLS says of it comes first: an alert is a refusal. */
static _Noreturn void tell_over(struct sender *s, int r)
{
	if (r == -EPROTO && s->wire.ssl) {
		send_tls_why(s->wire.ssl, s->host, &s->err);
		tell_text(WARD_SEND_REFUSED, s->err.text);
	}
	(void)ward_err_set(&s->err, -ECONNRESET, "the connection was cut%s%s",
		r == -ECONNABORTED || r == 0 ? "" : ": ",
		r == -ECONNABORTED || r == 0 ? "" : strerror(-r));
	tell_text(WARD_SEND_CUT, s->err.text);
}

static void shake_hands(struct sender *s)
{
	while (s->wire.ssl) {
		const int r = SSL_do_handshake(s->wire.ssl);
		if (r == 1)
			return;
		const int want = SSL_get_error(s->wire.ssl, r);
		if (want == SSL_ERROR_WANT_READ || want == SSL_ERROR_WANT_WRITE) {
			s->wire.wants = want == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT;
			(void)send_wait(&s->wire, 0);
			continue;
		}
		if (want == SSL_ERROR_SYSCALL ||
			ERR_GET_REASON(ERR_peek_last_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING)
			tell_over(s, -ECONNABORTED);
		tell_over(s, -EPROTO);
	}
}

/* Reports a complete answer of HTTP; else more has to come. */
static void take_answer(struct sender *s, bool ended)
{
	struct send_answer a;
	const int r = s->heard.len == 0 ? 0
					: send_answer_take(s->heard.data, s->heard.len,
						  (int64_t)time(NULL), &a);
	if (r < 0)
		tell_text(WARD_SEND_BAD, "what it answers is not HTTP/1.1");
	if (r <= 0 || (a.until_end && !ended))
		return;
	/* What did not get there nobody has, whatever they say. Who has read the whole request has
	 * acknowledged it with the answer. */
	if (a.status < 300 && (!s->sent || send_wire_acknowledged(&s->wire) == 0))
		tell_text(WARD_SEND_CUT, "it answered before it had the whole request");
	tell_answer(&a, s->heard.data + a.body);
}

/* Reads what there is. -EAGAIN: no more now; 0: the other side has ended; else it is over. */
static ssize_t hear(struct sender *s)
{
	char piece[WARD_SEND_PIECE];
	for (;;) {
		const ssize_t n = send_wire_read(&s->wire, piece, sizeof(piece));
		if (n <= 0)
			return n;
		/* What a collector of syslog has to say, nobody asked for. */
		if (!s->http)
			continue;
		ward_buf_add(&s->heard, piece, (size_t)n);
		if (s->heard.len > WARD_SEND_ANSWER_MAX || ward_buf_error(&s->heard) < 0)
			tell_text(WARD_SEND_BAD, "its answer is too long");
		take_answer(s, false);
	}
}

/* Sends the batch. Looks at what comes meanwhile: a refusal comes before the other side has all. */
static void send_batch(struct sender *s)
{
	size_t at = 0, told = 0;
	while (at < s->batch.len) {
		size_t n = s->batch.len - at;
		n = n < WARD_SEND_PIECE ? n : WARD_SEND_PIECE;
		const ssize_t done = send_wire_write(&s->wire, s->batch.data + at, n);
		if (done == -EAGAIN) {
			const short wants = s->wire.wants;
			const short came = send_wait(&s->wire, POLLIN);
			if (!(came & POLLIN) || wants == POLLIN)
				continue;
		}
		at += done > 0 ? (size_t)done : 0;
		if (done > 0 && at - told >= WARD_SEND_PIECE) {
			const char progress = WARD_SEND_PROGRESS;
			told = at;
			if (ward_fd_write_all(WARD_SEND_TOLD, &progress, 1) < 0)
				_exit(1);
		}
		if (done > 0)
			continue;
		/* It may have said why before it went. */
		const ssize_t heard = hear(s);
		if (heard == 0 && s->http)
			take_answer(s, true);
		if (done != -EAGAIN || heard != -EAGAIN)
			tell_over(s, heard == -EPROTO || done == -EAGAIN ? (int)heard : (int)done);
	}
}

/* The batch has arrived once the other side ends the connection in turn, having read our end. */
static _Noreturn void await_end(struct sender *s)
{
	int r = 0;
	while ((r = send_wire_end(&s->wire)) == -EAGAIN)
		(void)send_wait(&s->wire, 0);
	if (r < 0)
		tell_over(s, r);
	ssize_t n = 0;
	while ((n = hear(s)) == -EAGAIN)
		(void)send_wait(&s->wire, 0);
	/* Many collectors close without a close_notify (rsyslog does). */
	if (n != 0 && n != -ECONNABORTED)
		tell_over(s, (int)n);
	/* A program that ended before it had all resets the connection when the rest arrives. */
	while ((r = send_wire_acknowledged(&s->wire)) == 0)
		(void)poll(NULL, 0, LOOK_MS);
	if (r < 0)
		tell_over(s, r);
	tell_text(WARD_SEND_ARRIVED, "");
}

static _Noreturn void await_answer(struct sender *s)
{
	ssize_t n = 0;
	while ((n = hear(s)) == -EAGAIN)
		(void)send_wait(&s->wire, 0);
	/* Under TLS an end that nobody vouches for does not end a body. */
	if (n == 0)
		take_answer(s, true);
	tell_over(s, (int)n);
}

static int confine(struct ward_err *err)
{
	static const int own[] = {
		SCMP_SYS(shutdown), SCMP_SYS(getsockopt), SCMP_SYS(ioctl), SCMP_SYS(getrandom)};
	const struct rlimit none = {0};
	if (setrlimit(RLIMIT_CORE, &none) < 0)
		return ward_err_sys(err, -errno, "limits");
	return ward_cage(own, sizeof(own) / sizeof(*own), err);
}

static bool given(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

int main(int argc, char **argv)
{
	struct sender s = {.wire = {.fd = WARD_SEND_SOCKET}, .host = ""};
	if (argc != 3)
		return 2;
	s.http = strcmp(argv[1], "http") == 0;
	s.host = argv[2];
	/* The process that waits for it may be killed. */
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)signal(SIGPIPE, SIG_IGN);
	/* Dates of certificates are UTC; mktime(3) looks for the time zone's file all the same. */
	tzset();
	/* Its hash opens /dev/urandom. */
	json_object_seed(0);
	if (!s.http && strcmp(argv[1], "syslog") != 0)
		return 2;
	int r = ward_fd_pread_all(WARD_SEND_BATCH, WARD_BUF_MAX, &s.batch);
	if (r < 0)
		tell_text(WARD_SEND_FILES, "the batch cannot be read");
	if (*s.host) {
		r = send_tls_prepare(WARD_SEND_CA, given(WARD_SEND_CERT) ? WARD_SEND_CERT : -1,
			WARD_SEND_KEY, s.host, &s.wire.ssl, &s.err);
		if (r == 0 && SSL_set_fd(s.wire.ssl, WARD_SEND_SOCKET) != 1)
			r = ward_err_sys(&s.err, -ENOMEM, "TLS");
	}
	(void)close(WARD_SEND_BATCH);
	for (int fd = WARD_SEND_CA; fd <= WARD_SEND_KEY; fd++)
		(void)close(fd);
	if (r == 0)
		r = confine(&s.err);
	if (r < 0)
		tell_text(WARD_SEND_FILES, s.err.text);
	shake_hands(&s);
	send_batch(&s);
	s.sent = true;
	if (s.http)
		await_answer(&s);
	await_end(&s);
}
