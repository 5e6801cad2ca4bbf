/* SPDX-License-Identifier: Apache-2.0 */
/* Answers the questions of a runtime that asks a broker for each permission. */
#include "enforcer/session/run/permission.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "audit/event.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/ipc/msg.h"
#include "enforcer/policy/explain.h"
#include "enforcer/policy/proxy.h"
#include "enforcer/session/ask/asker.h"
#include "enforcer/session/owner/project.h"
#include "enforcer/session/plan/runtime.h"
#include "enforcer/session/plan/sockets.h"

#define SOCKET_NAME "permission"
/* Deno asks on one connection; workers share it. */
#define CONNECTIONS_MAX 16
/* Far more than a path has, so that a script that asks for too long a one is refused and goes on.
 */
#define QUESTION_MAX ((size_t)262144)
/* What a record says of a value. */
#define VALUE_SHOWN 4096
#define VERSION 1
#define STOP_S 5
/*
 * No control group counts the supervisor. So answers take at most this part of [limits] cpus and of
 * cpu-time. Deno spends more on a question than we do, so only a flood of questions notices.
 */
#define CPU_PART 4
#define CPU_BURST_NS (INT64_C(100) * 1000000)

struct connection {
	int fd; /* -1: free */
	pid_t pid;
	uid_t uid;
	size_t n;
	char line[QUESTION_MAX];
};

struct ward_permission {
	const struct ward_run_plan *plan;
	struct ward_guard *guard;
	char *path;
	int dir, listener, stop;
	bool runs;
	pthread_t thread;
	pthread_mutex_t lock;	      /* protects the next */
	struct ward_policy *in_force; /* owned */
	/* of the thread */
	struct ward_policy *policy; /* owned, while a question is answered */
	int64_t credit_ns;	    /* CPU time that may be used now */
	uint64_t cpu_ns, paced_ns;  /* what was used, and when that was looked at */
	struct connection v[CONNECTIONS_MAX];
	struct ward_event ev;
};

/* What is asked, and what the answer is. */
struct question {
	json_int_t id;
	const char *permission, *value; /* value NULL: everything */
	bool no_name;			/* the value has a byte 0, so it names nothing */
	const struct connection *from;
	char path[PATH_MAX]; /* sandbox path, "": none */
	bool allowed;
	struct ward_buf place, text; /* the rule */
};

/* --- files --- */

static bool beneath(const char *path, const char *dir)
{
	return dir && ward_path_beneath(path, dir);
}

/*
 * The value as an absolute path without "." and "..", as it is spelled: where links lead is for the
 * guard. Relative to where the process stands, or else to where the session began.
 */
static int absolute(const struct ward_permission *x, const struct question *q, char ret[PATH_MAX])
{
	char link[64], whole[2 * PATH_MAX], cwd[PATH_MAX];
	size_t n = 0;
	snprintf(link, sizeof(link), "/proc/%d/cwd", (int)q->from->pid);
	ssize_t len = readlink(link, cwd, sizeof(cwd) - 1);
	cwd[len > 0 ? len : 0] = '\0';
	snprintf(whole, sizeof(whole), "%s/%s",
		q->value[0] == '/'	   ? ""
		: len > 0 && cwd[0] == '/' ? cwd
					   : x->plan->cwd,
		q->value);
	for (const char *p = whole; *p; p += strspn(p, "/")) {
		size_t part = strcspn(p, "/");
		if (part == 2 && memcmp(p, "..", 2) == 0)
			while (n > 0 && ret[--n] != '/')
				;
		else if (part > 0 && !(part == 1 && *p == '.')) {
			if (n + part + 2 > PATH_MAX)
				return -ENAMETOOLONG;
			ret[n++] = '/';
			memcpy(ret + n, p, part);
			n += part;
		}
		p += part;
	}
	if (n == 0)
		ret[n++] = '/';
	ret[n] = '\0';
	return 0;
}

/* In a tree: its sandbox path, whichever of its paths was used. */
static bool in_tree(const struct ward_permission *x, char path[PATH_MAX])
{
	char mapped[2 * PATH_MAX];
	for (size_t i = 0; i < x->plan->n_trees; i++) {
		const struct ward_run_plan_tree *t = &x->plan->trees[i];
		if (beneath(path, t->path))
			return true;
		if (!beneath(path, t->at))
			continue;
		snprintf(mapped, sizeof(mapped), "%s%s", t->path, path + strlen(t->at));
		if (strlen(mapped) >= PATH_MAX)
			return false;
		memcpy(path, mapped, strlen(mapped) + 1);
		return true;
	}
	return false;
}

