/* SPDX-License-Identifier: Apache-2.0 */
/* Which nodes can be written to. */
#include "fs/handle/written_nodes.h"

#include <stdlib.h>

#define ROOM_START 64U

static bool counts(const struct ward_node *node)
{
	return node->n_writers || node->mapped;
}

/* Those that do not count any more go. */
static void compact(struct ward_nodes *nodes)
{
	size_t n = 0;

	for (size_t i = 0; i < nodes->n_written; i++) {
		struct ward_node *node = ward_node_ids_find(&nodes->ids, nodes->written[i]);

		if (!node || !node->listed)
			continue;
		if (counts(node))
			nodes->written[n++] = nodes->written[i];
		else
			node->listed = false;
	}
	nodes->n_written = n;
}

void ward_written_add(struct ward_nodes *nodes, struct ward_node *node)
{
	const size_t room = nodes->room_written ? nodes->room_written * 2 : ROOM_START;
	uint64_t *v;

	if (node->listed || nodes->written_lost)
		return;
	if (nodes->n_written == nodes->room_written) {
		compact(nodes);
		/* Keep at least half free, lest the next entries compact it again. */
		if (nodes->n_written * 2 >= nodes->room_written) {
			v = reallocarray(nodes->written, room, sizeof(*v));
			if (!v) {
				nodes->written_lost = true;
				return;
			}
			nodes->written = v;
			nodes->room_written = room;
		}
	}
	nodes->written[nodes->n_written++] = node->number;
	node->listed = true;
}

void ward_written_again(struct ward_nodes *nodes, struct ward_node *node)
{
	if (!node->listed)
		return;
	node->listed = false;
	ward_written_add(nodes, node);
}

/* Each place of the table of numbers. */
static struct ward_node *next_of_all(struct ward_nodes *nodes, uint64_t *io_at)
{
	uint64_t number = *io_at;
	struct ward_node *node = NULL;

	while (!node && (number = ward_node_ids_next(&nodes->ids, number))) {
		*io_at = number;
		node = ward_node_ids_find(&nodes->ids, number);
		if (!counts(node))
			node = NULL;
	}
	return node;
}

struct ward_node *ward_written_next(struct ward_nodes *nodes, uint64_t *io_at)
{
	if (nodes->written_lost)
		return next_of_all(nodes, io_at);
	while (*io_at < nodes->n_written) {
		struct ward_node *node =
			ward_node_ids_find(&nodes->ids, nodes->written[(*io_at)++]);

		if (node && counts(node))
			return node;
	}
	return NULL;
}
