/* SPDX-License-Identifier: Apache-2.0 */
/* Reads loose commits of a repository that an agent may have written. */
#include "enforcer/session/tree/git_objects.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <nettle/sha1.h>
#include <nettle/sha2.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"

/* The processor's work for one object; then it is given up. */
#define PATIENCE_MS 5000
/* What inflate() takes: its state and a window of 32 KiB. */
#define ARENA_BYTES ((size_t)128 << 10)

struct ward_git_memory {
	uint8_t in[WARD_GIT_OBJECT_MAX];
	uint8_t out[WARD_GIT_OBJECT_MAX];
};

/* --- the child --- */

struct arena {
	_Alignas(16) uint8_t bytes[ARENA_BYTES];
	size_t used;
};

static voidpf arena_take(voidpf arena, uInt n, uInt size)
{
	struct arena *a = arena;
	size_t bytes;
	if (__builtin_mul_overflow((size_t)n, (size_t)size, &bytes) ||
		bytes > sizeof(a->bytes) - a->used)
		return NULL;
	void *p = a->bytes + a->used;
	a->used += (bytes + 15) & ~(size_t)15;
	return p;
}

static void arena_give(voidpf arena, voidpf p)
{
	(void)arena;
	(void)p;
}

/* How many bytes came out; -1: it is no such object, or too large. */
static int32_t unpack(struct ward_git_memory *s, struct arena *a, uint32_t n)
{
	z_stream z = {.zalloc = arena_take,
		.zfree = arena_give,
		.opaque = a,
		.next_in = s->in,
		.avail_in = n,
		.next_out = s->out,
		.avail_out = sizeof(s->out)};
	a->used = 0;
	if (n > sizeof(s->in) || inflateInit(&z) != Z_OK || inflate(&z, Z_FINISH) != Z_STREAM_END ||
		z.avail_in)
		return -1;
	return (int32_t)z.total_out;
}

/* A parser that somebody took over could write to whatever is open. */
static bool keep_two(int a, int b)
{
	const unsigned lo = (unsigned)(a < b ? a : b), hi = (unsigned)(a < b ? b : a);
	return (lo == 0 || close_range(0, lo - 1, 0) == 0) &&
	       (hi == lo + 1 || close_range(lo + 1, hi - 1, 0) == 0) &&
	       close_range(hi + 1, ~0U, 0) == 0;
}

static _Noreturn void child(struct ward_git_memory *s, struct arena *a, int from, int to)
{
	uint32_t n = 0;
	if (keep_two(from, to) && prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0) {
		while (read(from, &n, sizeof(n)) == sizeof(n)) {
			const int32_t out = unpack(s, a, n);
			if (write(to, &out, sizeof(out)) != sizeof(out))
				break;
		}
	}
	for (;;)
		(void)syscall(SYS_exit, 0);
}

int ward_git_unpacker_start(struct ward_git_unpacker *ret)
{
	int there[2] = {-1, -1}, back[2] = {-1, -1};
	const size_t size = sizeof(struct ward_git_memory) + sizeof(struct arena);
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return -ENOMEM;
	int r = pipe2(there, O_CLOEXEC) < 0 || pipe2(back, O_CLOEXEC) < 0 ? -errno : 0;
	pid_t pid = r < 0 ? -1 : fork();
	struct ward_git_memory *s = memory;
	if (pid == 0)
		child(s, (struct arena *)(void *)(s + 1), there[0], back[1]);
	if (r == 0 && pid < 0)
		r = -errno;
	if (there[0] >= 0)
		close(there[0]);
	if (back[1] >= 0)
		close(back[1]);
	*ret = (struct ward_git_unpacker){
		.pid = pid > 0 ? pid : 0, .to = there[1], .from = back[0], .shared = s};
	if (r < 0)
		ward_git_unpacker_end(ret);
	return r;
}

void ward_git_unpacker_end(struct ward_git_unpacker *u)
{
	if (!u->shared)
		return;
	if (u->to >= 0)
		close(u->to);
	if (u->from >= 0)
		close(u->from);
	if (u->pid > 0) {
		(void)kill(u->pid, SIGKILL);
		while (waitpid(u->pid, NULL, 0) < 0 && errno == EINTR)
			continue;
	}
	(void)munmap(u->shared, sizeof(struct ward_git_memory) + sizeof(struct arena));
	*u = (struct ward_git_unpacker){.to = -1, .from = -1};
}

