/* SPDX-License-Identifier: Apache-2.0 */
/* What moved directories and ended nodes mean to the kernel, the watches and the quotas. */
#include "fs/watch/node_hooks.h"

#include "fs/kernel/forget_queue.h"
#include "fs/kernel/passthrough.h"
#include "fs/quota/quota.h"
#include "fs/review/review_size.h"
#include "fs/watch/backing_watch.h"

static void moved(struct ward_fs_tree *tree, uint64_t number)
{
	ward_forget_dir(tree->forget, number);
}

static void ended(struct ward_fs_tree *tree, const struct ward_node *node)
{
	const struct ward_quota_id id = {
		.dev = tree->dev, .ino = node->id.ino, .btime_ns = node->id.btime_ns};

	if (node->backing_id > 0)
		ward_passthrough_close(tree, node->backing_id);
	if (node->quota_held)
		ward_quota_unhold(tree->fs->quotas, &id);
	if (node->quota_held && tree->fs->review)
		ward_review_forgotten(tree->fs->review, &node->id);
}

const struct ward_nodes_hooks ward_node_hooks = {
	.moved = moved, .unwatch = ward_watch_drop, .ended = ended};
