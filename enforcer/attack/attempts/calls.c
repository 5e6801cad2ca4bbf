/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rare system calls. Each gets arguments that the kernel itself refuses once the caller may make
 * the call: that answer shows that nothing else stood in front of it.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/swap.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "enforcer/attack/attempts/attempts.h"

#define NOWHERE "/wardfs-attack-nowhere"

/* 0 where the kernel answered so, or carried it out. */
static int reached(long result, int first, int second)
{
	return result >= 0 || errno == first || errno == second ? 0 : -1;
}

#define CALL(id, call, first, second)                                                              \
	static int id(const struct ward_facts *f, char *proof)                                     \
	{                                                                                          \
		return reached(call, first, second);                                               \
	}

CALL(compare_files, syscall(SYS_kcmp, getpid(), getpid(), 0, 0UL, 0UL), 0, 0)
CALL(trace_me, ptrace(PTRACE_TRACEME, 0, NULL, NULL), 0, 0)
CALL(join_namespace, syscall(SYS_setns, -1, 0), EBADF, 0)
CALL(swap_roots, syscall(SYS_pivot_root, NOWHERE, NOWHERE), ENOENT, 0)
CALL(move_mount_, syscall(SYS_move_mount, -1, "", -1, "", 4 /* F_EMPTY_PATH */), EBADF, ENOENT)
CALL(make_mount, syscall(SYS_fsmount, -1, 0, 0), EBADF, 0)
CALL(pick_mount, syscall(SYS_fspick, -1, NOWHERE, 0), ENOENT, EBADF)
CALL(account, syscall(SYS_acct, NOWHERE), ENOENT, 0)
CALL(remove_module, syscall(SYS_delete_module, "wardfs_attack", O_NONBLOCK), ENOENT, 0)
CALL(load_module_file, syscall(SYS_finit_module, -1, "", 0), EBADF, 0)
CALL(kernel_file, syscall(SYS_kexec_file_load, -1, -1, 0UL, "", 0UL), EBADF, EINVAL)
CALL(swap_off, swapoff(NOWHERE), ENOENT, 0)
CALL(quotas, syscall(SYS_quotactl, 0x80000100 /* Q_SYNC */, NOWHERE, 0, NULL), ENOENT, ENOTBLK)
CALL(read_own_memory, syscall(SYS_process_vm_readv, getpid(), NULL, 0UL, NULL, 0UL, 0UL), 0, 0)
CALL(advise_other, syscall(SYS_process_madvise, -1, NULL, 0UL, 0, 0U), EBADF, 0)
CALL(release_other, syscall(SYS_process_mrelease, -1, 0U), EBADF, EINVAL)
CALL(take_other, syscall(SYS_pidfd_getfd, -1, 0, 0U), EBADF, 0)
CALL(move_pages_, syscall(SYS_move_pages, 0, 0UL, NULL, NULL, NULL, 0), 0, 0)
CALL(migrate, syscall(SYS_migrate_pages, 0, 0UL, NULL, NULL), 0, EINVAL)
CALL(session_keys, syscall(SYS_keyctl, 0 /* GET_KEYRING_ID */, -3 /* session */, 0), ENOKEY, 0)
CALL(ask_for_key, syscall(SYS_request_key, "user", "wardfs-attack-none", NULL, 0), ENOKEY, 0)
CALL(watch_mounts, syscall(SYS_fanotify_mark, -1, 1, 1UL, -1, NULL), EBADF, EINVAL)

/* With arguments that no call takes: any answer but a refusal came from behind the filter. */
static int answered(long number)
{
	const long r = syscall(number, -1L, -1L, -1L, -1L, -1L, -1L);
	return r < 0 && (errno == EPERM || errno == EACCES || errno == ENOSYS) ? -1 : 0;
}

#define ANSWERED(id, number)                                                                       \
	static int id(const struct ward_facts *f, char *proof)                                     \
	{                                                                                          \
		return answered(number);                                                           \
	}

ANSWERED(configure_context, SYS_fsconfig)
ANSWERED(list_mounts, 458)
ANSWERED(mount_state, 457)
ANSWERED(tree_attributes, 467)
ANSWERED(quota_file, SYS_quotactl_fd)
ANSWERED(domain_name, SYS_setdomainname)
ANSWERED(time_of_day, SYS_settimeofday)
ANSWERED(ring_enter, SYS_io_uring_enter)
ANSWERED(ring_register, SYS_io_uring_register)
#ifdef __x86_64__
ANSWERED(io_level, SYS_iopl)
ANSWERED(file_systems, SYS_sysfs)
ANSWERED(device_state, SYS_ustat)
#else
#define NO_CALL 100000
ANSWERED(io_level, NO_CALL)
ANSWERED(file_systems, NO_CALL)
ANSWERED(device_state, NO_CALL)
#endif

/* In a child, which ends at once. */
static int forked(long pid)
{
	if (pid == 0)
		_exit(0);
	if (pid > 0)
		waitpid((pid_t)pid, NULL, 0);
	return pid < 0 ? -1 : 0;
}

static int clone_user(const struct ward_facts *f, char *proof)
{
	return forked(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, 0UL));
}

static int clone3_user(const struct ward_facts *f, char *proof)
{
	/* struct clone_args, version 0 */
	const uint64_t args[8] = {CLONE_NEWUSER, 0, 0, 0, SIGCHLD, 0, 0, 0};
	return forked(syscall(SYS_clone3, args, sizeof(args)));
}

/* Another table of calls, whose numbers a filter may not have looked at. */
static int x32_call(const struct ward_facts *f, char *proof)
{
#ifdef __x86_64__
	return syscall(0x40000000 + SYS_getppid) < 0 ? -1 : 0;
#else
	errno = ENOSYS;
	return -1;
#endif
}

