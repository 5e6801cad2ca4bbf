/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts of earlier sessions, from their trails: the first record says whose session it was and what
 * it ran, the last one how it ended, and how much the whole trail has of what counts. A trail that
 * is long is read at both ends alone.
 */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/log/log.h"
#include "audit/query/scan.h"
#include "audit/record_table.h"
#include "audit/store/store.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/timestamp.h"
#include "enforcer/risk/risk.h"

struct session {
	const char *name;
	struct timespec at;
};

struct look {
	struct ward_store *st;
	const char *project; /* as records have it */
	const char *quoted;  /* the same as JSON */
	uint32_t owner;
	struct ward_risk_facts *f;
	char hex[65]; /* of the program's digest; "": none */
	char *buf;    /* WARD_RISK_PAST_BYTES */
};

/* --- of one session --- */

struct past {
	const char *name;
	uint64_t refused, limits, probes;
	bool loose, executed, ended;
};

static bool is_text(const json_t *o, const char *member, const char *text)
{
	const char *s = json_string_value(json_object_get(o, member));
	return s && strcmp(s, text) == 0;
}

static uint64_t number(const json_t *o, const char *member)
{
	const json_t *n = json_object_get(o, member);
	return json_is_integer(n) ? (uint64_t)json_integer_value(n) : UINT64_MAX;
}

/* Is it the same file, as the trail of a run in this mode remembers it? */
static bool is_program(const struct look *l, const json_t *program)
{
	const struct ward_risk_program *p = &l->f->program;
	return p->path &&
	       ((*l->hex && is_text(program, "sha256", l->hex)) ||
		       (number(program, "dev") == p->dev && number(program, "ino") == p->ino &&
			       number(program, "size") == p->size &&
			       number(program, "ctime") == (uint64_t)p->ctime_ns));
}

static bool equals(const struct ward_scan_member *m, const char *text)
{
	return m->type == WARD_SCAN_STRING && !m->escaped && m->len == strlen(text) &&
	       memcmp(m->value, text, m->len) == 0;
}

static bool named(const struct ward_scan_member *m, const char *name)
{
	return m->name_len == strlen(name) && memcmp(m->name, name, m->name_len) == 0;
}

/* What counts of a record; one that the scanner leaves to a parser has none of it. */
struct seen {
	enum ward_event_kind kind;
	bool done, failed, digest;
	uint64_t dev, ino, size;
	uint64_t at_ns;
};

static void take_member(struct look *l, const struct ward_scan_member *m, struct seen *s)
{
	char text[64];
	if (named(m, "kind") && m->type == WARD_SCAN_STRING)
		s->kind = ward_record_kind_find(m->value, m->len);
	else if (named(m, "done"))
		s->done = equals(m, "killed") || equals(m, "ended") || equals(m, "refused");
	else if (named(m, "result"))
		s->failed = equals(m, "failed");
	else if (named(m, "sha256"))
		s->digest = *l->hex && equals(m, l->hex);
	else if (named(m, "dev") && m->type == WARD_SCAN_INTEGER)
		s->dev = (uint64_t)m->number;
	else if (named(m, "ino") && m->type == WARD_SCAN_INTEGER)
		s->ino = (uint64_t)m->number;
	else if (named(m, "size") && m->type == WARD_SCAN_INTEGER)
		s->size = (uint64_t)m->number;
	else if (named(m, "time") && m->type == WARD_SCAN_STRING && m->len < sizeof(text)) {
		text[ward_scan_text(m, text)] = '\0';
		s->at_ns = ward_timestamp_ns(text);
	}
}

/* The file was executed, and its inode has not changed since. */
static bool is_unchanged(const struct look *l, const struct seen *s)
{
	const struct ward_risk_program *p = &l->f->program;
	return p->path && s->dev == p->dev && s->ino == p->ino && s->size == p->size &&
	       s->at_ns > (uint64_t)p->ctime_ns;
}

static void take_count(const json_t *end, const char *member, uint64_t *count)
{
	const uint64_t n = number(end, member);
	if (n != UINT64_MAX && n > *count)
		*count = n;
}

