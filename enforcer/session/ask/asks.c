/* SPDX-License-Identifier: Apache-2.0 */
/* Takes, lists and ends the questions of a session. */
#include "enforcer/session/ask/asks.h"

#include <errno.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/escape.h"
#include "enforcer/ipc/helper.h"
#include "enforcer/session/ask/asker.h"
#include "enforcer/session/control/control.h"

/* Of an answer of the control socket: room for its frame. */
#define LIST_BYTES (WARD_CONTROL_MAX - 1024)

void ward_asks_init(struct ward_asks *a, struct ward_guard *g, int net_control)
{
	*a = (struct ward_asks){.guard = g, .net_control = net_control};
	TAILQ_INIT(&a->list);
}

static void asked_free(struct ward_asked *q)
{
	if (!q)
		return;
	free(q->action);
	free(q->path);
	free(q->path2);
	free(q->rule);
	free(q->rule_text);
	for (uint32_t i = 1; i < q->n; i++) {
		free(q->more[i - 1].path);
		free(q->more[i - 1].path2);
		free(q->more[i - 1].action);
	}
	free(q->shown);
	json_decref(q->signed_by);
	free(q);
}

static void drop(struct ward_asks *a, struct ward_asked *q)
{
	TAILQ_REMOVE(&a->list, q, at);
	a->n--;
	a->bytes -= q->bytes;
	asked_free(q);
}

/*
 * It waits for nobody: who asked may be about to wait for us. What is lost so ends at its time, and
 * so does what expires: both have the same clock.
 */
static void send_end(
	int control, bool host, uint32_t id, uint32_t n, bool refused, uint32_t rest_ms)
{
	struct ward_msg m;
	ward_msg_init(&m, host ? WARD_MSG_NET_ASK_END : WARD_MSG_FS_ASK_END);
	ward_msg_put_u32(&m, id);
	ward_msg_put_u32(&m, n);
	ward_msg_put_u32(&m, refused);
	ward_msg_put_u32(&m, rest_ms);
	(void)!ward_msg_try_send(control, &m);
	ward_msg_clear(&m);
}

static void tell_end(const struct ward_asks *a, const struct ward_asked *q, uint32_t n,
	bool refused, uint32_t rest_ms)
{
	send_end(q->host ? a->net_control : a->guard->fs.control, q->host, q->id, n, refused,
		rest_ms);
}

void ward_asks_again(const struct ward_asks *a)
{
	send_end(a->guard->fs.control, false, 0, 0, false, 0);
}

/* --- taking --- */

static char *text_of(struct ward_msg_reader *m)
{
	size_t len = 0;
	const char *p = ward_msg_get_bytes(m, &len);
	return memchr(p, '\0', len) ? NULL : strndup(p, len);
}

/* Of a question like this one; pairs of paths, if it is about two. */
static uint32_t most_paths(const struct ward_asked *q)
{
	return q->host ? 1 : *q->path2 ? WARD_QUESTION_PAIRS : WARD_QUESTION_PATHS;
}

/* *ret_index: which of the question's paths. */
static struct ward_asked *read_message(struct ward_msg_reader *m, uint32_t *ret_index)
{
	struct ward_asked *q = calloc(1, sizeof(*q));
	if (!q)
		return NULL;
	q->host = m->type == WARD_MSG_NET_ASK;
	q->n = 1;
	q->id = ward_msg_get_u32(m);
	*ret_index = ward_msg_get_u32(m);
	q->due_ns = ward_msg_get_u64(m);
	q->until_ns = ward_msg_get_u64(m);
	(void)ward_msg_get_u32(m); /* the thread */
	q->process = (pid_t)ward_msg_get_u32(m);
	q->uid = ward_msg_get_u32(m);
	q->rights = ward_msg_get_u32(m);
	q->action = ward_msg_get_str(m);
	q->path = text_of(m);
	q->path2 = text_of(m);
	q->dev = ward_msg_get_u64(m);
	q->ino = ward_msg_get_u64(m);
	q->rule = ward_msg_get_str(m);
	q->rule_text = ward_msg_get_str(m);
	q->source = ward_msg_get_u32(m);
	if (ward_msg_done(m) < 0 || !q->action || !q->path || !q->path2 || !q->rule ||
		!q->rule_text || q->id >> WARD_QUESTION_BITS || q->id == 0 ||
		(q->id & 1) != q->host || (q->host && !strrchr(q->path, ':')) ||
		*ret_index >= most_paths(q) || (q->host && *q->path2) ||
		q->source >= WARD_SOURCE_COUNT_) {
		asked_free(q);
		return NULL;
	}
	ward_question_name(q->id, q->name);
	return q;
}

