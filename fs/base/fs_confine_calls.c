/* SPDX-License-Identifier: Apache-2.0 */
/* The filter of system calls: what serving takes, and nothing else. */
#include "fs/base/fs_confine.h"

#include <errno.h>
#include <linux/fs.h>
#include <linux/io_uring.h>
#include <sched.h>
#include <seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include "fs/base/caller_names.h"
#include "fs/base/fuse_kernel.h"

/* Content and names of the backing; paths are Landlock's affair. */
static const int backing[] = {
	SCMP_SYS(pread64),
	SCMP_SYS(pwrite64),
	SCMP_SYS(pwritev2),
	SCMP_SYS(ftruncate),
	SCMP_SYS(truncate),
	SCMP_SYS(fallocate),
	SCMP_SYS(copy_file_range),
	SCMP_SYS(fsync),
	SCMP_SYS(fdatasync),
	SCMP_SYS(openat2),
	SCMP_SYS(statx),
	SCMP_SYS(fstatfs),
	SCMP_SYS(getdents64),
	SCMP_SYS(readlinkat),
	SCMP_SYS(mkdirat),
	SCMP_SYS(mknodat),
	SCMP_SYS(symlinkat),
	SCMP_SYS(linkat),
	SCMP_SYS(unlinkat),
	SCMP_SYS(renameat2),
	SCMP_SYS(fchmodat),
	SCMP_SYS(fchownat),
	SCMP_SYS(utimensat),
	SCMP_SYS(getxattr),
	SCMP_SYS(setxattr),
	SCMP_SYS(listxattr),
	SCMP_SYS(removexattr),
};

const int *ward_confine_backing_calls(size_t *ret_n)
{
	*ret_n = sizeof(backing) / sizeof(*backing);
	return backing;
}

/* What serving takes beside those. */
static const int allowed[] = {
	/* messages */
	SCMP_SYS(read),
	SCMP_SYS(write),
	SCMP_SYS(readv),
	SCMP_SYS(writev),
	SCMP_SYS(lseek),
	SCMP_SYS(poll),
	SCMP_SYS(ppoll),
	SCMP_SYS(io_uring_enter), /* rings are made before, and can do little (transport_uring.c) */
	SCMP_SYS(recvmsg),
	SCMP_SYS(sendmsg),
	/* descriptors, and what asks of the backing alone */
	SCMP_SYS(openat),
	SCMP_SYS(close),
	SCMP_SYS(fstat),
	SCMP_SYS(newfstatat),
	SCMP_SYS(faccessat2),
	SCMP_SYS(name_to_handle_at),
	SCMP_SYS(fanotify_mark),
	SCMP_SYS(eventfd2),
	SCMP_SYS(flock),
	SCMP_SYS(pidfd_open), /* who asks (caller_names.h); nothing here takes one */
	SCMP_SYS(fcntl),
	SCMP_SYS(dup3), /* a file that was staged takes the place of the host's (review.h) */
	SCMP_SYS(umask),
	/* acting as a caller; without the capabilities these change nothing */
	SCMP_SYS(setfsuid),
	SCMP_SYS(setfsgid),
	SCMP_SYS(setgroups),
	SCMP_SYS(capget),
	SCMP_SYS(capset),
	/* memory, threads, time */
	SCMP_SYS(munmap),
	SCMP_SYS(mremap),
	SCMP_SYS(madvise),
	SCMP_SYS(brk),
	SCMP_SYS(futex),
	SCMP_SYS(exit),
	SCMP_SYS(exit_group),
	SCMP_SYS(restart_syscall),
	SCMP_SYS(set_robust_list),
	SCMP_SYS(rseq),
	SCMP_SYS(sched_yield),
	SCMP_SYS(sched_getaffinity),
	SCMP_SYS(sched_setaffinity),
	SCMP_SYS(gettid),
	SCMP_SYS(getuid),
	SCMP_SYS(getpid),
	SCMP_SYS(tgkill),
	SCMP_SYS(rt_sigprocmask),
	SCMP_SYS(rt_sigaction),
	SCMP_SYS(rt_sigreturn),
	SCMP_SYS(sigaltstack),
	SCMP_SYS(clock_gettime),
	SCMP_SYS(clock_nanosleep),
	SCMP_SYS(timer_create),
	SCMP_SYS(timer_settime),
	SCMP_SYS(timer_delete),
	SCMP_SYS(getrandom),
	SCMP_SYS(membarrier),
};

static int add_conditional(scmp_filter_ctx ctx)
{
	static const unsigned long ioctls[] = {WARD_DEV_IOC_BACKING_OPEN,
		WARD_DEV_IOC_BACKING_CLOSE, FS_IOC_GETFLAGS, WARD_PIDFD_GET_INFO,
		/* the staged copy of a file; from a descriptor that we have to another one */
		FICLONE};
	int r = 0;

	for (size_t i = 0; r == 0 && i < sizeof(ioctls) / sizeof(*ioctls); i++)
		r = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), 1,
			SCMP_A1_32(SCMP_CMP_EQ, (uint32_t)ioctls[i]));
	/* A ring that is there begins; after that it has no such calls (its restrictions). */
	if (r == 0)
		r = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(io_uring_register), 1,
			SCMP_A1_32(SCMP_CMP_EQ, IORING_REGISTER_ENABLE_RINGS));
	/* No memory becomes executable. */
	if (r == 0)
		r = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1,
			SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
	if (r == 0)
		r = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1,
			SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
	/* Threads; clone3 hides its flags in memory: glibc falls back at ENOSYS. */
	if (r == 0)
		r = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1,
			SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD));
	if (r == 0)
		r = seccomp_rule_add(ctx, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
	/* A thread's own umask. */
	if (r == 0)
		r = seccomp_rule_add(
			ctx, SCMP_ACT_ALLOW, SCMP_SYS(unshare), 1, SCMP_A0(SCMP_CMP_EQ, CLONE_FS));
	return r;
}

int ward_confine_calls(struct ward_err *err)
{
	scmp_filter_ctx ctx;
	int r = 0;

	/* Sanitizers map, trace and fork as they like. meson defines WARD_SANITIZED. */
	if (WARD_SANITIZED)
		return 0;
	ctx = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	if (!ctx)
		return ward_err_sys(err, -ENOMEM, "seccomp");
	for (size_t i = 0; r == 0 && i < sizeof(backing) / sizeof(*backing); i++)
		/* No device but 0:0, which none has (ops_modify.c). */
		r = backing[i] == SCMP_SYS(mknodat)
			    ? seccomp_rule_add(ctx, SCMP_ACT_ALLOW, backing[i], 1,
				      SCMP_A3_32(SCMP_CMP_EQ, 0))
			    : seccomp_rule_add(ctx, SCMP_ACT_ALLOW, backing[i], 0);
	for (size_t i = 0; r == 0 && i < sizeof(allowed) / sizeof(*allowed); i++)
		r = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, allowed[i], 0);
	if (r == 0)
		r = add_conditional(ctx);
	if (r == 0)
		r = seccomp_load(ctx);
	seccomp_release(ctx);
	return r < 0 ? ward_err_sys(err, r, "seccomp") : 0;
}
