/* SPDX-License-Identifier: Apache-2.0 */
/* The walls of wardfs-image. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/image/unpack/unpack.h"

/* The parent's clock ends it as well. */
#define CPU_S 1200
#define MEMORY ((rlim_t)2 << 30)

static int limit(void)
{
	const struct {
		__rlimit_resource_t what;
		rlim_t most;
	} all[] = {{RLIMIT_CPU, CPU_S}, {RLIMIT_DATA, MEMORY}, {RLIMIT_CORE, 0},
		{RLIMIT_NOFILE, 512}, {RLIMIT_FSIZE, UNPACK_BYTES_MAX}};
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		struct rlimit now;
		/* Sanitizers map more than any host has. meson defines WARD_SANITIZED. */
		if (WARD_SANITIZED && all[i].what == RLIMIT_DATA)
			continue;
		if (getrlimit(all[i].what, &now) < 0)
			return -errno;
		now.rlim_max = now.rlim_max < all[i].most ? now.rlim_max : all[i].most;
		now.rlim_cur = now.rlim_max;
		if (setrlimit(all[i].what, &now) < 0)
			return -errno;
	}
	return 0;
}

static int write_file(const char *path, const char *text)
{
	ward_cleanup_fd int fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd < 0 ? -errno : ward_fd_write_all(fd, text, strlen(text));
}

/* Files keep the caller's id, and there is no other one. */
static int enter_namespaces(struct ward_err *err)
{
	const uid_t uid = geteuid();
	const gid_t gid = getegid();
	char text[64];
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS) < 0)
		return ward_err_sys(
			err, -errno, "make namespaces (wardfs doctor names what this host lacks)");
	snprintf(text, sizeof(text), "%u %u 1\n", uid, uid);
	int r = write_file("/proc/self/setgroups", "deny");
	if (r == 0)
		r = write_file("/proc/self/uid_map", text);
	snprintf(text, sizeof(text), "%u %u 1\n", gid, gid);
	if (r == 0)
		r = write_file("/proc/self/gid_map", text);
	return r < 0 ? ward_err_sys(err, r, "map the user") : 0;
}

/*
 * The directory as the root: named again, since a descriptor of the old mount namespace cannot be
 * mounted (open_tree(2)), and compared.
 */
