/* SPDX-License-Identifier: Apache-2.0 */
/* Becomes a program outside of the session. */
#include "enforcer/session/guard/outside.h"

#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Where `program` is put. */
#define PROGRAM_FD 3

/* "HOME=" and a path of PATH_MAX. */
#define HOME_MAX 4200

/* Descriptors of ours can have the numbers that the program gets: so they are put above first. */
static bool place(const struct ward_outside *o)
{
	const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	const int from[] = {o->input, o->output >= 0 ? o->output : null, null, o->program};
	int high[4] = {-1, -1, -1, -1};
	const int n = o->program >= 0 ? 4 : 3;
	for (int i = 0; i < n; i++)
		if (from[i] < 0 || (high[i] = fcntl(from[i], F_DUPFD_CLOEXEC, 16)) < 0)
			return false;
	for (int i = 0; i < n; i++)
		if (dup2(high[i], i) != i)
			return false;
	return true;
}

/* Of the identity of the caller nothing is left where that is root and the owner is not. */
static bool become_owner(const struct ward_identity *id)
{
	return !id->root ||
	       (syscall(SYS_setgroups, id->n_groups, id->groups) == 0 &&
		       syscall(SYS_setresgid, id->owner_gid, id->owner_gid, id->owner_gid) == 0 &&
		       syscall(SYS_setresuid, id->owner_uid, id->owner_uid, id->owner_uid) == 0);
}

void ward_outside_become(const struct ward_outside *o)
{
	char home[HOME_MAX] = "HOME=/";
	char *const argv[] = {(char *)(uintptr_t)o->path, NULL};
	char *const envp[] = {(char *)(uintptr_t) "PATH=/usr/local/bin:/usr/bin:/bin",
		(char *)(uintptr_t) "LANG=C.UTF-8", o->id && o->program >= 0 ? home : NULL, NULL};
	sigset_t none;
	if (o->id && o->id->home)
		(void)snprintf(home, sizeof(home), "HOME=%s", o->id->home);
	/*
	 * A process with a terminal can type into it for the next reader: root's shell. And
	 * Ctrl-C there is for the command.
	 */
	bool good = place(o) && setsid() >= 0 && chdir("/") == 0 && (!o->id || become_owner(o->id));
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* A change of identity takes this away: so it comes after. */
	good = good && (!o->dies || prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0);
	/* A program of the host's may need the group of where it delivers. */
	if (good && o->id)
		good = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
	const unsigned first = o->program >= 0 ? PROGRAM_FD + 1U : PROGRAM_FD;
	if (good && syscall(SYS_close_range, first, ~0U, 0U) == 0) {
		if (o->program >= 0)
			syscall(SYS_execveat, PROGRAM_FD, "", argv, envp, AT_EMPTY_PATH);
		else
			execve(o->path, argv, envp);
	}
	_exit(127);
}
