/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connection waits for a person. The program has it already: the kernel of the wire took it
 * before we did. So nothing inside waits in connect(2), blocking or not; what is held back is the
 * first byte of the answer, and what the program sends stays in its socket.
 */
#include <errno.h>
#include <event2/event.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/net/conn/conn_internal.h"
#include "enforcer/net/conn/net_questions.h"

/* Connections that wait; of one process; and of those whose process is not known together. */
#define WAITERS_MAX 64U
#define OF_PROCESS_MAX 2U

static bool has_place(const struct ward_conn *c)
{
	size_t all = 0, of_process = 0;
	const struct ward_conn *o = NULL;
	LIST_FOREACH(o, &c->net->conns, link) {
		all += o->waits;
		of_process += o->waits && o->asker.pid == c->asker.pid;
	}
	return all < WAITERS_MAX && of_process < OF_PROCESS_MAX;
}

static void refuse(struct ward_conn *c, const char *text)
{
	struct ward_net_why why = c->why;
	c->why = (struct ward_net_why){0};
	ward_conn_ask_forget(c);
	why.text = text;
	ward_conn_refuse_why(c, &why);
}

void ward_conn_ask_refused(struct ward_conn *c)
{
	refuse(c, "a person has refused it");
}

static void on_patience(evutil_socket_t fd, short what, void *user)
{
	(void)fd, (void)what;
	refuse(user, "a person was asked, and nobody answered in time");
}

static void on_left(evutil_socket_t fd, short what, void *user)
{
	(void)fd, (void)what;
	refuse(user, "a person was asked, and the program did not wait for the answer");
}

/* False: it cannot. */
static bool wait_until(struct ward_conn *c, uint64_t due_ns)
{
	const uint64_t now = ward_clock_mono_ns();
	const struct timeval tv = ward_clock_timeval(due_ns > now ? due_ns - now : 0);
	c->patience = evtimer_new(c->net->base, on_patience, c);
	c->left = event_new(c->net->base, c->inside, EV_CLOSED, on_left, c);
	c->waits = c->patience && c->left && event_add(c->patience, &tv) == 0 &&
		   event_add(c->left, NULL) == 0;
	if (!c->waits)
		ward_conn_ask_forget(c);
	return c->waits;
}

void ward_conn_ask(struct ward_conn *c, struct ward_net_why *why)
{
	ward_cleanup(ward_buf_clear) struct ward_buf to = WARD_BUF_INIT;
	uint64_t due_ns = 0;
	ward_conn_put_asked(c, &to);
	const struct ward_net_question_about about = {.to = ward_buf_str(&to),
		.place = ward_buf_str(&why->place),
		.rule = ward_buf_str(&why->rule),
		.asker = &c->asker,
		.waits = has_place(c)};
	ward_net_why_clear(&c->why);
	c->why = *why;
	*why = (struct ward_net_why){0};
	switch (ward_net_question_put(c->net, &about, &c->question, &due_ns)) {
	case WARD_NET_QUESTION_NONE:
		refuse(c, "nobody can be asked about it");
		return;
	case WARD_NET_QUESTION_RESTS:
		refuse(c, "a person has refused it a while ago, or nobody answered");
		return;
	case WARD_NET_QUESTION_PUT:
		break;
	}
	if (!due_ns || !wait_until(c, due_ns))
		refuse(c, "a person is asked, and has not answered yet");
}
