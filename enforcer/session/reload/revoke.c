/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the kernel give up inodes of a FUSE mount. */
#include "enforcer/session/reload/revoke.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"

/* u64 number, u32 generation. */
#define HANDLE_BYTES 12U
/* FUSE_ROOT_ID of <linux/fuse.h>. */
#define ROOT_NUMBER 1U

union handle {
	struct file_handle h;
	char room[sizeof(struct file_handle) + HANDLE_BYTES];
};

/* Drops to uid and gid with one capability. */
static int become(uid_t uid, gid_t gid)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	const uint32_t search = UINT32_C(1) << CAP_DAC_READ_SEARCH;
	const struct __user_cap_data_struct data[2] = {{.permitted = search, .effective = search}};
	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) < 0 || setgroups(0, NULL) < 0 ||
		setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0 ||
		syscall(SYS_capset, &head, data) < 0)
		return -errno;
	return 0;
}

int ward_revoke_open(
	char *const *paths, size_t n, uid_t uid, gid_t gid, int *ret_fds, struct ward_err *err)
{
	for (size_t i = 0; i < n; i++) {
		ret_fds[i] = open(paths[i], O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (ret_fds[i] < 0)
			return ward_err_sys(err, -errno, "%s", paths[i]);
	}
	int r = become(uid, gid);
	if (r < 0)
		return ward_err_sys(err, r, "CAP_DAC_READ_SEARCH");
	for (size_t i = 0; i < n; i++) {
		/* open_by_handle_at(2) takes no O_PATH descriptor */
		int fd = openat(ret_fds[i], ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0)
			return ward_err_sys(err, -errno, "%s", paths[i]);
		close(ret_fds[i]);
		ret_fds[i] = fd;
	}
	return 0;
}

/* The number's place in a handle: as one word since Linux 6.x, as two, the upper one first, before.
 * The root's handle tells which. */
static int fill(int fd, uint64_t number, union handle *ret)
{
	int mnt = 0;
	uint64_t word = 0;
	uint32_t halves[2];
	memset(ret, 0, sizeof(*ret));
	ret->h.handle_bytes = HANDLE_BYTES;
	if (name_to_handle_at(fd, "", &ret->h, &mnt, AT_EMPTY_PATH) < 0)
		return -errno;
	if (ret->h.handle_bytes != HANDLE_BYTES)
		return -ENOTSUP;
	memcpy(&word, ret->h.f_handle, sizeof(word));
	memcpy(halves, ret->h.f_handle, sizeof(halves));
	if (halves[0] == 0 && halves[1] == ROOT_NUMBER) {
		halves[0] = (uint32_t)(number >> 32);
		halves[1] = (uint32_t)number;
		memcpy(ret->h.f_handle, halves, sizeof(halves));
	} else if (word == ROOT_NUMBER) {
		memcpy(ret->h.f_handle, &number, sizeof(number));
	} else {
		return -ENOTSUP;
	}
	return 0;
}

int ward_revoke(int fd, uint64_t number)
{
	union handle u;
	struct statx stx;
	int r = fill(fd, number, &u);
	if (r < 0)
		return r;
	ward_cleanup_fd int inode = open_by_handle_at(fd, &u.h, O_PATH | O_CLOEXEC);
	if (inode < 0)
		return errno == ESTALE || errno == ENOENT ? 0 : -errno;
	/* It is bad now (EIO): the answer that was wanted. */
	if (statx(inode, "", AT_EMPTY_PATH | AT_STATX_FORCE_SYNC, STATX_BASIC_STATS, &stx) == 0)
		return -EBUSY;
	return errno == EIO ? 0 : -errno;
}