static int decide_in_tree(const struct ward_permission *x, struct question *q, uint32_t right)
{
	const struct ward_policy *p = x->policy;
	const struct ward_state *s = NULL;
	int r = ward_policy_walk(p, q->path, strlen(q->path), &s);
	if (r < 0)
		return r;
	const struct ward_request req = {.action = WARD_ACTION_ACCESS, .rights = right, .state = s};
	const struct ward_decision d = ward_policy_decide(p, &req, NULL);
	/* A name that is hidden is not told of here: the guard answers as if nothing were there. */
	q->allowed = d.verdict == WARD_VERDICT_ALLOW || d.verdict == WARD_VERDICT_HIDE;
	if (d.rule) {
		ward_rule_place(d.rule, &q->place);
		ward_rule_text(d.rule, &q->text);
	}
	ward_policy_state_put(p, s);
	return 0;
}

/* /tmp, the home, and what [system] read shows. */
static bool is_shown(const struct ward_permission *x, const char *path, uint32_t right)
{
	if (beneath(path, "/tmp") || beneath(path, ward_runtime_home(x->plan)))
		return true;
	for (size_t i = 0; right == WARD_RIGHT_READ && i < x->plan->n_reads; i++)
		if (beneath(path, x->plan->reads[i]) || beneath(path, x->plan->reads_at[i]))
			return true;
	return false;
}

static int decide_file(const struct ward_permission *x, struct question *q, uint32_t right)
{
	/* So Deno names its directory for temporary files. */
	if (q->value && strcmp(q->value, "<TMP>") == 0) {
		q->allowed = true;
		return 0;
	}
	/* Without a value it asks for every file there is. */
	if (!q->value)
		return 0;
	int r = absolute(x, q, q->path);
	if (r < 0)
		return r;
	if (in_tree(x, q->path))
		return decide_in_tree(x, q, right);
	q->allowed = is_shown(x, q->path, right);
	return 0;
}

/* --- the network --- */

/* A server inside listens at every address of the session's own network. */
static bool is_published(const struct ward_permission *x, const char *value)
{
	const struct ward_strings *ports = &ward_policy_settings(x->policy)->net_publish;
	const char *port = strrchr(value, ':');
	if (!port || (strncmp(value, "0.0.0.0:", 8) != 0 && !ward_connect_is_loopback(value)))
		return false;
	for (size_t i = 0; i < ports->n; i++) {
		const char *colon = strchr(ports->v[i], ':');
		if (strcmp(colon ? colon + 1 : ports->v[i], port + 1) == 0)
			return true;
	}
	return false;
}

/* fetch() asks for the proxy as well. The proxy decides about each destination by itself. */
static bool is_proxy(const struct ward_permission *x, const char *value)
{
	const enum ward_net net = ward_policy_settings(x->policy)->net;
	return (net == WARD_NET_ALLOWLIST || net == WARD_NET_PROXY) &&
	       strcmp(value, WARD_PROXY_INSIDE) == 0;
}

static void decide_net(const struct ward_permission *x, struct question *q)
{
	if (ward_policy_settings(x->policy)->net == WARD_NET_HOST)
		q->allowed = true;
	else if (q->value && strrchr(q->value, ':'))
		q->allowed = is_published(x, q->value) || is_proxy(x, q->value) ||
			     ward_policy_connect_inside(x->policy, q->value, &q->place, &q->text) ==
				     WARD_VERDICT_ALLOW;
}

/* --- one question --- */

/* A program or a library is a file, too. Of a name alone nobody knows where it would be found. */
static bool is_file(const char *permission)
{
	return strcmp(permission, "run") == 0 || strcmp(permission, "ffi") == 0;
}

static void name_file(const struct ward_permission *x, struct question *q)
{
	if (!q->value || !strchr(q->value, '/') || absolute(x, q, q->path) < 0)
		q->path[0] = '\0';
	else
		(void)in_tree(x, q->path);
}

