/* SPDX-License-Identifier: Apache-2.0 */
/* The supervisor of a container's session. */
#include "enforcer/oci/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/fd.h"
#include "enforcer/oci/cpu_time.h"
#include "enforcer/oci/groups.h"
#include "enforcer/oci/oci.h"
#include "enforcer/oci/place.h"
#include "enforcer/oci/warm.h"
#include "enforcer/oci/watcher.h"
#include "enforcer/session/ask/asks.h"
#include "enforcer/session/control/control.h"
#include "enforcer/session/plan/network.h"
#include "enforcer/session/records/session_about.h"

struct keeper {
	const struct ward_oci_keep *k;
	struct ward_served *s;
	int watcher; /* socket */
	pid_t watcher_pid;
	int container; /* pidfd; -1: not known */
	int wall;
	int cpu;       /* what counts the CPU time; -1: nothing, or not yet */
	int cpu_clock; /* when to look at it */
	struct ward_oci_warm warm;
	int leash; /* of the walk; -1: there is none */
	bool cpu_missing, ended;
	struct ward_network network; /* of wardfs-net; without helper: there is none */
};

static int take_fd(int sock, char *ret_word)
{
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov = {ret_word, 1};
	struct msghdr mh = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.space,
		.msg_controllen = sizeof(control.space)};
	*ret_word = 0;
	if (recvmsg(sock, &mh, MSG_CMSG_CLOEXEC) <= 0)
		return -1;
	const struct cmsghdr *c = CMSG_FIRSTHDR(&mh);
	int fd = -1;
	if (c && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(&fd, CMSG_DATA(c), sizeof(int));
	return fd;
}

/* True: it is time to end. */
static bool look_at_cpu_time(struct keeper *q)
{
	const uint64_t limit = q->s->plan.settings->cpu_time_ns;
	uint64_t used = 0;
	/* The group goes with the container, whose end the watcher tells. */
	if (ward_oci_cpu_read(q->cpu, &used) < 0)
		used = 0;
	if (used >= limit)
		return true;
	const uint64_t ns = ward_oci_cpu_wait(used, limit);
	const struct itimerspec t = {.it_value = {.tv_sec = (time_t)(ns / WARD_NS_PER_SEC),
					     .tv_nsec = (long)(ns % WARD_NS_PER_SEC)}};
	return timerfd_settime(q->cpu_clock, 0, &t, NULL) < 0;
}

static void on_cpu_time(void *arg, short revents)
{
	struct keeper *q = arg;
	(void)revents;
	if (!look_at_cpu_time(q))
		return;
	q->s->over = true;
	q->s->cause = "[limits] cpu-time";
}

/* The container exists: from here on its group counts, and has counted from its first process on.
 */
static void start_cpu_time(struct keeper *q)
{
	const struct ward_settings *s = q->s->plan.settings;
	struct ward_err why = WARD_ERR_INIT;
	if (s->cpu_time_ns == WARD_UNLIMITED)
		return;
	int r = ward_oci_cpu_open(q->container, &q->cpu, &why);
	if (r < 0) {
		/* What has ended by now cannot be looked at, and uses nothing. */
		struct pollfd p = {.fd = q->container, .events = POLLIN};
		q->cpu_missing = poll(&p, 1, 0) == 0;
		if (q->cpu_missing && !s->limits_where_available &&
			!ward_oci_may_miss(q->k->host, WARD_OCI_MISSING_CPU_TIME))
			ward_served_fail(q->s,
				ward_err_set(q->s->err, r,
					"cannot enforce [limits] cpu-time (%s); fix: an engine with "
					"control groups, or allow-missing = limit-cpu-time in [oci] of "
					"%s",
					why.text, WARD_OCI_HOST_FILE));
		return;
	}
	q->cpu_clock = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC);
	r = q->cpu_clock < 0 ? -errno : 0;
	if (r == 0)
		r = ward_pollset_add(
			&q->s->set, WARD_SERVED_CLOCK, q->cpu_clock, POLLIN, on_cpu_time, q, NULL);
	if (r < 0)
		ward_served_fail(q->s, ward_err_sys(q->s->err, r, "[limits] cpu-time"));
	else
		on_cpu_time(q, 0);
}

