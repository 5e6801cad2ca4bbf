/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One request being served: who asks, for what. Lives on the handler's stack; its clean-up takes
 * the caller's identity off the thread again.
 */
#pragma once

#include <fuse3/fuse_lowlevel.h>

#include "enforcer/base/cleanup.h"
#include "fs/base/fs.h"
#include "fs/handle/handle.h"
#include "fs/node/node.h"

/* Of one request: a rename needs several rights at two names. */
#define WARD_OP_GRANTS_MAX 8U

struct ward_op {
	struct ward_fs_tree *tree;
	fuse_req_t req;
	const char *action; /* the system call's noun, for the trail */
	uint32_t pid, uid, gid;
	uint64_t since; /* tree->watch_seq before anything was looked at (keep_time.h) */
	bool acting;	/* the thread has the caller's fsuid, fsgid and groups */
	bool asks;	/* only whether it may: no use of a grant */
	bool shown;	/* a name shows by a grant alone: the kernel keeps nothing of it */
	/* Grants that it was allowed by: what it opens ends with any of them. */
	struct ward_grant_held *held[WARD_OP_GRANTS_MAX];
	unsigned n_held;
	/* The kernel holds no lock for this request: it may wait for a person (questions.h). */
	bool may_wait;
	uint32_t question;	/* the one that its refusal has put, or joined; 0: none */
	uint32_t question_path; /* which of that question's paths it is about */
};

/*
 * Fills op; in WARD_FS_ALLOW_OTHER mode makes the thread act as the caller. Returns 0 or a negative
 * errno (the caller's identity could not be obtained: the request must be refused).
 */
int ward_op_begin(struct ward_op *op, fuse_req_t req, const char *action) ward_must_check;
/* The same for a request that libfuse does not know; op->req is NULL. */
struct fuse_in_header;
int ward_op_begin_raw(struct ward_op *op, struct ward_fs_tree *tree,
	const struct fuse_in_header *in, const char *action) ward_must_check;
/* The same for requests on an open handle, where the caller's groups no longer matter. */
int ward_op_begin_io(struct ward_op *op, fuse_req_t req) ward_must_check;
/* Takes the identity off; also before the end, where the caller's rights matter no more. */
void ward_op_end(struct ward_op *op);
/* Who asked for what this thread does: a thread of the client, as requests have it. */
uint32_t ward_op_asker(void);
/* What this thread serves; NULL: nothing. */
struct ward_op *ward_op_current(void);
#define ward_cleanup_op ward_cleanup(ward_op_end) struct ward_op

/* The node of a request's number. */
static inline struct ward_node *ward_op_node(const struct ward_op *op, fuse_ino_t ino)
{
	return ward_nodes_from_ino(op->tree->nodes, ino);
}

/* h was opened by this request: it ends with the grants that allowed it. */
void ward_op_hold(const struct ward_op *op, struct ward_handle *h);

/* Answers with a negative errno or 0; what the kernel no longer wants to know is nobody's error. */
void ward_op_reply(struct ward_op *op, int r);
/*
 * The answer to a request of ward_op_begin_raw(): error (0 or a negative errno) and len bytes.
 * False: the kernel did not take it.
 */
bool ward_op_reply_raw(
	const struct ward_op *op, uint64_t unique, int error, const void *data, size_t len);

/*
 * Metadata of node as the agent is to see it: ids mapped, directories without what tells of hidden
 * names in them. nodes->lock is not held.
 */
void ward_op_map_stat(struct ward_fs_tree *tree, struct ward_node *node, struct stat *st);
/* An id of a chown request, back to the host's. */
uid_t ward_op_unmap_uid(const struct ward_fs *fs, uid_t uid);
gid_t ward_op_unmap_gid(const struct ward_fs *fs, gid_t gid);