/* Refused: what is none of these, among them programs and libraries. */
static int decide(const struct ward_permission *x, struct question *q)
{
	if (strcmp(q->permission, "read") == 0)
		return decide_file(x, q, WARD_RIGHT_READ);
	if (strcmp(q->permission, "write") == 0)
		return decide_file(x, q, WARD_RIGHT_WRITE);
	if (is_file(q->permission)) {
		name_file(x, q);
		return 0;
	}
	if (strcmp(q->permission, "net") == 0 || strcmp(q->permission, "import") == 0)
		decide_net(x, q);
	/* Of the session alone: [env] decided what is there, and the figures are the sandbox's. */
	else
		q->allowed = strcmp(q->permission, "env") == 0 || strcmp(q->permission, "sys") == 0;
	return 0;
}

/* As the broker of the network names a connection, and the guard a path. */
static void note_what(struct ward_permission *x, const struct question *q)
{
	const bool net = strcmp(q->permission, "net") == 0 || strcmp(q->permission, "import") == 0;
	const char *colon = net && q->value ? strrchr(q->value, ':') : NULL;
	ward_event_text(&x->ev, WARD_TAG_ACTION, net ? "connect" : q->permission);
	if (q->path[0])
		ward_event_text(&x->ev, WARD_TAG_PATH, q->path);
	else if (net && colon) {
		ward_event_bytes(&x->ev, WARD_TAG_HOST, q->value, (size_t)(colon - q->value));
		ward_event_u64(&x->ev, WARD_TAG_PORT, strtoul(colon + 1, NULL, 10));
	} else if (net && q->value)
		ward_event_text(&x->ev, WARD_TAG_HOST, q->value);
}

static int record(struct ward_permission *x, const struct question *q)
{
	ward_cleanup_free char *text = NULL;
	char comm[WARD_ASKER_NAME_MAX];
	if (asprintf(&text, "Deno asked for %s%s%.*s", q->permission,
		    q->value ? ": " : ", all of it", VALUE_SHOWN, q->value ? q->value : "") < 0) {
		text = NULL;
		return -ENOMEM;
	}
	ward_event_begin(&x->ev, WARD_EVENT_DENY);
	ward_event_u64(&x->ev, WARD_TAG_PID, (uint64_t)q->from->pid);
	ward_event_u64(&x->ev, WARD_TAG_UID, q->from->uid);
	if (ward_asker_name(q->from->pid, comm))
		ward_event_text(&x->ev, WARD_TAG_COMM, comm);
	note_what(x, q);
	ward_event_text(&x->ev, WARD_TAG_RULE, q->place.len ? ward_buf_str(&q->place) : "mode");
	ward_event_text(&x->ev, WARD_TAG_RULE_TEXT,
		q->text.len ? ward_buf_str(&q->text) : "[policy] mode: nothing gives it");
	ward_event_u64(&x->ev, WARD_TAG_VERDICT, WARD_VERDICT_DENY);
	ward_event_u64(&x->ev, WARD_TAG_ERRNO, EACCES);
	ward_event_text(&x->ev, WARD_TAG_TEXT, text);
	return ward_guard_put(x->guard, &x->ev);
}

