/* SPDX-License-Identifier: Apache-2.0 */
/* What all functions of WASI share: memory, descriptors, errors; and the functions without files.
 */
#include "enforcer/wasm/host/wasi.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "enforcer/wasm/host/wasi_own.h"

#define NS 1000000000

/* --- errors --- */

uint32_t ward_wasi_errno(int e)
{
	static const uint8_t map[] = {[E2BIG] = 1,
		[EACCES] = 2,
		[EAGAIN] = 6,
		[EBADF] = 8,
		[EBUSY] = 10,
		[EDQUOT] = 19,
		[EEXIST] = 20,
		[EFAULT] = 21,
		[EFBIG] = 22,
		[EILSEQ] = 25,
		[EINTR] = 27,
		[EINVAL] = 28,
		[EIO] = 29,
		[EISDIR] = 31,
		[ELOOP] = 32,
		[EMFILE] = 33,
		[EMLINK] = 34,
		[ENAMETOOLONG] = 37,
		[ENFILE] = 41,
		[ENODEV] = 43,
		[ENOENT] = 44,
		[ENOMEM] = 48,
		[ENOSPC] = 51,
		[ENOSYS] = 52,
		[ENOTDIR] = 54,
		[ENOTEMPTY] = 55,
		[EOPNOTSUPP] = 58,
		[ENOTTY] = 59,
		[ENXIO] = 60,
		[EOVERFLOW] = 61,
		[EPERM] = 63,
		[EPIPE] = 64,
		[ERANGE] = 68,
		[EROFS] = 69,
		[ESPIPE] = 70,
		[ESTALE] = 72,
		[ETIMEDOUT] = 73,
		[ETXTBSY] = 74,
		[EXDEV] = 75};
	const uint32_t io = 29;
	return e >= 0 && (size_t)e < sizeof(map) && map[e] ? map[e] : io;
}

/* --- memory --- */

void *ward_wasi_at(const struct ward_wasi *w, uint32_t p, uint64_t len)
{
	const wasm_rt_memory_t *m = w->memory(w->instance);
	uint64_t size = (uint64_t)m->pages << 16;
	return p <= size && len <= size - p ? m->data + p : NULL;
}

uint32_t ward_wasi_put32(const struct ward_wasi *w, uint32_t p, uint32_t v)
{
	void *to = ward_wasi_at(w, p, sizeof(v));
	if (!to)
		return WASI_FAULT;
	memcpy(to, &v, sizeof(v));
	return 0;
}

uint32_t ward_wasi_put64(const struct ward_wasi *w, uint32_t p, uint64_t v)
{
	void *to = ward_wasi_at(w, p, sizeof(v));
	if (!to)
		return WASI_FAULT;
	memcpy(to, &v, sizeof(v));
	return 0;
}

uint32_t ward_wasi_text(const struct ward_wasi *w, uint32_t p, uint32_t len, char **ret)
{
	const char *from = ward_wasi_at(w, p, len);
	if (!from)
		return WASI_FAULT;
	if (len >= 4096)
		return WASI_NAMETOOLONG;
	if (memchr(from, '\0', len))
		return WASI_INVAL;
	*ret = strndup(from, len);
	return *ret ? 0 : WASI_NOMEM;
}

/* --- descriptors --- */

struct ward_wasi_file *ward_wasi_fd(struct ward_wasi *w, uint32_t fd)
{
	return fd < WARD_WASI_FDS && w->fds[fd].used ? &w->fds[fd] : NULL;
}

uint32_t ward_wasi_new_fd(struct ward_wasi *w, uint32_t *ret)
{
	for (uint32_t i = 0; i < WARD_WASI_FDS; i++)
		if (!w->fds[i].used) {
			*ret = i;
			return 0;
		}
	return WASI_MFILE;
}

uint8_t ward_wasi_type(mode_t mode)
{
	static const struct {
		mode_t mode;
		uint8_t type;
	} types[] = {{S_IFBLK, TYPE_BLOCK}, {S_IFCHR, TYPE_CHARACTER}, {S_IFDIR, TYPE_DIRECTORY},
		{S_IFREG, TYPE_REGULAR}, {S_IFSOCK, 6}, {S_IFLNK, 7}};
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if ((mode & S_IFMT) == types[i].mode)
			return types[i].type;
	return TYPE_UNKNOWN;
}

void ward_wasi_start(struct ward_wasi *w, const struct ward_preopens *p)
{
	uint32_t at = 0;
	for (; at < 3; at++) {
		struct stat st;
		/* wasi-libc takes for a terminal what has this type and cannot seek. */
		bool tty = isatty((int)at);
		w->fds[at] = (struct ward_wasi_file){.fd = (int)at,
			.used = fstat((int)at, &st) == 0,
			.borrowed = true,
			.type = tty ? TYPE_CHARACTER : ward_wasi_type(st.st_mode),
			.base = tty ? RIGHTS_ALL & ~RIGHT_SEEK : RIGHTS_ALL};
	}
	for (size_t i = 0; i < p->n; i++)
		w->fds[at++] = (struct ward_wasi_file){.fd = p->v[i].fd,
			.used = true,
			.borrowed = true,
			.type = TYPE_DIRECTORY,
			.base = RIGHTS_ALL,
			.inheriting = RIGHTS_ALL,
			.preopen = p->v[i].path};
}