/* --- what it says --- */

static int ask(const struct ward_git_unpacker *u, uint32_t n, size_t *ret)
{
	struct pollfd p = {.fd = u->from, .events = POLLIN};
	int32_t out = -1;
	if (write(u->to, &n, sizeof(n)) != sizeof(n) || poll(&p, 1, PATIENCE_MS) != 1 ||
		read(u->from, &out, sizeof(out)) != sizeof(out))
		return -EPIPE;
	if (out < 0 || (size_t)out > sizeof(u->shared->out))
		return -EBADMSG;
	*ret = (size_t)out;
	return 0;
}

bool ward_git_id_valid(const char *id, size_t n)
{
	return (n == 40 || n == 64) && strspn(id, "0123456789abcdef") >= n;
}

static bool has_digest(const char *id, const uint8_t *text, size_t len)
{
	uint8_t sum[SHA256_DIGEST_SIZE];
	char hex[WARD_GIT_ID_SIZE];
	const bool sha1 = strlen(id) == 40;
	if (sha1) {
		struct sha1_ctx c;
		sha1_init(&c);
		sha1_update(&c, len, text);
		sha1_digest(&c, SHA1_DIGEST_SIZE, sum);
	} else {
		struct sha256_ctx c;
		sha256_init(&c);
		sha256_update(&c, len, text);
		sha256_digest(&c, SHA256_DIGEST_SIZE, sum);
	}
	for (size_t i = 0; i < (sha1 ? SHA1_DIGEST_SIZE : SHA256_DIGEST_SIZE); i++)
		snprintf(hex + 2 * i, 3, "%02x", sum[i]);
	return strcmp(hex, id) == 0;
}

/* "WORD ID\n" */
static bool take_id(const char **p, const char *end, const char *word, size_t id_len,
	char ret[WARD_GIT_ID_SIZE])
{
	const size_t n = strlen(word);
	if ((size_t)(end - *p) < n + id_len + 1 || memcmp(*p, word, n) != 0 ||
		!ward_git_id_valid(*p + n, id_len) || (*p)[n + id_len] != '\n')
		return false;
	memcpy(ret, *p + n, id_len);
	ret[id_len] = 0;
	*p += n + id_len + 1;
	return true;
}

/* A commit behind its header; ids of id_len digits. */
static bool parse_commit(const char *text, size_t len, size_t id_len, struct ward_git_parsed *ret)
{
	const char *p = text, *end = text + len;
	struct ward_git_parsed c = {0};
	if (!take_id(&p, end, "tree ", id_len, c.tree))
		return false;
	while (c.n_parents < WARD_GIT_PARENTS_MAX &&
		take_id(&p, end, "parent ", id_len, c.parent[c.n_parents]))
		c.n_parents++;
	*ret = c;
	return true;
}

int ward_git_commit_read(
	struct ward_git_unpacker *u, int git_dir, const char *id, struct ward_git_parsed *ret)
{
	char path[sizeof("objects/xx/") + WARD_GIT_ID_SIZE];
	ward_cleanup(ward_buf_clear) struct ward_buf packed = WARD_BUF_INIT;
	/* A copy: the child writes where it likes while we look. */
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	size_t len = 0;
	snprintf(path, sizeof(path), "objects/%.2s/%s", id, id + 2);
	ward_cleanup_fd int fd = ward_fd_open_beneath(git_dir, path);
	if (fd < 0)
		return fd;
	int r = ward_fd_read_all(fd, WARD_GIT_OBJECT_MAX, &packed);
	if (r < 0)
		return r;
	memcpy(u->shared->in, packed.data, packed.len);
	r = ask(u, (uint32_t)packed.len, &len);
	if (r < 0)
		return r;
	ward_buf_add(&text, u->shared->out, len);
	if (ward_buf_error(&text) < 0)
		return -ENOMEM;
	const char *body = len ? memchr(text.data, 0, len) : NULL;
	if (!body || strncmp(text.data, "commit ", 7) != 0 ||
		!has_digest(id, (const uint8_t *)text.data, len) ||
		!parse_commit(body + 1, len - (size_t)(body + 1 - text.data), strlen(id), ret))
		return -EBADMSG;
	return 0;
}
