/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the questions about destinations that have no answer yet. */
#include "enforcer/net/conn/net_questions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/random.h>

#include "enforcer/base/clock.h"
#include "enforcer/ipc/helper.h"

#define RULE_MAX 1024

struct question {
	LIST_ENTRY(question) at;
	uint32_t id;
	uint64_t until_ns; /* CLOCK_MONOTONIC: its end, or that of its rest */
	uint64_t due_ns;   /* until then connections wait for it; 0: none has */
	bool rests;
	char to[WARD_NET_DESTINATION_MAX];
};

struct ward_net_questions {
	LIST_HEAD(, question) list;
	size_t n;
};

static void drop(struct ward_net_questions *s, struct question *q)
{
	LIST_REMOVE(q, at);
	s->n--;
	free(q);
}

static struct question *find_id(const struct ward_net_questions *s, uint32_t id)
{
	struct question *q = NULL;
	LIST_FOREACH(q, &s->list, at)
		if (q->id == id)
			return q;
	return NULL;
}

/* Turns those whose time is over into ones that rest, and drops those that have rested. */
static void sweep(struct ward_net_questions *s, uint64_t now)
{
	struct question *q = LIST_FIRST(&s->list);
	while (q) {
		struct question *next = LIST_NEXT(q, at);
		if (q->until_ns <= now && q->rests) {
			drop(s, q);
		} else if (q->until_ns <= now) {
			q->rests = true;
			q->until_ns = now + WARD_NET_QUESTION_RESTS_NS;
		}
		q = next;
	}
}

static struct question *add(struct ward_net_questions *s, const char *to)
{
	struct question *q = s->n < WARD_NET_QUESTIONS_MAX ? calloc(1, sizeof(*q)) : NULL;
	if (!q)
		return NULL;
	do {
		if (getrandom(&q->id, sizeof(q->id), GRND_NONBLOCK) != sizeof(q->id)) {
			free(q);
			return NULL;
		}
		/* Even ones are wardfs-fs'. */
		q->id = (q->id & ((UINT32_C(1) << WARD_QUESTION_BITS) - 1)) | 1;
	} while (find_id(s, q->id));
	(void)snprintf(q->to, sizeof(q->to), "%s", to);
	LIST_INSERT_HEAD(&s->list, q, at);
	s->n++;
	return q;
}

static void put_cut(struct ward_msg *m, const char *text)
{
	char cut[RULE_MAX];
	(void)snprintf(cut, sizeof(cut), "%s", text ? text : "");
	ward_msg_put_str(m, cut);
}

/* It does not wait: a question that is lost so is refused. */
static bool tell(const struct question *q, const struct ward_net_question_about *about)
{
	const uint32_t pid =
		about->asker->pid == WARD_EVENT_UNKNOWN ? 0 : (uint32_t)about->asker->pid;
	struct ward_msg m;
	ward_msg_init(&m, WARD_MSG_NET_ASK);
	ward_msg_put_u32(&m, q->id);
	ward_msg_put_u32(&m, 0); /* the first and only thing that it is about */
	ward_msg_put_u64(&m, q->due_ns);
	ward_msg_put_u64(&m, q->until_ns);
	ward_msg_put_u32(&m, pid);
	ward_msg_put_u32(&m, pid);
	ward_msg_put_u32(&m, UINT32_MAX); /* uid */
	ward_msg_put_u32(&m, 0);	  /* rights */
	ward_msg_put_str(&m, "connect");
	ward_msg_put_bytes(&m, q->to, strlen(q->to));
	ward_msg_put_bytes(&m, "", 0);
	ward_msg_put_u64(&m, 0); /* dev, ino */
	ward_msg_put_u64(&m, 0);
	put_cut(&m, about->place);
	put_cut(&m, about->rule);
	ward_msg_put_u32(&m, WARD_SOURCE_NONE);
	const int r = ward_msg_try_send(WARD_FD_CONTROL, &m);
	ward_msg_clear(&m);
	return r == 0;
}

static struct ward_net_questions *table(struct ward_broker *net)
{
	if (!net->questions)
		net->questions = calloc(1, sizeof(*net->questions));
	return net->questions;
}

enum ward_net_question ward_net_question_put(struct ward_broker *net,
	const struct ward_net_question_about *about, uint32_t *ret_id, uint64_t *ret_due_ns)
{
	struct ward_net_questions *s = table(net);
	const uint64_t now = ward_clock_mono_ns();
	struct question *q = NULL;
	*ret_id = 0;
	*ret_due_ns = 0;
	if (!s)
		return WARD_NET_QUESTION_NONE;
	sweep(s, now);
	LIST_FOREACH(q, &s->list, at)
		if (strcmp(q->to, about->to) == 0)
			break;
	const bool fresh = !q;
	if (fresh && !(q = add(s, about->to)))
		return WARD_NET_QUESTION_NONE;
	*ret_id = q->id;
	if (q->rests)
		return WARD_NET_QUESTION_RESTS;
	const bool first = about->waits && !q->due_ns;
	if (first)
		q->due_ns = now + net->settings->ask_ns;
	if (fresh)
		q->until_ns = first ? q->due_ns : now + WARD_NET_QUESTION_STAYS_NS;
	if (q->due_ns > q->until_ns)
		q->due_ns = q->until_ns;
	if ((fresh || first) && !tell(q, about)) {
		drop(s, q);
		*ret_id = 0;
		return WARD_NET_QUESTION_NONE;
	}
	if (about->waits)
		*ret_due_ns = q->due_ns;
	return WARD_NET_QUESTION_PUT;
}

int ward_net_question_message(
	struct ward_broker *net, struct ward_msg_reader *m, uint32_t *ret_id, bool *ret_refused)
{
	const uint32_t id = ward_msg_get_u32(m), of_hosts = ward_msg_get_u32(m);
	const uint32_t refused = ward_msg_get_u32(m), rest_ms = ward_msg_get_u32(m);
	(void)of_hosts; /* it has one */
	if (ward_msg_done(m) < 0)
		return -EBADMSG;
	struct question *q = net->questions ? find_id(net->questions, id) : NULL;
	if (q && refused) {
		q->rests = true;
		q->until_ns = ward_clock_mono_ns() + rest_ms * UINT64_C(1000000);
	} else if (q) {
		drop(net->questions, q);
	}
	*ret_id = id;
	*ret_refused = refused != 0;
	return 0;
}

void ward_net_questions_close(struct ward_broker *net)
{
	while (net->questions && !LIST_EMPTY(&net->questions->list))
		drop(net->questions, LIST_FIRST(&net->questions->list));
	free(net->questions);
	net->questions = NULL;
}
