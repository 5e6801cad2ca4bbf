/* SPDX-License-Identifier: Apache-2.0 */
/* Takes questions from wardfs-fs, and answers from the control socket. */
#include "enforcer/session/run/run_asks.h"

#include <errno.h>
#include <string.h>

#include "enforcer/session/control/control.h"

static void trail_failed(struct ward_running *r)
{
	ward_running_kill(r, WARD_EXIT_SETUP, "the trail failed");
}

/* From wardfs-fs. */
static int on_question(void *arg, struct ward_msg_reader *m)
{
	struct ward_running *r = arg;
	const struct ward_asked *fresh = NULL;
	int e = ward_asks_take(&r->asks, m, &fresh);
	if (e == -EIO)
		trail_failed(r);
	return e == -EBADMSG ? -EPIPE : 0;
}

void ward_run_asks_begin(struct ward_running *r)
{
	ward_asks_init(&r->asks, &r->guard);
	r->asks.top = ward_sandbox_pid(r->sandbox);
	r->ask_fs.question = on_question;
	r->ask_fs.question_arg = r;
}

void ward_run_asks_list(void *arg, struct ward_control_request *q)
{
	struct ward_running *r = arg;
	ward_control_reply(q, ward_asks_list(&r->asks));
}

static void refuse(struct ward_control_request *q, const char *text)
{
	ward_control_reply(q, json_pack("{s:b, s:i, s:s}", "ok", 0, "status", 1, "error", text));
}

static const char *member(const struct ward_control_request *q, const char *name)
{
	const char *s = json_string_value(json_object_get(q->body, name));
	return s ? s : "";
}

void ward_run_asks_answer(void *arg, struct ward_control_request *q)
{
	struct ward_running *r = arg;
	struct ward_asked *asked = ward_asks_find(&r->asks, member(q, "question"));
	struct ward_answerer who;
	if (!asked) {
		refuse(q, "no such question waits in this session: it has an answer, or its time "
			  "is over");
		return;
	}
	if (strcmp(member(q, "digest"), asked->digest) != 0) {
		refuse(q, "the answer is to a question that was shown otherwise");
		return;
	}
	ward_answerer_find(q->pid, q->uid, &who);
	if (strcmp(member(q, "answer"), "no") != 0) {
		refuse(q, "the answer cannot be understood");
		return;
	}
	const struct ward_asks_answer how = {.result = "refused", .how = "approve", .who = &who};
	if (ward_asks_answer(&r->asks, asked, &how) < 0) {
		refuse(q, "the trail failed");
		trail_failed(r);
		return;
	}
	ward_control_reply(q, json_pack("{s:b, s:s}", "ok", 1, "result", how.result));
}

void ward_run_asks_tick(struct ward_running *r)
{
	if (ward_asks_tick(&r->asks) < 0)
		trail_failed(r);
}
