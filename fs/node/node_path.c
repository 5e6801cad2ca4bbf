/* SPDX-License-Identifier: Apache-2.0 */
/* Where nodes stand: their names, and paths for records. */
#include <errno.h>
#include <string.h>

#include "fs/node/node.h"
#include "fs/node/node_names.h"

/* Locked: the path of a name (NULL: of the root), with tail below it if that is not NULL. */
static const char *path_of(const struct ward_nodes *nodes, const struct ward_name *at,
	const char *tail, char buf[WARD_NODE_PATH_MAX], size_t *ret_len)
{
	const struct ward_fs_tree *tree = nodes->tree;
	char *end = buf + WARD_NODE_PATH_MAX - 1;
	char *p = end;
	bool cut = false;

	*end = '\0';
#define PUT(text, n)                                                                               \
	do {                                                                                       \
		if ((size_t)(p - buf) < (n) + 1 + 3) {                                             \
			cut = true;                                                                \
		} else {                                                                           \
			p -= (n);                                                                  \
			memcpy(p, (text), (n));                                                    \
		}                                                                                  \
	} while (0)
	if (tail) {
		PUT(tail, strlen(tail));
		PUT("/", 1U);
	}
	for (; at && !cut; at = at->parent == &nodes->root ? NULL : at->parent->names) {
		PUT(at->text, (size_t)at->len);
		PUT("/", 1U);
	}
	if (!cut && !(tree->path_len == 1 && p != end))
		PUT(tree->path, tree->path_len);
#undef PUT
	if (cut) {
		p -= 3;
		p[0] = p[1] = p[2] = '.';
	}
	*ret_len = (size_t)(end - p);
	return p;
}

const char *ward_name_path_locked(const struct ward_nodes *nodes, const struct ward_name *at,
	const char *tail, char buf[WARD_NODE_PATH_MAX], size_t *ret_len)
{
	return path_of(nodes, at, tail, buf, ret_len);
}

const char *ward_node_path(struct ward_nodes *nodes, struct ward_node *node, const char *name,
	char buf[WARD_NODE_PATH_MAX], size_t *ret_len)
{
	const char *p;

	pthread_mutex_lock(&nodes->lock);
	p = path_of(nodes, ward_node_names_oldest(node), name, buf, ret_len);
	pthread_mutex_unlock(&nodes->lock);
	return p;
}

const char *ward_node_newest_path(struct ward_nodes *nodes, struct ward_node *node,
	char buf[WARD_NODE_PATH_MAX], size_t *ret_len, size_t *ret_n)
{
	const char *p = NULL;
	size_t n;

	pthread_mutex_lock(&nodes->lock);
	n = ward_node_names_live(node);
	if (n > 1)
		p = path_of(nodes, node->names, NULL, buf, ret_len);
	pthread_mutex_unlock(&nodes->lock);
	*ret_n = n;
	return p;
}

uint64_t ward_nodes_number(struct ward_nodes *nodes, struct ward_node *parent, const char *name)
{
	const struct ward_name *n;
	uint64_t number;

	pthread_mutex_lock(&nodes->lock);
	n = ward_nodes_find(nodes, parent, name, strlen(name));
	number = n ? ward_node_to_ino(nodes, n->node) : 0;
	pthread_mutex_unlock(&nodes->lock);
	return number;
}

size_t ward_node_places(struct ward_nodes *nodes, struct ward_node *node, size_t i,
	struct ward_place *ret, size_t max)
{
	size_t n_ret = 0;

	pthread_mutex_lock(&nodes->lock);
	for (const struct ward_name *n = ward_node_names_nth(node, i); n && n_ret < max;
		n = ward_node_name_older(n)) {
		ret[n_ret].parent = n->parent;
		n->parent->refs++;
		memcpy(ret[n_ret++].name, n->text, n->len + 1U);
	}
	pthread_mutex_unlock(&nodes->lock);
	return n_ret;
}

int ward_node_place(
	struct ward_nodes *nodes, struct ward_node *node, size_t i, struct ward_place *ret)
{
	if (node == &nodes->root) {
		if (i)
			return -ENOENT;
		ret->parent = NULL;
		ret->name[0] = '\0';
		return 0;
	}
	return ward_node_places(nodes, node, i, ret, 1) ? 0 : -ENOENT;
}

void ward_place_put(struct ward_nodes *nodes, struct ward_place *place)
{
	if (place->parent)
		ward_node_unpin(nodes, place->parent);
	place->parent = NULL;
}
