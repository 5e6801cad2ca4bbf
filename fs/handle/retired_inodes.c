/* SPDX-License-Identifier: Apache-2.0 */
/* Gives a node another number, so that its old inode can go bad in the kernel. */
#include "fs/handle/retired_inodes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fs/handle/handle.h"
#include "fs/handle/written_nodes.h"

/* Locked. */
static int note(struct ward_nodes *nodes, uint64_t number)
{
	if (nodes->n_retired == nodes->room_retired) {
		const size_t room = nodes->room_retired ? nodes->room_retired * 2 : 16;
		uint64_t *v = reallocarray(nodes->retired, room, sizeof(*v));

		if (!v)
			return -ENOMEM;
		nodes->retired = v;
		nodes->room_retired = room;
	}
	nodes->retired[nodes->n_retired++] = number;
	return 0;
}

static void retire_handle(struct ward_handle *h)
{
	h->retired = true;
	h->io_why = "taken back by another policy: reads and writes fail, but mmap, sendfile and "
		    "splice work until it is closed";
}

void ward_retire(struct ward_nodes *nodes, struct ward_node *node)
{
	const uint64_t old = node->number;
	uint64_t number = 0;
	int r = ward_node_ids_take(&nodes->ids, node, &number);

	if (r == 0)
		r = note(nodes, old);
	if (r < 0) {
		if (number)
			ward_node_ids_give(&nodes->ids, number);
		node->retired = true;
		return;
	}
	ward_node_ids_give(&nodes->ids, old);
	node->number = number;
	ward_written_again(nodes, node);
	/* The kernel's lookups were of the old number; the handles keep the node. */
	node->nlookup = 0;
	node->n_pass = 0;
	node->n_cached = 0;
	for (struct ward_handle *h = node->handles; h; h = h->next)
		retire_handle(h);
}

bool ward_retire_told(struct ward_nodes *nodes, uint64_t number)
{
	const struct ward_node *node;
	bool bad;

	pthread_mutex_lock(&nodes->lock);
	node = ward_node_ids_find(&nodes->ids, number);
	bad = node && node->retired;
	for (size_t i = 0; !node && i < nodes->n_retired; i++) {
		if (nodes->retired[i] != number)
			continue;
		nodes->retired[i] = nodes->retired[--nodes->n_retired];
		bad = true;
		break;
	}
	pthread_mutex_unlock(&nodes->lock);
	return bad;
}

size_t ward_retire_list(struct ward_nodes *nodes, uint64_t *ret, size_t max, size_t *ret_all)
{
	size_t n;

	pthread_mutex_lock(&nodes->lock);
	n = nodes->n_retired < max ? nodes->n_retired : max;
	if (n)
		memcpy(ret, nodes->retired, n * sizeof(*ret));
	*ret_all = nodes->n_retired;
	pthread_mutex_unlock(&nodes->lock);
	return n;
}