/* Its text, and the digest of that. NULL: no memory. */
static char *text_shown(const json_t *o, uint8_t sum[32])
{
	struct sha256_ctx c;
	char *text = json_dumps(o, JSON_COMPACT | JSON_ENSURE_ASCII);
	if (!text)
		return NULL;
	sha256_init(&c);
	sha256_update(&c, strlen(text), (const uint8_t *)text);
	sha256_digest(&c, 32, sum);
	return text;
}

/* What a person is to know. Its text is what the digest is of: members in this order. */
static int show(struct ward_asks *a, struct ward_asked *q)
{
	char when[WARD_CLOCK_TEXT_MAX];
	ward_cleanup(ward_buf_clear) struct ward_buf rights = WARD_BUF_INIT;
	json_t *o = json_object();
	if (q->host)
		ward_buf_puts(&rights, "connect");
	else
		ward_rights_format(&rights, q->rights);
	ward_clock_format(ward_clock_real_ns(), when);
	json_object_set_new(o, "question", json_string(q->name));
	json_object_set_new(o, "session", json_string(a->guard->store.name));
	json_object_set_new(o, "time", json_string(when));
	json_object_set_new(o, "action", ward_control_text(q->action));
	json_object_set_new(o, q->host ? "host" : "path", ward_control_text(q->path));
	if (*q->path2)
		json_object_set_new(o, "path2", ward_control_text(q->path2));
	json_object_set_new(o, "rights", json_string(ward_buf_str(&rights)));
	json_object_set_new(o, "rule", ward_control_text(q->rule));
	json_object_set_new(o, "rule_text", ward_control_text(q->rule_text));
	if (q->ino) {
		json_object_set_new(o, "dev", json_integer((json_int_t)q->dev));
		json_object_set_new(o, "ino", json_integer((json_int_t)q->ino));
	}
	if (q->process > 0)
		ward_asker_add(o, q->process, a->top, a->n < WARD_ASKS_LOOKED);
	json_object_set_new(o, "promise",
		json_string(q->host  ? "this host and port, wherever the name leads"
			    : q->ino ? "this file, whatever it contains later"
				     : "this name"));
	char *text = ward_buf_error(&rights) < 0 ? NULL : text_shown(o, q->sums[0]);
	json_decref(o);
	q->shown = text;
	return text ? 0 : -ENOMEM;
}

/* One more path is shown: the text has all before it, and behind the others this one. */
static int show_more(
	const struct ward_asked *q, const struct ward_asked_path *p, uint8_t sum[32], char **ret)
{
	char name[WARD_ASKER_NAME_MAX];
	json_t *o = json_loads(q->shown, 0, NULL), *one = json_object();
	json_t *more = o ? json_object_get(o, "more") : NULL;
	int r = o && one ? 0 : -ENOMEM;
	if (r == 0 && !more && json_object_set_new(o, "more", more = json_array()) < 0)
		r = -ENOMEM;
	if (r == 0) {
		json_object_set_new(one, "path", ward_control_text(p->path));
		if (*p->path2)
			json_object_set_new(one, "path2", ward_control_text(p->path2));
		if (strcmp(p->action, q->action) != 0)
			json_object_set_new(one, "action", ward_control_text(p->action));
		if (p->ino) {
			json_object_set_new(one, "dev", json_integer((json_int_t)p->dev));
			json_object_set_new(one, "ino", json_integer((json_int_t)p->ino));
		}
		if (p->process > 0 && p->process != q->process)
			json_object_set_new(one, "pid", json_integer(p->process));
		if (p->process > 0 && p->process != q->process && ward_asker_name(p->process, name))
			json_object_set_new(one, "program", ward_control_text(name));
		r = json_array_append(more, one) < 0 ? -ENOMEM : 0;
	}
	if (r == 0 && !(*ret = text_shown(o, sum)))
		r = -ENOMEM;
	json_decref(one);
	json_decref(o);
	return r;
}

/* Of HOST:PORT; an address in brackets loses them. */
static void add_host(struct ward_event *ev, const char *to)
{
	const char *colon = strrchr(to, ':');
	const bool brackets = *to == '[' && colon > to + 1 && colon[-1] == ']';
	ward_cleanup_free char *host =
		strndup(to + brackets, (size_t)(colon - to) - 2 * (size_t)brackets);
	ward_event_text(ev, WARD_TAG_HOST, host);
	ward_event_u64(ev, WARD_TAG_PORT, strtoul(colon + 1, NULL, 10));
}