static int answer(struct ward_permission *x, struct question *q)
{
	int r = q->no_name ? 0 : decide(x, q);
	/* Nothing has such a name. */
	if (r == -ENAMETOOLONG) {
		q->path[0] = '\0';
		r = 0;
	}
	if (r == 0 && !q->allowed)
		r = record(x, q);
	if (r < 0)
		return r;
	json_t *o = json_pack("{s:I, s:s}", "id", q->id, "result", q->allowed ? "allow" : "deny");
	if (o && !q->allowed)
		json_object_set_new(o, "reason",
			json_sprintf("wardfs: %s%s%s", ward_buf_str(&q->place),
				q->place.len ? "  " : "",
				q->text.len ? ward_buf_str(&q->text)
					    : "the policy does not give it"));
	ward_cleanup_free char *text = o ? json_dumps(o, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;
	json_decref(o);
	if (!text)
		return -ENOMEM;
	const size_t n = strlen(text);
	text[n] = '\n';
	/* An answer is small; who does not read it has no use for more. */
	return send(q->from->fd, text, n + 1, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)(n + 1)
		       ? 0
		       : -EPIPE;
}

/* A line without its end. -EINVAL: no question. */
static int take(struct ward_permission *x, const struct connection *c, size_t len)
{
	struct question q = {.from = c, .place = WARD_BUF_INIT, .text = WARD_BUF_INIT};
	int version = 0;
	json_t *value = NULL;
	size_t word = 0;
	json_t *o = json_loadb(c->line, len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
	int r = -EINVAL;
	if (o &&
		json_unpack(o, "{s:i, s:I, s:s%, s:o}", "v", &version, "id", &q.id, "permission",
			&q.permission, &word, "value", &value) == 0 &&
		version == VERSION && strlen(q.permission) == word &&
		(json_is_null(value) || json_is_string(value))) {
		q.value = json_string_value(value);
		q.no_name = q.value && strlen(q.value) != json_string_length(value);
		r = answer(x, &q);
	}
	json_decref(o);
	ward_buf_clear(&q.place);
	ward_buf_clear(&q.text);
	return r;
}

/* --- what it may cost --- */

static uint64_t own_cpu_ns(void)
{
	struct timespec t = {0, 0};
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * WARD_NS_PER_SEC + (uint64_t)t.tv_nsec;
}

/* Waits until the thread has used no more than its part of `tenths` of a CPU, but for a burst. */
static void pace(struct ward_permission *x, uint64_t cpu, uint64_t tenths)
{
	const uint64_t now = ward_clock_mono_ns(), per = UINT64_C(10) * CPU_PART;
	const uint64_t earned = (now - x->paced_ns) / per;
	struct pollfd stop = {.fd = x->stop, .events = POLLIN};
	int64_t credit = CPU_BURST_NS;
	if (earned < CPU_BURST_NS / tenths)
		credit = x->credit_ns + (int64_t)(earned * tenths);
	if (credit > CPU_BURST_NS)
		credit = CPU_BURST_NS;
	x->credit_ns = credit - (int64_t)(cpu - x->cpu_ns);
	x->paced_ns = now;
	x->cpu_ns = cpu;
	if (x->credit_ns < 0)
		(void)poll(&stop, 1,
			(int)((uint64_t)-x->credit_ns * per / tenths / UINT64_C(1000000)) + 1);
}

/* -EDQUOT: the part of cpu-time is used up. */
static int spend(struct ward_permission *x, const struct ward_settings *s)
{
	const uint64_t cpu = own_cpu_ns();
	if (s->cpu_time_ns != WARD_UNLIMITED && cpu > s->cpu_time_ns / CPU_PART)
		return -EDQUOT;
	if (s->cpus != WARD_UNLIMITED && s->cpus)
		pace(x, cpu, s->cpus);
	return 0;
}

/* A line under the policy that is in force now. */
static int take_line(struct ward_permission *x, const struct connection *c, size_t len)
{
	pthread_mutex_lock(&x->lock);
	x->policy = ward_policy_ref(x->in_force);
	pthread_mutex_unlock(&x->lock);
	int r = spend(x, ward_policy_settings(x->policy));
	if (r == 0)
		r = take(x, c, len);
	ward_policy_unref(x->policy);
	x->policy = NULL;
	return r;
}

/* --- connections --- */

static void drop(struct connection *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
	c->n = 0;
}

static void hear(struct ward_permission *x, struct connection *c)
{
	ssize_t n = recv(c->fd, c->line + c->n, sizeof(c->line) - c->n, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		drop(c);
		return;
	}
	c->n += (size_t)n;
	for (char *end; (end = memchr(c->line, '\n', c->n)) != NULL;) {
		const size_t len = (size_t)(end - c->line) + 1;
		if (take_line(x, c, len - 1) < 0) {
			drop(c);
			return;
		}
		memmove(c->line, c->line + len, c->n - len);
		c->n -= len;
	}
	if (c->n == sizeof(c->line))
		drop(c);
}

static void greet(struct ward_permission *x)
{
	struct ucred who;
	socklen_t len = sizeof(who);
	ward_cleanup_fd int fd = accept4(x->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd < 0 || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) < 0)
		return;
	for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
		if (x->v[i].fd >= 0)
			continue;
		x->v[i].fd = ward_steal_fd(&fd);
		x->v[i].n = 0;
		x->v[i].pid = who.pid;
		x->v[i].uid = who.uid;
		return;
	}
}

