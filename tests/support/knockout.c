/* SPDX-License-Identifier: Apache-2.0 */
/*
 * knockout WHAT... -- CMD [ARG]...: runs CMD with parts of the kernel taken away from it and from
 * all that it starts. Exit code as CMD's, 128+signal. As an ordinary user set-user-id programs have
 * no effect beneath it. WHAT:
 *
 *   SYSCALL=ERRNO      the system call answers with this errno (a name: ENOSYS, EPERM, …)
 *   SYSCALL=0          it answers 0 and does nothing
 *   passrights=ERRNO   the socket option SO_PASSRIGHTS answers with this errno
 *   unshare-without=N  unshare(2) is made without these flags (x86-64 alone; traces CMD)
 *   write-nothing=C    write(2) of the single byte C answers 1 and does nothing (the same)
 *   uname-release=TEXT uname(2) tells this release of the kernel (the same)
 *   landlock-abi=N     landlock_create_ruleset(2) answers as a kernel with ABI N does: that number,
 *                      and a refusal of what came later (the same; as root, for what is not
 *                      dumpable). Standard error tells what was asked for: "ruleset SIZE FILES
 *                      NET SCOPED"
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
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned long long unshare_without;
static int write_nothing = -1;
static unsigned landlock_abi;
static const char *release;

/* The kernel's ABI (userspace-api/landlock.rst; security/landlock/syscalls.c). */
struct ruleset {
	unsigned long long files, net, scoped;
};
#define RULESET_VERSION 1U

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
	if (strcmp(arg, "passrights") == 0) {
		const uint32_t refuse = SCMP_ACT_ERRNO((unsigned)errno_named(value));
		/* asm-generic/socket.h: SO_PASSRIGHTS */
		if (seccomp_rule_add(
			    ctx, refuse, SCMP_SYS(setsockopt), 1, SCMP_A2(SCMP_CMP_EQ, 83)) < 0 ||
			seccomp_rule_add(
				ctx, refuse, SCMP_SYS(getsockopt), 1, SCMP_A2(SCMP_CMP_EQ, 83)) < 0)
			die("passrights");
		return;
	}
	if (strcmp(arg, "write-nothing") == 0) {
		write_nothing = (unsigned char)value[0];
		if (seccomp_rule_add(ctx, SCMP_ACT_TRACE(2), SCMP_SYS(write), 1,
			    SCMP_A2(SCMP_CMP_EQ, 1)) < 0)
			die("write");
		return;
	}
	if (strcmp(arg, "uname-release") == 0) {
		release = value;
		if (seccomp_rule_add(ctx, SCMP_ACT_TRACE(4), SCMP_SYS(uname), 0) < 0)
			die("uname");
		return;
	}
	if (strcmp(arg, "landlock-abi") == 0) {
		landlock_abi = (unsigned)atoi(value);
		if (landlock_abi == 0 || seccomp_rule_add(ctx, SCMP_ACT_TRACE(3),
						 SCMP_SYS(landlock_create_ruleset), 0) < 0)
			die("landlock-abi");
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
/* A number that is no system call's is skipped (seccomp(2), SECCOMP_RET_TRACE). */
static void answer(struct user_regs_struct *regs, long result)
{
	regs->orig_rax = (unsigned long long)-1;
	regs->rax = (unsigned long long)result;
}

/* What the older kernel says to this ruleset: 0, or a negative errno. */
static long judge(const struct ruleset *r, unsigned long long size)
{
	/* 13 rights of ABI 1, and those that ABI 2, 3 and 5 brought. */
	unsigned long long files = 0x1fff | (landlock_abi >= 2 ? 1 << 13 : 0) |
				   (landlock_abi >= 3 ? 1 << 14 : 0) |
				   (landlock_abi >= 5 ? 1 << 15 : 0);
	size_t known = landlock_abi >= 6 ? 24 : landlock_abi >= 4 ? 16 : 8;
	if (size > known && ((known < 16 && r->net) || (known < 24 && r->scoped)))
		return -E2BIG;
	if (r->files & ~files || (landlock_abi < 4 && r->net) || (landlock_abi < 6 && r->scoped))
		return -EINVAL;
	return 0;
}

static void as_older_landlock(pid_t pid, struct user_regs_struct *regs)
{
	struct ruleset r = {0, 0, 0};
	unsigned long long *field[] = {&r.files, &r.net, &r.scoped};
	if (regs->rdx == RULESET_VERSION) {
		answer(regs, landlock_abi);
		return;
	}
	for (size_t i = 0; i < 3 && regs->rsi >= 8 * (i + 1); i++)
		*field[i] = (unsigned long long)ptrace(
			PTRACE_PEEKDATA, pid, (void *)(regs->rdi + 8 * i), NULL);
	fprintf(stderr, "ruleset %llu %#llx %#llx %#llx\n", regs->rsi, r.files, r.net, r.scoped);
	long why = judge(&r, regs->rsi);
	if (why < 0)
		answer(regs, why);
}

static void tell_release(pid_t pid, struct user_regs_struct *regs)
{
	struct utsname u;
	struct iovec mine = {&u, sizeof(u)};
	struct iovec theirs = {(void *)regs->rdi, sizeof(u)};
	if (uname(&u) < 0)
		die("uname");
	snprintf(u.release, sizeof(u.release), "%s", release);
	answer(regs, process_vm_writev(pid, &mine, 1, &theirs, 1, 0) < 0 ? -EFAULT : 0);
}

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
		answer(&regs, 1);
	} else if (regs.orig_rax == SYS_landlock_create_ruleset) {
		as_older_landlock(pid, &regs);
	} else if (regs.orig_rax == SYS_uname) {
		tell_release(pid, &regs);
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
	if (!ctx || seccomp_attr_set(ctx, SCMP_FLTATR_CTL_NNP, geteuid() != 0) < 0)
		die("filter");
	for (; i < argc && strcmp(argv[i], "--") != 0; i++)
		add(ctx, argv[i]);
	if (i + 1 >= argc)
		die("no command");
	int traced = unshare_without || write_nothing >= 0 || landlock_abi || release;
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
