/* SPDX-License-Identifier: Apache-2.0 */
/* Hands what clients ask about steps to wardfs-fs, and its answers back. */
#include "enforcer/session/run/run_steps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/ipc/helper.h"

/* A client that waits for wardfs-fs. */
struct asked {
	int client;
	/* Of an exec: */
	struct ward_running *r;
	json_t *body;
	int fds[WARD_CONTROL_FDS_MAX];
	size_t n_fds;
};

static int ask(struct ward_ask_fs *ask_fs, const struct ward_guard *g, enum ward_fs_step what,
	uid_t uid, const char *text, ward_ask_fs_fn *fn, void *arg)
{
	struct ward_msg m;
	ward_msg_init(&m, WARD_MSG_FS_STEP);
	ward_msg_put_u32(&m, what);
	ward_msg_put_u32(&m, uid);
	ward_msg_put_str(&m, text);
	return ward_ask_fs_message_own(ask_fs, g->fs.control, &m, fn, arg);
}

static void tell(int client, const char *json)
{
	(void)!send(client, json, strlen(json), MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void on_answer(void *arg, const char *json)
{
	struct asked *a = arg;
	tell(a->client, json ? json : "{\"error\":\"the session has ended\"}");
	ward_fd_drop(a->client);
	free(a);
}

void ward_run_steps_hand(
	struct ward_ask_fs *ask_fs, const struct ward_guard *g, struct ward_control_request *q)
{
	const char *text = json_string_value(json_object_get(q->body, "text"));
	if (g->review < 0) {
		tell(q->client,
			"{\"error\":\"this session does not stage its changes (--review)\"}");
		return;
	}
	/* The bound of wardfs-fs, and room for it to say so. */
	if (text && strlen(text) > 128) {
		tell(q->client, "{\"error\":\"the text is too long for a step\"}");
		return;
	}
	struct asked *a = calloc(1, sizeof(*a));
	if (!a)
		return;
	*a = (struct asked){.client = ward_steal_fd(&q->client)};
	if (ask(ask_fs, g, q->what, q->uid, text, on_answer, a) < 0)
		on_answer(a, "{\"error\":\"too many questions wait for wardfs-fs\"}");
}

void ward_run_steps_asked(void *arg, struct ward_control_request *q)
{
	struct ward_running *r = arg;
	ward_run_steps_hand(&r->ask_fs, &r->guard, q);
}

/* --- before a command --- */

static void start(void *arg, const char *json)
{
	struct asked *a = arg;
	if (json) {
		ward_execs_request(&a->r->execs, a->client, a->body, a->fds, a->n_fds);
	} else {
		ward_fd_drop(a->client);
		for (size_t i = 0; i < a->n_fds; i++)
			ward_fd_drop(a->fds[i]);
	}
	json_decref(a->body);
	free(a);
}

bool ward_run_steps_before_exec(struct ward_running *r, struct ward_control_request *q)
{
	struct asked *a = r->guard.review >= 0 ? calloc(1, sizeof(*a)) : NULL;
	if (!a)
		return false;
	*a = (struct asked){
		.r = r, .client = q->client, .body = json_deep_copy(q->body), .n_fds = q->n_fds};
	memcpy(a->fds, q->fds, sizeof(a->fds));
	if (!a->body || ask(&r->ask_fs, &r->guard, WARD_FS_STEP_EXEC, q->uid, NULL, start, a) < 0) {
		json_decref(a->body);
		free(a);
		return false;
	}
	q->client = -1;
	q->n_fds = 0;
	return true;
}
