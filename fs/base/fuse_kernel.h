/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Constants and structs of the FUSE protocol that Debian 12's <linux/fuse.h> (7.38) lacks. Source:
 * include/uapi/linux/fuse.h of Linux 6.6 (7.39) and later.
 */
#pragma once

#include <linux/fuse.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>

/* OPEN and CREATE replies: read and write go to the backing file (7.40). */
#define WARD_FOPEN_PASSTHROUGH (1U << 7)

/* The most data of one READ, WRITE or listing that we ask for in INIT (max_write, max_pages). */
#define WARD_FUSE_MESSAGE_DATA (1U << 20)

/* INIT, second word of flags: bit 37 of the whole (7.40). */
#define WARD_FUSE_PASSTHROUGH_FLAG2 (1U << 5)

/*
 * struct fuse_init_out from 7.40 on: max_stack_depth took the place of one unused word.
 * struct fuse_open_out: backing_id took the place of the padding.
 */
#define WARD_INIT_OUT_SIZE 64U
#define WARD_INIT_OUT_STACK_DEPTH 36U

struct ward_open_out {
	uint64_t fh;
	uint32_t open_flags;
	int32_t backing_id;
};

struct ward_backing_map {
	int32_t fd;
	uint32_t flags;
	uint64_t padding;
};

#define WARD_DEV_IOC_BACKING_OPEN _IOW(229, 1, struct ward_backing_map)
#define WARD_DEV_IOC_BACKING_CLOSE _IOW(229, 2, uint32_t)

/* From Linux 6.2 on the mounts of user namespaces have POSIX ACLs, for FUSE_POSIX_ACL. */
#define WARD_FUSE_MINOR_USER_ACL 38U

/* A notification without a body: no entry counts any more (7.44, Linux 6.16). */
#define WARD_FUSE_MINOR_EPOCH 44U
#define WARD_FUSE_NOTIFY_INC_EPOCH 8

/*
 * FUSE over io_uring (7.42, Linux 6.14): bit 41 of the flags of INIT, and the commands of
 * IORING_OP_URING_CMD on /dev/fuse.
 */
#define WARD_FUSE_OVER_IO_URING_FLAG2 (1U << 9)
#define WARD_FUSE_URING_REGISTER 1U
#define WARD_FUSE_URING_COMMIT_AND_FETCH 2U

/* struct fuse_uring_ent_in_out */
struct ward_uring_ent {
	uint64_t flags;
	uint64_t commit_id; /* of the request; goes into its command */
	uint32_t payload_sz;
	uint32_t padding;
	uint64_t reserved;
};

/* struct fuse_uring_req_header: what does not depend on the operation, and its first argument. */
struct ward_uring_head {
	union {
		struct fuse_in_header in;
		struct fuse_out_header out;
		char in_out[128];
	};
	char op_in[128];
	struct ward_uring_ent ent;
};

/* struct fuse_uring_cmd_req: in the second half of the submission entry (IORING_SETUP_SQE128). */
struct ward_uring_cmd {
	uint64_t flags;
	uint64_t commit_id;
	uint16_t qid; /* the CPU */
	uint8_t padding[6];
};

/* max_payload_sz of fuse_uring_create(): FUSE_MIN_READ_BUFFER at least. */
#define WARD_URING_PAYLOAD_MIN 8192U
/* The low bit of unique tells an interrupt from its request (fs/fuse/fuse_i.h: FUSE_INT_REQ_BIT).
 */
#define WARD_FUSE_INTERRUPT_BIT UINT64_C(1)

/* Set by the kernel in the flags of an open done by execve (fs.h: __FMODE_EXEC). */
#define WARD_FMODE_EXEC 0x20

/* statx(2) of what GETATTR does not carry: the time of birth (7.39, Linux 6.6). */
#define WARD_FUSE_STATX 52

struct ward_sx_time {
	int64_t sec;
	uint32_t nsec;
	int32_t reserved;
};

struct ward_statx {
	uint32_t mask, blksize;
	uint64_t attributes;
	uint32_t nlink, uid, gid;
	uint16_t mode, spare0;
	uint64_t ino, size, blocks, attributes_mask;
	struct ward_sx_time atime, btime, ctime, mtime;
	uint32_t rdev_major, rdev_minor, dev_major, dev_minor;
	uint64_t spare2[14];
};

struct ward_statx_out {
	uint64_t attr_valid;
	uint32_t attr_valid_nsec, flags;
	uint64_t spare[2];
	struct ward_statx stat;
};

_Static_assert(sizeof(struct ward_statx) == 256, "statx");
_Static_assert(sizeof(struct ward_statx_out) == 288, "statx_out");
_Static_assert(sizeof(struct ward_open_out) == sizeof(struct fuse_open_out), "open_out");
_Static_assert(sizeof(struct fuse_init_out) == WARD_INIT_OUT_SIZE, "init_out");
_Static_assert(sizeof(struct fuse_entry_out) == 128, "entry_out");
_Static_assert(sizeof(struct fuse_in_header) == 40, "in_header");
_Static_assert(sizeof(struct ward_uring_head) == 288, "uring_head");
_Static_assert(offsetof(struct ward_uring_head, op_in) == 128, "op_in");
_Static_assert(offsetof(struct ward_uring_head, ent) == 256, "ent");
_Static_assert(sizeof(struct ward_uring_cmd) == 24, "uring_cmd");
_Static_assert(offsetof(struct fuse_in_header, unique) == offsetof(struct fuse_out_header, unique),
	"unique");
