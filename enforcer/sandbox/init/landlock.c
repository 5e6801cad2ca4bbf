/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Landlock as a second wall behind the mount namespace: what the view shows read-only stays so
 * even if a mount could be altered. Recorded, never required (design: "Refusing").
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/sandbox/init/init.h"

/*
 * The kernel's ABI, from its documentation (userspace-api/landlock.rst); installed headers lag, so
 * the numbers stand here. The bits of file system rights by the ABI that brought them.
 */
#define ACCESS_V1 UINT64_C(0x1fff)	     /* 13 rights */
#define ACCESS_REFER (UINT64_C(1) << 13)     /* ABI 2 */
#define ACCESS_TRUNCATE (UINT64_C(1) << 14)  /* ABI 3 */
#define ACCESS_IOCTL_DEV (UINT64_C(1) << 15) /* ABI 5 */
#define ACCESS_EXECUTE (UINT64_C(1) << 0)
#define ACCESS_WRITE_FILE (UINT64_C(1) << 1)
#define ACCESS_READ_FILE (UINT64_C(1) << 2)
#define ACCESS_READ_DIR (UINT64_C(1) << 3)
#define SCOPE_ALL UINT64_C(3) /* ABI 6: abstract unix sockets, signals */
#define RULE_PATH_BENEATH 1

struct ruleset_attr {
	uint64_t handled_fs;
	uint64_t handled_net;
	uint64_t scoped;
};

struct path_beneath_attr {
	uint64_t allowed;
	int32_t parent_fd;
} __attribute__((packed));

static int allow(int ruleset, const char *path, uint64_t rights)
{
	/* O_PATH: nothing is asked of the file system that serves a tree. */
	ward_cleanup_fd int fd = open(path, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	struct path_beneath_attr attr = {.allowed = rights, .parent_fd = fd};
	return syscall(SYS_landlock_add_rule, ruleset, RULE_PATH_BENEATH, &attr, 0) < 0 ? -errno
											: 0;
}

static bool writable(enum ward_blueprint_kind kind)
{
	switch (kind) {
	case WARD_BLUEPRINT_SHARED:
	case WARD_BLUEPRINT_TMPFS:
	case WARD_BLUEPRINT_TREE:
	case WARD_BLUEPRINT_TREE_AT:
		return true;
	case WARD_BLUEPRINT_NONE:
	case WARD_BLUEPRINT_DIR:
	case WARD_BLUEPRINT_FILE:
	case WARD_BLUEPRINT_LINK:
	case WARD_BLUEPRINT_BIND:
	case WARD_BLUEPRINT_HOST:
	case WARD_BLUEPRINT_DEVICE:
	case WARD_BLUEPRINT_COVER:
	case WARD_BLUEPRINT_PTS:
	case WARD_BLUEPRINT_FILES:
	case WARD_BLUEPRINT_TREE_FILE:
	case WARD_BLUEPRINT_KINDS_:
		return false;
	}
	return false;
}

static int add_rules(const struct ward_init *in, int ruleset, uint64_t all, struct ward_err *err)
{
	const struct ward_blueprint *p = &in->blueprint;
	const uint64_t exec = p->flags & WARD_BLUEPRINT_LISTED ? 0 : ACCESS_EXECUTE;
	const uint64_t look = exec | ACCESS_READ_FILE | ACCESS_READ_DIR;
	/* /proc/self/comm, oom_score_adj …; /dev/null, terminals and their ioctls. */
	const uint64_t use = (look | ACCESS_WRITE_FILE | ACCESS_TRUNCATE | ACCESS_IOCTL_DEV) & all;
	int r = allow(ruleset, "/", look);
	if (r == 0)
		r = allow(ruleset, "/proc", use);
	if (r == 0)
		r = allow(ruleset, "/dev", use);
	/*
	 * mq_open(2) uses a mount of the kernel, from which no path leads to ours. But its root is
	 * the same inode, so this rule applies there as well.
	 */
	if (r == 0 && p->layers & WARD_LAYER_HOST)
		r = allow(ruleset, "/dev/mqueue", all & ~ACCESS_EXECUTE);
	for (size_t i = 0; i < p->n_entries && r == 0; i++) {
		const struct ward_blueprint_entry *e = &p->entries[i];
		uint64_t also = e->flags & WARD_BLUEPRINT_EXEC ? ACCESS_EXECUTE : exec;
		if (writable(e->kind))
			r = allow(ruleset, e->path, (all & ~ACCESS_EXECUTE) | also);
	}
	for (size_t i = 0; i < p->n_programs && r == 0; i++)
		r = allow(ruleset, p->programs[i], ACCESS_EXECUTE);
	return r < 0 ? ward_err_sys(err, r, "Landlock: allow what the view shows") : 0;
}

int ward_init_landlock(const struct ward_init *in, struct ward_err *err)
{
	if (in->landlock == 0)
		return 0;
	struct ruleset_attr attr = {.handled_fs = ACCESS_V1 | ACCESS_REFER};
	if (in->landlock >= 3)
		attr.handled_fs |= ACCESS_TRUNCATE;
	if (in->landlock >= 5)
		attr.handled_fs |= ACCESS_IOCTL_DEV;
	if (in->landlock >= 6)
		attr.scoped = SCOPE_ALL;
	size_t size = in->landlock >= 6	  ? sizeof(attr)
		      : in->landlock >= 4 ? offsetof(struct ruleset_attr, scoped)
					  : offsetof(struct ruleset_attr, handled_net);
	ward_cleanup_fd int ruleset = (int)syscall(SYS_landlock_create_ruleset, &attr, size, 0);
	if (ruleset < 0)
		return ward_err_sys(err, -errno, "Landlock: make a ruleset");
	int r = add_rules(in, ruleset, attr.handled_fs, err);
	if (r < 0)
		return r;
	if (syscall(SYS_landlock_restrict_self, ruleset, 0) < 0)
		return ward_err_sys(err, -errno, "Landlock: restrict the command");
	return 0;
}
