/* SPDX-License-Identifier: Apache-2.0 */
/* The names of a node: bound, taken away, and what is counted of many. Everything is locked. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fs/node/node.h"
#include "fs/node/node_names.h"

/* Places for names to begin with. */
#define NAMES_START 4U

static struct ward_several *new_several(struct ward_nodes *nodes, struct ward_name *only)
{
	struct ward_several *s = calloc(1, sizeof(*s));

	if (!s || !(s->v = calloc(NAMES_START, sizeof(struct ward_name *)))) {
		free(s);
		return NULL;
	}
	s->room = NAMES_START;
	s->gen = nodes->gen - 1;
	s->quota_moves = nodes->moves - 1;
	only->slot = 0;
	only->counted = only->placed = false;
	s->v[0] = only;
	s->end = s->n = 1;
	s->doubts = ++nodes->n_severals << 32;
	return s;
}

void ward_node_names_sure(struct ward_nodes *nodes, struct ward_several *s)
{
	if (!s->sure)
		atomic_fetch_add(&nodes->n_sure, 1);
	s->sure = true;
	s->sure_gen = nodes->dirs_gen;
}

void ward_node_names_doubt(struct ward_nodes *nodes, struct ward_several *s)
{
	if (s->sure)
		atomic_fetch_sub(&nodes->n_sure, 1);
	s->sure = false;
	s->doubts++;
}

static void free_several(struct ward_nodes *nodes, struct ward_several *s)
{
	if (!s)
		return;
	ward_node_names_doubt(nodes, s);
	free(s->states);
	free(s->v);
	free(s);
}

/* Names close up; their order stays. */
static void close_up(struct ward_several *s)
{
	uint32_t to = 0;

	for (uint32_t i = s->first; i < s->end; i++)
		if (s->v[i]) {
			s->v[i]->slot = to;
			s->v[to++] = s->v[i];
		}
	s->first = 0;
	s->end = to;
}

static int make_room(struct ward_several *s)
{
	struct ward_name **v;

	if (s->end < s->room)
		return 0;
	/* A place that is had this way is paid for by the names that went. */
	if (s->n <= s->room / 2) {
		close_up(s);
		return 0;
	}
	if (s->room > UINT32_MAX / 2)
		return -ENOMEM;
	v = reallocarray(s->v, (size_t)s->room * 2, sizeof(struct ward_name *));
	if (!v)
		return -ENOMEM;
	s->v = v;
	s->room *= 2;
	return 0;
}

int ward_node_names_add(struct ward_nodes *nodes, struct ward_node *node, struct ward_name *n)
{
	struct ward_several *s = node->several;
	int r;

	if (!node->names) {
		node->names = n;
		return 0;
	}
	if (!s && !(s = new_several(nodes, node->names)))
		return -ENOMEM;
	node->several = s;
	r = make_room(s);
	if (r < 0)
		return r;
	ward_node_names_doubt(nodes, s);
	n->slot = s->end;
	s->v[s->end++] = n;
	s->n++;
	node->names = n;
	return 0;
}

static void uncount(struct ward_nodes *nodes, struct ward_several *s, const struct ward_name *n)
{
	if (n->placed && s->quota_moves == nodes->moves) {
		s->n_placed--;
		/* It may have been the one that differs. */
		if (s->differs)
			s->quota_moves = nodes->moves - 1;
	}
	if (!n->counted || s->gen != nodes->gen)
		return;
	s->n_counted--;
	for (uint32_t i = 0; i < s->n_states; i++)
		if (s->states[i].state == n->state) {
			if (!--s->states[i].n)
				s->states[i] = s->states[--s->n_states];
			return;
		}
}

void ward_node_names_take(struct ward_nodes *nodes, struct ward_node *node, struct ward_name *n)
{
	struct ward_several *s = node->several;

	uncount(nodes, s, n);
	s->v[n->slot] = NULL;
	s->n--;
	while (!s->v[s->first])
		s->first++;
	while (!s->v[s->end - 1])
		s->end--;
	node->names = s->v[s->end - 1];
	if (s->n == 1) {
		free_several(nodes, s);
		node->several = NULL;
	} else if (s->end - s->first > 2 * s->n + NAMES_START) {
		close_up(s);
	}
}

void ward_node_names_clear(struct ward_nodes *nodes, struct ward_node *node)
{
	free_several(nodes, node->several);
	node->several = NULL;
	node->names = NULL;
}

struct ward_name *ward_node_name_older(const struct ward_name *n)
{
	const struct ward_several *s = n->node->several;

	for (uint32_t i = s ? n->slot : 0; i > 0 && i > s->first;)
		if (s->v[--i])
			return s->v[i];
	return NULL;
}

struct ward_name *ward_node_names_oldest(const struct ward_node *node)
{
	return node->several ? node->several->v[node->several->first] : node->names;
}

size_t ward_node_names_live(const struct ward_node *node)
{
	if (node->several)
		return node->several->n;
	return node->names && node->names->live;
}

struct ward_name *ward_node_names_nth(const struct ward_node *node, size_t i)
{
	const struct ward_several *s = node->several;
	struct ward_name *n = node->names;

	if (i >= ward_node_names_live(node))
		return NULL;
	if (s && s->end - s->first == s->n)
		return s->v[s->end - 1 - i];
	while (n && i--)
		n = ward_node_name_older(n);
	return n;
}
