/* SPDX-License-Identifier: Apache-2.0 */
/* Tries a proposal. */
#include "enforcer/cli/policy/learn_again.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/out.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/cli/run/run_once.h"
#include "enforcer/session/control/control.h"
#include "enforcer/session/owner/exit_status.h"

/* Paths that are named one by one. */
#define REFUSED_MAX 5U

/* A file for the length of the run, where no agent and no other user reaches: among the sockets. */
static int write_policy(
	const struct ward_buf *text, const char *session, char **ret_path, struct ward_err *err)
{
	ward_cleanup_free char *runtime = NULL;
	ward_cleanup_free char *path = NULL;
	int r = ward_control_runtime(&runtime, err);
	if (r < 0)
		return r;
	if (asprintf(&path, "%s/%s.policy", runtime, session) < 0) {
		path = NULL;
		return ward_err_sys(err, -ENOMEM, "the proposal");
	}
	ward_cleanup_fd int fd =
		open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	r = fd < 0 ? -errno : ward_fd_write_all(fd, text->data, text->len);
	if (r < 0 && fd >= 0)
		(void)unlink(path);
	if (r < 0)
		return ward_err_sys(err, r, "%s", path);
	*ret_path = ward_steal_ptr(&path);
	return 0;
}

/*
 * In a process of its own: the session before has left its marks in this one. argv is what a
 * delegated group would start again (limits/delegate.h).
 */
static int run(const struct ward_run_options *o, const char *policy, const char *session)
{
	size_t n = 0;
	while (o->argv[n])
		n++;
	struct ward_run_options again = *o;
	again.policy = policy;
	again.session = session;
	again.verb = "run";
	again.trial = true;
	char **argv = calloc(n + 6 + 2 * (o->env.n + o->net.n), sizeof(*argv));
	if (!argv)
		return WARD_EXIT_SETUP;
	size_t k = 0;
	argv[k++] = (char *)(uintptr_t) "wardfs run";
	argv[k++] = (char *)(uintptr_t) "--policy";
	argv[k++] = (char *)(uintptr_t)policy;
	for (size_t i = 0; i < o->env.n; i++) {
		argv[k++] = (char *)(uintptr_t) "--env";
		argv[k++] = (char *)(uintptr_t)o->env.v[i];
	}
	for (size_t i = 0; i < o->net.n; i++) {
		argv[k++] = (char *)(uintptr_t) "--net";
		argv[k++] = (char *)(uintptr_t)o->net.v[i];
	}
	argv[k++] = (char *)(uintptr_t) "--";
	memcpy(argv + k, o->argv, n * sizeof(*argv));
	int status = ward_run_once(&again, argv);
	free(argv);
	return ward_finish_output(status);
}

int learn_again(const struct ward_run_options *o, const struct ward_buf *text, const char *session,
	int *ret_status, struct ward_err *err)
{
	ward_cleanup_free char *path = NULL;
	int status = 0;
	int r = write_policy(text, session, &path, err);
	if (r < 0)
		return r;
	(void)!ward_out_flush(); /* the child would print it once more */
	pid_t pid = fork();
	if (pid == 0)
		_exit(run(o, path, session));
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	(void)unlink(path);
	if (pid < 0)
		return ward_err_sys(err, -errno, "running the command again");
	*ret_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	return 0;
}

/* Was the path of "PATH (RULE)" refused before, by whatever rule? */
static bool was_refused(const struct ward_learned *l, const char *key)
{
	const char *end = strstr(key, " (");
	const size_t n = end ? (size_t)(end - key) : strlen(key);
	const char *other = NULL;
	json_t *v = NULL;
	json_object_foreach(l->refused, other,
		v) if (strncmp(other, key, n) == 0 &&
		       (!other[n] || strncmp(other + n, " (", 2) == 0)) return true;
	return false;
}

size_t learn_again_say_refused(
	const struct ward_learned *first, const struct ward_learned *again, const char *session)
{
	const char *key = NULL;
	json_t *v = NULL;
	size_t n = 0;
	json_object_foreach(again->refused, key, v)
	{
		if (was_refused(first, key) || n++ >= REFUSED_MAX)
			continue;
		ward_sayf("refused under the proposal alone: %s", key);
	}
	if (n > REFUSED_MAX)
		ward_sayf("and %zu more", n - REFUSED_MAX);
	if (n)
		ward_sayf("wardfs audit denials %s proposes lines for what is missing", session);
	return n;
}