static void on_watcher(void *arg, short revents)
{
	struct keeper *q = arg;
	char word = 0;
	(void)revents;
	const int fd = take_fd(q->watcher, &word);
	if (word == WARD_OCI_WORD_MADE && fd >= 0 && q->container < 0) {
		q->container = fd;
		start_cpu_time(q);
		return;
	}
	if (fd >= 0)
		close(fd);
	q->s->over = true;
	if (word == WARD_OCI_WORD_ENDED || word == WARD_OCI_WORD_NONE) {
		q->ended = true;
		q->s->cause = word == WARD_OCI_WORD_NONE && !q->s->cause
				      ? "the runtime made no container, or it has ended"
				      : "the container ended";
		return;
	}
	ward_served_fail(q->s, ward_err_set(q->s->err, -EIO, "the watcher of wardfs-oci died"));
}

static void on_wall(void *arg, short revents)
{
	struct keeper *q = arg;
	(void)revents;
	q->s->over = true;
	q->s->cause = "[limits] wall";
}

static void on_status(void *arg, struct ward_control_request *r)
{
	const struct keeper *q = arg;
	json_t *o = ward_served_status(q->s, "oci");
	json_object_set_new(o, "container", json_string(q->k->args->id));
	json_object_set_new(o, "argv",
		ward_control_argv((char *const[]){(char *)(uintptr_t)q->k->args->id, NULL}));
	ward_control_reply(r, o);
}

static void on_kill(void *arg, struct ward_control_request *r)
{
	struct keeper *q = arg;
	q->s->over = true;
	q->s->cause = "ended by wardfs kill";
	ward_control_reply(r, json_pack("{s:b}", "ok", 1));
}

/* Nobody is asked here, as on_question() of served.c says. */
static void on_net(void *arg, short revents)
{
	struct keeper *q = arg;
	char buf[WARD_NETWORK_SAYS_MAX];
	struct ward_msg_reader m;
	const int control = q->network.helper.control;
	(void)revents;
	ssize_t len = ward_msg_recv(control, buf, sizeof(buf), NULL, NULL);
	if (len > 0) {
		ward_msg_reader_init(&m, buf, (size_t)len);
		if (m.type == WARD_MSG_NET_ASK)
			(void)!ward_asks_refuse(control, &m);
		return;
	}
	q->s->guard.lost = true;
	ward_served_fail(q->s, ward_err_set(q->s->err, -EIO, "wardfs-net died"));
}

static void on_ask_fs(void *arg, struct ward_control_request *r)
{
	struct keeper *q = arg;
	ward_ask_fs_client(&q->s->ask_fs, q->s->guard.fs.control, r->what, &r->client);
}

