/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/net/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <seccomp.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"

/* Rights that <linux/landlock.h> of Debian 12 lacks; include/uapi/linux/landlock.h, Linux 6.10. */
#define RIGHTS_ABI1 ((UINT64_C(1) << 13) - 1)
#define RIGHT_REFER (UINT64_C(1) << 13)	    /* ABI 2 */
#define RIGHT_TRUNCATE (UINT64_C(1) << 14)  /* ABI 3 */
#define RIGHT_IOCTL_DEV (UINT64_C(1) << 15) /* ABI 5 */

static int no_capabilities(struct ward_err *err)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {{0}, {0}};
	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	return syscall(SYS_capset, &head, none) < 0 ? ward_err_sys(err, -errno, "drop capabilities")
						    : 0;
}

int ward_net_become_owner(
	uid_t uid, gid_t gid, const gid_t *groups, size_t n_groups, bool root, struct ward_err *err)
{
	if (root) {
		if (setgroups(n_groups, groups) < 0)
			return ward_err_sys(err, -errno, "setgroups");
		if (setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0)
			return ward_err_sys(err, -errno, "becoming uid %u", uid);
	} else if (geteuid() != uid || getegid() != gid) {
		return ward_err_set(
			err, -EPERM, "started as uid %u, not as the owner %u", geteuid(), uid);
	}
	return no_capabilities(err);
}

static int no_paths(struct ward_err *err)
{
	uint64_t handled = RIGHTS_ABI1;
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	/* The second layer, behind a filter that lets nothing be opened. */
	if (abi < 1)
		return 0;
	handled |= abi >= 2 ? RIGHT_REFER : 0;
	handled |= abi >= 3 ? RIGHT_TRUNCATE : 0;
	handled |= abi >= 5 ? RIGHT_IOCTL_DEV : 0;
	ward_cleanup_fd int fd =
		(int)syscall(SYS_landlock_create_ruleset, &handled, sizeof(handled), 0);
	if (fd < 0 || syscall(SYS_landlock_restrict_self, fd, 0) < 0)
		return ward_err_sys(err, -errno, "landlock");
	return 0;
}

static int add_rules(scmp_filter_ctx ctx)
{
	static const int allowed[] = {/* sockets that are there, and the ring's wake-up */
		SCMP_SYS(read), SCMP_SYS(pread64), SCMP_SYS(write), SCMP_SYS(readv),
		SCMP_SYS(writev), SCMP_SYS(recvfrom), SCMP_SYS(recvmsg), SCMP_SYS(sendto),
		SCMP_SYS(sendmsg), SCMP_SYS(connect), SCMP_SYS(bind), SCMP_SYS(accept4),
		SCMP_SYS(shutdown), SCMP_SYS(getsockname), SCMP_SYS(getpeername),
		SCMP_SYS(getsockopt), SCMP_SYS(setsockopt), SCMP_SYS(close), SCMP_SYS(fcntl),
		SCMP_SYS(pipe2), SCMP_SYS(splice),
		/* the loop */
		SCMP_SYS(epoll_ctl), SCMP_SYS(epoll_wait), SCMP_SYS(epoll_pwait), SCMP_SYS(poll),
		SCMP_SYS(ppoll), SCMP_SYS(futex), SCMP_SYS(clock_gettime), SCMP_SYS(gettimeofday),
		SCMP_SYS(getrandom),
		/* memory, signals, end */
		SCMP_SYS(brk), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise),
		SCMP_SYS(rt_sigreturn), SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigaction),
		SCMP_SYS(restart_syscall), SCMP_SYS(getpid), SCMP_SYS(gettid), SCMP_SYS(tgkill),
		SCMP_SYS(fstat), SCMP_SYS(newfstatat), SCMP_SYS(lseek), SCMP_SYS(exit),
		SCMP_SYS(exit_group)};
	int r = 0;
	for (size_t i = 0; r == 0 && i < sizeof(allowed) / sizeof(*allowed); i++)
		r = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, allowed[i], 0);
	for (int v6 = 0; r == 0 && v6 < 2; v6++)
		r = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(socket), 1,
			SCMP_A0_32(SCMP_CMP_EQ, v6 ? AF_INET6 : AF_INET));
	/* Memory that can be executed is never made. */
	if (r == 0)
		r = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1,
			SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
	if (r == 0)
		r = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1,
			SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
	return r;
}

int ward_net_confine(struct ward_err *err)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return ward_err_sys(err, -errno, "prctl");
	int r = no_paths(err);
	/* Sanitizers map, trace and fork as they like. meson defines WARD_SANITIZED. */
	if (r < 0 || WARD_SANITIZED)
		return r;
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	if (!ctx)
		return ward_err_sys(err, -ENOMEM, "seccomp");
	r = add_rules(ctx);
	if (r == 0)
		r = seccomp_load(ctx);
	seccomp_release(ctx);
	return r < 0 ? ward_err_sys(err, r, "seccomp") : 0;
}
