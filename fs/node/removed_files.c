/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps descriptors of files without a name. */
#include "fs/node/removed_files.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "fs/node/node_names.h"

/* Locked. */
static struct ward_removed *slot_of(const struct ward_nodes *nodes, const struct ward_node *node)
{
	for (size_t i = 0; i < WARD_REMOVED_MAX; i++)
		if (nodes->removed[i].node == node)
			return &nodes->removed[i];
	return NULL;
}

/* Locked: is it known under one name alone? Links elsewhere show in what the descriptor says. */
static bool one_name(const struct ward_node *node)
{
	unsigned live = 0;

	for (const struct ward_name *n = node->names; n && live < 2; n = ward_node_name_older(n))
		live += n->live;
	return live == 1;
}

bool ward_removed_wanted(const struct ward_name *n)
{
	return !n->node->dir && one_name(n->node) && !n->node->fd_kept;
}

void ward_removed_keep(struct ward_nodes *nodes, const struct ward_name *n, int fd)
{
	struct ward_removed *slot = slot_of(nodes, NULL);

	if (!slot)
		slot = &nodes->removed[nodes->next_removed++ % WARD_REMOVED_MAX];
	if (slot->node)
		ward_removed_drop(nodes, slot->node);
	*slot = (struct ward_removed){.node = n->node, .fd = fd};
	n->node->fd_kept = true;
}

int ward_removed_fd(struct ward_nodes *nodes, const struct ward_node *node)
{
	const struct ward_removed *slot;
	int fd = -ESTALE;

	pthread_mutex_lock(&nodes->lock);
	slot = node->fd_kept ? slot_of(nodes, node) : NULL;
	if (slot && (fd = fcntl(slot->fd, F_DUPFD_CLOEXEC, 0)) < 0)
		fd = -ESTALE;
	pthread_mutex_unlock(&nodes->lock);
	return fd;
}

void ward_removed_drop(struct ward_nodes *nodes, struct ward_node *node)
{
	struct ward_removed *slot = node->fd_kept ? slot_of(nodes, node) : NULL;

	node->fd_kept = false;
	if (!slot)
		return;
	close(slot->fd);
	*slot = (struct ward_removed){.fd = -1};
}
