/* SPDX-License-Identifier: Apache-2.0 */
/* The table of requests at the control socket, and how one is handed to its handler. */
#include "enforcer/session/control/control_verbs.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/ipc/helper.h"
#include "enforcer/session/control/control.h"
#include "enforcer/session/owner/exit_status.h"

/* Whom ward_control_accept() lets in, in whatever role. */
#define EVERYBODY (WARD_CONTROL_ROOT | WARD_CONTROL_STARTER | WARD_CONTROL_OWNER)
/* An owner to whom root gave a policy gives themselves no other one. */
#define CHOOSERS (WARD_CONTROL_ROOT | WARD_CONTROL_CHOOSER)
#define HANDLER(name) offsetof(struct ward_control_handlers, name)

static const struct ward_control_verb verbs[] = {
	{"status", 0, EVERYBODY, HANDLER(status), 0, NULL},
	{"kill", 0, EVERYBODY, HANDLER(kill), 0, NULL},
	{"exec", 3, EVERYBODY, HANDLER(exec), 0, NULL},
	{"attach", 0, EVERYBODY, HANDLER(attach), 0, NULL},
	{"reload", 1, CHOOSERS, HANDLER(reload), 0,
		"root gave this session its policy, so root alone exchanges it"},
	{"join", 0, WARD_CONTROL_ROOT, HANDLER(join), 0, NULL},
	{"umount", 0, EVERYBODY, HANDLER(umount), 0, NULL},
	{"questions", 0, EVERYBODY, HANDLER(questions), 0, NULL},
	{"answer", 0, EVERYBODY, HANDLER(answer), 0, NULL},
	{"io", 0, EVERYBODY, HANDLER(ask_fs), WARD_FS_QUERY_IO, NULL},
	{"quota", 0, EVERYBODY, HANDLER(ask_fs), WARD_FS_QUERY_QUOTA, NULL},
	{"watch", 0, EVERYBODY, HANDLER(ask_fs), WARD_FS_QUERY_WATCH, NULL},
	{"steps", 0, EVERYBODY, HANDLER(steps), WARD_FS_STEP_LIST, NULL},
	{"mark", 0, EVERYBODY, HANDLER(steps), WARD_FS_STEP_MARK, NULL},
	{"back", 0, EVERYBODY, HANDLER(steps), WARD_FS_STEP_BACK, NULL},
	{"grants", 0, EVERYBODY, HANDLER(grants), 0, NULL},
	{"grant", 0, CHOOSERS, HANDLER(grants), 1,
		"root gave this session its policy, so root alone adds to it"},
	/* Whose word counts is its issuer's, whom the policy names. */
	{"grant-token", 0, EVERYBODY, HANDLER(grants), 3, NULL},
	{"revoke", 0, EVERYBODY, HANDLER(grants), 2, NULL},
	/* With the rights of its supervisor's user, who alone could have started it so. */
	{"take", 0, WARD_CONTROL_STARTER, HANDLER(take), 0,
		"only the user as whom it was prepared takes it"},
	{"unfit", 0, WARD_CONTROL_STARTER, HANDLER(unfit), 0, NULL},
};

const struct ward_control_verb *ward_control_verb(const char *word)
{
	for (size_t i = 0; word && i < sizeof(verbs) / sizeof(*verbs); i++)
		if (strcmp(verbs[i].word, word) == 0)
			return &verbs[i];
	return NULL;
}

static ward_control_fn *handler_of(
	const struct ward_control_handlers *handlers, const struct ward_control_verb *v)
{
	ward_control_fn *fn = NULL;
	memcpy(&fn, (const char *)handlers + v->handler, sizeof(fn));
	return fn;
}

unsigned ward_control_who(uid_t uid, const struct ward_control_users *users)
{
	return (uid == 0 ? (unsigned)WARD_CONTROL_ROOT : 0) |
	       (uid == geteuid() ? (unsigned)WARD_CONTROL_STARTER : 0) |
	       (uid == users->owner ? (unsigned)WARD_CONTROL_OWNER : 0) |
	       (uid == users->chooser ? (unsigned)WARD_CONTROL_CHOOSER : 0);
}

int ward_control_check(
	const struct ward_control_verb *v, unsigned who, size_t n_fds, struct ward_err *err)
{
	if (!(v->who & who))
		return ward_err_set(err, -EPERM, "this user is not allowed to request '%s'%s%s",
			v->word, v->who_may ? ": " : "", v->who_may ? v->who_may : "");
	if (n_fds != v->fds)
		return ward_err_set(err, -EINVAL, "'%s' needs %zu descriptors, and %zu arrived",
			v->word, v->fds, n_fds);
	return 0;
}

