/* SPDX-License-Identifier: Apache-2.0 */
/* Puts another policy in force and takes from open files what it takes. */
#include "fs/policy_swap.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/ipc/helper.h"
#include "fs/base/request_turn.h"
#include "fs/gate/gate.h"
#include "fs/handle/handle.h"
#include "fs/handle/retired_inodes.h"
#include "fs/kernel/answer_later.h"
#include "fs/kernel/forget_queue.h"
#include "fs/quota/quota.h"

/* -EBUSY: some request is under way for too long. Between tries, the others go on. */
static int take_turn(struct ward_fs *fs)
{
	for (unsigned i = 0; i < WARD_SWAP_TRIES; i++) {
		int r = ward_turn_all(fs, WARD_SWAP_TRY_MS);

		if (r != -ETIMEDOUT)
			return r;
		(void)poll(NULL, 0, WARD_SWAP_TRY_MS);
	}
	return -EBUSY;
}

/* --- what was open --- */

/* Locked: takes what the handle no longer has. True: the kernel must be made to let go of it. */
static bool lower(struct ward_handle *h, uint32_t now, struct ward_swapped *ret)
{
	const bool appends = h->flags & O_APPEND && !h->append_only;
	const bool own = h->io == WARD_IO_PASSTHROUGH || h->paired;
	uint32_t lost;

	h->rights &= now;
	lost = h->needs & ~h->rights;
	if (!lost || h->retired)
		return false;
	if (own) {
		ret->passthrough++;
		return true;
	}
	if (h->is_dir)
		ret->directories++;
	else
		ret->checked++;
	/* A handle that only appends goes on: each write lands at the end from now on. */
	if (lost == WARD_RIGHT_WRITE && appends && h->rights & WARD_RIGHT_APPEND) {
		h->append_only = true;
		h->needs = (h->needs & ~(uint32_t)WARD_RIGHT_WRITE) | WARD_RIGHT_APPEND;
		ret->checked--;
	}
	if (lost & WARD_RIGHT_WRITE && h->writes) {
		h->writes = false;
		h->node->n_writers--;
	}
	return false;
}

/* Locked. */
static void lower_handles(struct ward_nodes *nodes, struct ward_swapped *ret)
{
	struct ward_handle *h;

	LIST_FOREACH(h, &nodes->handles, all) {
		const uint32_t now =
			h->n_held ? ward_gate_rights_granted(nodes->tree, h->node, h->pid)
				  : ward_gate_rights(nodes->tree, h->node);

		if (lower(h, now, ret))
			ward_retire(nodes, h->node);
	}
}

/* --- the swap --- */

int ward_swap_folded(const struct ward_fs *fs, const struct ward_policy *policy,
	struct ward_policy **ret, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf blob = WARD_BUF_INIT;
	const struct ward_fs_tree *tree = NULL;
	int r;

	for (size_t i = 0; i < fs->n_trees && !tree; i++)
		tree = fs->trees[i].folds ? &fs->trees[i] : NULL;
	*ret = NULL;
	if (!tree)
		return 0;
	if (!ward_policy_folds(policy))
		return ward_err_set(err, -EOPNOTSUPP,
			"the file system of %s treats several spellings as one name; fix: [guard] fold = yes",
			tree->path);
	r = ward_policy_encode(policy, &blob);
	if (r < 0)
		return ward_err_sys(err, r, "policy");
	return ward_policy_decode_folded(blob.data, blob.len, ret, err);
}

void ward_swap_settings(struct ward_fs *fs)
{
	const struct ward_settings *s = ward_policy_settings(fs->policy);

	for (size_t i = 0; i < fs->n_trees; i++)
		/* Of a single file one name is known, and nobody writes to it here. */
		if (fs->trees[i].files)
			fs->trees[i].hardlinks = WARD_HARDLINKS_READ;
	for (size_t i = 0; i < fs->n_trees; i++)
		for (size_t j = 0; j < s->n_trees; j++)
			if (!fs->trees[i].files && !strcmp(fs->trees[i].path, s->trees[j].path))
				fs->trees[i].hardlinks = s->trees[j].hardlinks;
}

/* The home has no tree in the policy: it follows those that have. */
static bool asks_acl(const struct ward_fs_tree *tree, const struct ward_settings *s)
{
	const bool home = strcmp(tree->path, WARD_HOME_PATH) == 0;

	for (size_t i = 0; i < s->n_trees; i++)
		if (s->trees[i].acl && (home || strcmp(tree->path, s->trees[i].path) == 0))
			return true;
	return false;
}

