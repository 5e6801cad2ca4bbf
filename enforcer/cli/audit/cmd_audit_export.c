/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs audit export: writes records for other programs, or sends them to a collector. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "audit/export/export.h"
#include "audit/export/export_otel.h"
#include "audit/query/query.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/out.h"
#include "enforcer/cli/audit/audit_options.h"
#include "enforcer/cli/audit/audit_select.h"
#include "enforcer/cli/audit/audit_trail.h"
#include "enforcer/cli/audit/audit_verb.h"
#include "enforcer/cli/audit/audit_verbs.h"
#include "enforcer/cli/audit/export_to.h"
#include "enforcer/cli/base/say.h"

/* RFC 5424: no MSGID is longer. No name of a session and no MAC has as many bytes as a value may.
 */
#define MSGID_MAX 32
#define SD_VALUE_MAX 256

struct export
{
	const struct audit_cmd *c;
	const struct ward_export *format;
	struct ward_buf line;
	struct ward_export_to *to; /* NULL: stdout */
	struct ward_export_how how;
	struct ward_buf head; /* of a request of OTLP */
	uint64_t after;
	uint64_t last; /* number of the last record that the trail has */
	struct ward_err *err;
	char host[HOST_NAME_MAX + 1];
};

/* A name of RFC 5424, with nothing that ends a value of its structured data. */
static void put_name(struct ward_buf *b, const char *s, size_t max)
{
	for (size_t i = 0; s[i] && i < max; i++)
		ward_buf_putc(b, s[i] > ' ' && s[i] < 127 && !strchr("\"\\]", s[i]) ? s[i] : '_');
}

/* RFC 5424: "<PRI>1 TIME HOST APP PROCID MSGID [SD] MSG". The SD is under the number of examples.
 */
static void put_message(
	struct ward_buf *b, const struct ward_export_record *r, const struct ward_buf *text)
{
	const char *kind = ward_query_text(r->json, "kind");
	const char *time = ward_query_text(r->json, "time");
	const char *session = ward_query_text(r->json, "session");
	const char *mac = ward_query_text(r->json, "mac");
	bool deny = ward_record_named_is(kind, WARD_KIND_REFUSAL);
	/* Facility 13 (log audit), warning or informational; microseconds are the most it has. */
	ward_buf_printf(b, "<%d>1 ", 13 * 8 + (deny ? 4 : 6));
	if (time && strlen(time) > 26)
		ward_buf_printf(b, "%.26sZ", time);
	else
		ward_buf_putc(b, '-');
	ward_buf_putc(b, ' ');
	put_name(b, r->host[0] ? r->host : "-", HOST_NAME_MAX);
	ward_buf_printf(b, " wardfs %d ", (int)getpid());
	put_name(b, kind ? kind : "-", MSGID_MAX);
	ward_buf_puts(b, " [wardfs@32473 session=\"");
	put_name(b, session ? session : "", SD_VALUE_MAX);
	ward_buf_printf(b, "\" seq=\"%" PRIu64 "\" mac=\"",
		(uint64_t)json_integer_value(json_object_get(r->json, "seq")));
	put_name(b, mac ? mac : "", SD_VALUE_MAX);
	ward_buf_puts(b, "\"] ");
	ward_buf_add(b, text->data, text->len > 0 ? text->len - 1 : 0);
}

/* To a collector: a message of syslog, or a record of OTLP. */
static int send_record(struct export *x, const struct ward_export_record *er)
{
	const uint64_t seq = (uint64_t)json_integer_value(json_object_get(er->json, "seq"));
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	if (ward_export_is_http(x->how.target)) {
		ward_export_otel_record(&b, er);
		b.len -= b.len > 0; /* its newline */
	} else {
		x->line.len = 0;
		x->format->record(&x->line, er);
		put_message(&b, er, &x->line);
	}
	int r = ward_buf_error(&x->line);
	if (r == 0)
		r = ward_buf_error(&b);
	return r < 0 ? r : ward_export_to_put(x->to, seq, b.data, b.len, x->err);
}