static void look_at_end(const char *line, size_t len, struct past *p)
{
	json_t *o = json_loadb(line, len, 0, NULL);
	const json_t *detail = json_object_get(o, "detail");
	p->ended = is_text(o, "kind", "session.end");
	p->limits += is_text(detail, "ended_by", "limit");
	/* Of the whole trail; a trail of an older wardfs, or without an end, has only what was
	 * read. */
	take_count(o, "refusals", &p->refused);
	take_count(o, "limits", &p->limits);
	take_count(o, "probes_failed", &p->probes);
	p->executed |= json_array_size(json_object_get(detail, "host_executed")) > 0;
	json_decref(o);
}

static void look_at_record(struct look *l, const char *line, size_t len, struct past *p)
{
	struct ward_scan scan;
	struct ward_scan_member m;
	struct seen s = {.kind = WARD_EVENT_NONE};
	ward_scan_begin(&scan, line, len);
	while (ward_scan_next(&scan, &m) > 0)
		take_member(l, &m, &s);
	/* The scanner stops before an object, behind the kind. */
	p->ended = false;
	if (s.kind == WARD_EVENT_SESSION_END)
		look_at_end(line, len, p);
	p->refused += ward_record_kind_is(s.kind, WARD_KIND_REFUSAL);
	p->limits += s.kind == WARD_EVENT_LIMIT && s.done;
	p->probes += s.kind == WARD_EVENT_PROBE && s.failed;
	if (s.kind == WARD_EVENT_PROGRAM && (s.digest || is_unchanged(l, &s)))
		l->f->seen = true;
}

static void look_at_lines(struct look *l, const char *text, size_t len, struct past *p)
{
	while (len > 0) {
		const char *end = memchr(text, '\n', len);
		if (!end)
			return;
		look_at_record(l, text, (size_t)(end - text), p);
		len -= (size_t)(end - text) + 1;
		text = end + 1;
	}
}

/* Whose session was it? 1: one of ours that counts, 0: ours, of another project; -1: not ours. */
static int look_at_start(struct look *l, const char *line, size_t len, struct past *p)
{
	json_t *o = json_loadb(line, len, 0, NULL);
	const json_t *detail = json_object_get(o, "detail");
	int ours = -1;
	if (is_text(o, "kind", "session.start") && number(detail, "owner_uid") == l->owner) {
		const json_t *program = json_object_get(json_object_get(detail, "risk"), "program");
		bool same = is_program(l, program);
		l->f->seen |= same;
		/* What everybody has is nobody in particular. */
		same = same && !l->f->program.package;
		ours = same || is_text(detail, "project", l->project);
		p->loose = json_is_false(
			json_object_get(json_object_get(detail, "sandbox"), "trail_integrity"));
	}
	json_decref(o);
	return ours;
}

/* Does the first record name the project? Many are asked: so from its beginning, as text. */
static bool may_be_ours(struct look *l, struct ward_log *log)
{
	ssize_t n = ward_log_read(log, l->buf, WARD_RISK_PAST_START, 0);
	if (n <= 0)
		return n < 0;
	const char *end = memchr(l->buf, '\n', (size_t)n);
	if (!end && (size_t)n == WARD_RISK_PAST_START)
		return true;
	return memmem(l->buf, (size_t)(end ? end - l->buf : n), l->quoted, strlen(l->quoted)) !=
	       NULL;
}

/* Both ends of the trail. 1: it counts, 0: not; a negative errno: it cannot be read. */
static int look_at_log(struct look *l, struct ward_log *log, struct past *p)
{
	uint64_t size = 0;
	ssize_t n = ward_log_read(log, l->buf, WARD_RISK_PAST_BYTES, 0);
	int r = n < 0 ? (int)n : ward_log_size(log, &size);
	if (r < 0)
		return r;
	const char *end = n > 0 ? memchr(l->buf, '\n', (size_t)n) : NULL;
	if (!end)
		return 0; /* nothing was begun yet */
	int ours = look_at_start(l, l->buf, (size_t)(end - l->buf), p);
	if (ours < 0)
		return 0;
	look_at_lines(l, end + 1, (size_t)n - (size_t)(end + 1 - l->buf), p);
	if (ours > 0 && size > (uint64_t)n) {
		uint64_t from = size - WARD_RISK_PAST_BYTES;
		if (size < 2 * (uint64_t)WARD_RISK_PAST_BYTES)
			from = (uint64_t)n;
		n = ward_log_read(log, l->buf, WARD_RISK_PAST_BYTES, from);
		if (n < 0)
			return (int)n;
		/* Where this begins in the midst of a line, the scanner finds no kind in it. */
		look_at_lines(l, l->buf, (size_t)n, p);
	}
	p->ended |= ward_log_has_writer(log);
	return ours;
}