/* The members that both records have. n: of so many paths. */
static void add_about(struct ward_event *ev, const struct ward_asked *q, uint32_t n)
{
	ward_event_text(ev, WARD_TAG_REQUEST, q->name);
	ward_event_text(ev, WARD_TAG_ACTION, q->action);
	if (q->host) {
		add_host(ev, q->path);
	} else {
		ward_event_u64(ev, WARD_TAG_ASKED, q->rights);
		ward_event_text(ev, WARD_TAG_PATH, q->path);
	}
	if (*q->path2)
		ward_event_text(ev, WARD_TAG_PATH2, q->path2);
	ward_event_u64(ev, WARD_TAG_VERDICT, WARD_VERDICT_ASK);
	ward_event_text(ev, WARD_TAG_RULE, q->rule);
	if (*q->rule_text)
		ward_event_text(ev, WARD_TAG_RULE_TEXT, q->rule_text);
	if (q->source != WARD_SOURCE_NONE || !q->host)
		ward_event_u64(ev, WARD_TAG_SOURCE, q->source);
	ward_event_digest(ev, WARD_TAG_SHOWN, q->sums[n - 1]);
}

static int record_ask(
	struct ward_asks *a, const struct ward_asked *q, const char *shown, uint32_t n)
{
	ward_cleanup_free struct ward_event *ev = malloc(sizeof(*ev));
	if (!ev)
		return -ENOMEM;
	ward_event_begin(ev, WARD_EVENT_ASK);
	if (q->process > 0)
		ward_event_u64(ev, WARD_TAG_PID, (uint64_t)q->process);
	if (q->uid != UINT32_MAX)
		ward_event_u64(ev, WARD_TAG_UID, q->uid);
	add_about(ev, q, n);
	if (q->ino) {
		ward_event_u64(ev, WARD_TAG_DEV, q->dev);
		ward_event_u64(ev, WARD_TAG_INO, q->ino);
	}
	ward_event_text(ev, WARD_TAG_JSON, shown);
	return ward_guard_put(a->guard, ev);
}

/* Of the path up to its last slash. */
static size_t directory_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? (size_t)(slash - path) : 0;
}

static bool same_directory(const char *a, const char *b)
{
	const size_t n = directory_of(a);
	return directory_of(b) == n && memcmp(a, b, n) == 0;
}

/*
 * What joins stands as a mere name behind the first path, with the same rights and rule; two names
 * behind two paths.
 */
static bool may_join(const struct ward_asked *old, const struct ward_asked *m)
{
	return !old->host && m->rights == old->rights && m->source == old->source &&
	       strcmp(m->rule, old->rule) == 0 && strcmp(m->rule_text, old->rule_text) == 0 &&
	       same_directory(old->path, m->path) && !*old->path2 == !*m->path2 &&
	       same_directory(old->path2, m->path2);
}

/*
 * Another path of old: m has it. One that does not follow the last one, or comes while an answer is
 * under way, is passed over: wardfs-fs puts it again when the question ends.
 */
static int take_more(struct ward_asks *a, struct ward_asked *old, struct ward_asked *m,
	uint32_t index, bool *ret_joined)
{
	const struct ward_asked_path p = {.path = m->path,
		.path2 = m->path2,
		.action = m->action,
		.process = m->process,
		.dev = m->dev,
		.ino = m->ino};
	char *shown = NULL;
	*ret_joined = false;
	if (index != old->n || old->answering || !may_join(old, m) ||
		show_more(old, &p, old->sums[index], &shown) < 0)
		return 0;
	const size_t more = strlen(shown) - strlen(old->shown) + strlen(m->path) +
			    strlen(m->path2) + strlen(m->action);
	if (a->bytes + more > WARD_ASKS_BYTES) {
		free(shown);
		return 0;
	}
	if (record_ask(a, old, shown, index + 1) < 0) {
		free(shown);
		return -EIO;
	}
	free(old->shown);
	old->shown = shown;
	old->more[index - 1] = p;
	m->path = m->path2 = m->action = NULL;
	old->n++;
	old->bytes += more;
	a->bytes += more;
	*ret_joined = true;
	return 0;
}

/* Does the question show this path at index, and this object? */
static bool shows(const struct ward_asked *q, uint32_t index, const struct ward_asked *m)
{
	const struct ward_asked_path p = ward_asks_path(q, index);
	return strcmp(p.path, m->path) == 0 && strcmp(p.path2, m->path2) == 0 && p.dev == m->dev &&
	       p.ino == m->ino;
}

