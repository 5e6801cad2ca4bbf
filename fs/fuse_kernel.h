/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Constants and structs of the FUSE protocol that Debian 12's <linux/fuse.h> (7.38) lacks. Source:
 * include/uapi/linux/fuse.h of Linux 6.9 (7.40, passthrough) and later.
 */
#pragma once

#include <linux/fuse.h>
#include <stdint.h>
#include <sys/ioctl.h>

/* OPEN and CREATE replies: read and write go to the backing file (7.40). */
#define WARD_FOPEN_PASSTHROUGH (1U << 7)

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

/* A notification without a body: no entry counts any more (7.44, Linux 6.16). */
#define WARD_FUSE_MINOR_EPOCH 44U
#define WARD_FUSE_NOTIFY_INC_EPOCH 8

/* Set by the kernel in the flags of an open done by execve (fs.h: __FMODE_EXEC). */
#define WARD_FMODE_EXEC 0x20

_Static_assert(sizeof(struct ward_open_out) == sizeof(struct fuse_open_out), "open_out");
_Static_assert(sizeof(struct fuse_init_out) == WARD_INIT_OUT_SIZE, "init_out");
_Static_assert(sizeof(struct fuse_entry_out) == 128, "entry_out");
