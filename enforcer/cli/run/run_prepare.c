/* SPDX-License-Identifier: Apache-2.0 */
/* Prepares sessions in the background. */
#include "enforcer/cli/run/run_prepare.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/out.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/session/control/control.h"
#include "enforcer/session/limits/delegate.h"
#include "enforcer/session/owner/exit_status.h"
#include "enforcer/session/warm/eligible.h"
#include "enforcer/session/warm/listed.h"
#include "enforcer/session/warm/take.h"

/* The run that wants a replacement has the processors first. */
#define LATER_US 50000
/* Several that prepare do so one after the other. */
#define LOCK_MS 10000

bool ward_run_warm_waits(void)
{
	struct ward_err none = WARD_ERR_INIT;
	ward_cleanup_free char *runtime = NULL;
	return ward_control_runtime(&runtime, &none) == 0 && ward_warm_any(runtime);
}

/* Nothing of ours goes along but the current directory, by which the project is found. */
static _Noreturn void become(char *const *argv)
{
	static const int ours[] = {SIGPIPE, SIGXFSZ};
	sigset_t none;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigemptyset(&none);
	(void)setsid();
	for (int i = 0; i < 3; i++)
		if (null < 0 || dup2(null, i) < 0)
			_exit(WARD_EXIT_SETUP);
	(void)close_range(3, ~0U, 0);
	for (size_t i = 0; i < sizeof(ours) / sizeof(*ours); i++)
		(void)signal(ours[i], SIG_DFL);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	execv("/proc/self/exe", argv);
	_exit(WARD_EXIT_SETUP);
}

/* Two forks: it is nobody's child, and leaves no zombie to a supervisor. */
static void start(char *const *argv)
{
	pid_t pid = fork();
	if (pid == 0)
		_exit(fork() == 0 ? (become(argv), 0) : 0);
	if (pid > 0)
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			continue;
}

/*
 * Does argv[i] hold a value of --env, or stand before one? Such a value may be a secret, and
 * whoever waits for minutes shows its command line to all users meanwhile.
 */
static bool of_env(const struct ward_run_options *o, char *const *argv, size_t i)
{
	for (size_t k = 0; k < o->env.n; k++) {
		const char *v = o->env.v[k];
		if ((v >= argv[i] && v <= argv[i] + strlen(argv[i])) || v == argv[i + 1])
			return true;
	}
	return false;
}

void ward_run_prepare_later(
	const struct ward_run_options *o, char *const *argv, const char *context)
{
	static char program[] = "wardfs", verb[] = "run", command[] = "true";
	char prepare[sizeof("--prepare=") + WARD_WARM_KEY_SIZE];
	size_t n = 1;
	/* The options, up to the command. */
	while (argv[n] && argv + n != o->given)
		n++;
	ward_cleanup_free char **v = calloc(n + 5, sizeof(*v));
	if (!v || !argv[n])
		return;
	(void)snprintf(prepare, sizeof(prepare), "--prepare=%s", context);
	size_t k = 0;
	v[k++] = program;
	v[k++] = verb;
	v[k++] = prepare;
	for (size_t i = 1; i < n; i++)
		if (!of_env(o, argv, i))
			v[k++] = argv[i];
	v[k++] = command;
	start(v);
}

/* --- the process that prepares --- */

static struct ward_prepared *collecting; /* say() has no other way to know */

static void collect(const char *text)
{
	ward_buf_add(&collecting->said, text, strlen(text) + 1);
}

void (*ward_run_prepare_says(void))(const char *text)
{
	return collect;
}

int ward_run_prepare(struct ward_run_options *o, const char *context, char *const *argv,
	int (*run)(const struct ward_run_options *o, char *const *argv))
{
	struct ward_prepared p = WARD_PREPARED_INIT;
	if (!ward_delegated())
		(void)usleep(LATER_US);
	p.context = context;
	collecting = &p;
	o->prepared = &p;
	o->say_taken = o->say;
	/* What the plan has to say, the run says that takes this one. */
	o->say = NULL;
	o->labels.n = 0;
	int status = run(o, argv);
	ward_buf_clear(&p.said);
	if (p.lock >= 0)
		close(p.lock);
	return status;
}

struct counted {
	size_t same, all;
};

static int add(void *user, const struct ward_warm_entry *e)
{
	struct counted *c = user;
	c->all++;
	c->same += e->whole;
	return 0;
}

bool ward_run_prepare_wanted(
	const struct ward_run_plan *p, const struct ward_run_options *o, bool agent)
{
	struct ward_err err = WARD_ERR_INIT;
	struct ward_prepared *with = o->prepared;
	struct counted c = {0, 0};
	if (p->settings->warm == 0 || ward_warm_why_not(p, o, agent) ||
		ward_warm_lock(p->runtime, LOCK_MS, &with->lock, &err) < 0 ||
		ward_warm_key(p, o, with->context, &with->key, &err) < 0)
		return false;
	(void)ward_warm_each(p->runtime, &with->key, add, &c);
	return c.same < p->settings->warm && c.all < WARD_WARM_MAX;
}

void ward_run_warm_ended(struct ward_prepared *p, int status)
{
	char text[32];
	if (p->taker < 0)
		return;
	/* A reader of what was written waits for nobody but the client. */
	(void)!ward_out_flush();
	ward_cleanup_fd int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int i = 0; null >= 0 && i < 3; i++)
		(void)dup2(null, i);
	(void)snprintf(text, sizeof(text), "{\"ended\":%d}", status);
	(void)!ward_control_send(p->taker, text, NULL, 0);
	close(p->taker);
	p->taker = -1;
}
