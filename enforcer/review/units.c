/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/review/units.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"

#define GIT ".git/"
/* Of SQLite: what lies beside a database (sqlite.org/tempfiles.html). */
static const char *const journals[] = {"-wal", "-journal", "-shm"};
#define N_JOURNALS (sizeof(journals) / sizeof(*journals))

size_t ward_unit_git(const char *path)
{
	if (strncmp(path, GIT, strlen(GIT)) == 0)
		return strlen(GIT);
	const char *in = strstr(path, "/" GIT);
	return in ? (size_t)(in - path) + 1 + strlen(GIT) : 0;
}

unsigned ward_unit_order(const char *path)
{
	const char *name = path + ward_unit_git(path);
	if (name == path)
		return 1;
	if (strncmp(name, "objects/", 8) == 0)
		return 0;
	if (strncmp(name, "refs/", 5) == 0 || strcmp(name, "packed-refs") == 0)
		return 2;
	if (strcmp(name, "HEAD") == 0)
		return 3;
	return strcmp(name, "index") == 0 ? 4 : 1;
}

bool ward_unit_locked(int dir, const char *name)
{
	char lock[NAME_MAX + 8];
	snprintf(lock, sizeof(lock), "%.*s.lock", NAME_MAX, name);
	return faccessat(dir, lock, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* A database's name without the end of a journal's. */
static size_t stem(const char *path)
{
	const size_t len = strlen(path);
	for (size_t i = 0; i < N_JOURNALS; i++) {
		const size_t end = strlen(journals[i]);
		if (len > end && strcmp(path + len - end, journals[i]) == 0)
			return len - end;
	}
	return len;
}

/* Whoever asks about so many names of a directory is told whether there is any journal. */
#define ASKED_MAX 8U
/* Reading more names than this is not worth it. */
#define LOOK_MAX 4096U

/* The shared memory of a database holds nothing that lasts. */
#define N_LASTING (N_JOURNALS - 1)

static bool is_lasting(const char *name)
{
	const size_t len = strlen(name);
	for (size_t i = 0; i < N_LASTING; i++) {
		const size_t end = strlen(journals[i]);
		if (len > end && strcmp(name + len - end, journals[i]) == 0)
			return true;
	}
	return false;
}

/* There is no journal in the directory: as far as it can be read. */
static bool has_none(int dir)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ward_cleanup_dir DIR *d = fd < 0 ? NULL : fdopendir(fd);
	if (!d) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	for (unsigned n = 0; n < LOOK_MAX; n++) {
		errno = 0;
		const struct dirent *e = readdir(d);
		if (!e)
			return errno == 0;
		if (is_lasting(e->d_name))
			return false;
	}
	return false;
}

/* Does a change of the session's say what becomes of the journal? */
static bool is_ours(
	const struct ward_review_changes *c, const struct ward_change *of, const char *journal)
{
	ward_cleanup_free char *path = NULL;
	if (asprintf(&path, "%s%s", of->path, journal) < 0)
		return false;
	for (int kind = WARD_CHANGE_ADDED; kind <= WARD_CHANGE_LINKED; kind++)
		if (ward_changes_find(c, of->root, path, (enum ward_change_kind)kind))
			return true;
	return false;
}

bool ward_unit_in_use(const struct ward_review_changes *c, const struct ward_change *of, int dir,
	const char *name, struct ward_unit_dir *known)
{
	if (!known->none && ++known->asked == ASKED_MAX)
		known->none = has_none(dir);
	for (size_t i = 0; !known->none && i < N_LASTING; i++) {
		ward_cleanup_free char *there = NULL;
		struct stat st;
		if (asprintf(&there, "%s%s", name, journals[i]) < 0)
			return true;
		if (fstatat(dir, there, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_size > 0 &&
			!is_ours(c, of, journals[i]))
			return true;
	}
	return false;
}

bool ward_change_is_git_state(const char *path)
{
	static const char *const files[] = {"HEAD", "ORIG_HEAD", "FETCH_HEAD", "MERGE_HEAD",
		"MERGE_MSG", "CHERRY_PICK_HEAD", "COMMIT_EDITMSG", "index", "packed-refs",
		"shallow"};
	const size_t git = ward_unit_git(path);
	const char *name = path + git;
	if (!git || ward_unit_git(name))
		return false;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		if (strcmp(name, files[i]) == 0)
			return true;
	if (strcmp(name, "objects") == 0 || strcmp(name, "refs") == 0 || strcmp(name, "logs") == 0)
		return true;
	if (strncmp(name, "objects/", 8) == 0)
		return strncmp(name + 8, "info/", 5) != 0;
	return strncmp(name, "refs/", 5) == 0 || strncmp(name, "logs/", 5) == 0;
}

struct member {
	const struct ward_change *c;
	size_t i, key; /* the first bytes of its path */
	bool git;
};

static int by_key(const void *a, const void *b)
{
	const struct member *x = a, *y = b;
	if (x->c->root != y->c->root)
		return x->c->root < y->c->root ? -1 : 1;
	const size_t least = x->key < y->key ? x->key : y->key;
	int r = memcmp(x->c->path, y->c->path, least);
	if (r || x->key != y->key)
		return r ? r : x->key < y->key ? -1 : 1;
	return x->i < y->i ? -1 : x->i > y->i;
}

static bool same_key(const struct member *a, const struct member *b)
{
	return a->c->root == b->c->root && a->key == b->key &&
	       memcmp(a->c->path, b->c->path, a->key) == 0;
}

int ward_units_find(const struct ward_review_changes *c, const bool *outside, uint32_t *ret)
{
	struct member *v = calloc(c->n ? c->n : 1, sizeof(*v));
	size_t n = 0;
	uint32_t next = 0;
	if (!v)
		return -ENOMEM;
	for (size_t i = 0; i < c->n; i++) {
		ret[i] = 0;
		if (outside && outside[i])
			continue;
		const size_t git = ward_unit_git(c->v[i].path);
		v[n++] = (struct member){.c = &c->v[i],
			.i = i,
			.key = git ? git : stem(c->v[i].path),
			.git = git != 0};
	}
	qsort(v, n, sizeof(*v), by_key);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && same_key(&v[i], &v[end]); end++)
			;
		/* What goes from and comes to one path is settled as it is. */
		if (!v[i].git && (end == i + 1 || strcmp(v[i].c->path, v[end - 1].c->path) == 0))
			continue;
		next++;
		for (size_t k = i; k < end; k++)
			ret[v[k].i] = next;
	}
	free(v);
	return 0;
}