static void take(struct look *l, const struct past *p, bool unread)
{
	struct ward_risk_facts *f = l->f;
	const struct {
		bool is;
		unsigned *count;
		enum ward_risk_row row;
	} all[] = {{p->limits > 0, &f->past_limits, WARD_RISK_PAST_LIMITS},
		{p->probes > 0, &f->past_probes, WARD_RISK_PAST_PROBES},
		{unread || !p->ended, &f->past_cut, WARD_RISK_PAST_CUT},
		{p->loose, &f->past_loose, WARD_RISK_PAST_LOOSE},
		{p->executed, &f->past_executed, WARD_RISK_PAST_EXECUTED}};
	f->past++;
	f->past_refused += p->refused;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (!all[i].is)
			continue;
		++*all[i].count;
		ward_risk_behind(f, all[i].row, "%s", p->name);
	}
	for (unsigned row = WARD_RISK_PAST_REFUSED;
		p->refused && row <= WARD_RISK_PAST_REFUSED_OFTEN; row++)
		ward_risk_behind(f, (enum ward_risk_row)row, "%s: %llu", p->name,
			(unsigned long long)p->refused);
}

/* --- the ledger --- */

static bool has_name(const struct ward_store_names *names, const char *name, size_t len)
{
	for (size_t i = 0; i < names->n; i++)
		if (strlen(names->v[i]) == len && memcmp(names->v[i], name, len) == 0)
			return true;
	return false;
}

/* The session of a line of the ledger of one of these kinds; false: it is another. */
static bool is_entry(const char *line, size_t len, const char *const kinds[],
	struct ward_scan_member *ret_session)
{
	struct ward_scan scan;
	struct ward_scan_member m;
	bool session = false;
	ward_scan_begin(&scan, line, len);
	while (ward_scan_next(&scan, &m) > 0) {
		if (named(&m, "session") && m.type == WARD_SCAN_STRING && !m.escaped) {
			*ret_session = m;
			session = true;
		}
		for (size_t i = 0; session && named(&m, "kind") && kinds[i]; i++)
			if (equals(&m, kinds[i]))
				return true;
	}
	return false;
}

/* Does an entry behind this place say that the session's trail was to go? */
static bool was_to_go(const char *text, const char *end, const struct ward_scan_member *session)
{
	static const char *const kinds[] = {"removed", "expired", NULL};
	for (const char *stop; text < end && (stop = memchr(text, '\n', (size_t)(end - text)));
		text = stop + 1) {
		struct ward_scan_member m;
		if (is_entry(text, (size_t)(stop - text), kinds, &m) && m.len == session->len &&
			memcmp(m.value, session->value, m.len) == 0)
			return true;
	}
	return false;
}

/* Sessions that the end of the ledger saw start, and that have no directory. */
static void look_at_ledger(struct look *l, const struct ward_store_names *names)
{
	static const char *const kinds[] = {"start", NULL};
	ward_cleanup_fd int fd = -1;
	struct stat st;
	if (ward_store_open_ledger(l->st, &fd, NULL) < 0 || fstat(fd, &st) < 0)
		return;
	off_t from = st.st_size > (off_t)WARD_RISK_PAST_BYTES
			     ? st.st_size - (off_t)WARD_RISK_PAST_BYTES
			     : 0;
	ssize_t n = pread(fd, l->buf, WARD_RISK_PAST_BYTES, from);
	const char *end = l->buf + (n > 0 ? n : 0);
	/* Where this begins in the midst of an entry, the scanner finds no kind in it. */
	for (const char *s = l->buf, *stop; s < end && (stop = memchr(s, '\n', (size_t)(end - s)));
		s = stop + 1) {
		struct ward_scan_member m;
		if (!is_entry(s, (size_t)(stop - s), kinds, &m) ||
			has_name(names, m.value, m.len) || was_to_go(stop + 1, end, &m))
			continue;
		l->f->past_gone++;
		ward_risk_behind(l->f, WARD_RISK_PAST_GONE, "%.*s", (int)m.len, m.value);
	}
}