static int enter_directory(struct ward_err *err)
{
	ward_cleanup_free char *path = NULL;
	struct stat want, have;
	int r = ward_fd_path(UNPACK_OUT, &path);
	if (r < 0 || fstat(UNPACK_OUT, &want) < 0)
		return ward_err_sys(err, r < 0 ? r : -errno, "the directory of the image");
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return ward_err_sys(err, -errno, "make the mounts private");
	ward_cleanup_fd int at = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	ward_cleanup_fd int tree = at < 0 ? -1
					  : open_tree(at, "",
						    OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC |
							    AT_EMPTY_PATH | AT_RECURSIVE);
	if (tree < 0 ||
		move_mount(tree, "", at, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
		return ward_err_sys(err, -errno, "mount the directory of the image");
	if (fchdir(tree) < 0 || syscall(SYS_pivot_root, ".", ".") < 0 ||
		umount2(".", MNT_DETACH) < 0 || chdir("/") < 0)
		return ward_err_sys(err, -errno, "enter the directory of the image");
	if (fstat(tree, &have) < 0 || have.st_dev != want.st_dev || have.st_ino != want.st_ino)
		return ward_err_set(err, -ESTALE, "somebody replaced the directory of the image");
	return dup3(tree, UNPACK_OUT, O_CLOEXEC) < 0 ? ward_err_sys(err, -errno, "descriptor") : 0;
}

static int drop(struct ward_err *err)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {0};
	/* A change of credentials may have taken it away (PR_SET_PDEATHSIG(2const)). */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 ||
		prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
		return ward_err_sys(err, -errno, "no_new_privs");
	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	return syscall(SYS_capset, &head, none) < 0 ? ward_err_sys(err, -errno, "drop capabilities")
						    : 0;
}

static int allow(int ruleset, int fd, uint64_t rights)
{
	struct landlock_path_beneath_attr rule = {.allowed_access = rights, .parent_fd = fd};
	return (int)syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
}

/* No devices, pipes or sockets are made, and nothing is executed. */
static int landlock(struct ward_err *err)
{
	const uint64_t read = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
	const uint64_t make = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
			      LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR |
			      LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SYM;
	const uint64_t refer = UINT64_C(1) << 13, truncate = UINT64_C(1) << 14;
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	/* A kernel without it: namespaces and the list of calls stand. */
	if (abi < 0 && (errno == ENOSYS || errno == EOPNOTSUPP))
		return 0;
	/* Version 1 refuses links into other directories, which images have. */
	if (abi < 2)
		return abi < 0 ? ward_err_sys(err, -errno, "landlock") : 0;
	const uint64_t also = refer | (abi >= 3 ? truncate : 0);
	const uint64_t handled = ((UINT64_C(1) << 13) - 1) | also;
	ward_cleanup_fd int fd =
		(int)syscall(SYS_landlock_create_ruleset, &handled, sizeof(handled), 0);
	if (fd < 0)
		return ward_err_sys(err, -errno, "landlock_create_ruleset");
	struct stat st;
	/* An archive is a file that is open already. */
	if (allow(fd, UNPACK_OUT, read | make | also) < 0 || fstat(UNPACK_IN, &st) < 0 ||
		(S_ISDIR(st.st_mode) && allow(fd, UNPACK_IN, read) < 0) ||
		syscall(SYS_landlock_restrict_self, fd, 0) < 0)
		return ward_err_sys(err, -errno, "landlock");
	return 0;
}

static int filter(struct ward_err *err)
{
	static const int allowed[] = {SCMP_SYS(read), SCMP_SYS(write), SCMP_SYS(pwrite64),
		SCMP_SYS(pread64), SCMP_SYS(lseek), SCMP_SYS(close), SCMP_SYS(fstat),
		SCMP_SYS(newfstatat), SCMP_SYS(openat), SCMP_SYS(openat2), SCMP_SYS(mkdirat),
		SCMP_SYS(unlinkat), SCMP_SYS(linkat), SCMP_SYS(symlinkat), SCMP_SYS(fchmod),
		SCMP_SYS(ftruncate), SCMP_SYS(utimensat), SCMP_SYS(getdents64), SCMP_SYS(fcntl),
		SCMP_SYS(fadvise64), SCMP_SYS(futex), SCMP_SYS(brk), SCMP_SYS(munmap),
		SCMP_SYS(mremap), SCMP_SYS(madvise), SCMP_SYS(rt_sigreturn),
		SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigaction), SCMP_SYS(sigaltstack),
		SCMP_SYS(clock_gettime), SCMP_SYS(gettimeofday), SCMP_SYS(getpid), SCMP_SYS(gettid),
		SCMP_SYS(tgkill), SCMP_SYS(getrandom), SCMP_SYS(exit), SCMP_SYS(exit_group)};
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_KILL_PROCESS);
	int r = ctx ? 0 : -ENOMEM;
	for (size_t i = 0; r == 0 && i < sizeof(allowed) / sizeof(*allowed); i++)
		r = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, allowed[i], 0);
	if (r == 0)
		r = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1,
			SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
	if (r == 0)
		r = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1,
			SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
	/* They trace and fork as they like, too. */
	if (r == 0 && !WARD_SANITIZED)
		r = seccomp_load(ctx);
	if (ctx)
		seccomp_release(ctx);
	return r < 0 ? ward_err_sys(err, r, "seccomp") : 0;
}

int unpack_confine(struct ward_err *err)
{
	int r = limit();
	if (r < 0)
		return ward_err_sys(err, r, "limits");
	r = enter_namespaces(err);
	if (r == 0)
		r = enter_directory(err);
	if (r == 0)
		r = drop(err);
	if (r == 0)
		r = landlock(err);
	return r == 0 ? filter(err) : r;
}
