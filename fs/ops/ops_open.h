/* SPDX-License-Identifier: Apache-2.0 */
/* What the ways of opening a file share: ops_open.c (OPEN, CREATE), exec_open.c and
 * ops_tmpfile.c. */
#pragma once

#include <fcntl.h>

#include "fs/base/fuse_kernel.h"
#include "fs/request/op.h"
#include "fs/request/quota_name.h"

/* What of the client's flags reaches the backing beside the access mode. */
#define WARD_OPEN_PASSED (O_SYNC | O_DSYNC | O_NOATIME)

/* What an open asks of the policy. */
struct ward_want {
	uint32_t rights;
	uint32_t alt; /* appending will do; 0: it will not */
	int acc;      /* O_RDONLY, O_WRONLY or O_RDWR */
	bool trunc;
};
/* flags: of open(2), with FMODE_EXEC. fresh: the file was just made. */
struct ward_want ward_want_from_flags(int flags, bool fresh);

/*
 * From an open descriptor (taken, also on failure) to a handle, with the rights that were granted.
 * use: its file under quotas, in use since before it was opened; the handle takes it over. *ret_id:
 * backing id, 0: none. -ENOMEM, -ETXTBSY, -ESTALE (the rights have changed meanwhile).
 */
struct ward_opened {
	int fd;
	int flags; /* of open(2) */
	bool made; /* it is new */
	uint32_t granted;
	struct ward_quota_use *use;
	const struct stat *committed; /* as it was decided; NULL: no secret */
};
int ward_open_handle(struct ward_op *op, struct ward_node *node, struct ward_opened *o,
	const struct ward_want *w, struct ward_handle **ret, int32_t *ret_id) ward_must_check;

/*
 * Opens for execve(2) what the caller may execute but not read. Only where many users share the
 * tree: there the kernel checks modes itself, and lets nobody trace or dump a process whose program
 * the caller may not read. Else, and where the caller may not execute it: -EACCES.
 */
int ward_open_executable(struct ward_op *op, struct ward_node *node, int *ret_fd,
	struct ward_file *ret_file) ward_must_check;

/* The parts of the answers; libfuse has none that carries a backing id. */
struct ward_open_out ward_open_reply(
	struct ward_fs_tree *tree, struct ward_handle *h, const struct stat *st, int32_t id);
void ward_open_entry(const struct fuse_entry_param *e, struct fuse_entry_out *out);
