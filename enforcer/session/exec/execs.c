/* SPDX-License-Identifier: Apache-2.0 */
/* Runs further commands of a session for clients of `wardfs exec`. */
#include "enforcer/session/exec/execs.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/limit.h"
#include "enforcer/session/control/control.h"
#include "enforcer/session/owner/exit_status.h"
#include "enforcer/session/plan/runtime.h"
#include "enforcer/session/terminal/given.h"

/* After SIGHUP or SIGTERM a command has this long, as at the end of a session. */
#define GRACE_NS (2 * WARD_NS_PER_SEC)
#define STRINGS_MAX 4096

struct ward_exec {
	struct ward_execs *all;
	int fd; /* the client's; -1: it hung up */
	ward_pollset_id watched;
	uint32_t id;
	uint64_t deadline; /* CLOCK_MONOTONIC ns; UINT64_MAX: none */
	bool ending;	   /* SIGTERM or SIGHUP was sent; the deadline now means SIGKILL */
	bool timeout;
	struct ucred peer;
};

static void answer(struct ward_exec *e, json_t *o, int with)
{
	ward_cleanup_free char *text = o ? json_dumps(o, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;
	json_decref(o);
	/* A client that does not read, or is gone, changes nothing for the command. */
	if (text && e->fd >= 0)
		(void)!ward_control_send(e->fd, text, &with, with >= 0 ? 1 : 0);
}

static void hang_up(struct ward_execs *x, struct ward_exec *e)
{
	ward_pollset_remove(x->set, e->watched);
	if (e->fd >= 0)
		ward_fd_drop(e->fd);
	e->fd = -1;
}

static void drop(struct ward_execs *x, size_t i)
{
	hang_up(x, x->v[i]);
	free(x->v[i]);
	x->v[i] = NULL;
}

static int record(struct ward_execs *x, const struct ward_exec *e, json_t *argv, const char *cwd,
	const struct ward_sandbox_event *end)
{
	ward_cleanup_free struct ward_event *ev = malloc(sizeof(*ev));
	char text[96];
	if (!ev)
		return -ENOMEM;
	ward_event_begin(ev, WARD_EVENT_EXEC);
	ward_event_u64(ev, WARD_TAG_PID, (uint64_t)e->peer.pid);
	ward_event_u64(ev, WARD_TAG_UID, e->peer.uid);
	if (end && end->kind == WARD_SANDBOX_EXEC_EXITED)
		ward_event_u64(ev, WARD_TAG_STATUS, (uint64_t)end->value);
	if (end && end->kind == WARD_SANDBOX_EXEC_SIGNALED)
		ward_event_u64(ev, WARD_TAG_SIGNAL, (uint64_t)end->value);
	(void)snprintf(text, sizeof(text), "wardfs exec, number %u: %s", e->id,
		!end					? "asked for"
		: end->kind == WARD_SANDBOX_EXEC_FAILED ? "not started"
		: e->timeout				? "ended by [limits] command"
							: "ended");
	if (argv) {
		ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
		size_t i = 0;
		json_t *v = NULL;
		json_array_foreach(argv, i, v) if (i == 0 || !x->no_argv)
			ward_buf_add(&b, json_string_value(v), json_string_length(v) + 1);
		if (ward_buf_error(&b))
			return -ENOMEM;
		ward_event_list(ev, WARD_TAG_ARGV, b.data, b.len);
		ward_event_bytes(ev, WARD_TAG_CWD, cwd, strlen(cwd));
	}
	ward_event_text(ev, WARD_TAG_TEXT, text);
	return ward_guard_put(x->guard, ev);
}

/* The strings of a JSON array, borrowed; NULL-terminated. NULL: there is something else in it. */
static char **strings(const json_t *list, size_t extra)
{
	size_t n = json_array_size(list);
	char **v = n <= STRINGS_MAX ? calloc(n + extra + 1, sizeof(*v)) : NULL;
	for (size_t i = 0; v && i < n; i++) {
		v[i] = (char *)(uintptr_t)json_string_value(json_array_get(list, i));
		if (!v[i] || strlen(v[i]) != json_string_length(json_array_get(list, i))) {
			free(v);
			return NULL;
		}
	}
	return v;
}

/* The session's environment with what the client sets; NULL without memory or for nonsense. */
static char **environment(const struct ward_execs *x, const json_t *set)
{
	const size_t n_set = json_array_size(set);
	size_t n = n_set, n_own = 0;
	while (x->envp[n_own])
		n_own++;
	char **v = strings(set, n_own);
	for (size_t i = 0; v && v[i]; i++)
		if (v[i][0] == '=' || !strchr(v[i], '=')) {
			free(v);
			return NULL;
		}
	for (size_t i = 0; v && i < n_own; i++) {
		size_t name = strcspn(x->envp[i], "=") + 1;
		bool taken = false;
		for (size_t k = 0; k < n_set && v[k] && !taken; k++)
			taken = strncmp(v[k], x->envp[i], name) == 0;
		if (!taken)
			v[n++] = x->envp[i];
	}
	return v;
}

/* The same that `wardfs run` refuses of its own 0, 1, 2, and what its client moves itself. */
static int check_stdio(const struct ward_execs *x, const int *fds, size_t n, struct ward_err *err)
{
	if (n != 3)
		return ward_err_set(err, -EINVAL, "three descriptors are needed");
	for (size_t i = 0; i < n; i++) {
		char name[24];
		enum ward_given given = WARD_GIVEN_FILE;
		(void)snprintf(name, sizeof(name), "descriptor %zu", i);
		int r = ward_given_look(fds[i], name, &given, err);
		if (r < 0)
			return ward_err_set(err, -EINVAL, "%s", err->text);
		if (given == WARD_GIVEN_TERMINAL || ward_given_is_apart(given, x->apart))
			return ward_err_set(err, -EINVAL,
				"descriptor %zu is a file, a device, a socket or a terminal of the host; give the command a pipe instead",
				i);
	}
	return 0;
}

/* The client's pipes get descriptions of their own, where we may open them; the rest stays. */
static int start(struct ward_execs *x, const struct ward_exec *e, struct ward_sandbox_exec *s,
	const int *fds, struct ward_err *err)
{
	int own[3] = {-1, -1, -1};
	for (size_t i = 0; i < 3; i++)
		s->stdio[i] =
			ward_given_own_pipe(fds[i], &own[i]) == 0 && own[i] >= 0 ? own[i] : fds[i];
	struct ward_mode_command command = WARD_RUNTIME_COMMAND_INIT;
	int r = ward_runtime_command(x->plan, s->argv, s->envp, &command, err);
	if (command.argv)
		s->argv = command.argv;
	if (command.envp)
		s->envp = command.envp;
	if (r == 0)
		r = ward_mode_exec(x->confined, e->id, s, err);
	ward_mode_command_clear(&command);
	for (size_t i = 0; i < 3; i++)
		if (own[i] >= 0)
			close(own[i]);
	return r;
}

/*
 * The command may open its /dev/stdin again. Where root started the session and root asks, it could
 * not: the pipes are root's. Nobody else can have us give anything away.
 */
static int own_pipes(const struct ward_execs *x, const struct ward_exec *e, const int *fds,
	json_int_t pipes, struct ward_err *err)
{
	struct stat st;
	for (unsigned i = 0; i < 3 && geteuid() == 0 && e->peer.uid == 0; i++)
		if (pipes & 1 << i && (fstat(fds[i], &st) < 0 || !S_ISFIFO(st.st_mode) ||
					      fchown(fds[i], x->owner, (gid_t)-1) < 0))
			return ward_err_set(err, -EINVAL, "descriptor %u is not a pipe", i);
	return 0;
}

static int begin(struct ward_execs *x, struct ward_exec *e, const json_t *q, const int *fds,
	size_t n_fds, struct ward_err *err)
{
	json_t *list = json_object_get(q, "argv");
	const char *cwd = json_string_value(json_object_get(q, "cwd"));
	ward_cleanup_free char **argv = strings(list, 0);
	ward_cleanup_free char **envp = environment(x, json_object_get(q, "env"));
	struct ward_sandbox_exec s = {.argv = argv,
		.envp = envp,
		.cwd = cwd ? cwd : x->cwd,
		.pty = json_integer_value(json_object_get(q, "pty")) & 7,
		.winsize = {
			.ws_row = (unsigned short)json_integer_value(json_object_get(q, "rows")),
			.ws_col =
				(unsigned short)json_integer_value(json_object_get(q, "columns"))}};
	if (!argv || !argv[0] || !envp)
		return ward_err_set(err, -EINVAL, "the request cannot be understood");
	if (s.pty && !x->terminal)
		return ward_err_set(err, -EPERM,
			"[process] terminal = no: redirect input and output, or change the policy");
	int r = check_stdio(x, fds, n_fds, err);
	if (r == 0)
		r = own_pipes(x, e, fds, json_integer_value(json_object_get(q, "pipes")), err);
	if (r == 0 && record(x, e, list, s.cwd, NULL) < 0)
		r = ward_err_set(err, -EIO, "cannot write the trail");
	return r < 0 ? r : start(x, e, &s, fds, err);
}

static void end(struct ward_execs *x, struct ward_exec *e, int sig)
{
	e->ending = true;
	e->deadline = ward_clock_mono_ns() + GRACE_NS;
	(void)!ward_mode_signal(x->confined, e->id, sig);
}

static void hear(void *arg, short revents)
{
	struct ward_exec *e = arg;
	struct ward_execs *x = e->all;
	ward_cleanup_free char *text = NULL;
	size_t none = 0;
	(void)revents;
	int r = ward_control_hear(e->fd, &text, NULL, &none);
	json_t *q = r == 0 ? json_loads(text, 0, NULL) : NULL;
	json_int_t sig = json_integer_value(json_object_get(q, "signal"));
	if (sig > 0 && sig <= 64)
		(void)!ward_mode_signal(x->confined, e->id, (int)sig);
	json_decref(q);
	if (r == 0 || r == -EAGAIN || r == -EINTR)
		return;
	/* Its client is gone: as a terminal that was hung up. */
	hang_up(x, e);
	if (!e->ending)
		end(x, e, SIGHUP);
}

void ward_execs_request(struct ward_execs *x, int fd, const json_t *request, int *fds, size_t n_fds)
{
	struct ward_err err = WARD_ERR_INIT;
	struct ward_exec *e = calloc(1, sizeof(*e));
	socklen_t len = sizeof(e->peer);
	size_t slot = 0;
	while (slot < WARD_EXECS_MAX && x->v[slot])
		slot++;
	int r = e ? 0 : ward_err_sys(&err, -ENOMEM, "exec");
	if (e) {
		e->all = x;
		e->fd = fd;
		e->deadline = UINT64_MAX;
		e->id = ++x->last_id;
		(void)getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &e->peer, &len);
	}
	if (r == 0 && slot == WARD_EXECS_MAX)
		r = ward_err_set(&err, -EAGAIN, "%d commands run already", WARD_EXECS_MAX);
	if (r == 0 && ward_pollset_add(x->set, x->rank, fd, POLLIN, hear, e, &e->watched) < 0)
		r = ward_err_set(&err, -EAGAIN, "too many requests wait for the session already");
	if (r == 0)
		r = begin(x, e, request, fds, n_fds, &err);
	for (size_t i = 0; i < n_fds; i++)
		ward_fd_drop(fds[i]);
	if (r == 0) {
		x->v[slot] = e;
		return;
	}
	if (e)
		answer(e,
			json_pack("{s:s, s:i}", "error", err.text, "status",
				r == -EINVAL ? WARD_EXIT_USAGE : WARD_EXIT_SETUP),
			-1);
	if (e)
		ward_pollset_remove(x->set, e->watched);
	ward_fd_drop(fd);
	free(e);
}