/* A path of a question that is there. */
static int take_known(struct ward_asks *a, struct ward_asked *old, struct ward_asked *m,
	uint32_t index, const struct ward_asked **ret_new)
{
	bool joined = false;
	/* A random id has come again. Its answer must not be for what this one is about. */
	if (index < old->n && !shows(old, index, m)) {
		tell_end(a, m, 0, false, 0);
		asked_free(m);
		return 0;
	}
	const int r = index < old->n ? 0 : take_more(a, old, m, index, &joined);
	if ((index < old->n || joined) && m->due_ns > old->due_ns)
		old->due_ns = m->due_ns;
	if (joined)
		*ret_new = old;
	asked_free(m);
	return r;
}

int ward_asks_take(
	struct ward_asks *a, struct ward_msg_reader *m, const struct ward_asked **ret_new)
{
	uint32_t index = 0;
	struct ward_asked *q = read_message(m, &index), *old = NULL;
	*ret_new = NULL;
	if (!q)
		return -EBADMSG;
	TAILQ_FOREACH(old, &a->list, at)
		if (old->id == q->id)
			break;
	if (old)
		return take_known(a, old, q, index, ret_new);
	if (index > 0) {
		/* The question has its answer, which is on its way to wardfs-fs. */
		asked_free(q);
		return 0;
	}
	q->put_ns = ward_clock_mono_ns();
	int r = show(a, q);
	q->bytes = r < 0 ? 0
			 : sizeof(*q) + strlen(q->shown) + strlen(q->path) + strlen(q->path2) +
				   strlen(q->rule) + strlen(q->rule_text);
	if (r < 0 || a->n >= WARD_ASKS_MAX || a->bytes + q->bytes > WARD_ASKS_BYTES) {
		tell_end(a, q, q->n, true, WARD_ASKS_EXPIRED_RESTS_MS);
		asked_free(q);
		a->left_out++;
		return 0;
	}
	if (record_ask(a, q, q->shown, 1) < 0) {
		tell_end(a, q, q->n, true, WARD_ASKS_EXPIRED_RESTS_MS);
		asked_free(q);
		return -EIO;
	}
	TAILQ_INSERT_TAIL(&a->list, q, at);
	a->n++;
	a->count++;
	a->bytes += q->bytes;
	*ret_new = q;
	return 0;
}

int ward_asks_refuse(int control, struct ward_msg_reader *m)
{
	uint32_t index = 0;
	struct ward_asked *q = read_message(m, &index);
	if (!q)
		return -EBADMSG;
	send_end(control, q->host, q->id, index + 1, true, WARD_ASKS_EXPIRED_RESTS_MS);
	asked_free(q);
	return 0;
}

/* --- their time --- */

bool ward_asks_waiting(const struct ward_asks *a)
{
	const uint64_t now = ward_clock_mono_ns();
	const struct ward_asked *q = NULL;
	TAILQ_FOREACH(q, &a->list, at)
		if (q->due_ns > now)
			return true;
	return false;
}

int ward_asks_timeout(const struct ward_asks *a)
{
	const struct ward_asked *q = NULL;
	uint64_t until = UINT64_MAX;
	TAILQ_FOREACH(q, &a->list, at)
		if (!q->answering && q->until_ns < until)
			until = q->until_ns;
	const uint64_t now = ward_clock_mono_ns();
	if (until == UINT64_MAX)
		return -1;
	return until <= now ? 0 : (int)((until - now) / 1000000) + 1;
}

int ward_asks_tick(struct ward_asks *a)
{
	const struct ward_asks_answer expired = {.result = "expired", .text = a->failed};
	const uint64_t now = ward_clock_mono_ns();
	struct ward_asked *q = TAILQ_FIRST(&a->list);
	int r = 0;
	while (q) {
		struct ward_asked *next = TAILQ_NEXT(q, at);
		/* An answer that came in time ends it, when wardfs-fs has the grant. */
		if (q->until_ns <= now && !q->answering) {
			int one = ward_asks_answer(a, q, &expired);
			r = r < 0 ? r : one;
		}
		q = next;
	}
	return r;
}

void ward_asks_end(struct ward_asks *a)
{
	static const struct ward_asks_answer ended = {.result = "ended"};
	/* wardfs-fs has the same clock, and refused those at their time. */
	if (a->guard)
		(void)!ward_asks_tick(a);
	while (a->guard && !TAILQ_EMPTY(&a->list))
		(void)!ward_asks_answer(a, TAILQ_FIRST(&a->list), &ended);
}

