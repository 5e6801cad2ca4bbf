/* SPDX-License-Identifier: Apache-2.0 */
/* Gets a control group from the user manager of systemd. */
#include "enforcer/session/limits/delegate.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/host_program.h"
#include "enforcer/session/limits/limits.h"

/* Set for the program that runs in the scope: what is missing there stays missing. */
#define MARK "WARDFS_DELEGATED"

static const char *const scope[] = {"systemd-run", "--user", "--scope", "--quiet", "--collect",
	"--property=Delegate=yes", "--description=wardfs session", "--"};
#define SCOPE (sizeof(scope) / sizeof(scope[0]))

/* The manager's own socket, which systemd-run uses; it listens as long as the manager lives. */
static bool manager_answers(void)
{
	const char *dir = getenv("XDG_RUNTIME_DIR");
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	int n = dir && dir[0] == '/'
			? snprintf(sa.sun_path, sizeof(sa.sun_path), "%s/systemd/private", dir)
			: snprintf(sa.sun_path, sizeof(sa.sun_path), "/run/user/%u/systemd/private",
				  (unsigned)getuid());
	ward_cleanup_fd int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	return fd >= 0 && n > 0 && (size_t)n < sizeof(sa.sun_path) &&
	       connect(fd, (struct sockaddr *)&sa, sizeof(sa)) == 0;
}

bool ward_delegate_possible(void)
{
	return ward_cgroup_v2_controls() && manager_answers();
}

bool ward_delegated(void)
{
	return getenv(MARK) != NULL;
}

void ward_delegate(const struct ward_run_plan *p, const char *verb, char *const *argv)
{
	char dir[64];
	char program[PATH_MAX];
	if (p->id.root || ward_delegated() || !ward_limits_want_delegation(p->settings) ||
		!ward_delegate_possible() || ward_host_program(scope[0], program) < 0)
		return;
	size_t n = 0;
	while (argv[n])
		n++;
	ward_cleanup_free const char **v = calloc(SCOPE + n + 2, sizeof(*v));
	if (!v)
		return;
	memcpy(v, scope, sizeof(scope));
	/* This very program, wherever PATH would lead. */
	char self[4096];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (len <= 0)
		return;
	self[len] = '\0';
	v[SCOPE] = self;
	v[SCOPE + 1] = verb;
	for (size_t i = 1; i < n; i++)
		v[SCOPE + 1 + i] = argv[i];
	snprintf(dir, sizeof(dir), "/run/user/%u", (unsigned)getuid());
	if (setenv(MARK, "1", 1) < 0 || setenv("XDG_RUNTIME_DIR", dir, 0) < 0)
		return;
	execv(program, (char *const *)(uintptr_t)v);
	unsetenv(MARK);
}
