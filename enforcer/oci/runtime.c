/* SPDX-License-Identifier: Apache-2.0 */
/* Starts the real runtime. */
#include "enforcer/oci/runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/oci/oci.h"

static void state_child(const char *program, const struct ward_oci_args *a, int out)
{
	const char *with[] = {program, "--root", a->root, "state", a->id, NULL};
	const char *without[] = {program, "state", a->id, NULL};
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null < 0 || dup2(null, 0) < 0 || dup2(out, 1) < 0 || dup2(null, 2) < 0)
		_exit(127);
	execv(program, (char *const *)(uintptr_t)(a->root ? with : without));
	_exit(127);
}

/* What it prints, within the time. */
static int read_state(int fd, pid_t pid, struct ward_buf *text)
{
	ward_cleanup_fd int pidfd = pidfd_open(pid, 0);
	struct pollfd p = {.fd = pidfd, .events = POLLIN};
	int status = 0;
	/* Its answer fits into a pipe, or it is no answer. */
	const bool late = pidfd < 0 || poll(&p, 1, WARD_OCI_RUNTIME_MS) <= 0;
	if (late)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (late)
		return -ETIMEDOUT;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return -ENOENT;
	return ward_fd_read_all(fd, WARD_OCI_STATE_MAX, text);
}

int ward_oci_runtime_pid(
	const char *program, const struct ward_oci_args *a, pid_t *ret, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	int p[2];
	if (pipe2(p, O_CLOEXEC) < 0)
		return ward_err_sys(err, -errno, "pipe");
	ward_cleanup_fd int ours = p[0];
	pid_t pid = fork();
	if (pid == 0)
		state_child(program, a, p[1]);
	close(p[1]);
	if (pid < 0)
		return ward_err_sys(err, -errno, "fork");
	int r = read_state(ours, pid, &text);
	*ret = r == -ENOENT ? -1 : 0;
	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return ward_err_sys(err, r, "%s state %s", program, a->id);
	json_t *o = json_loadb(ward_buf_str(&text), text.len, 0, NULL);
	const char *status = json_string_value(json_object_get(o, "status"));
	const json_int_t n = json_integer_value(json_object_get(o, "pid"));
	if (status && strcmp(status, "stopped") != 0 && n > 0 && n <= INT32_MAX)
		*ret = (pid_t)n;
	json_decref(o);
	return 0;
}

int ward_oci_runtime_become(
	const char *program, const struct ward_oci_args *a, struct ward_err *err)
{
	a->argv[0] = (char *)(uintptr_t)program;
	execv(program, a->argv);
	return ward_err_sys(err, -errno, "%s", program);
}

int ward_oci_runtime_call(
	const char *program, const struct ward_oci_args *a, int *ret, struct ward_err *err)
{
	int status = 0;
	pid_t pid = fork();
	if (pid == 0) {
		(void)!ward_oci_runtime_become(program, a, err);
		_exit(127);
	}
	if (pid < 0)
		return ward_err_sys(err, -errno, "fork");
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	*ret = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	return 0;
}
