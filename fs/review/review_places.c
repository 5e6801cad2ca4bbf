/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the host has a file. One place is enough, and most files have one. Of a file with several
 * names another one counts once the session has taken the names away that were known.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fs/review/review_internal.h"

/* Is the path that of name in the host's directory dir? */
static bool is_at(
	const struct ward_review_file *dir, const char *name, size_t root, const char *path)
{
	const size_t len = strlen(dir->path);

	return dir->root == root && !strncmp(path, dir->path, len) && (!len || path[len] == '/') &&
	       !strcmp(path + len + (len > 0), name);
}

const char *ward_review_place(const struct ward_review_file *f, size_t *ret_root)
{
	const struct ward_review_place *p = f->places;

	if (!f->has_lower)
		return NULL;
	while (f->left && p && p->left)
		p = p->next;
	if (f->left && !p)
		return NULL;
	*ret_root = f->left ? p->root : f->root;
	return f->left ? p->path : f->path;
}

static bool has_none(const struct ward_review_file *f)
{
	size_t root;

	return f->has_lower && !S_ISDIR(f->type) && !f->gone && !ward_review_place(f, &root);
}

void ward_review_place_leaves(struct ward_review *rv, const struct ward_review_file *dir,
	const char *name, struct ward_review_file *was, bool left)
{
	if (!was || !was->has_lower || !dir->has_lower)
		return;
	if (is_at(dir, name, was->root, was->path))
		was->left = left;
	for (struct ward_review_place *p = was->places; p; p = p->next)
		if (is_at(dir, name, p->root, p->path))
			p->left = left;
	if (was->unplaced || was->lower_nlink < 2 || !has_none(was))
		return;
	was->unplaced = true;
	was->unplaced_next = rv->unplaced;
	rv->unplaced = was;
	atomic_store(&rv->any_unplaced, true);
}

int ward_review_place_add(
	struct ward_review *rv, struct ward_review_file *f, size_t root, char *path, bool log)
{
	struct ward_review_place *p = calloc(1, sizeof(*p));
	int r = p ? 0 : -ENOMEM;

	if (r == 0) {
		*p = (struct ward_review_place){.next = f->places, .root = root, .path = path};
		r = log ? ward_review_log_place(rv, f, p) : 0;
	}
	if (r < 0) {
		free(path);
		free(p);
		return r;
	}
	f->places = p;
	return 0;
}

bool ward_review_is_wanted(const struct ward_review_at *at)
{
	return at->there && !at->entry && at->file && at->file != at->dir && has_none(at->file);
}

int ward_review_place_found(struct ward_review *rv, int dirfd, const char *name)
{
	struct ward_review_at at;
	char *path = NULL;
	size_t root = 0;
	int r;

	pthread_rwlock_wrlock(&rv->lock);
	r = ward_review_look(rv, dirfd, name, &at);
	/* Others may have been faster. */
	if (r == 0 && ward_review_is_wanted(&at)) {
		r = ward_review_host_path(rv, dirfd, name, &root, &path);
		if (r == 0)
			r = ward_review_place_add(rv, at.file, root, path, true);
	}
	pthread_rwlock_unlock(&rv->lock);
	return r < 0 ? r : 0;
}

struct ward_review_file *ward_review_unplaced(
	struct ward_review *rv, struct ward_file_id *ret_id, mode_t *ret_type)
{
	struct ward_review_file *f;

	if (!atomic_load(&rv->any_unplaced))
		return NULL;
	pthread_rwlock_wrlock(&rv->lock);
	f = rv->unplaced;
	while (f && !has_none(f)) {
		f->unplaced = false;
		f = f->unplaced_next;
	}
	rv->unplaced = f ? f->unplaced_next : NULL;
	atomic_store(&rv->any_unplaced, rv->unplaced != NULL);
	if (f) {
		f->unplaced = false;
		*ret_id = f->id;
		*ret_type = f->type;
	}
	pthread_rwlock_unlock(&rv->lock);
	return f;
}

bool ward_review_still_unplaced(struct ward_review *rv, const struct ward_review_file *f)
{
	bool still;

	pthread_rwlock_rdlock(&rv->lock);
	still = has_none(f);
	pthread_rwlock_unlock(&rv->lock);
	return still;
}