/* One more process of the engine's will run in the container: its record comes first. */
static void on_join(void *arg, struct ward_control_request *r)
{
	struct keeper *q = arg;
	const json_t *argv = json_object_get(r->body, "argv");
	const char *user = json_string_value(json_object_get(r->body, "user"));
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_cleanup_free struct ward_event *ev = malloc(sizeof(*ev));
	struct ucred peer = {.pid = 0};
	socklen_t len = sizeof(peer);
	const bool all = !ward_word_said(q->s->plan.settings->redact, WARD_REDACT_ARGV);
	size_t i = 0;
	json_t *v = NULL;
	json_array_foreach(argv, i, v) if ((i == 0 || all) && b.len < 6144)
		ward_buf_add(&b, json_string_value(v), json_string_length(v) + 1);
	int e = ev && !ward_buf_error(&b) ? 0 : -ENOMEM;
	if (e == 0 && getsockopt(r->client, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
		e = -errno;
	if (e == 0) {
		char text[128];
		(void)snprintf(text, sizeof(text), "wardfs-oci exec%s%.64s: asked for",
			user ? ", user " : "", user ? user : "");
		ward_event_begin(ev, WARD_EVENT_EXEC);
		ward_event_u64(ev, WARD_TAG_PID, (uint64_t)peer.pid);
		ward_event_u64(ev, WARD_TAG_UID, peer.uid);
		ward_event_list(ev, WARD_TAG_ARGV, b.data, b.len);
		ward_event_text(ev, WARD_TAG_TEXT, text);
		e = q->s->over ? -ESHUTDOWN : ward_guard_put(&q->s->guard, ev);
	}
	ward_control_reply(r, json_pack("{s:b, s:i}", "ok", e == 0, "errno", -e));
}

/* Nothing of the engine's stays open: it waits for the end of its pipes. */
static int let_go(const int *keep, size_t n)
{
	int sorted[WARD_TREES_MAX * 3 + 16];
	size_t m = 0;
	for (size_t i = 0; i < n; i++) {
		size_t at = m;
		if (keep[i] < 3)
			continue;
		while (at > 0 && sorted[at - 1] > keep[i]) {
			sorted[at] = sorted[at - 1];
			at--;
		}
		sorted[at] = keep[i];
		m++;
	}
	unsigned from = 3;
	for (size_t i = 0; i < m; i++) {
		if ((unsigned)sorted[i] > from && close_range(from, (unsigned)sorted[i] - 1, 0) < 0)
			return -errno;
		from = (unsigned)sorted[i] + 1;
	}
	if (close_range(from, ~0U, 0) < 0)
		return -errno;
	ward_cleanup_fd int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int i = 0; i < 3; i++)
		if (null < 0 || dup2(null, i) < 0)
			return -errno;
	return 0;
}

static int leave_engine(struct keeper *q, int pipe_fd)
{
	const struct ward_oci_keep *k = q->k;
	const struct ward_run_plan *p = &k->served->plan;
	int keep[WARD_TREES_MAX * 3 + 8] = {pipe_fd, k->front, k->place_lock, k->view->host,
		p->project.fd, k->view->wired.user, k->view->wired.net};
	size_t n = 7;
	for (size_t i = 0; i < k->view->n; i++) {
		keep[n++] = k->view->fuse[i];
		keep[n++] = p->trees[i].backing;
	}
	ward_oci_warm_open(k->container, k->view, &q->warm);
	for (size_t i = 0; i < q->warm.n; i++)
		keep[n++] = q->warm.fds[i];
	if (setns(k->view->host, CLONE_NEWNS) < 0 || chdir("/") < 0 || setsid() < 0)
		return -errno;
	return let_go(keep, n);
}

static int start_watcher(struct keeper *q, struct ward_err *err)
{
	int ends[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return ward_err_sys(err, -errno, "socketpair");
	pid_t pid = fork();
	if (pid == 0) {
		const int keep[] = {q->k->front, ends[1]};
		sigset_t none;
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		/* It has the same name, but none of the descriptors. */
		if (let_go(keep, 2) == 0)
			ward_oci_watch(q->k->runtime, q->k->args,
				ward_oci_group(q->k->container->config),
				q->s->plan.settings->cpu_time_ns != WARD_UNLIMITED, q->k->front,
				ends[1]);
		_exit(1);
	}
	close(ends[1]);
	q->watcher = ends[0];
	q->watcher_pid = pid;
	return pid < 0 ? ward_err_sys(err, -errno, "fork") : 0;
}

/* Nobody's child: it asks the guard, and nobody waits for it. What fails here is no loss. */
static void start_walk(struct keeper *q)
{
	int ends[2];
	if (q->warm.n == 0 || pipe2(ends, O_CLOEXEC) < 0)
		return;
	pid_t pid = fork();
	if (pid == 0) {
		int keep[WARD_TREES_MAX + 1] = {ends[0]};
		sigset_t none;
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		memcpy(keep + 1, q->warm.fds, q->warm.n * sizeof(*keep));
		if (fork() == 0 && let_go(keep, q->warm.n + 1) == 0)
			ward_oci_warm_walk(&q->warm, ends[0]);
		_exit(0);
	}
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	close(ends[0]);
	q->leash = ends[1];
}

static void end_walk(struct keeper *q)
{
	if (q->leash >= 0)
		close(q->leash);
	q->leash = -1;
}

static int start_wall(struct keeper *q, struct ward_err *err)
{
	const uint64_t ns = q->s->plan.settings->wall_ns;
	if (ns == WARD_UNLIMITED)
		return 0;
	const struct itimerspec t = {.it_value = {.tv_sec = (time_t)(ns / WARD_NS_PER_SEC),
					     .tv_nsec = (long)(ns % WARD_NS_PER_SEC)}};
	q->wall = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC);
	if (q->wall < 0 || timerfd_settime(q->wall, 0, &t, NULL) < 0)
		return ward_err_sys(err, -errno, "timerfd");
	return ward_pollset_add(&q->s->set, WARD_SERVED_CLOCK, q->wall, POLLIN, on_wall, q, NULL);
}

static int record_start(struct keeper *q, struct ward_err *err)
{
	const struct ward_oci_keep *k = q->k;
	char *labels[16] = {NULL};
	const size_t n = ward_oci_labels(k->container, k->args->id, labels, 16);
	const struct ward_strs list = {(const char **)(uintptr_t)labels, n};
	json_t *about = ward_oci_container_json(
		k->container, k->args, k->host, q->s->plan.settings, k->runtime);
	const struct ward_record_start start = {.verb = "oci", .labels = &list, .container = about};
	int r = ward_served_begin(q->s, &start, err);
	json_decref(about);
	for (size_t i = 0; i < n; i++)
		free(labels[i]);
	return r;
}

/* wardfs-net gets the namespaces that the container will join, and its rules. */
static int start_network(struct keeper *q, struct ward_err *err)
{
	const struct ward_oci_wired *w = &q->k->view->wired;
	const struct ward_run_plan *p = &q->s->plan;
	if (w->net < 0)
		return 0;
	int r = ward_network_prepare(
		p, q->s->control_dir, q->s->guard.store.name, &q->network, err);
	if (r == 0)
		r = ward_network_spawn(&q->network, &q->s->guard, p, err);
	/* No process of the container is in that user namespace, so wardfs-net can look at none. */
	return r < 0 ? r : ward_network_join(&q->network, w->user, w->net, getpid(), err);
}

static int wait_network(struct keeper *q, struct ward_err *err)
{
	if (q->network.helper.pid <= 0)
		return 0;
	int r = ward_network_wait(&q->network, err);
	return r < 0 ? r
		     : ward_pollset_add(&q->s->set, WARD_SERVED_FS, q->network.helper.control,
			       POLLIN, on_net, q, NULL);
}

/* Once nothing of the container is alive. */
static int end_network(struct keeper *q, int r, struct ward_err *err)
{
	if (ward_network_end(&q->network) != WARD_NETWORK_DIED || r < 0)
		return r;
	q->s->guard.lost = true;
	return ward_err_set(err, -EIO, "wardfs-net died");
}

static int start(struct keeper *q, struct ward_err *err)
{
	const struct ward_oci_keep *k = q->k;
	const uint32_t flags = WARD_FS_ROOT | WARD_FS_PASSTHROUGH | WARD_FS_ALLOW_OTHER;
	int r = ward_served_open(q->s, err);
	const struct ward_oci_place place = {.id = k->args->id,
		.session = q->s->guard.store.name,
		.bundle = k->container->bundle,
		.config = k->container->config,
		.settings = q->s->plan.settings};
	if (r == 0)
		r = ward_oci_place_write(k->place, &place, err);
	if (r == 0)
		r = start_network(q, err);
	if (r == 0)
		r = ward_served_go(q->s, k->view->fuse, flags, err);
	for (size_t i = 0; i < k->view->n; i++)
		close(k->view->fuse[i]);
	if (r == 0)
		r = start_watcher(q, err);
	if (r == 0)
		r = record_start(q, err);
	if (r == 0)
		r = wait_network(q, err);
	if (r == 0)
		r = start_wall(q, err);
	return r == 0 ? ward_pollset_add(&q->s->set, WARD_SERVED_USER, q->watcher, POLLIN,
				on_watcher, q, NULL)
		      : r;
}

static void end_container(struct keeper *q)
{
	if (!q->ended)
		ward_oci_kill(q->k->runtime, q->k->args, q->k->front, q->container);
	ward_oci_group_remove(q->k->runtime, q->k->args, ward_oci_group(q->k->container->config));
	close(q->watcher);
	if (q->watcher_pid > 0)
		while (waitpid(q->watcher_pid, NULL, 0) < 0 && errno == EINTR)
			;
}

static int keep(const struct ward_oci_keep *k, int pipe_fd)
{
	static const struct ward_control_handlers handlers = {
		.status = on_status, .kill = on_kill, .join = on_join, .ask_fs = on_ask_fs};
	struct ward_err err = WARD_ERR_INIT;
	struct keeper q = {.k = k,
		.s = k->served,
		.watcher = -1,
		.container = -1,
		.wall = -1,
		.cpu = -1,
		.cpu_clock = -1,
		.leash = -1,
		.network = WARD_NETWORK_INIT};
	int r = leave_engine(&q, pipe_fd);
	q.s->err = &err;
	q.s->session = k->container->session;
	q.s->handlers = &handlers;
	q.s->arg = &q;
	q.s->ended = "the container ended";
	/* Root's alone: the engine is root's. */
	q.s->users = (struct ward_control_users){.owner = 0, .chooser = 0};
	if (r < 0)
		ward_err_sys(&err, r, "leaving the engine's namespaces");
	if (r == 0)
		r = start(&q, &err);
	if (r < 0) {
		(void)!ward_fd_write_all(pipe_fd, err.text, strlen(err.text) + 1);
		ward_record_not_started(&q.s->guard, err.text);
		/* The front waits for us and makes nothing: there is nothing to watch. */
		if (q.watcher_pid > 0) {
			kill(q.watcher_pid, SIGKILL);
			(void)waitpid(q.watcher_pid, NULL, 0);
		}
	} else {
		const char ready = '\1';
		(void)!ward_fd_write_all(pipe_fd, &ready, 1);
		close(pipe_fd);
		start_walk(&q);
		ward_oci_warm_close(&q.warm);
		r = ward_served_loop(q.s);
		end_walk(&q);
		end_container(&q);
		r = end_network(&q, r, &err);
		json_t *details =
			q.cpu_missing ? json_pack("{s:[s]}", "lacks", "[limits] cpu-time") : NULL;
		r = ward_served_finish(q.s, r, details, &err);
		json_decref(details);
	}
	ward_network_close(&q.network);
	ward_oci_place_remove(k->place);
	ward_served_close(q.s);
	return r < 0;
}

int ward_oci_keeper_start(const struct ward_oci_keep *k, struct ward_err *err)
{
	char text[WARD_ERR_TEXT_MAX] = "";
	size_t have = 0;
	int p[2];
	if (pipe2(p, O_CLOEXEC) < 0)
		return ward_err_sys(err, -errno, "pipe");
	ward_cleanup_fd int ours = p[0];
	/* Not the front's child: crun, which the front becomes, waits for all that it has. */
	pid_t pid = fork();
	if (pid == 0) {
		prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
		pid = fork();
		_exit(pid == 0 ? keep(k, p[1]) : pid < 0);
	}
	close(p[1]);
	if (pid < 0)
		return ward_err_sys(err, -errno, "fork");
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	/* The pipe ends with the keeper: it tells why, then ends its trail. */
	while (have < sizeof(text) - 1) {
		ssize_t n = read(ours, text + have, sizeof(text) - 1 - have);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		have += (size_t)n;
		if (text[0] == '\1')
			return 0;
	}
	return ward_err_set(err, -EIO, "%s", text[0] ? text : "the keeper of the session died");
}

static int ask(const char *session, const char *request, struct ward_err *err)
{
	ward_cleanup_free char *runtime = NULL;
	ward_cleanup_free char *answer = NULL;
	int r = ward_control_runtime(&runtime, err);
	if (r == 0)
		r = ward_control_ask(runtime, session, request, &answer, err);
	if (r < 0)
		return r;
	json_t *o = json_loads(answer, 0, NULL);
	const json_t *ok = json_object_get(o, "ok");
	/* A status has no "ok". */
	const bool fine = json_is_object(o) && (!ok || json_is_true(ok));
	json_decref(o);
	return fine ? 0 : ward_err_set(err, -EIO, "the session %s refused", session);
}

int ward_oci_keeper_alive(const char *session, struct ward_err *err)
{
	return ask(session, "{\"verb\":\"status\"}", err);
}

int ward_oci_keeper_join(
	const char *session, char *const *argv, const char *user, struct ward_err *err)
{
	json_t *list = json_array();
	for (; argv && *argv; argv++)
		json_array_append_new(list, json_string(*argv));
	json_t *o = json_pack("{s:s, s:o, s:s?}", "verb", "join", "argv", list, "user", user);
	ward_cleanup_free char *text = o ? json_dumps(o, JSON_COMPACT) : NULL;
	json_decref(o);
	return text ? ask(session, text, err) : ward_err_sys(err, -ENOMEM, "exec");
}
