/* SPDX-License-Identifier: Apache-2.0 */
/* The client of a prepared session. */
#include "enforcer/session/warm/take.h"

#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/session/control/control.h"
#include "enforcer/session/control/signals.h"
#include "enforcer/session/owner/exit_status.h"
#include "enforcer/session/warm/listed.h"

static const int passed[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

bool ward_warm_passes(long sig)
{
	for (size_t i = 0; i < sizeof(passed) / sizeof(*passed); i++)
		if (passed[i] == sig)
			return true;
	return false;
}

static int any(void *user, const struct ward_warm_entry *e)
{
	(void)user;
	(void)e;
	return 1;
}

bool ward_warm_any(const char *runtime)
{
	return ward_warm_each(runtime, NULL, any, NULL) == 1;
}

/* --- claiming --- */

struct look {
	const char *runtime;
	const struct ward_warm_key *key;
	struct ward_warm_claim *ret;
	struct ward_err *err;
	uint64_t until_ns;
};

/* The answer, or NULL; waits as long as one claim may. */
static json_t *hear(const struct look *l, int sock)
{
	const uint64_t now = ward_clock_mono_ns();
	struct pollfd p = {.fd = sock, .events = POLLIN};
	json_t *o = NULL;
	int fd = -1;
	int ms = now < l->until_ns ? (int)((l->until_ns - now + 999999) / 1000000) : 0;
	if (poll(&p, 1, ms) <= 0 || ward_control_answer(sock, &o, &fd) < 0)
		return NULL;
	if (fd >= 0)
		close(fd);
	return o;
}

static int claim(const struct look *l, const char *session)
{
	struct ward_err why = WARD_ERR_INIT;
	char text[128];
	ward_cleanup_fd int sock = -1;
	int r = ward_control_try(l->runtime, session, &sock, &why);
	/* Its supervisor was killed, and took nothing off the list. */
	if (r == -ENOENT || r == -ECONNREFUSED) {
		ward_warm_forget(l->runtime, session);
		return 0;
	}
	snprintf(text, sizeof(text), "{\"verb\":\"take\",\"key\":\"%s\"}", l->key->whole);
	if (r < 0 || ward_control_send(sock, text, NULL, 0) < 0)
		return 0;
	json_t *o = hear(l, sock);
	const bool ready = json_is_true(json_object_get(o, "ready"));
	if (!o)
		ward_err_set(
			l->err, -ETIMEDOUT, "the prepared session %s does not answer", session);
	json_decref(o);
	if (!ready)
		return 0;
	l->ret->sock = ward_steal_fd(&sock);
	snprintf(l->ret->session, sizeof(l->ret->session), "%s", session);
	return 1;
}

/* It need not answer: it ends itself. */
static void end_one(const struct look *l, const char *session)
{
	struct ward_err none = WARD_ERR_INIT;
	ward_cleanup_fd int sock = -1;
	if (ward_control_try(l->runtime, session, &sock, &none) == 0)
		(void)!ward_control_send(sock, "{\"verb\":\"unfit\"}", NULL, 0);
	ward_warm_forget(l->runtime, session);
}

static int visit(void *user, const struct ward_warm_entry *e)
{
	const struct look *l = user;
	if (e->whole)
		return claim(l, e->session);
	if (e->group)
		end_one(l, e->session);
	return 0;
}

int ward_warm_claim(const char *runtime, const struct ward_warm_key *key,
	struct ward_warm_claim *ret, struct ward_err *err)
{
	const struct look l = {.runtime = runtime,
		.key = key,
		.ret = ret,
		.err = err,
		.until_ns = ward_clock_mono_ns() + WARD_WARM_READY_MS * UINT64_C(1000000)};
	return ward_warm_each(runtime, key, visit, (void *)(uintptr_t)&l) == 1 ? 0 : -ENOENT;
}

void ward_warm_claim_clear(struct ward_warm_claim *c)
{
	if (c->sock >= 0)
		close(c->sock);
	c->sock = -1;
}

/* --- handing over, and waiting --- */

static void pass_on(int sock, int signals)
{
	struct signalfd_siginfo si;
	char text[48];
	while (read(signals, &si, sizeof(si)) == (ssize_t)sizeof(si)) {
		snprintf(text, sizeof(text), "{\"signal\":%d}", (int)si.ssi_signo);
		(void)!ward_control_send(sock, text, NULL, 0);
	}
}

/* The exit status, or -1: not yet. */
static int hear_end(int sock, struct ward_err *err)
{
	json_t *o = NULL;
	int fd = -1;
	int r = ward_control_answer(sock, &o, &fd);
	if (r == -EAGAIN)
		return -1;
	if (fd >= 0)
		close(fd);
	const json_t *ended = json_object_get(o, "ended");
	int status = json_is_integer(ended) ? (int)json_integer_value(ended) & 255 : -1;
	if (r < 0) {
		ward_err_set(err, -EIO,
			"the supervisor of the session is gone; what the command did is in its trail");
		status = WARD_EXIT_SETUP;
	}
	json_decref(o);
	return status;
}

static int wait_end(int sock, int signals, struct ward_err *err)
{
	struct pollfd fds[2] = {{.fd = sock, .events = POLLIN}, {.fd = signals, .events = POLLIN}};
	for (int status = -1;;) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return WARD_EXIT_SETUP;
		if (fds[1].revents)
			pass_on(sock, signals);
		if (fds[0].revents)
			status = hear_end(sock, err);
		if (status >= 0)
			return status;
	}
}

int ward_warm_go(const char *runtime, struct ward_warm_claim *c, const struct ward_warm_taken *t,
	void (*begun)(void *user), void *user, struct ward_err *err)
{
	ward_cleanup_fd int file = -1;
	ward_cleanup_fd int signals = -1;
	int r = ward_warm_taken_encode(t, &file, err);
	if (r == 0)
		r = ward_signals_catch(passed, sizeof(passed) / sizeof(*passed), &signals, err);
	if (r < 0)
		return r;
	const int fds[] = {file, 0, 1, 2};
	r = ward_control_send(c->sock, "{\"go\":true}", fds, 4);
	if (r < 0)
		return ward_err_sys(err, r, "session %s", c->session);
	/* Before a replacement is asked for, which counts those that are listed. */
	ward_warm_forget(runtime, c->session);
	if (begun)
		begun(user);
	return wait_end(c->sock, signals, err);
}
