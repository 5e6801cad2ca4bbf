/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A walk through the trees beside the command (enforcer/base/walk.h). The starter does it: it is
 * confined as the command is and has the same rights, so it sees nothing that the command could
 * not, and ends with the session. It serves a request of pid 1 between two directories.
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "enforcer/sandbox/init/init.h"

/* A command that ends at once needs none. */
#define DELAY_MS 15

static int open_tree_of(void *user, size_t i)
{
	struct ward_init_warm *w = user;
	/* Not in begin(): what asks for next to nothing shall not ask for this. */
	for (size_t k = 0; i == 0 && k < w->walk.n_trees; k++) {
		struct stat st;
		w->tops[k] = lstat(w->paths[k], &st) == 0 ? st.st_ino : 0;
	}
	return open(w->paths[i], O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
}

void ward_init_warm_begin(struct ward_init_warm *w, const struct ward_blueprint *blueprint)
{
	*w = (struct ward_init_warm){.walk = {.open = open_tree_of}};
	w->walk.user = w;
	w->walk.tops = w->tops;
	for (size_t i = 0; i < blueprint->n_entries; i++) {
		const struct ward_blueprint_entry *e = &blueprint->entries[i];
		if (e->kind == WARD_BLUEPRINT_TREE && w->walk.n_trees < WARD_TREES_MAX &&
			blueprint->flags & WARD_BLUEPRINT_SERVED)
			w->paths[w->walk.n_trees++] = e->path;
	}
	ward_walk_begin(&w->walk, DELAY_MS);
}