static void *run(void *arg)
{
	struct ward_permission *x = arg;
	for (;;) {
		struct pollfd p[CONNECTIONS_MAX + 2] = {
			{.fd = x->stop, .events = POLLIN}, {.fd = x->listener, .events = POLLIN}};
		for (size_t i = 0; i < CONNECTIONS_MAX; i++)
			p[i + 2] = (struct pollfd){.fd = x->v[i].fd, .events = POLLIN};
		if (poll(p, CONNECTIONS_MAX + 2, -1) < 0 && errno != EINTR)
			return NULL;
		if (p[0].revents)
			return NULL;
		for (size_t i = 0; i < CONNECTIONS_MAX; i++)
			if (p[i + 2].revents)
				hear(x, &x->v[i]);
		if (p[1].revents)
			greet(x);
	}
}

/* --- its life --- */

int ward_permission_open(const struct ward_run_plan *plan, int dir, const char *session,
	struct ward_guard *g, struct ward_permission **ret, struct ward_err *err)
{
	*ret = NULL;
	if (!plan->found.asks)
		return 0;
	struct ward_permission *x = calloc(1, sizeof(*x));
	if (!x)
		return ward_err_sys(err, -ENOMEM, "the broker of permissions");
	x->plan = plan;
	x->guard = g;
	x->dir = dir;
	x->listener = -1;
	pthread_mutex_init(&x->lock, NULL);
	x->in_force = ward_policy_ref(plan->policy);
	x->credit_ns = CPU_BURST_NS;
	x->paced_ns = ward_clock_mono_ns();
	for (size_t i = 0; i < CONNECTIONS_MAX; i++)
		x->v[i].fd = -1;
	x->stop = eventfd(0, EFD_CLOEXEC);
	int r = x->stop < 0 ? -errno : ward_socket_listen(plan, dir, SOCKET_NAME, &x->listener);
	/* Nobody connects before the session runs. What takes its time to be closed would hold up
	 * the thread (Linux 6.16 keeps it out). */
	if (r == 0)
		(void)ward_msg_take_fds(x->listener, false);
	if (r == 0 && asprintf(&x->path, "%s/%s/" SOCKET_NAME, plan->runtime, session) < 0) {
		x->path = NULL;
		r = -ENOMEM;
	}
	if (r < 0) {
		ward_permission_free(x);
		return ward_err_sys(err, r, "the broker of permissions");
	}
	*ret = x;
	return 0;
}

const char *ward_permission_path(const struct ward_permission *x)
{
	return x ? x->path : NULL;
}

int ward_permission_start(struct ward_permission *x, struct ward_err *err)
{
	sigset_t all;
	sigset_t old;
	if (!x)
		return 0;
	/* Nobody else on the host can connect: the name was mounted, and goes. */
	(void)unlinkat(x->dir, SOCKET_NAME, 0);
	/* Signals are the main thread's. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	int r = -pthread_create(&x->thread, NULL, run, x);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	x->runs = r == 0;
	return r < 0 ? ward_err_sys(err, r, "the broker of permissions") : 0;
}

void ward_permission_use(struct ward_permission *x, struct ward_policy *policy)
{
	if (!x || x->in_force == policy) /* nobody but us changes it */
		return;
	struct ward_policy *old = x->in_force;
	pthread_mutex_lock(&x->lock);
	x->in_force = ward_policy_ref(policy);
	pthread_mutex_unlock(&x->lock);
	ward_policy_unref(old);
}

void ward_permission_free(struct ward_permission *x)
{
	const uint64_t one = 1;
	if (!x)
		return;
	if (x->runs) {
		struct timespec until;
		/* An eventfd takes a one. */
		(void)!write(x->stop, &one, sizeof(one));
		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_sec += STOP_S;
		/* It may wait for a writer that does not answer; the process' end is near then. */
		if (pthread_clockjoin_np(x->thread, NULL, CLOCK_MONOTONIC, &until) != 0)
			return;
	}
	for (size_t i = 0; i < CONNECTIONS_MAX; i++)
		drop(&x->v[i]);
	if (x->path)
		(void)unlinkat(x->dir, SOCKET_NAME, 0);
	if (x->listener >= 0)
		close(x->listener);
	if (x->stop >= 0)
		close(x->stop);
	ward_policy_unref(x->in_force);
	pthread_mutex_destroy(&x->lock);
	free(x->path);
	free(x);
}