/* --- arguments and environment --- */

static uint32_t put_sizes(
	const struct ward_wasi *w, char *const *v, uint32_t ret_n, uint32_t ret_size)
{
	uint32_t n = 0;
	uint64_t size = 0;
	for (; v[n]; n++)
		size += strlen(v[n]) + 1;
	uint32_t r = ward_wasi_put32(w, ret_n, n);
	return r ? r : ward_wasi_put32(w, ret_size, (uint32_t)size);
}

static uint32_t put_strings(
	const struct ward_wasi *w, char *const *v, uint32_t list, uint32_t bytes)
{
	for (uint32_t i = 0; v[i]; i++) {
		size_t len = strlen(v[i]) + 1;
		void *to = ward_wasi_at(w, bytes, len);
		if (!to || ward_wasi_put32(w, list + 4 * i, bytes))
			return WASI_FAULT;
		memcpy(to, v[i], len);
		bytes += (uint32_t)len;
	}
	return 0;
}

uint32_t Z_wasi_snapshot_preview1Z_args_sizes_get(
	struct ward_wasi *w, uint32_t ret_n, uint32_t ret_size)
{
	return put_sizes(w, w->argv, ret_n, ret_size);
}

uint32_t Z_wasi_snapshot_preview1Z_args_get(struct ward_wasi *w, uint32_t argv, uint32_t bytes)
{
	return put_strings(w, w->argv, argv, bytes);
}

uint32_t Z_wasi_snapshot_preview1Z_environ_sizes_get(
	struct ward_wasi *w, uint32_t ret_n, uint32_t ret_size)
{
	return put_sizes(w, w->envp, ret_n, ret_size);
}

uint32_t Z_wasi_snapshot_preview1Z_environ_get(struct ward_wasi *w, uint32_t envp, uint32_t bytes)
{
	return put_strings(w, w->envp, envp, bytes);
}

/* --- time --- */

uint64_t ward_wasi_ns(struct timespec t)
{
	return (uint64_t)t.tv_sec * NS + (uint64_t)t.tv_nsec;
}

/* clockid: of the host, of no start, of this process; threads there are none. */
static bool clock_of(uint32_t id, clockid_t *ret)
{
	static const clockid_t clocks[] = {
		CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID};
	if (id >= sizeof(clocks) / sizeof(clocks[0]))
		return false;
	*ret = clocks[id];
	return true;
}

uint32_t Z_wasi_snapshot_preview1Z_clock_res_get(struct ward_wasi *w, uint32_t clock, uint32_t ret)
{
	struct timespec t;
	clockid_t id;
	if (!clock_of(clock, &id) || clock_getres(id, &t) < 0)
		return WASI_INVAL;
	return ward_wasi_put64(w, ret, ward_wasi_ns(t));
}

uint32_t Z_wasi_snapshot_preview1Z_clock_time_get(
	struct ward_wasi *w, uint32_t clock, uint64_t precision, uint32_t ret)
{
	struct timespec t;
	clockid_t id;
	(void)precision;
	if (!clock_of(clock, &id) || clock_gettime(id, &t) < 0)
		return WASI_INVAL;
	return ward_wasi_put64(w, ret, ward_wasi_ns(t));
}

uint32_t ward_wasi_times(uint64_t atim, uint64_t mtim, uint32_t flags, struct timespec ret[2])
{
	const uint64_t ns[] = {atim, mtim};
	for (unsigned i = 0; i < 2; i++) {
		/* fstflags: bit 0 and 1 of atim, 2 and 3 of mtim: as given, now. */
		uint32_t how = flags >> 2 * i & 3;
		if (how == 3)
			return WASI_INVAL;
		ret[i].tv_sec = (time_t)(ns[i] / NS);
		ret[i].tv_nsec = how == 1 ? (long)(ns[i] % NS) : how == 2 ? UTIME_NOW : UTIME_OMIT;
	}
	return 0;
}

/* --- waiting: subscriptions of 48 bytes, events of 32 --- */

#define POLL_MAX 1024

struct event {
	uint64_t userdata;
	uint16_t error;
	uint8_t type;
	uint8_t pad[5];
	uint64_t bytes;
	uint16_t flags;
	uint8_t pad2[6];
};
_Static_assert(sizeof(struct event) == 32, "typenames.witx");

struct asked {
	struct event event;
	struct pollfd poll;  /* fd -1: a clock, or no descriptor */
	uint64_t timeout_ns; /* of a clock, from now */
	bool clock;
};