static int timeout(void *arg)
{
	const struct ward_execs *x = arg;
	uint64_t first = UINT64_MAX, now = ward_clock_mono_ns();
	for (size_t i = 0; i < WARD_EXECS_MAX; i++)
		if (x->v[i] && x->v[i]->deadline < first)
			first = x->v[i]->deadline;
	if (first == UINT64_MAX)
		return -1;
	uint64_t ms = first > now ? (first - now) / 1000000 + 1 : 0;
	return ms < 60000 ? (int)ms : 60000;
}

static void check_deadlines(void *arg, short revents)
{
	struct ward_execs *x = arg;
	uint64_t now = ward_clock_mono_ns();
	(void)revents;
	for (size_t i = 0; i < WARD_EXECS_MAX; i++) {
		struct ward_exec *e = x->v[i];
		if (!e || e->deadline > now)
			continue;
		if (e->ending) {
			e->deadline = UINT64_MAX;
			(void)!ward_mode_signal(x->confined, e->id, SIGKILL);
		} else {
			e->timeout = true;
			end(x, e, SIGTERM);
		}
	}
}

int ward_execs_watch(
	struct ward_execs *x, struct ward_pollset *set, unsigned rank, struct ward_err *err)
{
	x->set = set;
	x->rank = rank;
	int r = ward_pollset_each(set, rank, timeout, check_deadlines, x, NULL);
	return r < 0 ? ward_err_sys(err, r, "exec") : 0;
}

