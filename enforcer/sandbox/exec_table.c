/* SPDX-License-Identifier: Apache-2.0 */
/* The table of what processes of wardfs-init are about to execute; both ends of it. */
#include "enforcer/sandbox/exec_table.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"

int ward_exec_table_map(int fd, struct ward_exec_table **ret)
{
	struct stat st;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (st.st_size != (off_t)sizeof(struct ward_exec_table))
		return -EBADMSG;
	void *t = mmap(
		NULL, sizeof(struct ward_exec_table), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (t == MAP_FAILED)
		return -errno;
	*ret = t;
	return 0;
}

int ward_exec_table_new(struct ward_exec_table **ret, int *ret_fd, struct ward_err *err)
{
	ward_cleanup_fd int fd = memfd_create("wardfs-execs", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	/* Sparse: a slot takes memory once it is used. */
	if (fd < 0 || ftruncate(fd, (off_t)sizeof(struct ward_exec_table)) < 0 ||
		fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		return ward_err_sys(err, -errno, "memfd wardfs-execs");
	int r = ward_exec_table_map(fd, ret);
	if (r < 0)
		return ward_err_sys(err, r, "memfd wardfs-execs");
	*ret_fd = ward_steal_fd(&fd);
	return 0;
}

void ward_exec_table_unmap(struct ward_exec_table *t)
{
	if (t)
		munmap(t, sizeof(*t));
}

/* --- writing --- */

static struct ward_exec_slot *slot_of(struct ward_exec_table *t, uint32_t owner)
{
	for (size_t i = 0; i < WARD_EXEC_SLOTS; i++)
		if (atomic_load_explicit(&t->slots[i].owner, memory_order_acquire) == owner)
			return &t->slots[i];
	return NULL;
}

/* One of an earlier process with this pid, which died, is ours as well. */
static struct ward_exec_slot *claim(struct ward_exec_table *t, uint32_t pid)
{
	const uint32_t writing = pid | WARD_EXEC_SLOT_WRITING;
	struct ward_exec_slot *s = slot_of(t, pid);
	for (size_t i = 0; i < WARD_EXEC_SLOTS && !s; i++) {
		uint32_t nobody = 0;
		if (atomic_compare_exchange_strong(&t->slots[i].owner, &nobody, writing))
			s = &t->slots[i];
	}
	if (!s)
		s = &t->slots[pid % WARD_EXEC_SLOTS];
	atomic_store(&s->owner, writing);
	return s;
}

static void put_argv(struct ward_exec_told *told, char *const *argv)
{
	size_t len = 0;
	told->cut = 0;
	for (size_t i = 0; argv[i]; i++) {
		size_t n = strlen(argv[i]) + 1;
		/* The beginning of one that is too long says more than nothing. */
		if (n > sizeof(told->argv) - len) {
			told->cut = 1;
			n = sizeof(told->argv) - len;
		}
		if (n == 0)
			break;
		memcpy(told->argv + len, argv[i], n);
		len += n;
		told->argv[len - 1] = '\0';
	}
	told->argv_len = (uint32_t)len;
}

void ward_exec_table_tell(struct ward_exec_table *t, const char *path, char *const *argv)
{
	const uint32_t pid = (uint32_t)getpid();
	struct timespec now = {0};
	/* A longer path is refused by the kernel as well, in a call without an entry. */
	if (!t || strlen(path) >= PATH_MAX)
		return;
	struct ward_exec_slot *s = claim(t, pid);
	memcpy(s->told.path, path, strlen(path) + 1);
	if (!getcwd(s->told.cwd, sizeof(s->told.cwd)))
		s->told.cwd[0] = '\0';
	put_argv(&s->told, argv);
	clock_gettime(CLOCK_BOOTTIME, &now);
	s->told.when_ns = (uint64_t)now.tv_sec * WARD_NS_PER_SEC + (uint64_t)now.tv_nsec;
	atomic_store_explicit(&s->owner, pid, memory_order_release);
}

/* --- reading --- */

/* Nobody but wardfs-init writes there; still, whatever stands there may be anything. */
static bool sound(const struct ward_exec_told *told)
{
	return told->cut <= 1 && told->argv_len <= sizeof(told->argv) && told->path[0] != '\0' &&
	       memchr(told->path, '\0', sizeof(told->path)) &&
	       memchr(told->cwd, '\0', sizeof(told->cwd)) && told->cwd[0] == '/' &&
	       (told->argv_len == 0 || told->argv[told->argv_len - 1] == '\0');
}

bool ward_exec_table_take(struct ward_exec_table *t, pid_t pid, struct ward_exec_told *ret)
{
	if (!t || pid <= 0)
		return false;
	struct ward_exec_slot *s = slot_of(t, (uint32_t)pid);
	if (!s)
		return false;
	memcpy(ret, &s->told, sizeof(*ret));
	atomic_thread_fence(memory_order_acquire);
	/* Not if another process took the slot meanwhile: the copy is a mixture then. */
	uint32_t owner = (uint32_t)pid;
	return atomic_compare_exchange_strong(&s->owner, &owner, 0) && sound(ret);
}