void ward_asks_clear(struct ward_asks *a)
{
	while (a->guard && !TAILQ_EMPTY(&a->list))
		drop(a, TAILQ_FIRST(&a->list));
	for (size_t i = 0; i < WARD_ASKS_MISSED_MAX; i++) {
		free(a->refused[i].action);
		free(a->refused[i].path);
		free(a->missed[i].action);
		free(a->missed[i].path);
	}
	*a = (struct ward_asks){0};
}

/* --- answers --- */

struct ward_asked *ward_asks_find(const struct ward_asks *a, const char *name)
{
	uint32_t id = 0;
	struct ward_asked *q = NULL;
	if (!name || !ward_question_parse(name, &id))
		return NULL;
	TAILQ_FOREACH(q, &a->list, at)
		if (q->id == id)
			return q;
	return NULL;
}

void ward_asks_digest(const struct ward_asked *q, uint32_t n, char ret[65])
{
	for (size_t i = 0; i < sizeof(q->sums[0]); i++)
		(void)snprintf(ret + 2 * i, 3, "%02x", q->sums[n - 1][i]);
}

uint32_t ward_asks_shown(const struct ward_asked *q, const char *digest)
{
	char own[65];
	for (uint32_t n = 1; n <= q->n; n++) {
		ward_asks_digest(q, n, own);
		if (strcmp(own, digest) == 0)
			return n;
	}
	return 0;
}

struct ward_asked_path ward_asks_path(const struct ward_asked *q, uint32_t index)
{
	if (index > 0)
		return q->more[index - 1];
	return (struct ward_asked_path){.path = q->path,
		.path2 = q->path2,
		.action = q->action,
		.process = q->process,
		.dev = q->dev,
		.ino = q->ino};
}

/* The digests of the shorter texts, for who answers what it saw of them. */
static void add_digests(json_t *o, const struct ward_asked *q)
{
	json_t *all = json_array();
	char digest[65];
	for (uint32_t n = 1; n <= q->n; n++) {
		ward_asks_digest(q, n, digest);
		json_array_append_new(all, json_string(digest));
	}
	json_object_set_new(o, "digests", all);
}

json_t *ward_asks_one(const struct ward_asks *a, const struct ward_asked *q)
{
	const uint64_t now = ward_clock_mono_ns();
	json_t *o = json_loads(q->shown, 0, NULL);
	if (!o)
		return NULL;
	char digest[65];
	ward_asks_digest(q, q->n, digest);
	json_object_set_new(o, "digest", json_string(digest));
	if (q->n > 1)
		add_digests(o, q);
	json_object_set_new(o, "waits", json_boolean(q->due_ns > now));
	const uint64_t end = q->due_ns > now ? q->due_ns : q->until_ns;
	json_object_set_new(o, "left",
		json_integer(end > now ? (json_int_t)((end - now) / WARD_NS_PER_SEC) : 0));
	if (a->approvers || q->signed_by) {
		json_object_set_new(o, "approvers", json_integer((json_int_t)a->approvers));
		json_object_set_new(
			o, "signed", json_integer((json_int_t)json_array_size(q->signed_by)));
	}
	return o;
}

/* Bytes of an array of texts. */
static size_t bytes_of(const json_t *texts)
{
	size_t n = 0, i = 0;
	const json_t *v = NULL;
	json_array_foreach(texts, i, v) n += json_string_length(v);
	return n;
}

int ward_asks_set_signed(struct ward_asks *a, struct ward_asked *q, json_t *signed_by)
{
	const size_t had = bytes_of(q->signed_by), has = bytes_of(signed_by);
	if (a->bytes - had + has > WARD_ASKS_BYTES) {
		json_decref(signed_by);
		return -ENOSPC;
	}
	a->bytes = a->bytes - had + has;
	q->bytes = q->bytes - had + has;
	json_decref(q->signed_by);
	q->signed_by = signed_by;
	return 0;
}

/* False: there is no room. */
static bool list_one(
	const struct ward_asks *a, json_t *list, const struct ward_asked *q, size_t *room)
{
	const size_t needs = strlen(q->shown) + 224 + (q->n > 1 ? 67 * q->n + 16 : 0);
	json_t *o = needs > *room ? NULL : ward_asks_one(a, q);
	if (!o)
		return false;
	*room -= needs;
	return json_array_append_new(list, o) == 0;
}