static int export_record(void *ctx, const char *line, size_t len, const json_t *rec)
{
	struct export *x = ctx;
	if (rec)
		x->last = (uint64_t)json_integer_value(json_object_get(rec, "seq"));
	if (!rec || !ward_filter_match(&x->c->filter.f, rec) ||
		(uint64_t)json_integer_value(json_object_get(rec, "seq")) <= x->after)
		return 0;
	struct ward_export_record er = {.json = rec, .line = line, .len = len, .host = x->host};
	if (x->to)
		return send_record(x, &er);
	x->line.len = 0;
	x->format->record(&x->line, &er);
	int r = ward_buf_error(&x->line);
	/* Each format escapes; the lines of CSV end with a carriage return. */
	if (r == 0)
		ward_out_bytes(x->line.data, x->line.len);
	return r == 0 && ward_out_failed() ? -EIO : r;
}

static int after_to(struct audit_cmd *c, struct export *x, int r, const char *name,
	struct ward_log *log, struct ward_err *err)
{
	r = ward_export_to_close(x->to, r, err);
	if (r < 0 && r != -ERANGE && c->cursor)
		return ward_err_wrap(err, "the same command continues where this one ended");
	if (r == 0)
		r = audit_trail_warn(c, name, log);
	return r;
}

/* An unknown format: suggests the nearest one, or lists all. Returns the exit status. */
static int say_formats(const char *word)
{
	ward_cleanup(ward_buf_clear) struct ward_buf all = WARD_BUF_INIT;
	const char *names[16];
	size_t n = 0;
	for (; n < sizeof(names) / sizeof(*names) && ward_export_get(n); n++) {
		names[n] = ward_export_get(n)->name;
		ward_buf_printf(&all, " %s", names[n]);
	}
	const char *near = ward_near(word, names, n, sizeof(*names));
	if (near)
		ward_sayf("--format %s: did you mean %s?", word, near);
	else
		ward_sayf("--format %s: there are:%s", word, ward_buf_str(&all));
	return 2;
}

/* What is asked for with --to. 0, or the exit status after a message. */
static int take_target(const struct audit_cmd *c, struct export *x, struct ward_err *err)
{
	const bool http = c->to && ward_export_is_http(c->to);
	const bool batches = http || (c->to && ward_export_is_tls(c->to));
	if (!c->to && c->cursor) {
		ward_sayf("audit export: --cursor needs --to");
		return 2;
	}
	if (!batches && (c->ca || c->cert || c->client_key || c->headers || c->timeout_given ||
				c->retry_given)) {
		ward_sayf("audit export: --ca, --cert, --key, --headers, --timeout and --retry "
			  "are for --to tls:, http:// and https://");
		return 2;
	}
	if (!c->cert != !c->client_key) {
		ward_sayf("audit export: --cert goes with --key");
		return 2;
	}
	if (http && c->format && strcmp(c->format, "otel") != 0) {
		ward_sayf("audit export: --to %s takes OTLP; --format otel is the only one there",
			c->to);
		return 2;
	}
	ward_export_otel_head(&x->head, x->host);
	x->how = (struct ward_export_how){.target = c->to,
		.ca = c->ca,
		.cert = c->cert,
		.key = c->client_key,
		.headers = c->headers,
		.seconds = c->timeout_given ? (unsigned)c->timeout_s : WARD_EXPORT_SECONDS,
		.retry_s = c->retry_given ? c->retry_s : WARD_EXPORT_RETRY_S,
		.head = ward_buf_str(&x->head),
		.tail = ward_export_otel_tail()};
	int r = ward_buf_error(&x->head);
	return r < 0 ? ward_err_sys(err, r, "export") : 0;
}

/* A later record than the trail has was sent: it was cut, or is another one of this name. */
static int say_beyond(const struct audit_cmd *c, const char *name, uint64_t sent, uint64_t has,
	struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf word = WARD_BUF_INIT;
	return ward_err_set(err, -ERANGE,
		"%s says that record %" PRIu64 " of %s was sent, and its trail has %" PRIu64
		" records. 'wardfs audit verify %s' says why",
		c->cursor, sent, name, has, ward_shell_quoted(&word, name));
}