void ward_swap_acl(struct ward_fs *fs)
{
	const struct ward_settings *s = ward_policy_settings(fs->policy);

	for (size_t i = 0; i < fs->n_trees; i++)
		if (fs->flags & WARD_FS_ALLOW_OTHER)
			fs->trees[i].acl = true;
		else if (fs->flags & WARD_FS_MASK_IDS && !fs->trees[i].files)
			/* Elsewhere the mount is of the initial user namespace, which has ACLs
			 * without the flag. */
			fs->trees[i].acl = asks_acl(&fs->trees[i], s);
}

static int find_roots(
	const struct ward_fs *fs, const struct ward_policy *policy, const struct ward_state **roots)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < fs->n_trees; i++)
		r = ward_policy_walk(policy, fs->trees[i].path, fs->trees[i].path_len, &roots[i]);
	return r;
}

static void put_roots(const struct ward_fs *fs, const struct ward_policy *policy,
	const struct ward_state *const *roots)
{
	for (size_t i = 0; i < fs->n_trees; i++)
		ward_policy_state_put(policy, roots[i]);
}

/*
 * In its turn: from here to the end no request is under way. Gives the old roots in roots, and in
 * *folded the old one.
 */
static void exchange(struct ward_fs *fs, struct ward_policy *policy, struct ward_policy **folded,
	const struct ward_state **roots, struct ward_swapped *ret)
{
	struct ward_policy *old = fs->folded;

	fs->policy = policy;
	fs->folded = *folded;
	*folded = old;
	ward_swap_settings(fs);
	for (size_t i = 0; i < fs->n_trees; i++) {
		struct ward_nodes *nodes = fs->trees[i].nodes;

		pthread_mutex_lock(&nodes->lock);
		roots[i] = ward_nodes_set_policy(nodes, policy, roots[i]);
		lower_handles(nodes, ret);
		pthread_mutex_unlock(&nodes->lock);
		/* Nothing prepared before the request is used. */
		atomic_fetch_add(&fs->trees[i].outside_seq, 1);
	}
	ret->mono_ns = ward_clock_mono_ns();
}

static bool forget_all(struct ward_fs *fs)
{
	const uint64_t until = ward_clock_mono_ns() + WARD_SWAP_FORGET_MS * UINT64_C(1000000);
	uint64_t ticket[WARD_TREES_MAX];
	bool done = true;

	for (size_t i = 0; i < fs->n_trees; i++)
		ticket[i] = ward_forget_everything(fs->trees[i].forget);
	for (size_t i = 0; i < fs->n_trees; i++)
		done = ward_forget_wait(fs->trees[i].forget, ticket[i], until) && done;
	return done;
}

static void policy_put(struct ward_policy **policy)
{
	ward_policy_unref(*policy);
}

int ward_swap(struct ward_fs *fs, struct ward_policy *policy, struct ward_swapped *ret,
	struct ward_err *err)
{
	const struct ward_state *roots[WARD_TREES_MAX] = {NULL};
	struct ward_policy *old = fs->policy;
	ward_cleanup(policy_put) struct ward_policy *folded = NULL;
	struct ward_swapped done = {.mono_ns = 0};
	int r = ward_delay_ready(fs->delay, policy, err);

	if (r == 0)
		r = ward_swap_folded(fs, policy, &folded, err);
	if (r < 0)
		return r;
	r = find_roots(fs, policy, roots);
	if (r == 0)
		r = take_turn(fs);
	if (r < 0) {
		put_roots(fs, policy, roots);
		return r == -EBUSY
			       ? ward_err_set(err, r,
					 "the old policy stays in force, because a request waited for the disk all the time; try again")
			       : ward_err_sys(err, r, "policy");
	}
	r = ward_quotas_reload(fs->quotas, ward_policy_settings(policy));
	if (r == 0)
		exchange(fs, policy, &folded, roots, &done);
	ward_turn_end(fs);
	if (r < 0) {
		put_roots(fs, policy, roots);
		return ward_err_sys(err, r, "quotas");
	}
	done.forgotten = forget_all(fs);
	put_roots(fs, old, roots);
	for (size_t i = 0; i < fs->n_trees; i++)
		ward_nodes_sweep(fs->trees[i].nodes);
	ward_policy_unref(old);
	*ret = done;
	return 0;
}
