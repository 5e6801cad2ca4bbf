/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quotas and names: in which domain of quota.h a node lies, and what making, linking and removing
 * names does to it. Everything is nothing where no quota is above the name. Refusals are recorded.
 */
#pragma once

#include "fs/quota/quota.h"
#include "fs/request/fs_records.h"
#include "fs/request/op.h"

/* The domain of node, or of its child name if that is not NULL; NULL: none wants to know. */
struct ward_quota_domain *ward_quota_at(
	struct ward_fs_tree *tree, struct ward_node *node, const char *name);

/* The file of node, in use; *ret NULL where it is in no domain. -ENOMEM; -EDQUOT where its names
 * lie in several and the caller wants to write. */
int ward_quota_pin(struct ward_op *op, struct ward_node *node, bool write,
	struct ward_quota_file **ret) ward_must_check;

/* A file that is given back at the end of a block, unless a handle took it over. */
struct ward_quota_use {
	struct ward_quotas *q;
	struct ward_quota_file *f;
};
static inline void ward_quota_use_end(struct ward_quota_use *u)
{
	ward_quota_put(u->q, u->f);
	u->f = NULL;
}

/*
 * -EXDEV where what stands at name would come to be in another domain, or (a directory) something
 * beneath it would. exchange: also the other way round.
 */
int ward_quota_check_move(struct ward_op *op, const struct ward_record_paths *paths, bool dir,
	bool dir2, bool exchange) ward_must_check;

/* A name that is about to be made, and what was taken for it. */
struct ward_quota_new {
	struct ward_quota_domain *domain; /* NULL: none */
	uint64_t bytes;
};
/* inherited: bytes of ACLs that come with it. -EDQUOT. */
int ward_quota_new_begin(struct ward_op *op, struct ward_node *parent, const char *name,
	const char *target, uint64_t inherited, struct ward_quota_new *ret) ward_must_check;
/* The same for a file without a name in parent. */
int ward_quota_new_unnamed(struct ward_op *op, struct ward_node *parent, uint64_t inherited,
	struct ward_quota_new *ret) ward_must_check;
/* It was made: the file, in use; NULL where there is no domain or no memory. */
struct ward_quota_file *ward_quota_new_done(struct ward_op *op, const struct ward_quota_new *n,
	const struct ward_file *file, bool named);
/* It was not. */
void ward_quota_new_undo(struct ward_op *op, const struct ward_quota_new *n);

/* A name that is about to go. */
struct ward_quota_old {
	struct ward_quota_file *file; /* NULL: none */
	int fd;			      /* O_PATH of what stands there */
	int lease_fd;		      /* to see whether anybody has it open; -1: no need */
	bool is_dir, locked;
	struct ward_file seen; /* with file: what stands there */
};
/* name below dirfd; -EDQUOT: too many went already (churn). */
int ward_quota_old_begin(struct ward_op *op, const struct ward_record_paths *paths, int dirfd,
	const char *name, struct ward_quota_old *ret) ward_must_check;
/* It goes now: until _end() nobody changes its size. */
void ward_quota_old_lock(struct ward_op *op, struct ward_quota_old *o);
void ward_quota_old_end(struct ward_op *op, struct ward_quota_old *o, bool removed);

/* What is known under name, before the backing is looked at for the call below. */
uint64_t ward_quota_before(struct ward_fs_tree *tree, struct ward_node *parent, const char *name);
/*
 * now (NULL: nothing) was seen at name: if others have removed or replaced what was known there,
 * what it was charged is given back once the kernel forgets it. What was made here since `before`
 * is not meant. renames_lock has been held since the look.
 */
void ward_quota_missing(struct ward_fs_tree *tree, struct ward_node *parent, const char *name,
	uint64_t before, const struct ward_file *now);

/* A further name for a file; then _end() with what came of it. -EXDEV, -EDQUOT. */
int ward_quota_link_begin(struct ward_op *op, const struct ward_record_paths *paths, bool unnamed,
	struct ward_quota_file **ret) ward_must_check;
void ward_quota_link_end(struct ward_op *op, struct ward_quota_file *f, bool unnamed, int r);

/* What is not the session's is about to be changed. -EDQUOT; 0 where it is. */
int ward_quota_touch(struct ward_op *op, const struct ward_record_paths *paths,
	struct ward_quota_file *f) ward_must_check;

/* Says no, with a record: the negative errno of hit, or -EIO. */
int ward_quota_say(struct ward_op *op, const struct ward_record_paths *paths,
	const struct ward_quota_hit *hit) ward_must_check;