static int ia32_call(const struct ward_facts *f, char *proof)
{
#ifdef __x86_64__
	long result = 64; /* getppid of i386 */
	__asm__ volatile("int $0x80" : "+a"(result) : : "memory", "r8", "r9", "r10", "r11");
	errno = result < 0 ? (int)-result : 0;
	return result < 0 ? -1 : 0;
#else
	errno = ENOSYS;
	return -1;
#endif
}

#define LACK(need, name_, what_, ref_, fn)                                                         \
	{                                                                                          \
		.name = (name_), .severity = WARD_ATTACK_HARDENING, .evidence = WARD_SEEN_LACK,    \
		.needs = (need), .what = (what_), .stops = "seccomp, or no capability",            \
		.reference = (ref_), .act = (fn)                                                   \
	}
#define FILTER(name, what, ref, fn) LACK(WARD_NEEDS_FILTER, name, what, ref, fn)
static const struct ward_attempt rows[] = {
	FILTER("compare-files", "Compares descriptors of processes (kcmp).", "CWE-200",
		compare_files),
	FILTER("trace-me", "Lets itself be traced (ptrace).", "CVE-2019-13272", trace_me),
	FILTER("join-namespace", "Calls setns, of no descriptor.", "T1611, AML.T0105",
		join_namespace),
	LACK(CAP_SYS_ADMIN, "swap-roots", "Calls pivot_root, of no directory.", "T1611, AML.T0105",
		swap_roots),
	LACK(CAP_SYS_ADMIN, "move-mount", "Calls move_mount, of no mount.", "T1611, AML.T0105",
		move_mount_),
	LACK(CAP_SYS_ADMIN, "make-mount", "Calls fsmount, of no context.", "T1611, AML.T0105",
		make_mount),
	LACK(CAP_SYS_ADMIN, "pick-mount", "Calls fspick, of no mount.", "T1611, AML.T0105",
		pick_mount),
	LACK(CAP_SYS_PACCT, "account", "Writes process accounting to no file.", "CWE-284", account),
	LACK(CAP_SYS_MODULE, "remove-module", "Removes a module that does not exist.", "T1547.006",
		remove_module),
	LACK(CAP_SYS_MODULE, "load-module-file", "Loads a module from no file.", "T1547.006",
		load_module_file),
	LACK(CAP_SYS_BOOT, "kernel-file", "Loads another kernel from no file.", "CWE-284",
		kernel_file),
	LACK(CAP_SYS_ADMIN, "swap-off", "Takes swap space away that does not exist.", "T1499",
		swap_off),
	LACK(CAP_SYS_ADMIN, "quotas", "Writes quotas of no device to disk.", "CWE-732", quotas),
	FILTER("read-own-memory", "Calls process_vm_readv on itself.", "T1055", read_own_memory),
	FILTER("advise-other", "Calls process_madvise, of no process.", "CWE-732", advise_other),
	FILTER("release-other", "Calls process_mrelease, of no process.", "CWE-732", release_other),
	FILTER("take-other", "Calls pidfd_getfd, of no process.", "CWE-403", take_other),
	FILTER("move-pages", "Calls move_pages, of no page.", "CWE-200", move_pages_),
	FILTER("migrate-pages", "Calls migrate_pages, to no node.", "CWE-200", migrate),
	FILTER("session-keys", "Asks for the session's keyring.", "CVE-2016-0728", session_keys),
	FILTER("ask-for-key", "Asks for a key that does not exist.", "CVE-2017-17807", ask_for_key),
	FILTER("watch-mounts", "Calls fanotify_mark, of no group.", "T1083", watch_mounts),
	FILTER("clone-user", "Makes a user namespace by clone.", "CVE-2022-0185", clone_user),
	FILTER("clone3-user", "Makes a user namespace by clone3.", "CVE-2022-0185", clone3_user),
	FILTER("configure-context", "Calls fsconfig, of no context.", "CVE-2022-0185",
		configure_context),
	FILTER("tree-attributes", "Calls open_tree_attr, of no tree.", "T1611, AML.T0105",
		tree_attributes),
	FILTER("list-mounts", "Calls listmount, with no room for the answer.", "T1083",
		list_mounts),
	FILTER("mount-state", "Calls statmount, with no room for the answer.", "T1083",
		mount_state),
	FILTER("quota-file", "Calls quotactl_fd, of no file.", "CWE-732", quota_file),
	LACK(CAP_SYS_ADMIN, "domain-name", "Sets the domain name, of no length.", "CWE-732",
		domain_name),
	FILTER("time-of-day", "Sets the clock by settimeofday, to no time.", "T1070.006",
		time_of_day),
	FILTER("ring-enter", "Calls io_uring_enter, of no ring.", "CVE-2023-2598", ring_enter),
	FILTER("ring-register", "Calls io_uring_register, of no ring.", "CVE-2023-2598",
		ring_register),
	FILTER("io-level", "Calls iopl, of no level.", "CWE-782", io_level),
	FILTER("file-systems", "Calls sysfs, of no option.", "CWE-200", file_systems),
	FILTER("device-state", "Calls ustat, of no device.", "CWE-200", device_state),
	FILTER("x32-call", "Makes a call by its x32 number.", "CVE-2014-0038", x32_call),
	FILTER("ia32-call", "Makes a call of 32-bit programs.", "CVE-2010-3301", ia32_call),
};
WARD_ATTEMPT_TABLE(calls, WARD_ATTACK_CALLS, "make rare system calls", rows);
