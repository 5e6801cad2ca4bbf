/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions that never began: a start was killed before it could mark what it had made. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/log/chain.h"
#include "audit/store/store.h"
#include "audit/store/store_internal.h"
#include "enforcer/base/cleanup.h"

static const char *const made[] = {"trail.jsonl", "checkpoints", "policy"};
#define N_MADE (sizeof(made) / sizeof(made[0]))

static DIR *list(int dir_fd)
{
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	if (!d && fd >= 0)
		close(fd);
	return d;
}

/* Nothing is in it but what a start makes, and no record. */
static bool is_unborn(int dir_fd)
{
	struct stat sb;
	ward_cleanup_dir DIR *d = list(dir_fd);
	bool other = !d;
	for (struct dirent *e = NULL; d && !other && (e = readdir(d));) {
		bool known = strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0;
		for (size_t i = 0; i < N_MADE; i++)
			known |= strcmp(e->d_name, made[i]) == 0;
		other = !known;
	}
	if (other)
		return false;
	/* The policy may be there whole; of the others a single byte is a record. */
	for (size_t i = 0; i < 2; i++)
		if (fstatat(dir_fd, made[i], &sb, AT_SYMLINK_NOFOLLOW) < 0 ? errno != ENOENT
									   : sb.st_size > 0)
			return false;
	return true;
}

void ward_store_drop_unborn(
	struct ward_store *st, uint64_t before_s, ward_store_knows *knows, const void *user)
{
	struct stat sb;
	ward_cleanup_dir DIR *d = st->sessions_fd < 0 ? NULL : list(st->sessions_fd);
	for (struct dirent *e = NULL; d && (e = readdir(d));) {
		if (!ward_session_name_valid(e->d_name, strlen(e->d_name)))
			continue;
		ward_cleanup_fd int dir = openat(
			dirfd(d), e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (dir < 0 || fstat(dir, &sb) < 0 || sb.st_mtim.tv_sec < 0 ||
			(uint64_t)sb.st_mtim.tv_sec >= before_s)
			continue;
		/* A mark is for the next start to look at. */
		if (fstatat(st->running_fd, e->d_name, &sb, AT_SYMLINK_NOFOLLOW) == 0 ||
			!is_unborn(dir) || knows(user, e->d_name))
			continue;
		for (size_t i = 0; i < N_MADE; i++)
			(void)unlinkat(dir, made[i], 0);
		(void)unlinkat(st->sessions_fd, e->d_name, AT_REMOVEDIR);
	}
}