void ward_control_reply(const struct ward_control_request *q, json_t *o)
{
	ward_cleanup_free char *text = o ? json_dumps(o, JSON_COMPACT) : NULL;
	json_decref(o);
	/* One that is gone changes nothing. */
	if (text && q->client >= 0)
		(void)!ward_control_send(q->client, text, NULL, 0);
}

static void refuse(const struct ward_control_request *q, int status, const char *text)
{
	ward_control_reply(
		q, json_pack("{s:b, s:i, s:s}", "ok", 0, "status", status, "error", text));
}

void ward_control_hand_over(struct ward_control_request *q, unsigned who,
	const struct ward_control_handlers *handlers, void *arg)
{
	const char *word = json_string_value(json_object_get(q->body, "verb"));
	const struct ward_control_verb *v = ward_control_verb(word);
	ward_control_fn *fn = v ? handler_of(handlers, v) : NULL;
	struct ward_err err = WARD_ERR_INIT;
	if (!word) {
		refuse(q, WARD_EXIT_USAGE, "the request cannot be understood");
	} else if (!fn) {
		refuse(q, WARD_EXIT_SETUP, "this session does not take such a request");
	} else if (ward_control_check(v, who, q->n_fds, &err) < 0) {
		refuse(q, err.code == -EINVAL ? WARD_EXIT_USAGE : WARD_EXIT_SETUP, err.text);
	} else {
		q->what = v->what;
		fn(arg, q);
	}
	for (size_t i = 0; i < q->n_fds; i++)
		if (q->fds[i] >= 0)
			ward_fd_drop(q->fds[i]);
	if (q->client >= 0)
		ward_fd_drop(q->client);
	q->n_fds = 0;
	q->client = -1;
}

/* There is a request to hear, or the client is gone: neither has us wait. */
static bool has_spoken(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	return poll(&p, 1, 0) > 0;
}

/* Takes fd. */
static void hear(const struct ward_control_desk *d, int fd)
{
	struct ward_control_request q = {.client = fd, .n_fds = WARD_CONTROL_FDS_MAX};
	ward_cleanup_free char *text = NULL;
	struct ucred peer = {.uid = (uid_t)-1};
	socklen_t len = sizeof(peer);
	unsigned who = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0
			       ? ward_control_who(peer.uid, &d->users)
			       : 0;
	q.pid = peer.pid;
	q.uid = peer.uid;
	int r = ward_control_hear(fd, &text, q.fds, &q.n_fds);
	json_t *body = r == 0 ? json_loads(text, 0, NULL) : NULL;
	q.body = body;
	ward_control_hand_over(&q, who, d->handlers, d->arg);
	json_decref(body);
}

/* Its place is free then; the descriptor is the caller's. */
static int take_from(struct ward_control_waiter *w)
{
	ward_pollset_remove(w->desk->set, w->id);
	w->id = 0;
	return w->fd;
}

static void on_waiter(void *arg, short revents)
{
	struct ward_control_waiter *w = arg;
	const struct ward_control_desk *d = w->desk;
	(void)revents;
	if (has_spoken(w->fd))
		hear(d, take_from(w));
}

/* A free place, else that of whoever has said nothing for longest. */
static struct ward_control_waiter *place_at(struct ward_control_desk *d)
{
	struct ward_control_waiter *first = &d->waiters[0];
	for (size_t i = 0; i < WARD_CONTROL_WAITERS; i++) {
		struct ward_control_waiter *w = &d->waiters[i];
		if (!w->id)
			return w;
		if (w->number < first->number)
			first = w;
	}
	ward_fd_drop(take_from(first));
	return first;
}

void ward_control_serve(struct ward_control_desk *d)
{
	int fd = -1;
	if (ward_control_accept(d->listen_fd, d->users.owner, d->users.panel, &fd) < 0)
		return;
	if (has_spoken(fd)) {
		hear(d, fd);
		return;
	}
	struct ward_control_waiter *w = place_at(d);
	*w = (struct ward_control_waiter){.desk = d, .fd = fd, .number = ++d->last};
	if (ward_pollset_add(d->set, d->rank, fd, POLLIN, on_waiter, w, &w->id) < 0)
		ward_fd_drop(fd);
}

void ward_control_desk_clear(struct ward_control_desk *d)
{
	for (size_t i = 0; i < WARD_CONTROL_WAITERS; i++)
		if (d->waiters[i].id)
			ward_fd_drop(take_from(&d->waiters[i]));
}
