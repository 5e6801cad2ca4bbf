/* SPDX-License-Identifier: Apache-2.0 */
/* The names in one directory: a hash table that grows with them. */
#include "fs/node/node_table.h"

#include <stdlib.h>
#include <string.h>

/* Names that have one chain, without a table. */
#define FEW 4U
#define START 16U

static size_t hash(const char *name, size_t len)
{
	/* FNV-1a. Names come from the agent, who can at worst slow down its own mount. */
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < len; i++)
		h = (h ^ (uint8_t)name[i]) * UINT64_C(0x100000001b3);
	return (size_t)(h ^ (h >> 29));
}

static struct ward_name *const *chain_of(const struct ward_dir *dir, const char *name, size_t len)
{
	return dir->names ? &dir->names[hash(name, len) & dir->mask] : &dir->few;
}

struct ward_name *ward_nodes_find(const struct ward_nodes *nodes, const struct ward_node *parent,
	const char *name, size_t len)
{
	struct ward_name *n = parent->dir ? *chain_of(parent->dir, name, len) : NULL;

	(void)nodes;
	while (n && !(n->len == len && !memcmp(n->text, name, len)))
		n = n->hash_next;
	return n;
}

static void grow(struct ward_dir *dir)
{
	const size_t size = dir->names ? ((size_t)dir->mask + 1) * 2 : START;
	struct ward_name **v;
	struct ward_name *n, *next;
	size_t at = 0;

	if (dir->n_names < (dir->names ? (size_t)dir->mask + 1 : FEW) || size > UINT32_MAX ||
		!(v = calloc(size, sizeof(struct ward_name *))))
		return; /* longer chains, nothing worse */
	do {
		for (n = dir->names ? dir->names[at] : dir->few; n; n = next) {
			struct ward_name **to = &v[hash(n->text, n->len) & (size - 1)];

			next = n->hash_next;
			n->hash_next = *to;
			*to = n;
		}
	} while (dir->names && at++ < dir->mask);
	free(dir->names);
	dir->names = v;
	dir->few = NULL;
	dir->mask = (uint32_t)(size - 1);
}

void ward_node_table_add(struct ward_nodes *nodes, struct ward_name *n)
{
	struct ward_dir *dir = n->parent->dir;
	struct ward_name **at;

	grow(dir);
	at = dir->names ? &dir->names[hash(n->text, n->len) & dir->mask] : &dir->few;
	n->hash_next = *at;
	*at = n;
	dir->n_names++;
	nodes->n_names++;
}

void ward_node_table_take(struct ward_nodes *nodes, struct ward_name *n)
{
	struct ward_dir *dir = n->parent->dir;
	struct ward_name **at =
		dir->names ? &dir->names[hash(n->text, n->len) & dir->mask] : &dir->few;

	while (*at && *at != n)
		at = &(*at)->hash_next;
	if (!*at)
		return;
	*at = n->hash_next;
	nodes->n_names--;
	if (--dir->n_names == 0) {
		free(dir->names);
		dir->names = NULL;
		dir->mask = 0;
	}
}

struct ward_name *ward_node_table_next(
	const struct ward_dir *dir, const struct ward_name *n, size_t *io_at)
{
	struct ward_name *next = n ? n->hash_next : NULL;

	if (!dir->names)
		return n ? next : dir->few;
	if (!n)
		next = dir->names[0];
	while (!next && *io_at < dir->mask)
		next = dir->names[++*io_at];
	return next;
}

struct ward_name *ward_node_table_any(const struct ward_dir *dir, size_t *io_at)
{
	if (!dir->names)
		return dir->few;
	while (!dir->names[*io_at] && *io_at < dir->mask)
		++*io_at;
	return dir->names[*io_at];
}
