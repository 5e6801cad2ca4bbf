/* SPDX-License-Identifier: Apache-2.0 */
/* Ends commands of an agent's shell tool when their time is over. */
#include "enforcer/session/run/commands.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/plural.h"
#include "enforcer/base/limit.h"
#include "enforcer/session/records/session_records.h"
#include "enforcer/session/run/process_tree.h"

/* Commands at once; of more, the later ones have no time of their own. */
#define COMMANDS_MAX 128
/* Generations above a process that are looked at. */
#define ABOVE_MAX 64
/* After SIGKILL: what forks meanwhile is looked for again, so often and after so long. */
#define KILLS_MAX 50
#define KILL_WAIT_NS (WARD_NS_PER_SEC / 10)

struct command {
	int pidfd; /* -1: free */
	pid_t pid;
	uint64_t since, due; /* CLOCK_MONOTONIC ns */
	unsigned kills;	     /* how often; 0: not yet */
	bool told;	     /* SIGTERM was sent */
	struct ward_process_tree tree;
	char what[80];
};

struct ward_commands {
	const struct ward_run_plan *plan;
	struct ward_guard *guard;
	pid_t pid1;
	int timer;
	pthread_mutex_t lock; /* of what follows */
	struct command v[COMMANDS_MAX];
	size_t ended;
};

static bool alive(const struct command *k)
{
	struct pollfd p = {.fd = k->pidfd, .events = POLLIN};
	return k->pidfd >= 0 && poll(&p, 1, 0) == 0;
}

static void drop(struct command *k)
{
	if (k->pidfd >= 0)
		close(k->pidfd);
	*k = (struct command){.pidfd = -1};
}

int ward_commands_new(const struct ward_run_plan *plan, struct ward_guard *g, pid_t pid1,
	struct ward_commands **ret, struct ward_err *err)
{
	const struct ward_settings *s = plan->settings;
	*ret = NULL;
	if (s->command_ns == WARD_UNLIMITED || s->shells.n == 0)
		return 0;
	struct ward_commands *c = calloc(1, sizeof(*c));
	if (!c)
		return ward_err_sys(err, -ENOMEM, "[limits] command");
	c->plan = plan;
	c->guard = g;
	c->pid1 = pid1;
	for (size_t i = 0; i < COMMANDS_MAX; i++)
		c->v[i].pidfd = -1;
	pthread_mutex_init(&c->lock, NULL);
	c->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (c->timer < 0) {
		int r = ward_err_sys(err, -errno, "[limits] command");
		ward_commands_free(c);
		return r;
	}
	*ret = c;
	return 0;
}

/* --- which they are --- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* Do the arguments begin as the words of the line do? Of the first the last name counts. */
static bool begins_as(const char *line, const char *argv, size_t len)
{
	const char *end = argv + len;
	for (bool first = true; *line; first = false) {
		size_t n = strcspn(line, " \t");
		const char *arg =
			argv < end && memchr(argv, '\0', (size_t)(end - argv)) ? argv : NULL;
		const char *name = arg && first ? base_name(arg) : arg;
		if (!name || strlen(name) != n || strncmp(name, line, n) != 0)
			return false;
		argv = arg + strlen(arg) + 1;
		line += n;
		line += strspn(line, " \t");
	}
	return true;
}

static bool is_command(const struct ward_commands *c, const char *argv, size_t len)
{
	const struct ward_strings *s = &c->plan->settings->shells;
	for (size_t i = 0; i < s->n; i++)
		if (begins_as(s->v[i], argv, len))
			return true;
	return false;
}

static bool is_known(const struct ward_commands *c, pid_t pid)
{
	for (size_t i = 0; i < COMMANDS_MAX; i++)
		if (c->v[i].pid == pid && alive(&c->v[i]))
			return true;
	return false;
}

/* Is it, or one that it descends from, known already? */
static bool within(const struct ward_commands *c, pid_t pid, pid_t parent)
{
	if (is_known(c, pid))
		return true;
	for (unsigned i = 0; i < ABOVE_MAX && parent > 1 && parent != c->pid1; i++) {
		if (is_known(c, parent))
			return true;
		parent = ward_process_parent(parent);
	}
	return false;
}

/* "bash -c npm test", cut. */
static void describe(
	const struct ward_commands *c, const char *argv, size_t len, char *to, size_t size)
{
	size_t n = 0;
	for (size_t i = 0; i < len && n + 1 < size; i++) {
		if (argv[i] == '\0' && ward_word_said(c->plan->settings->redact, WARD_REDACT_ARGV))
			break;
		to[n++] = argv[i] ? argv[i] : ' ';
	}
	while (n > 0 && to[n - 1] == ' ')
		n--;
	to[n] = '\0';
}

