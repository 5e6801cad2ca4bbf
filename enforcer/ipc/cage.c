/* SPDX-License-Identifier: Apache-2.0 */
/* Confines a helper that needs nothing but its descriptors: Landlock, seccomp, no privileges. */
#include "enforcer/ipc/cage.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <seccomp.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"

static int drop_capabilities(struct ward_err *err)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {0};
	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	if (syscall(SYS_capset, &head, none) < 0)
		return ward_err_sys(err, -errno, "drop capabilities");
	return 0;
}

/* A ruleset that handles every right and has no rule. ABI: bits known to each version. */
static int landlock_nothing(struct ward_err *err)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	/* Linux 6.1 without it in the list of LSMs: seccomp below already denies every open. */
	if (abi < 0 && (errno == ENOSYS || errno == EOPNOTSUPP))
		return 0;
	if (abi < 1)
		return ward_err_sys(err, -errno, "landlock");
	/* Version 1: 13 rights; 2: REFER; 3: TRUNCATE; 5: IOCTL_DEV. Version 4: two of the network.
	 */
	struct {
		uint64_t fs;
		uint64_t net;
	} attr = {.fs = (1U << 13) - 1};
	if (abi >= 2)
		attr.fs |= 1U << 13;
	if (abi >= 3)
		attr.fs |= 1U << 14;
	if (abi >= 5)
		attr.fs |= 1U << 15;
	if (abi >= 4)
		attr.net = 3;
	size_t size = abi >= 4 ? sizeof(attr) : sizeof(attr.fs);
	ward_cleanup_fd int fd = (int)syscall(SYS_landlock_create_ruleset, &attr, size, 0);
	if (fd < 0)
		return ward_err_sys(err, -errno, "landlock_create_ruleset");
	if (syscall(SYS_landlock_restrict_self, fd, 0) < 0)
		return ward_err_sys(err, -errno, "landlock_restrict_self");
	return 0;
}

static int add_rules(scmp_filter_ctx ctx, const int *own, size_t n_own)
{
	static const int allowed[] = {/* sockets and pipes that are there */
		SCMP_SYS(poll), SCMP_SYS(ppoll), SCMP_SYS(read), SCMP_SYS(recvmsg),
		SCMP_SYS(sendmsg), SCMP_SYS(write), SCMP_SYS(close),
		/* memory, time, signals, end */
		SCMP_SYS(futex), SCMP_SYS(clock_gettime), SCMP_SYS(gettimeofday), SCMP_SYS(brk),
		SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise), SCMP_SYS(rt_sigreturn),
		SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigaction), SCMP_SYS(sigaltstack),
		SCMP_SYS(restart_syscall), SCMP_SYS(getpid), SCMP_SYS(gettid), SCMP_SYS(tgkill),
		SCMP_SYS(exit), SCMP_SYS(exit_group)};
	int r = 0;
	for (size_t i = 0; r == 0 && i < sizeof(allowed) / sizeof(*allowed); i++)
		r = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, allowed[i], 0);
	for (size_t i = 0; r == 0 && i < n_own; i++)
		r = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, own[i], 0);
	/* Memory that can be executed is never made. */
	if (r == 0)
		r = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1,
			SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
	if (r == 0)
		r = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1,
			SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
	return r;
}

static int load_filter(const int *own, size_t n_own, struct ward_err *err)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_KILL_PROCESS);
	if (!ctx)
		return ward_err_sys(err, -ENOMEM, "seccomp");
	int r = add_rules(ctx, own, n_own);
	if (r == 0)
		r = seccomp_load(ctx);
	seccomp_release(ctx);
	return r < 0 ? ward_err_sys(err, r, "seccomp") : 0;
}

int ward_cage(const int *own, size_t n_own, struct ward_err *err)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return ward_err_sys(err, -errno, "no_new_privs");
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return ward_err_sys(err, -errno, "not dumpable");
	int r = drop_capabilities(err);
	if (r == 0)
		r = landlock_nothing(err);
	if (r == 0)
		r = load_filter(own, n_own, err);
	return r;
}
