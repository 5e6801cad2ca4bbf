/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs mount, wardfs umount: the guard alone. */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/kernel.h"
#include "enforcer/cli/base/arguments.h"
#include "enforcer/cli/base/cli.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/session/mount/mount.h"

enum { OPT_ALLOW_OTHER = 0x100, OPT_REVIEW, OPT_FROM };

struct mount_args {
	struct ward_mount_options o;
	bool foreground;
};

static const struct argp_option mount_options[] = {
	{"policy", 'p', "FILE|PROFILE", 0, "Base policy, as for run", 0},
	{"tree", 't', "PATH", 0, "The path of the source in the policy (default /workspace)", 0},
	{"session", 's', "NAME", 0, "Name of the session in the trail", 0},
	{"allow-other", OPT_ALLOW_OTHER, NULL, 0,
		"As root: serve all users of this host, each with their own ids", 0},
	{"review", OPT_REVIEW, NULL, 0, "Changes wait for wardfs review apply", 0},
	{"from", OPT_FROM, "SESSION[@STEP]", 0, "Begin where that session was; --review", 0},
	{"foreground", 'f', NULL, 0, "Stay in the foreground", 0},
	{0},
};

static error_t parse_mount(int key, char *arg, struct argp_state *state)
{
	struct mount_args *a = state->input;
	switch (key) {
	case 'p':
		a->o.policy = arg;
		return 0;
	case 't':
		a->o.tree = arg;
		return 0;
	case 's':
		a->o.session = arg;
		return 0;
	case OPT_ALLOW_OTHER:
		a->o.allow_other = true;
		return 0;
	case OPT_REVIEW:
		a->o.review = true;
		return 0;
	case OPT_FROM:
		a->o.from = arg;
		return 0;
	case 'f':
		a->foreground = true;
		return 0;
	case ARGP_KEY_ARG:
		if (!a->o.source)
			a->o.source = arg;
		else if (!a->o.mountpoint)
			a->o.mountpoint = arg;
		else
			ward_arguments_wrong(state, "too many arguments");
		return 0;
	case ARGP_KEY_END:
		if (!a->o.mountpoint)
			ward_arguments_wrong(state, "a source and a mount point are needed");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp mount_argp = {mount_options, parse_mount, "SOURCE MOUNTPOINT",
	"Serves the directory SOURCE at MOUNTPOINT under a policy, with a trail, until it is unmounted (wardfs umount). There is no sandbox: programs that can reach SOURCE itself are not stopped.",
	NULL, NULL, NULL};

/* The pipe over which the one in the background says that it is ready. */
static void say_ready(void *arg)
{
	int *fd = arg;
	if (*fd < 0)
		return;
	char zero = 0;
	(void)!write(*fd, &zero, 1);
	close(*fd);
	*fd = -1;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int i = 0; null >= 0 && i < 3; i++)
		dup2(null, i);
	if (null > 2)
		close(null);
}

static int serve(const struct ward_mount_options *o, int pipe_fd)
{
	struct ward_err err = WARD_ERR_INIT;
	int status = ward_mount(o, say_ready, &pipe_fd, &err);
	if (status)
		ward_say(err.text);
	return status;
}

static int background(const struct ward_mount_options *o)
{
	int p[2];
	if (pipe2(p, O_CLOEXEC) < 0) {
		ward_sayf("pipe: %s", strerror(errno));
		return 125;
	}
	pid_t pid = fork();
	if (pid < 0) {
		ward_sayf("fork: %s", strerror(errno));
		return 125;
	}
	if (pid == 0) {
		close(p[0]);
		setsid();
		_exit(serve(o, p[1]));
	}
	close(p[1]);
	char c = 1;
	ssize_t n = 0;
	do {
		n = read(p[0], &c, 1);
	} while (n < 0 && errno == EINTR);
	close(p[0]);
	if (n == 1)
		return 0;
	int st = 0;
	while (waitpid(pid, &st, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(st) && WEXITSTATUS(st) ? WEXITSTATUS(st) : 125;
}

int ward_cmd_mount(int argc, char **argv)
{
	struct mount_args a = {.o = {.say = ward_say}};
	struct ward_err err = WARD_ERR_INIT;
	if (ward_arguments_parse(&mount_argp, argc, argv, 0, &a))
		return 2;
	if (ward_kernel_check(&err) < 0) {
		ward_say(err.text);
		return 125;
	}
	return a.foreground ? serve(&a.o, -1) : background(&a.o);
}

struct umount_args {
	bool lazy;
	const char *mountpoint;
};

static const struct argp_option umount_options[] = {
	{"lazy", 'l', NULL, 0, "Unmount also while the mount is in use", 0},
	{0},
};

static error_t parse_umount(int key, char *arg, struct argp_state *state)
{
	struct umount_args *a = state->input;
	if (key == 'l') {
		a->lazy = true;
		return 0;
	}
	if (key == ARGP_KEY_ARG && !a->mountpoint) {
		a->mountpoint = arg;
		return 0;
	}
	if (key == ARGP_KEY_NO_ARGS)
		ward_arguments_wrong(state, "a mount point is needed");
	return ARGP_ERR_UNKNOWN;
}

static const struct argp umount_argp = {umount_options, parse_umount, "MOUNTPOINT",
	"Unmounts a mount of wardfs and ends its session. Returns when the session has ended and "
	"its trail is complete.\vExit status: 0 it is unmounted; 1 it is not, or the session has "
	"not ended after 30 seconds. With --lazy the session may go on, and a message says so. "
	"While a session does not answer, a mount that may be its own stays unless --lazy is given.",
	NULL, NULL, NULL};

/* What the unmounting leaves. The exit status. */
static int say_left(const struct umount_args *a, const struct ward_umount_left *left)
{
	if (left->silent)
		ward_sayf("%s is unmounted, and session %s does not answer. If the mount was its "
			  "own, its trail has no end until it goes on (kill -CONT)",
			a->mountpoint, left->session);
	else if (left->foreign)
		ward_sayf("%s is unmounted. None of your sessions says that the mount was its own: "
			  "the session that served it may still be writing its trail",
			a->mountpoint);
	else if (left->session && a->lazy)
		ward_sayf("session %s ends when the last process has left the mount; until then "
			  "its trail has no end. 'wardfs ps' shows when it has ended",
			left->session);
	else if (left->session)
		ward_sayf("%s is unmounted, and session %s has not ended yet: wardfs may still be "
			  "writing its trail. 'wardfs ps' shows when it has ended",
			a->mountpoint, left->session);
	return left->session && !a->lazy ? 1 : 0;
}

int ward_cmd_umount(int argc, char **argv)
{
	struct umount_args a = {0};
	struct ward_err err = WARD_ERR_INIT;
	if (ward_arguments_parse(&umount_argp, argc, argv, 0, &a))
		return 2;
	struct ward_umount_left left = {.session = NULL};
	int status = 1;
	if (ward_umount(a.mountpoint, a.lazy, &left, &err) < 0)
		ward_say(err.text);
	else
		status = say_left(&a, &left);
	if (left.staged)
		ward_say(left.staged);
	free(left.staged);
	free(left.session);
	return status;
}
