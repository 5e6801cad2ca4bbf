/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What wardfs-fs writes into the trail. -EIO from any of these: the operation must fail with it. r
 * is what became of an operation: a negative errno, else it was done. by is what the gate allowed
 * it by; with the verdict 0 it was not asked.
 */
#pragma once

#include "enforcer/policy/policy.h"
#include "fs/request/op.h"

/* Paths of a record: node, or name below node; the second pair where there are two. */
struct ward_record_paths {
	struct ward_node *node;
	const char *name;	 /* NULL: node itself */
	struct ward_node *node2; /* NULL: there is no second path */
	const char *name2;
	const char *target;	 /* of a symbolic link, in place of a second path; or NULL */
	const char *xattr;	 /* whose value changes, or NULL */
	const struct stat *attr; /* what is set of it, ids as the backing has them; or NULL */
	int to_set;		 /* FUSE_SET_ATTR_MODE, UID, GID, SIZE of it */
	/* What was just found there, and under the second name; NULL: as the tables have it. */
	const struct ward_file *file, *file2;
};

int ward_record_deny(struct ward_op *op, const struct ward_record_paths *paths, uint32_t asked,
	const struct ward_decision *d, const char *text) ward_must_check;
/* A grant was used at mono_ns, for these rights, or its uses are spent with this one (then
 * `expire`, too). */
struct ward_grant_held;
int ward_record_use(struct ward_op *op, const struct ward_record_paths *paths,
	const struct ward_grant_held *held, uint32_t rights, uint64_t mono_ns) ward_must_check;
/* A grant has ended. No request is about it. */
int ward_record_expire(
	struct ward_fs *fs, const struct ward_grant_held *held, const char *result) ward_must_check;
/* A step of a review session: made, gone back to, or refused. by: who asked. */
struct ward_stepper;
struct ward_record_step {
	const char *action, *result; /* "mark", "back"; "begun", "done", "refused" */
	const struct ward_stepper *by;
	const char *name, *text; /* or NULL */
	uint32_t step, before;	 /* 0: none */
	size_t names, files;	 /* that a step back changed */
};
int ward_record_step(struct ward_fs *fs, const struct ward_record_step *s) ward_must_check;
/* A refusal by [quota]. */
struct ward_quota_hit;
int ward_record_quota(struct ward_op *op, const struct ward_record_paths *paths,
	const struct ward_quota_hit *hit) ward_must_check;
/*
 * OPEN or CREATE of a file, paths->file; io as told to the kernel. Nothing unless the log holds
 * opens.
 */
int ward_record_open(struct ward_op *op, enum ward_event_kind kind,
	const struct ward_record_paths *paths, struct ward_handle *h, uint32_t asked,
	const struct ward_decision *by) ward_must_check;
/*
 * log = io: CREATE of a file that is about to be made and opened; its OPEN follows. r < 0: it was
 * not made. Nothing with another log, where ward_record_open() says CREATE of what is open.
 */
int ward_record_making(struct ward_op *op, const struct ward_record_paths *paths,
	const struct ward_decision *by, int r) ward_must_check;
/*
 * log = io: `action` moved n bytes at `off` through h, or is about to. Nothing with another log.
 */
int ward_record_io(const struct ward_op *op, const struct ward_handle *h, const char *action,
	off_t off, size_t n, int r) ward_must_check;
/*
 * fallocate(2) with these arguments, about to be done, or r: what it failed with. log = io: each.
 * log = opens: one that clears or moves content, which no number of bytes written would tell.
 */
int ward_record_fallocate(const struct ward_op *op, const struct ward_handle *h, int mode,
	off_t off, off_t len, int r) ward_must_check;
/*
 * log = io: a lock was taken, refused or given back; op->action tells which kind. type as fcntl(2)
 * has it (F_RDLCK …), of flock(2) the same. len 0: to the end.
 */
int ward_record_lock(const struct ward_op *op, const struct ward_handle *h, int type, off_t off,
	off_t len, int r) ward_must_check;
/* With `hash`, reads the file: on a thread of the pool. */
int ward_record_close(struct ward_op *op, struct ward_handle *h) ward_must_check;
/*
 * RENAME, LINK, REMOVE, ATTR, XATTR, and CREATE of what is not opened: before it is done, since
 * what was done cannot be taken back when the record fails.
 */
int ward_record_change(struct ward_op *op, enum ward_event_kind kind,
	const struct ward_record_paths *paths, const struct ward_decision *by) ward_must_check;
/*
 * After it. A failure is said by a second record with its errno. Returns r:
 * a failed operation fails whether or not that could be recorded.
 */
int ward_record_outcome(struct ward_op *op, enum ward_event_kind kind,
	const struct ward_record_paths *paths, const struct ward_decision *by,
	int r) ward_must_check;