/* With the lock held: the timer rings when the first is due. */
static void arm(const struct ward_commands *c)
{
	uint64_t at = UINT64_MAX;
	for (size_t i = 0; i < COMMANDS_MAX; i++)
		if (c->v[i].pidfd >= 0 && c->v[i].due < at)
			at = c->v[i].due;
	struct itimerspec its = {.it_value = {.tv_sec = (time_t)(at / WARD_NS_PER_SEC),
					 .tv_nsec = (long)(at % WARD_NS_PER_SEC)}};
	if (at == UINT64_MAX)
		its = (struct itimerspec){0};
	timerfd_settime(c->timer, TFD_TIMER_ABSTIME, &its, NULL);
}

void ward_commands_started(
	struct ward_commands *c, pid_t pid, pid_t parent, const char *argv, size_t len)
{
	if (!c || parent == c->pid1 || !is_command(c, argv, len))
		return;
	pthread_mutex_lock(&c->lock);
	struct command *free_one = NULL;
	for (size_t i = 0; i < COMMANDS_MAX; i++) {
		if (c->v[i].pidfd >= 0 && !c->v[i].told && !alive(&c->v[i]))
			drop(&c->v[i]);
		if (c->v[i].pidfd < 0)
			free_one = &c->v[i];
	}
	int fd = free_one && !within(c, pid, parent) ? pidfd_open(pid, 0) : -1;
	if (fd >= 0) {
		*free_one =
			(struct command){.pidfd = fd, .pid = pid, .since = ward_clock_mono_ns()};
		free_one->tree.ns = ward_process_ns(pid);
		free_one->due = free_one->since + c->plan->settings->command_ns;
		describe(c, argv, len, free_one->what, sizeof(free_one->what));
		arm(c);
	}
	pthread_mutex_unlock(&c->lock);
}

/* --- ending them --- */

static void record(struct ward_commands *c, const struct command *k, uint64_t now)
{
	char text[200];
	const uint64_t limit = c->plan->settings->command_ns;
	(void)snprintf(text, sizeof(text), "command: its %llus are over; ended: %s",
		(unsigned long long)(limit / WARD_NS_PER_SEC), k->what);
	struct ward_record_limit r = {.name = "command",
		.done = "ended",
		.unit = "ns",
		.limit = limit,
		.used = now - k->since,
		.text = text};
	/* A trail that fails now ends the session by itself (WARD_MSG_AUDIT_BROKEN). */
	(void)!ward_record_limit(c->guard, &r);
}

/* One that is due. */
static void end(struct ward_commands *c, struct command *k, uint64_t now)
{
	if (!k->told && !alive(k)) {
		drop(k);
		return;
	}
	const int sig = k->told ? SIGKILL : SIGTERM;
	const bool itself = pidfd_send_signal(k->pidfd, sig, NULL, 0) == 0;
	size_t n = ward_process_tree_signal(&k->tree, k->pid, sig);
	n += n == 0 && itself;
	if (!k->told) {
		k->told = true;
		k->due = now + c->plan->settings->grace_ns;
		c->ended++;
		record(c, k, now);
		return;
	}
	k->due = now + KILL_WAIT_NS;
	if (n == 0 || ++k->kills == KILLS_MAX)
		drop(k);
}

static void on_timer(void *arg, short revents)
{
	struct ward_commands *c = arg;
	uint64_t rang = 0;
	(void)revents;
	(void)!read(c->timer, &rang, sizeof(rang));
	pthread_mutex_lock(&c->lock);
	const uint64_t now = ward_clock_mono_ns();
	for (size_t i = 0; i < COMMANDS_MAX; i++)
		if (c->v[i].pidfd >= 0 && c->v[i].due <= now)
			end(c, &c->v[i], now);
	arm(c);
	pthread_mutex_unlock(&c->lock);
}

int ward_commands_watch(
	struct ward_commands *c, struct ward_pollset *set, unsigned rank, struct ward_err *err)
{
	int r = c ? ward_pollset_add(set, rank, c->timer, POLLIN, on_timer, c, NULL) : 0;
	return r < 0 ? ward_err_sys(err, r, "[limits] command") : 0;
}

char *ward_commands_note(const struct ward_commands *c, const char *session)
{
	ward_cleanup(ward_buf_clear) struct ward_buf word = WARD_BUF_INIT;
	char *text = NULL;
	if (!c || c->ended == 0 ||
		asprintf(&text,
			"[limits] command = %llus ended %zu command%s of the agent: wardfs audit show "
			"--kind limit %s",
			(unsigned long long)(c->plan->settings->command_ns / WARD_NS_PER_SEC),
			c->ended, ward_s(c->ended), ward_shell_quoted(&word, session)) < 0)
		return NULL;
	return text;
}

void ward_commands_free(struct ward_commands *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < COMMANDS_MAX; i++)
		drop(&c->v[i]);
	if (c->timer >= 0)
		close(c->timer);
	pthread_mutex_destroy(&c->lock);
	free(c);
}