/* --- of all --- */

static int by_time(const void *a, const void *b)
{
	const struct session *x = a;
	const struct session *y = b;
	if (x->at.tv_sec != y->at.tv_sec)
		return x->at.tv_sec < y->at.tv_sec ? 1 : -1;
	return (x->at.tv_nsec < y->at.tv_nsec) - (x->at.tv_nsec > y->at.tv_nsec);
}

/* The latest first. *ret is the caller's; its names are those of the list. */
static int sort(struct ward_store *st, const struct ward_store_names *names, struct session **ret,
	size_t *ret_n)
{
	size_t from = names->n > WARD_RISK_PAST_LISTED ? names->n - WARD_RISK_PAST_LISTED : 0;
	struct session *v = calloc(names->n - from + 1, sizeof(*v));
	size_t n = 0;
	if (!v)
		return -ENOMEM;
	for (size_t i = from; i < names->n; i++) {
		ward_cleanup_fd int fd = -1;
		struct stat s;
		if (ward_store_open_session(st, names->v[i], &fd, NULL) < 0 || fstat(fd, &s) < 0)
			continue;
		v[n++] = (struct session){names->v[i], s.st_mtim};
	}
	qsort(v, n, sizeof(*v), by_time);
	*ret = v;
	*ret_n = n;
	return 0;
}

int ward_risk_look_past(struct ward_store *st, const char *project, uint32_t owner,
	struct ward_risk_facts *f, struct ward_err *err)
{
	static const char digits[] = "0123456789abcdef";
	struct ward_store_names names = {0};
	ward_cleanup_free struct session *v = NULL;
	ward_cleanup_free char *buf = malloc(WARD_RISK_PAST_BYTES);
	struct look l = {.st = st, .owner = owner, .f = f, .buf = buf};
	ward_cleanup(ward_buf_clear) struct ward_buf escaped = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf quoted = WARD_BUF_INIT;
	size_t n = 0;
	ward_escape(&escaped, project, strlen(project));
	ward_escape_json(&quoted, project, strlen(project));
	l.project = ward_buf_str(&escaped);
	l.quoted = ward_buf_str(&quoted);
	for (size_t i = 0; f->program.has_digest && i < sizeof(f->program.digest); i++) {
		l.hex[2 * i] = digits[f->program.digest[i] >> 4];
		l.hex[2 * i + 1] = digits[f->program.digest[i] & 15];
	}
	int r = buf && ward_buf_error(&escaped) == 0 && ward_buf_error(&quoted) == 0
			? ward_store_list(st, &names, err)
			: -ENOMEM;
	if (r == 0)
		look_at_ledger(&l, &names);
	if (r == 0)
		r = sort(st, &names, &v, &n);
	for (size_t i = 0; r == 0 && i < n && f->past < WARD_RISK_PAST_MAX; i++) {
		ward_cleanup(ward_log_closep) struct ward_log *log = NULL;
		struct past p = {.name = v[i].name};
		int found = ward_store_open_log(st, v[i].name, &log, NULL);
		/* What others did lately does not hide what this project did. */
		if (found == 0 && i >= WARD_RISK_PAST_BEGUN && !may_be_ours(&l, log))
			continue;
		if (found == 0)
			found = look_at_log(&l, log, &p);
		if (found == -ENOMEM)
			r = found;
		else if (found != 0)
			take(&l, &p, found < 0);
	}
	ward_store_names_free(&names);
	return r < 0 ? ward_err_sys(err, r, "mode auto: earlier sessions") : 0;
}
