/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps objects for later sessions, and bounds them. */
#include "enforcer/modes/wasm_store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"

#define KEPT_BYTES ((uint64_t)1 << 30)
#define KEPT_S (30 * 86400)
#define STARTING_S 3600
/* More than come together in the time of one start. What is beyond waits for the next one. */
#define OBJECTS_MAX 4096

struct object {
	char name[NAME_MAX + 1];
	time_t used;
	uint64_t bytes;
};

static const char *name_of(const char *object)
{
	return strrchr(object, '/') + 1;
}

int ward_wasm_store_count(struct sha256_ctx *digest, const char *path)
{
	struct stat st;
	if (stat(path, &st) < 0)
		return -errno;
	const uint64_t v[] = {st.st_dev, st.st_ino, (uint64_t)st.st_size,
		(uint64_t)st.st_ctim.tv_sec, (uint64_t)st.st_ctim.tv_nsec};
	sha256_update(digest, strlen(path) + 1, (const uint8_t *)path);
	sha256_update(digest, sizeof(v), (const uint8_t *)v);
	return 0;
}

int ward_wasm_store_open(const char *object, struct ward_err *err)
{
	ward_cleanup_free char *dir = strndup(object, (size_t)(name_of(object) - 1 - object));
	if (!dir)
		return ward_err_sys(err, -ENOMEM, "mode wasm");
	if (mkdir(dir, 0700) < 0 && errno != EEXIST)
		return ward_err_sys(err, -errno, "%s", dir);
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? ward_err_sys(err, -errno, "%s", dir) : fd;
}

static int lock(int store, int how)
{
	int r = 0;
	do {
		r = flock(store, how);
	} while (r < 0 && errno == EINTR);
	return r < 0 ? -errno : 0;
}

int ward_wasm_store_use(int store, const char *object)
{
	int r = lock(store, LOCK_SH);
	if (r < 0)
		return r;
	r = utimensat(store, name_of(object), NULL, AT_SYMLINK_NOFOLLOW) == 0 ? 1 : -errno;
	(void)lock(store, LOCK_UN);
	return r == -ENOENT ? 0 : r;
}

static int put(int store, const char *object, const struct ward_buf *b)
{
	char own[64];
	snprintf(own, sizeof(own), ".new-%ld", (long)getpid());
	/* Of a process that died with our number. */
	(void)unlinkat(store, own, 0);
	ward_cleanup_fd int to =
		openat(store, own, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (to < 0)
		return -errno;
	int r = ward_fd_write_all(to, b->data, b->len);
	/* The command reads it, under any user id. */
	if (r == 0 && fchmod(to, 0555) < 0)
		r = -errno;
	if (r == 0 && renameat(store, own, store, name_of(object)) < 0)
		r = -errno;
	if (r < 0)
		(void)unlinkat(store, own, 0);
	return r;
}

static int by_use(const void *a, const void *b)
{
	const struct object *x = a, *y = b;
	return (x->used > y->used) - (x->used < y->used);
}

static size_t list(int store, struct object *all)
{
	ward_cleanup_fd int copy = openat(store, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ward_cleanup_dir DIR *d = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *e;
	struct stat st;
	size_t n = 0;
	if (d)
		(void)ward_steal_fd(&copy);
	while (d && n < OBJECTS_MAX && (e = readdir(d)))
		if (fstatat(store, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
			S_ISREG(st.st_mode)) {
			struct object *o = &all[n++];
			snprintf(o->name, sizeof(o->name), "%s", e->d_name);
			o->used = st.st_mtime;
			o->bytes = (uint64_t)st.st_size;
		}
	qsort(all, n, sizeof(*all), by_use);
	return n;
}

/* A session that has one mounted keeps it: a mount holds the file, whatever its name. */
static void prune(int store)
{
	ward_cleanup_free struct object *all = calloc(OBJECTS_MAX, sizeof(*all));
	const time_t now = time(NULL);
	uint64_t bytes = 0;
	/* Who holds it uses an object, or removes some just now. */
	if (!all || lock(store, LOCK_EX | LOCK_NB) < 0)
		return;
	const size_t n = list(store, all);
	for (size_t i = 0; i < n; i++)
		bytes += all[i].bytes;
	for (size_t i = 0; i < n && all[i].used < now - STARTING_S; i++) {
		const bool old = all[i].used < now - KEPT_S;
		if ((old || bytes > KEPT_BYTES) && unlinkat(store, all[i].name, 0) == 0)
			bytes -= all[i].bytes;
	}
	(void)lock(store, LOCK_UN);
}

int ward_wasm_store_keep(int store, const char *object, int from, size_t max, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	int r = ward_fd_pread_all(from, max, &b);
	if (r == 0)
		r = put(store, object, &b);
	if (r < 0)
		return ward_err_sys(err, r, "%s", object);
	prune(store);
	return 0;
}
