/* SPDX-License-Identifier: Apache-2.0 */
/* Queues the questions of clients for wardfs-fs, and hands out its answers. */
#include "enforcer/session/guard/ask_fs.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/ipc/helper.h"
#include "enforcer/ipc/msg.h"

/* Messages that its socket has room for, and more. */
#define WARD_ASK_FS_LAST 4096

/* A client that does not read its answer has none. */
static void tell(struct ward_ask_fs_item *item, const char *json, bool answered)
{
	if (item->policy >= 0)
		close(item->policy);
	item->policy = -1;
	ward_buf_clear(&item->message);
	if (item->fn) {
		ward_ask_fs_fn *fn = item->fn;
		item->fn = NULL;
		fn(item->arg, answered ? json : NULL);
	}
	if (item->client < 0)
		return;
	(void)!send(item->client, json, strlen(json), MSG_NOSIGNAL | MSG_DONTWAIT);
	close(item->client);
	item->client = -1;
}

/* Takes it out before its client gets the answer, since the client may ask again. */
static struct ward_ask_fs_item take_first(struct ward_ask_fs *q)
{
	struct ward_ask_fs_item item = q->v[0];
	q->n--;
	memmove(q->v, q->v + 1, q->n * sizeof(*q->v));
	q->sent = false;
	return item;
}

static int send_item(int fs_control, const struct ward_ask_fs_item *item)
{
	bool policy = item->policy >= 0;
	struct ward_msg m = {.buf = item->message};
	if (item->message.len)
		return ward_msg_send(fs_control, &m, NULL, 0);
	ward_msg_init(&m, policy ? WARD_MSG_FS_POLICY : WARD_MSG_FS_QUERY);
	if (!policy)
		ward_msg_put_u32(&m, item->what);
	/* With one question under way, the socket has room for it. */
	int r = ward_msg_send(fs_control, &m, &item->policy, policy ? 1 : 0);
	ward_msg_clear(&m);
	return r;
}

/* Asks what is next, unless a question is under way. */
static void ask_next(struct ward_ask_fs *q, int fs_control)
{
	while (q->n && !q->sent) {
		if (send_item(fs_control, &q->v[0]) == 0) {
			q->sent = true;
			q->sent_ns = ward_clock_mono_ns();
			return;
		}
		struct ward_ask_fs_item item = take_first(q);
		tell(&item, "{\"error\":\"wardfs-fs cannot be asked\"}", false);
	}
}

bool ward_ask_fs_silent(const struct ward_ask_fs *q)
{
	return q->sent &&
	       ward_clock_mono_ns() - q->sent_ns > WARD_ASK_FS_MS / 2 * UINT64_C(1000000);
}

void ward_ask_fs_client(struct ward_ask_fs *q, int fs_control, uint32_t what, int *client)
{
	struct ward_ask_fs_item item = {.client = ward_steal_fd(client),
		.what = what,
		.policy = -1,
		.until_ns = ward_clock_mono_ns() + WARD_ASK_FS_MS * UINT64_C(1000000)};
	if (q->n >= WARD_ASK_FS_MAX) {
		tell(&item, "{\"error\":\"too many questions wait for wardfs-fs\"}", false);
		return;
	}
	q->v[q->n++] = item;
	ask_next(q, fs_control);
}

void ward_ask_fs_own(struct ward_ask_fs *q, int fs_control, uint32_t what, int policy,
	ward_ask_fs_fn *fn, void *arg)
{
	struct ward_ask_fs_item item = {.client = -1,
		.what = what,
		.policy = policy,
		.until_ns = UINT64_MAX,
		.fn = fn,
		.arg = arg};
	if (q->n == WARD_ASK_FS_MAX + WARD_ASK_FS_OWN) {
		tell(&item, "", false);
		return;
	}
	q->v[q->n++] = item;
	ask_next(q, fs_control);
}

int ward_ask_fs_message_own(
	struct ward_ask_fs *q, int fs_control, struct ward_msg *m, ward_ask_fs_fn *fn, void *arg)
{
	struct ward_ask_fs_item item = {
		.client = -1, .policy = -1, .until_ns = UINT64_MAX, .fn = fn, .arg = arg};
	int r = ward_buf_error(&m->buf);
	/* The last place is the policy's. */
	if (r == 0 && q->n >= WARD_ASK_FS_MAX + WARD_ASK_FS_OWN - 1)
		r = -EBUSY;
	if (r < 0) {
		ward_msg_clear(m);
		return r;
	}
	item.message = m->buf;
	m->buf = (struct ward_buf)WARD_BUF_INIT;
	q->v[q->n++] = item;
	ask_next(q, fs_control);
	return 0;
}