static uint64_t number(const uint8_t *p, size_t bytes)
{
	uint64_t v = 0;
	memcpy(&v, p, bytes);
	return v;
}

static void take_asked(struct ward_wasi *w, const uint8_t *s, struct asked *ret)
{
	*ret = (struct asked){
		.event = {.userdata = number(s, 8), .type = s[8]}, .poll = {.fd = -1}};
	if (s[8] == 0) {
		struct timespec t;
		clockid_t id;
		uint64_t until = number(s + 24, 8);
		ret->clock = true;
		if (!clock_of((uint32_t)number(s + 16, 4), &id) || clock_gettime(id, &t) < 0)
			ret->event.error = WASI_INVAL;
		else if (number(s + 40, 2) & 1) /* absolute */
			ret->timeout_ns = until > ward_wasi_ns(t) ? until - ward_wasi_ns(t) : 0;
		else
			ret->timeout_ns = until;
		return;
	}
	const struct ward_wasi_file *fd = ward_wasi_fd(w, (uint32_t)number(s + 16, 4));
	if (!fd || s[8] > 2)
		ret->event.error = fd ? WASI_INVAL : WASI_BADF;
	else
		ret->poll = (struct pollfd){.fd = fd->fd, .events = s[8] == 1 ? POLLIN : POLLOUT};
}

static void wait_for(struct asked *v, uint32_t n)
{
	static struct pollfd fds[POLL_MAX];
	uint64_t least = UINT64_MAX;
	for (uint32_t i = 0; i < n; i++) {
		fds[i] = v[i].poll;
		if (v[i].event.error)
			least = 0;
		else if (v[i].clock && v[i].timeout_ns < least)
			least = v[i].timeout_ns;
	}
	struct timespec t = {(time_t)(least / NS), (long)(least % NS)};
	if (t.tv_sec > INT32_MAX)
		t.tv_sec = INT32_MAX;
	(void)ppoll(fds, n, least == UINT64_MAX ? NULL : &t, NULL);
	bool any = false;
	for (uint32_t i = 0; i < n; i++) {
		v[i].poll.revents = v[i].poll.fd < 0 ? 0 : fds[i].revents;
		any = any || v[i].poll.revents;
	}
	/* If nothing else is ready, the first clock to strike is reported. */
	for (uint32_t i = 0; i < n; i++)
		if (v[i].clock && !any && v[i].timeout_ns <= least)
			v[i].poll.revents = POLLIN;
}

uint32_t Z_wasi_snapshot_preview1Z_poll_oneoff(
	struct ward_wasi *w, uint32_t asked, uint32_t events, uint32_t n, uint32_t ret)
{
	static struct asked v[POLL_MAX];
	const uint8_t *from = ward_wasi_at(w, asked, (uint64_t)n * 48);
	if (n == 0 || n > POLL_MAX)
		return WASI_INVAL;
	if (!from || !ward_wasi_at(w, events, (uint64_t)n * 32))
		return WASI_FAULT;
	for (uint32_t i = 0; i < n; i++)
		take_asked(w, from + (size_t)48 * i, &v[i]);
	wait_for(v, n);
	uint32_t told = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (!v[i].poll.revents && !v[i].event.error)
			continue;
		v[i].event.flags = v[i].poll.revents & POLLHUP ? 1 : 0;
		void *to = ward_wasi_at(w, events + 32 * told++, 32);
		if (to)
			memcpy(to, &v[i].event, 32);
	}
	return ward_wasi_put32(w, ret, told);
}

/* --- the rest --- */

_Noreturn void Z_wasi_snapshot_preview1Z_proc_exit(struct ward_wasi *w, uint32_t status)
{
	(void)w;
	_exit((int)(status & 255));
}

uint32_t Z_wasi_snapshot_preview1Z_proc_raise(struct ward_wasi *w, uint32_t sig)
{
	/* Numbers of WASI up to 15 are those of Linux, and what they do is to end it. */
	(void)w;
	if (sig != SIGABRT && sig != SIGTERM && sig != SIGINT && sig != SIGKILL)
		return WASI_NOTSUP;
	return raise((int)sig) ? WASI_INVAL : 0;
}

uint32_t Z_wasi_snapshot_preview1Z_random_get(struct ward_wasi *w, uint32_t buf, uint32_t len)
{
	uint8_t *to = ward_wasi_at(w, buf, len);
	if (!to)
		return WASI_FAULT;
	for (uint32_t have = 0; have < len;) {
		ssize_t r = getrandom(to + have, len - have, 0);
		if (r < 0 && errno != EINTR)
			return ward_wasi_errno(errno);
		have += r > 0 ? (uint32_t)r : 0;
	}
	return 0;
}

uint32_t Z_wasi_snapshot_preview1Z_sched_yield(struct ward_wasi *w)
{
	(void)w;
	(void)sched_yield();
	return 0;
}
