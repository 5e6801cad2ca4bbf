/* SPDX-License-Identifier: Apache-2.0 */
/*
 * [process] exec: what Landlock's right to execute (landlock.c) needs beside it.
 *
 * Landlock asks about files that have a place. One of memfd_create(2) has none: it lies on a mount
 * of the kernel's own, which Landlock leaves alone (security/landlock/fs.c,
 * is_nouser_or_private()), and is executed by execveat(2) or by way of /proc/self/fd. One that can
 * never be executed (MFD_NOEXEC_SEAL, Linux 6.3) can still be mapped as code, which is all that
 * `ld.so /proc/self/fd/3` does. So none is made here. ENOSYS, as on kernels without the call:
 * libraries then use a file.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/syscall.h>

#include "enforcer/sandbox/init/init.h"

int ward_init_programs_held(const struct ward_init *in, struct ward_err *err)
{
	if (!(in->blueprint.flags & WARD_BLUEPRINT_LISTED) || in->landlock > 0)
		return 0;
	return ward_err_set(err, -EOPNOTSUPP,
		"[process] exec cannot be enforced here: the guarantee 'programs' needs Landlock, which this kernel does not have; fix: boot with lsm=landlock,… (CONFIG_SECURITY_LANDLOCK), in a container use a seccomp profile that allows Landlock, or remove the list");
}

int ward_init_programs_close(const struct ward_init *in, struct ward_err *err)
{
	/* Beside the command's filter, which has refused other architectures (and x32) already. */
	static const struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_create, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
	if (!(in->blueprint.flags & WARD_BLUEPRINT_LISTED))
		return 0;
	int r = ward_init_filter(filter, sizeof(filter));
	return r < 0 ? ward_err_sys(err, r, WARD_INIT_NO_FILTER) : 0;
}