int ward_ask_fs_timeout(const struct ward_ask_fs *q)
{
	uint64_t until = UINT64_MAX;
	uint64_t now = ward_clock_mono_ns();
	for (size_t i = 0; i < q->n; i++)
		if (q->v[i].client >= 0 && q->v[i].until_ns < until)
			until = q->v[i].until_ns;
	if (until == UINT64_MAX)
		return -1;
	return until <= now ? 0 : (int)((until - now) / 1000000) + 1;
}

void ward_ask_fs_tick(struct ward_ask_fs *q, int fs_control)
{
	uint64_t now = ward_clock_mono_ns();
	for (size_t i = 0; i < q->n; i++)
		if (q->v[i].until_ns <= now)
			tell(&q->v[i], "{\"error\":\"wardfs-fs does not answer\"}", false);
	/* What was asked is still owed, and what waits behind it waits for that. */
	for (size_t i = q->sent ? 1 : 0; i < q->n;) {
		if (q->v[i].client >= 0 || q->v[i].fn) {
			i++;
			continue;
		}
		q->n--;
		memmove(q->v + i, q->v + i + 1, (q->n - i) * sizeof(*q->v));
	}
	ask_next(q, fs_control);
}

int ward_ask_fs_message(struct ward_ask_fs *q, int fs_control)
{
	ward_cleanup_free char *buf = malloc(WARD_MSG_MAX);
	if (!buf)
		return -EPIPE;
	ssize_t len = ward_msg_recv(fs_control, buf, WARD_MSG_MAX, NULL, NULL);
	if (len <= 0)
		return -EPIPE;
	struct ward_msg_reader m;
	ward_msg_reader_init(&m, buf, (size_t)len);
	if (m.type == WARD_MSG_FS_ASK)
		return q->question ? q->question(q->question_arg, &m) : -EPIPE;
	ward_cleanup_free char *json = m.type == WARD_MSG_FS_ANSWER ? ward_msg_get_str(&m) : NULL;
	if (!q->sent || ward_msg_done(&m) < 0)
		return -EPIPE; /* nothing that we asked for: not the daemon that we know */
	struct ward_ask_fs_item item = take_first(q);
	tell(&item,
		json && strlen(json) <= WARD_FS_ANSWER_MAX
			? json
			: "{\"error\":\"wardfs-fs answered with something else\"}",
		true);
	ask_next(q, fs_control);
	return 0;
}

static int added_in(const char *text, const char *path, uint64_t *ret)
{
	json_t *o = json_loads(text, 0, NULL), *one = NULL;
	size_t i = 0;
	int r = -ENOENT;
	json_array_foreach(json_object_get(o, "quotas"), i, one)
	{
		const char *of = json_string_value(json_object_get(one, "path"));
		const json_t *used = json_object_get(json_object_get(one, "growth"), "used");
		if (of && strcmp(of, path) == 0 && json_is_integer(used) &&
			json_integer_value(used) >= 0) {
			*ret = (uint64_t)json_integer_value(used);
			r = 0;
		}
	}
	json_decref(o);
	return r;
}

int ward_ask_fs_added(int fs_control, const char *path, uint64_t *ret)
{
	ward_cleanup_free char *buf = malloc(WARD_MSG_MAX);
	int r = buf ? -ENOENT : -ENOMEM;
	/* Before that, an answer that nobody waits for any more, and questions. */
	for (int i = 0; i < WARD_ASK_FS_LAST && r == -ENOENT; i++) {
		struct ward_msg_reader m;
		ssize_t len = ward_msg_recv(fs_control, buf, WARD_MSG_MAX, NULL, NULL);
		if (len == -ECONNRESET)
			continue; /* a question that wardfs-fs did not read */
		if (len <= 0)
			break;
		ward_msg_reader_init(&m, buf, (size_t)len);
		ward_cleanup_free char *json =
			m.type == WARD_MSG_FS_ENDED ? ward_msg_get_str(&m) : NULL;
		if (json && ward_msg_done(&m) == 0)
			r = added_in(json, path, ret);
	}
	return r;
}

void ward_ask_fs_clear(struct ward_ask_fs *q)
{
	while (q->n) {
		struct ward_ask_fs_item item = take_first(q);
		tell(&item, "{\"error\":\"the session has ended\"}", false);
	}
	*q = (struct ward_ask_fs){.question = q->question, .question_arg = q->question_arg};
}