static void over(struct ward_execs *x, size_t i, const struct ward_sandbox_event *ev)
{
	struct ward_exec *e = x->v[i];
	json_t *o = NULL;
	if (ev->kind == WARD_SANDBOX_EXEC_FAILED)
		o = json_pack("{s:s%, s:i}", "error", ev->text, strlen(ev->text), "status",
			ev->value == ENOENT			      ? WARD_EXIT_NOT_FOUND
			: ev->value == EACCES || ev->value == ENOEXEC ? WARD_EXIT_NOT_EXECUTABLE
								      : WARD_EXIT_SETUP);
	else
		o = json_pack("{s:i, s:b}",
			ev->kind == WARD_SANDBOX_EXEC_EXITED ? "exited" : "signaled", ev->value,
			"timeout", e->timeout);
	/* A trail that fails now ends the session by itself (WARD_MSG_AUDIT_BROKEN). */
	(void)!record(x, e, NULL, NULL, ev);
	answer(e, o, -1);
	drop(x, i);
}

void ward_execs_event(struct ward_execs *x, const struct ward_sandbox_event *ev)
{
	for (size_t i = 0; i < WARD_EXECS_MAX; i++) {
		struct ward_exec *e = x->v[i];
		if (!e || e->id != ev->id)
			continue;
		if (ev->kind == WARD_SANDBOX_EXEC_STARTED) {
			/* Its client hung up before: what it was sent then reached nobody. */
			if (e->ending)
				end(x, e, SIGHUP);
			else if (x->per_command_ns != WARD_UNLIMITED)
				e->deadline = ward_clock_mono_ns() + x->per_command_ns;
			answer(e,
				json_pack("{s:b, s:I}", "started", 1, "file",
					x->file_size < INT64_MAX ? (json_int_t)x->file_size : 0),
				ev->fd);
		} else {
			over(x, i, ev);
		}
		break;
	}
	if (ev->fd >= 0)
		close(ev->fd);
}

void ward_execs_close(struct ward_execs *x)
{
	for (size_t i = 0; i < WARD_EXECS_MAX; i++) {
		if (!x->v[i])
			continue;
		answer(x->v[i],
			json_pack("{s:s, s:i}", "error", "the session ended", "status",
				128 + SIGKILL),
			-1);
		drop(x, i);
	}
}
