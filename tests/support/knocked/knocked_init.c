/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wardfs-init without a layer. Each function stands for one of the same name (ld --wrap). The
 * start-up probes would see the layer missing and refuse the run: they are told to have held.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "enforcer/sandbox/init/init.h"
#include "enforcer/sandbox/probe.h"
#include "tests/support/knocked/knocked.h"

int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __real_umount2(const char *path, int flags);
int __wrap_umount2(const char *path, int flags);
int __real_unshare(int flags);
int __wrap_unshare(int flags);
int __real_ioctl(int fd, unsigned long request, ...);
int __wrap_ioctl(int fd, unsigned long request, void *arg);
int __real_sethostname(const char *name, size_t len);
int __wrap_sethostname(const char *name, size_t len);
int __wrap_setdomainname(const char *name, size_t len);
int __real_setdomainname(const char *name, size_t len);
int __real_setrlimit64(__rlimit_resource_t resource, const struct rlimit64 *limit);
int __wrap_setrlimit64(__rlimit_resource_t resource, const struct rlimit64 *limit);
int __real_ward_init_filter(const void *filter, size_t len);
int __wrap_ward_init_filter(const void *filter, size_t len);
int __real_ward_init_filter_asking(const void *filter, size_t len, int *ret_listener);
int __wrap_ward_init_filter_asking(const void *filter, size_t len, int *ret_listener);
int __real_ward_init_landlock(const struct ward_init *in, struct ward_err *err);
int __wrap_ward_init_landlock(const struct ward_init *in, struct ward_err *err);
int __real_ward_init_drop(struct ward_err *err);
int __wrap_ward_init_drop(struct ward_err *err);
void __real_ward_init_probe_filtered(const struct ward_init *in, struct ward_init_report *r);
void __wrap_ward_init_probe_filtered(const struct ward_init *in, struct ward_init_report *r);

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

/* Also the one call that makes the pid namespace, and the one that leaves the caller's keys. */
long __wrap_syscall(long number, ...)
{
	long a[6];
	va_list all;

	va_start(all, number);
	for (size_t i = 0; i < 6; i++)
		a[i] = va_arg(all, long);
	va_end(all);
	if (number == SYS_clone && ward_knocked("pid-namespace"))
		a[0] &= ~(long)CLONE_NEWPID;
	/* The root of this process alone changes: who is in the same namespace keeps its own. */
	if (number == SYS_pivot_root && ward_knocked("mount-namespace"))
		return chroot((const char *)a[0]);
	if (number == SYS_keyctl && ward_knocked("keyring"))
		return 0;
	return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static const struct {
	const char *layer;
	int flag;
} namespaces[] = {{"mount-namespace", CLONE_NEWNS}, {"user-namespace", CLONE_NEWUSER},
	{"network-namespace", CLONE_NEWNET}, {"ipc-namespace", CLONE_NEWIPC},
	{"uts-namespace", CLONE_NEWUTS}, {"cgroup-namespace", CLONE_NEWCGROUP}};

int __wrap_unshare(int flags)
{
	for (size_t i = 0; i < sizeof(namespaces) / sizeof(*namespaces); i++)
		if (ward_knocked(namespaces[i].layer))
			flags &= ~namespaces[i].flag;
	return flags ? __real_unshare(flags) : 0;
}

/* Without a user namespace its limits are those of the host: they stay as they are. */
int __wrap_open64(const char *path, int flags, ...)
{
	va_list all;
	va_start(all, flags);
	const unsigned mode = va_arg(all, unsigned);
	va_end(all);
	if (ward_knocked("user-namespace") && (flags & O_ACCMODE) != O_RDONLY &&
		strncmp(path, "/proc/sys/", 10) == 0) {
		errno = EROFS;
		return -1;
	}
	return __real_open64(path, flags, mode);
}

/* After pivot_root(2) the old root would be on top. */
int __wrap_umount2(const char *path, int flags)
{
	return strcmp(path, ".") == 0 && ward_knocked("mount-namespace")
		       ? 0
		       : __real_umount2(path, flags);
}

/* The host's interface and its name stay as they are. */
int __wrap_ioctl(int fd, unsigned long request, void *arg)
{
	return ward_knocked("network-namespace") && request == 0x8914 /* SIOCSIFFLAGS */
		       ? 0
		       : __real_ioctl(fd, request, arg);
}

int __wrap_sethostname(const char *name, size_t len)
{
	return ward_knocked("uts-namespace") ? 0 : __real_sethostname(name, len);
}

int __wrap_setdomainname(const char *name, size_t len)
{
	return ward_knocked("uts-namespace") ? 0 : __real_setdomainname(name, len);
}

int __wrap_setrlimit64(__rlimit_resource_t resource, const struct rlimit64 *limit)
{
	return ward_knocked("limits") ? 0 : __real_setrlimit64(resource, limit);
}

static const struct sock_filter allow_all[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};

int __wrap_ward_init_filter(const void *filter, size_t len)
{
	return ward_knocked("seccomp") ? 0 : __real_ward_init_filter(filter, len);
}

int __wrap_ward_init_filter_asking(const void *filter, size_t len, int *ret_listener)
{
	const bool none = ward_knocked("seccomp");
	return __real_ward_init_filter_asking(
		none ? allow_all : filter, none ? sizeof(allow_all) : len, ret_listener);
}

int __wrap_ward_init_landlock(const struct ward_init *in, struct ward_err *err)
{
	return ward_knocked("landlock") ? 0 : __real_ward_init_landlock(in, err);
}

int __wrap_ward_init_drop(struct ward_err *err)
{
	return ward_knocked("capabilities") ? 0 : __real_ward_init_drop(err);
}

/* The answers that the supervisor takes for a layer that works. */
static void pretend(struct ward_probe_result *p)
{
	for (p->control = 0; p->control < 134; p->control++)
		for (p->attempt = 1; p->attempt < 134; p->attempt++)
			if (ward_probe_judge(p) == WARD_PROBE_HELD)
				return;
}

void __wrap_ward_init_probe_filtered(const struct ward_init *in, struct ward_init_report *r)
{
	__real_ward_init_probe_filtered(in, r);
	for (int p = 0; p < WARD_PROBE_COUNT_; p++)
		if (r->results[p].made)
			pretend(&r->results[p]);
}