static int walk(struct audit_cmd *c, struct export *x, struct ward_err *err)
{
	ward_cleanup_free char *name = NULL;
	ward_cleanup(ward_log_closep) struct ward_log *log = NULL;
	uint64_t after = 0;
	int r = audit_trail_open(c, &name, &log, err);
	if (r == 0 && c->to)
		r = ward_export_to_open(&x->how, c->cursor, name, &x->to, &after, err);
	if (r < 0)
		return r;
	x->after = after > x->after ? after : x->after;
	r = audit_select_prepare(c, name, log, err);
	if (r < 0)
		return x->to ? after_to(c, x, r, name, log, err) : r;
	/* A later part has its head already. */
	if (x->format->head && x->after == 0 && !x->to) {
		x->format->head(&x->line);
		ward_out_bytes(x->line.data, x->line.len);
	}
	r = ward_query_walk(log, true, export_record, x, err);
	/* A record that could not be judged was passed over. */
	if (r == 0 && ward_actors_error(c->filter.f.actors) < 0)
		r = ward_err_sys(err, -ENOMEM, "processes");
	if (r == 0 && after > x->last)
		r = say_beyond(c, name, after, x->last, err);
	if (x->to)
		return after_to(c, x, r, name, log, err);
	if (r == 0)
		r = ward_out_flush();
	if (r < 0)
		return ward_err_sys(err, r, "export");
	return audit_trail_warn(c, name, log);
}

static int run_export(struct audit_cmd *c, struct ward_err *err)
{
	struct export x = {.c = c,
		.after = c->after,
		.err = err,
		.format = ward_export_find(c->format ? c->format : "jsonl")};
	if (!x.format)
		return say_formats(c->format);
	if (gethostname(x.host, sizeof(x.host)) < 0)
		return ward_err_sys(err, -errno, "host name");
	int r = take_target(c, &x, err);
	if (r == 0)
		r = walk(c, &x, err);
	ward_buf_clear(&x.line);
	ward_buf_clear(&x.head);
	return r;
}

/* --- on the command line --- */

static const struct argp_option export_options[] = {
	{"format", AUDIT_OPTION_FORMAT, "FORMAT", 0, "jsonl (the default), csv, cef, ocsf or otel",
		0},
	{"after", AUDIT_OPTION_AFTER, "SEQ", 0,
		"Only records after this one, to continue an earlier export", 0},
	{"to", AUDIT_OPTION_TO, "TARGET", 0,
		"Send to a syslog daemon (unix:PATH, tcp:HOST:PORT or tls:HOST:PORT) or to an "
		"OpenTelemetry collector (http://HOST:PORT or https://HOST:PORT)",
		0},
	{"cursor", AUDIT_OPTION_CURSOR, "FILE", 0,
		"With --to: remember in FILE how far the export came. The same command "
		"continues there",
		0},
	{"ca", AUDIT_OPTION_CA, "FILE", 0,
		"Trust the certificates in FILE (PEM; default: those that this host trusts)", 0},
	{"cert", AUDIT_OPTION_CERT, "FILE", 0, "The client certificate (PEM)", 0},
	{"key", AUDIT_OPTION_CLIENT_KEY, "FILE", 0, "Its private key (PEM, without a passphrase)",
		0},
	{"headers", AUDIT_OPTION_HEADERS, "FILE", 0,
		"With http and https: send the headers in FILE, one a line (Name: value)", 0},
	{"timeout", AUDIT_OPTION_TIMEOUT, "TIME", 0,
		"Give up an attempt after TIME without progress (default: 30s)", 0},
	{"retry", AUDIT_OPTION_RETRY, "TIME", 0, "Retry failed records for TIME (default: 60s)", 0},
	{0},
};
const struct argp audit_export_argp = {export_options, audit_verb_parse, "[SESSION]",
	"Writes the records of a session in the format of another program. SESSION is a name, "
	"its unique beginning, or latest (the default).\vExit status: 0; 1 the trail was changed, or a later one is missing; 2 usage; 125 the trail "
	"cannot be read.",
	audit_options_filtered, NULL, NULL};
static const struct audit_verb export_verb = {
	.name = "export",
	.argp = &audit_export_argp,
	.words = "s",
	.run = run_export,
};

int ward_audit_cmd_export(int argc, char **argv)
{
	return audit_verb_call(&export_verb, argc, argv);
}
