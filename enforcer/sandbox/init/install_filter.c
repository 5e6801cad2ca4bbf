/* SPDX-License-Identifier: Apache-2.0 */
/* Puts a filter of system calls in front of the calling process. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "enforcer/sandbox/init/init.h"

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5) /* linux/seccomp.h, 5.19 */
#endif

int ward_init_filter(const void *filter, size_t len)
{
	if (len == 0)
		return 0;
	struct sock_fprog prog = {
		.len = (unsigned short)(len / sizeof(struct sock_filter)),
		/* The kernel only reads it. */
		.filter = (struct sock_filter *)(uintptr_t)filter,
	};
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog) < 0 ? -errno : 0;
}

int ward_init_filter_asking(const void *filter, size_t len, int *ret_listener)
{
	struct sock_fprog prog = {
		.len = (unsigned short)(len / sizeof(struct sock_filter)),
		.filter = (struct sock_filter *)(uintptr_t)filter,
	};
	/*
	 * WAIT_KILLABLE_RECV (Linux 5.19): once a call was taken, signals other than deadly ones
	 * wait for its answer; else a program under many signals would ask forever.
	 */
	const unsigned long flags =
		SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
	long fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &prog);
	if (fd < 0)
		return -errno;
	*ret_listener = (int)fd;
	return 0;
}
