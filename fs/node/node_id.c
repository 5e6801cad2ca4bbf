/* SPDX-License-Identifier: Apache-2.0 */
/* Gives nodes their numbers and finds nodes by them. */
#include "fs/node/node_id.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST 2U
#define ROOM_START 256U

static int grow(struct ward_node_ids *ids)
{
	const uint32_t room = ids->room ? ids->room * 2 : ROOM_START;
	struct ward_node_slot *v;

	if (room < ids->room || !(v = reallocarray(ids->v, room, sizeof(*v))))
		return -ENOMEM;
	ids->v = v;
	ids->room = room;
	if (!ids->n)
		ids->n = FIRST;
	return 0;
}

int ward_node_ids_take(struct ward_node_ids *ids, struct ward_node *node, uint64_t *ret)
{
	uint32_t at = ids->free;

	if (at) {
		ids->free = ids->v[at].next_free;
	} else {
		if (ids->n == ids->room && grow(ids) < 0)
			return -ENOMEM;
		at = ids->n++;
		ids->v[at].uses = 0;
	}
	ids->v[at].node = node;
	*ret = (uint64_t)ids->v[at].uses << 32 | at;
	return 0;
}

struct ward_node *ward_node_ids_find(const struct ward_node_ids *ids, uint64_t id)
{
	const uint32_t at = (uint32_t)id;

	if (at < FIRST || at >= ids->n || ids->v[at].uses != id >> 32)
		return NULL;
	return ids->v[at].node;
}

void ward_node_ids_give(struct ward_node_ids *ids, uint64_t id)
{
	const uint32_t at = (uint32_t)id;

	if (!ward_node_ids_find(ids, id))
		return;
	ids->v[at].node = NULL;
	ids->v[at].uses++;
	ids->v[at].next_free = ids->free;
	ids->free = at;
}

uint64_t ward_node_ids_next(const struct ward_node_ids *ids, uint64_t id)
{
	for (uint32_t at = (uint32_t)id + 1; at < ids->n; at++)
		if (at >= FIRST && ids->v[at].node)
			return (uint64_t)ids->v[at].uses << 32 | at;
	return 0;
}

void ward_node_ids_clear(struct ward_node_ids *ids)
{
	free(ids->v);
	*ids = (struct ward_node_ids){.v = NULL};
}
