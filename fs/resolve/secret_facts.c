/* SPDX-License-Identifier: Apache-2.0 */
/* Remembers which files the session made, and looks up the facts about one. */
#include "fs/resolve/secret_facts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"

/* Files that are remembered, and of those the ones that a descriptor keeps. */
#define OWN_MAX (1U << 20)
#define KEPT_MAX 256U
#define TABLE_START 64U
/* The largest file handle (include/linux/exportfs.h: MAX_HANDLE_SZ). */
#define HANDLE_MAX 128U

struct own {
	struct ward_file_id id;
	uint64_t generation;
	int fd;	   /* keeps the file where it has no generation; else -1 */
	bool used; /* of the table's place */
};

struct ward_secrets {
	pthread_mutex_t lock; /* protects the rest; nothing is taken inside */
	struct own *v;	      /* a hash table, open addresses */
	size_t n, mask;
	unsigned n_kept;
};

int ward_secrets_new(struct ward_secrets **ret)
{
	struct ward_secrets *s = calloc(1, sizeof(*s));

	if (!s || !(s->v = calloc(TABLE_START, sizeof(*s->v)))) {
		free(s);
		return -ENOMEM;
	}
	s->mask = TABLE_START - 1;
	pthread_mutex_init(&s->lock, NULL);
	*ret = s;
	return 0;
}

void ward_secrets_free(struct ward_secrets *s)
{
	if (!s)
		return;
	for (size_t i = 0; i <= s->mask; i++)
		if (s->v[i].used && s->v[i].fd >= 0)
			close(s->v[i].fd);
	pthread_mutex_destroy(&s->lock);
	free(s->v);
	free(s);
}

/* What tells the file from all others that had its number. False: the backing does not say. */
static bool generation_of(int fd, uint64_t *ret)
{
	union {
		struct file_handle h;
		char room[sizeof(struct file_handle) + HANDLE_MAX];
	} u = {.h = {.handle_bytes = HANDLE_MAX}};
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	int mount_id;

	if (name_to_handle_at(fd, "", &u.h, &mount_id, AT_EMPTY_PATH) < 0)
		return false;
	hash = (hash ^ (uint32_t)u.h.handle_type) * UINT64_C(0x100000001b3);
	for (unsigned i = 0; i < u.h.handle_bytes; i++)
		hash = (hash ^ u.h.f_handle[i]) * UINT64_C(0x100000001b3);
	*ret = hash;
	return true;
}

static size_t place(const struct ward_secrets *s, const struct ward_file_id *id)
{
	size_t at = (size_t)((id->ino * UINT64_C(0x9e3779b97f4a7c15)) >> 20) & s->mask;

	while (s->v[at].used && s->v[at].id.ino != id->ino)
		at = (at + 1) & s->mask;
	return at;
}

/* Locked. */
static int grow(struct ward_secrets *s)
{
	struct ward_secrets bigger = {.mask = s->mask * 2 + 1};

	if (s->n * 2 <= s->mask)
		return 0;
	if (s->n >= OWN_MAX)
		return -ENFILE;
	bigger.v = calloc(bigger.mask + 1, sizeof(*bigger.v));
	if (!bigger.v)
		return -ENOMEM;
	for (size_t i = 0; i <= s->mask; i++)
		if (s->v[i].used)
			bigger.v[place(&bigger, &s->v[i].id)] = s->v[i];
	free(s->v);
	s->v = bigger.v;
	s->mask = bigger.mask;
	return 0;
}

/* Locked: another file had the number before. */
static int remember(struct ward_secrets *s, struct own *own)
{
	struct own *at;
	int r = grow(s);

	if (r < 0)
		return r;
	at = &s->v[place(s, &own->id)];
	if (own->fd >= 0 && s->n_kept >= KEPT_MAX && !(at->used && at->fd >= 0))
		return -ENFILE;
	s->n += !at->used;
	if (at->used && at->fd >= 0) {
		close(at->fd);
		s->n_kept--;
	}
	s->n_kept += own->fd >= 0;
	*at = *own;
	own->fd = -1;
	return 0;
}

int ward_secret_own(struct ward_fs_tree *tree, int fd)
{
	struct ward_secrets *s = tree->secrets;
	struct own own = {.fd = -1, .used = true};
	struct ward_file file;
	int r = ward_backing_fstat(fd, &file);

	if (r < 0)
		return r;
	own.id = file.id;
	if (!generation_of(fd, &own.generation)) {
		own.fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
		if (own.fd < 0)
			return -errno;
	}
	pthread_mutex_lock(&s->lock);
	r = remember(s, &own);
	pthread_mutex_unlock(&s->lock);
	if (own.fd >= 0)
		close(own.fd);
	return r;
}

static bool is_own(struct ward_secrets *s, int fd, const struct ward_file_id *id)
{
	uint64_t generation = 0;
	bool has = generation_of(fd, &generation), own;
	const struct own *at;

	pthread_mutex_lock(&s->lock);
	at = &s->v[place(s, id)];
	own = at->used && ward_file_id_equal(&at->id, id) &&
	      (has ? at->fd < 0 && at->generation == generation : at->fd >= 0);
	pthread_mutex_unlock(&s->lock);
	return own;
}

static int64_t ns_of(const struct timespec *t)
{
	return t->tv_sec * INT64_C(1000000000) + t->tv_nsec;
}

enum ward_fact ward_secret_fact(struct ward_fs_tree *tree, int fd, const struct ward_file *file,
	struct ward_node *node, const char *name)
{
	const struct ward_file_seen seen = {.dev = file->st.st_dev,
		.ino = file->id.ino,
		.btime_ns = (int64_t)file->id.btime_ns,
		.mtime_ns = ns_of(&file->st.st_mtim),
		.ctime_ns = ns_of(&file->st.st_ctim),
		.size = (uint64_t)file->st.st_size,
		.dir = S_ISDIR(file->st.st_mode)};
	char buf[WARD_NODE_PATH_MAX];
	const char *path;
	size_t len;

	if (is_own(tree->secrets, fd, &file->id))
		return WARD_FACT_OWN;
	path = ward_node_path(tree->nodes, node, name, buf, &len);
	return ward_policy_found(tree->fs->policy, &seen, path, len);
}

enum ward_fact ward_secret_fact_at(struct ward_fs_tree *tree, int dirfd, struct ward_node *parent,
	const char *name, const struct ward_file *expect)
{
	ward_cleanup_fd int fd = -1;
	struct ward_file file;
	int r = ward_backing_open_shown(tree, dirfd, name, O_PATH, &fd);

	if (r == -ENOENT && !expect)
		return WARD_FACT_ABSENT;
	if (r == 0)
		r = ward_backing_fstat(fd, &file);
	if (r < 0 || (expect && !ward_file_id_equal(&expect->id, &file.id)))
		return WARD_FACT_THERE;
	return ward_secret_fact(tree, fd, &file, parent, name);
}
