/* SPDX-License-Identifier: Apache-2.0 */
/*
 * knockout WHAT... -- CMD [ARG]...: runs CMD with parts of the kernel taken away from it and from
 * all that it starts. Exit code as CMD's, 128+signal. Needs root. WHAT:
 *
 *   SYSCALL=ERRNO      the system call answers with this errno (a name: ENOSYS, EPERM, …)
 *   SYSCALL=0          it answers 0 and does nothing
 *   unshare-without=N  unshare(2) is made without these flags (x86-64 alone; traces CMD)
 *   write-nothing=C    write(2) of the single byte C answers 1 and does nothing (the same)
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned long long unshare_without;
static int write_nothing = -1;

static void die(const char *what)
{
	fprintf(stderr, "knockout: %s\n", what);
	exit(2);
}

static int errno_named(const char *name)
{
	for (int i = 1; i < 134; i++)
		if (strcmp(strerrorname_np(i) ? strerrorname_np(i) : "", name) == 0)
			return i;
	die("no such errno");
	return 0;
}

static void add(scmp_filter_ctx ctx, char *arg)
{
	char *value = strchr(arg, '=');
	if (!value)
		die("SYSCALL=ERRNO");
	*value++ = '\0';
	if (strcmp(arg, "unshare-without") == 0) {
		unshare_without = strtoull(value, NULL, 0);
		if (seccomp_rule_add(ctx, SCMP_ACT_TRACE(1), SCMP_SYS(unshare), 0) < 0)
			die("unshare");
		return;
	}
	if (strcmp(arg, "write-nothing") == 0) {
		write_nothing = (unsigned char)value[0];
		if (seccomp_rule_add(ctx, SCMP_ACT_TRACE(2), SCMP_SYS(write), 1,
			    SCMP_A2(SCMP_CMP_EQ, 1)) < 0)
			die("write");
		return;
	}
	int nr = seccomp_syscall_resolve_name(arg);
	int code = strcmp(value, "0") == 0 ? 0 : errno_named(value);
	if (nr == __NR_SCMP_ERROR ||
		seccomp_rule_add(ctx, SCMP_ACT_ERRNO((unsigned)code), nr, 0) < 0)
		die("no such system call");
}

static int finish(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

#ifdef __x86_64__
static void change(pid_t pid)
{
	struct user_regs_struct regs;
	if (ptrace(PTRACE_GETREGS, pid, NULL, &regs) < 0)
		return;
	if (regs.orig_rax == SYS_unshare) {
		regs.rdi &= ~unshare_without;
	} else if (regs.orig_rax == SYS_write) {
		long word = ptrace(PTRACE_PEEKDATA, pid, (void *)regs.rsi, NULL);
		if ((word & 0xff) != write_nothing)
			return;
		/* A number that is no system call's is skipped (seccomp(2), SECCOMP_RET_TRACE). */
		regs.orig_rax = (unsigned long long)-1;
		regs.rax = 1;
	}
	ptrace(PTRACE_SETREGS, pid, NULL, &regs);
}
#else
static void change(pid_t pid)
{
	(void)pid;
	die("not on this architecture");
}
#endif

static int trace(pid_t child)
{
	int status = 0;
	pid_t pid = 0;
	while ((pid = waitpid(-1, &status, __WALL)) > 0) {
		if (!WIFSTOPPED(status)) {
			if (pid == child)
				return finish(status);
			continue;
		}
		int sig = WSTOPSIG(status);
		if (status >> 8 == (SIGTRAP | (PTRACE_EVENT_SECCOMP << 8)))
			change(pid);
		if (status >> 16 || sig == SIGTRAP || sig == SIGSTOP)
			sig = 0;
		ptrace(PTRACE_CONT, pid, NULL, (void *)(long)sig);
	}
	return 125;
}

int main(int argc, char **argv)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ALLOW);
	int status = 0;
	int i = 1;
	if (!ctx || seccomp_attr_set(ctx, SCMP_FLTATR_CTL_NNP, 0) < 0)
		die("filter");
	for (; i < argc && strcmp(argv[i], "--") != 0; i++)
		add(ctx, argv[i]);
	if (i + 1 >= argc)
		die("no command");
	int traced = unshare_without || write_nothing >= 0;
	pid_t pid = fork();
	if (pid == 0) {
		if (traced && (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0 || raise(SIGSTOP) != 0))
			_exit(2);
		if (seccomp_load(ctx) < 0)
			_exit(2);
		execvp(argv[i + 1], argv + i + 1);
		_exit(127);
	}
	if (pid < 0 || (traced && waitpid(pid, &status, 0) != pid))
		die("fork");
	if (!traced)
		return waitpid(pid, &status, 0) == pid ? finish(status) : 125;
	if (ptrace(PTRACE_SETOPTIONS, pid, NULL,
		    PTRACE_O_TRACESECCOMP | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
			    PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL) < 0 ||
		ptrace(PTRACE_CONT, pid, NULL, NULL) < 0)
		die("ptrace");
	return trace(pid);
}