json_t *ward_asks_list(const struct ward_asks *a)
{
	const uint64_t now = ward_clock_mono_ns();
	json_t *list = json_array();
	size_t room = LIST_BYTES, n = 0;
	const struct ward_asked *q = NULL;
	TAILQ_FOREACH(q, &a->list, at)
		n += q->due_ns > now && list_one(a, list, q, &room);
	TAILQ_FOREACH(q, &a->list, at)
		n += q->due_ns <= now && list_one(a, list, q, &room);
	return json_pack("{s:o, s:I, s:I}", "questions", list, "more", (json_int_t)(a->n - n),
		"left_out", (json_int_t)a->left_out);
}

static int record_answer(
	struct ward_asks *a, const struct ward_asked *q, const struct ward_asks_answer *how)
{
	ward_cleanup_free struct ward_event *ev = malloc(sizeof(*ev));
	char by[32];
	if (!ev)
		return -ENOMEM;
	ward_event_begin(ev, WARD_EVENT_ANSWER);
	if (how->who) {
		ward_event_u64(ev, WARD_TAG_PID, (uint64_t)how->who->pid);
		ward_event_u64(ev, WARD_TAG_UID, how->who->uid);
		(void)snprintf(by, sizeof(by), "uid %u", how->who->uid);
		ward_event_text(ev, WARD_TAG_BY, by);
		if (how->who->started_ns)
			ward_event_u64(ev, WARD_TAG_STARTED, how->who->started_ns);
		if (how->who->login != (uid_t)-1)
			ward_event_u64(ev, WARD_TAG_LOGIN_UID, how->who->login);
		if (*how->who->terminal)
			ward_event_text(ev, WARD_TAG_TERMINAL, how->who->terminal);
	}
	add_about(ev, q, how->n ? how->n : q->n);
	ward_event_text(ev, WARD_TAG_RESULT, how->result);
	ward_event_text(ev, WARD_TAG_SCOPE, how->scope);
	ward_event_text(ev, WARD_TAG_HOW, how->how);
	ward_event_text(ev, WARD_TAG_GRANT, how->grant);
	ward_event_text(ev, WARD_TAG_KEY, how->key);
	ward_event_text(ev, WARD_TAG_TEXT, how->text);
	/* As they were handed in, so that verify can check them once more. */
	json_t *all = q->signed_by ? json_pack("{s:O}", "signed", q->signed_by) : NULL;
	ward_cleanup_free char *text =
		all ? json_dumps(all, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;
	json_decref(all);
	if (q->signed_by && !text)
		return -ENOMEM;
	ward_event_text(ev, WARD_TAG_JSON, text);
	ward_event_u64(ev, WARD_TAG_DURATION, ward_clock_mono_ns() - q->put_ns);
	return ward_guard_put(a->guard, ev);
}

int ward_asks_bind(
	struct ward_asks *a, const struct ward_asked *q, uint32_t index, const char *id, bool any)
{
	struct ward_msg m;
	ward_msg_init(&m, WARD_MSG_FS_ASK_BIND);
	ward_msg_put_u32(&m, q->id);
	ward_msg_put_u32(&m, index);
	ward_msg_put_u32(&m, any);
	ward_msg_put_str(&m, id);
	int r = ward_msg_try_send(a->guard->fs.control, &m);
	ward_msg_clear(&m);
	return r;
}

/* The first ones are named at the end of the run. */
static void note_missed(struct ward_asks_missed *list, uint64_t *n, struct ward_asked *q)
{
	if ((*n)++ >= WARD_ASKS_MISSED_MAX)
		return;
	struct ward_asks_missed *m = &list[*n - 1];
	(void)snprintf(m->name, sizeof(m->name), "%s", q->name);
	m->action = q->action;
	m->path = q->path;
	q->action = q->path = NULL;
}

int ward_asks_answer(struct ward_asks *a, struct ward_asked *q, const struct ward_asks_answer *how)
{
	const bool granted = strcmp(how->result, "granted") == 0;
	const bool refused = strcmp(how->result, "refused") == 0;
	int r = record_answer(a, q, how);
	if (a->ended)
		a->ended(a->ended_arg, q, how);
	if (granted || refused)
		tell_end(a, q, how->n ? how->n : q->n, refused || r < 0, WARD_ASKS_RESTS_MS);
	if (refused)
		note_missed(a->refused, &a->n_refused, q);
	else if (!granted)
		note_missed(a->missed, &a->n_missed, q);
	drop(a, q);
	return r < 0 ? -EIO : 0;
}
