/* SPDX-License-Identifier: Apache-2.0 */
/* Records the digest of each program that was executed, in a thread. */
#include "enforcer/session/run/exec_files.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <nettle/sha2.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/session/run/exec_path.h"

/* Programs that a session remembers, in sets; one that is forgotten is said again. */
#define KNOWN_SETS 512U
#define KNOWN_WAYS 8U
/*
 * CPU time for digests, which no limit of the session counts: so much at once, and from then on a
 * hundredth of the time that passes. A program beyond has a record that says so.
 */
#define BUDGET_NS (5 * WARD_NS_PER_SEC)
#define BUDGET_PART 100
/* Digests that wait to be made, each with a descriptor; a program beyond is taken the next time. */
#define WAITING_MAX 32U
#define CHUNK (256U << 10)
/* The end of a session waits this long for what is still to be read: some hundred megabytes. */
#define STOP_MS 1000
/* Larger ones are no programs that somebody waits for. */
#define SIZE_MAX_READ ((off_t)1 << 30)

struct program {
	dev_t dev;
	ino_t ino;
	off_t size;
	struct timespec mtime, ctime;
};

struct waiting {
	int fd;
	struct program is;
	char *path; /* owned */
};

struct ward_exec_files {
	struct ward_guard *guard;
	const struct ward_identity *id;
	pthread_t thread;
	pthread_mutex_t lock; /* all below */
	pthread_cond_t more;
	struct waiting queue[WAITING_MAX];
	size_t first, n;
	bool stop; /* when the queue is empty */
	bool give_up;
	/* Of who calls ward_exec_files_seen() alone. The oldest of a set makes room. */
	struct program known[KNOWN_SETS][KNOWN_WAYS];
	unsigned char oldest[KNOWN_SETS];
	uint64_t began_ns; /* of the thread alone, as is the next */
	uint64_t used_ns;
};

static void say(
	struct ward_exec_files *x, const struct waiting *w, const uint8_t *digest, const char *why)
{
	ward_cleanup_free struct ward_event *ev = malloc(sizeof(*ev));
	if (!ev)
		return;
	ward_event_begin(ev, WARD_EVENT_PROGRAM);
	ward_event_bytes(ev, WARD_TAG_PATH, w->path, strlen(w->path));
	ward_event_u64(ev, WARD_TAG_DEV, w->is.dev);
	ward_event_u64(ev, WARD_TAG_INO, w->is.ino);
	ward_event_u64(ev, WARD_TAG_SIZE, (uint64_t)w->is.size);
	if (digest)
		ward_event_digest(ev, WARD_TAG_SHA256, digest);
	ward_event_text(ev, WARD_TAG_TEXT, why);
	ward_event_text(ev, WARD_TAG_HOW, "observed");
	/* A trail that fails ends the session by itself. */
	(void)!ward_guard_put(x->guard, ev);
}

static bool given_up(struct ward_exec_files *x)
{
	pthread_mutex_lock(&x->lock);
	bool is = x->give_up;
	pthread_mutex_unlock(&x->lock);
	return is;
}

static void make(struct ward_exec_files *x, const struct waiting *w, uint8_t *buf)
{
	struct sha256_ctx state; /* nettle's: four times as fast as libsodium's here */
	uint8_t digest[SHA256_DIGEST_SIZE];
	char name[40];
	snprintf(name, sizeof(name), "/proc/self/fd/%d", w->fd);
	ward_cleanup_fd int fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	ssize_t n = fd < 0 ? -1 : 1;
	sha256_init(&state);
	while (n > 0 && !given_up(x)) {
		n = read(fd, buf, CHUNK);
		if (n > 0)
			sha256_update(&state, (size_t)n, buf);
		else if (n < 0 && errno == EINTR)
			n = 1;
	}
	sha256_digest(&state, sizeof(digest), digest);
	say(x, w, n == 0 ? digest : NULL,
		n == 0	? NULL
		: n < 0 ? "no digest: the program cannot be read"
			: "no digest: the session ended before it was made");
}

static uint64_t thread_cpu_ns(void)
{
	struct timespec t = {0, 0};
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * WARD_NS_PER_SEC + (uint64_t)t.tv_nsec;
}

/* Makes one, as far as the budget lets it. */
static void make_within(struct ward_exec_files *x, const struct waiting *w, uint8_t *buf)
{
	const uint64_t passed = ward_clock_mono_ns() - x->began_ns;
	if (x->used_ns > BUDGET_NS + passed / BUDGET_PART) {
		say(x, w, NULL, "no digest: the session had its share of CPU time for digests");
		return;
	}
	const uint64_t before = thread_cpu_ns();
	make(x, w, buf);
	x->used_ns += thread_cpu_ns() - before;
}

static void *run(void *arg)
{
	struct ward_exec_files *x = arg;
	ward_cleanup_free uint8_t *buf = malloc(CHUNK);
	for (;;) {
		pthread_mutex_lock(&x->lock);
		while (x->n == 0 && !x->stop)
			pthread_cond_wait(&x->more, &x->lock);
		if (x->n == 0) {
			pthread_mutex_unlock(&x->lock);
			return NULL;
		}
		struct waiting w = x->queue[x->first];
		x->first = (x->first + 1) % WAITING_MAX;
		x->n--;
		pthread_mutex_unlock(&x->lock);
		/* What the command may not read is not read for it. Again each time: setgroups(2)
		 * of another thread would be for this one, too. */
		const bool rights = ward_exec_rights_take(x->id) == 0;
		if (buf && rights)
			make_within(x, &w, buf);
		else
			say(x, &w, NULL,
				buf ? "no digest: without the rights of the command"
				    : "no digest: no memory");
		close(w.fd);
		free(w.path);
	}
}

int ward_exec_files_new(struct ward_guard *g, const struct ward_identity *id,
	struct ward_exec_files **ret, struct ward_err *err)
{
	sigset_t all;
	sigset_t old;
	struct ward_exec_files *x = calloc(1, sizeof(*x));
	if (!x)
		return ward_err_sys(err, -ENOMEM, "digests of programs");
	x->guard = g;
	x->id = id;
	x->began_ns = ward_clock_mono_ns();
	pthread_mutex_init(&x->lock, NULL);
	pthread_cond_init(&x->more, NULL);
	/* Signals are the main thread's. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	int r = -pthread_create(&x->thread, NULL, run, x);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (r < 0) {
		free(x);
		return ward_err_sys(err, r, "digests of programs");
	}
	*ret = x;
	return 0;
}

static bool same(const struct program *a, const struct program *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->size == b->size &&
	       a->mtime.tv_sec == b->mtime.tv_sec && a->mtime.tv_nsec == b->mtime.tv_nsec &&
	       a->ctime.tv_sec == b->ctime.tv_sec && a->ctime.tv_nsec == b->ctime.tv_nsec;
}

/* What the kernel makes up as it is read: no program, and reading may do something. */
static bool made_up(const struct statfs *fs)
{
	static const uint32_t types[] = {FUSE_SUPER_MAGIC, PROC_SUPER_MAGIC, SYSFS_MAGIC,
		CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC, DEBUGFS_MAGIC, TRACEFS_MAGIC,
		SECURITYFS_MAGIC, EFIVARFS_MAGIC, PSTOREFS_MAGIC, BPF_FS_MAGIC, SELINUX_MAGIC,
		BINFMTFS_MAGIC, DEVPTS_SUPER_MAGIC};
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if ((uint32_t)fs->f_type == types[i])
			return true;
	return false;
}

/*
 * A program: a file that nobody inside can change while it is read, and that this thread, which has
 * the command's rights, may execute.
 */
static bool steady(int fd, const struct stat *st)
{
	struct statvfs vfs;
	struct statfs fs;
	return S_ISREG(st->st_mode) && st->st_size <= SIZE_MAX_READ && fstatvfs(fd, &vfs) == 0 &&
	       vfs.f_flag & ST_RDONLY && fstatfs(fd, &fs) == 0 && !made_up(&fs) &&
	       syscall(SYS_faccessat2, fd, "", X_OK, AT_EMPTY_PATH | AT_EACCESS) == 0;
}

void ward_exec_files_seen(
	struct ward_exec_files *x, int fd, const char *path, struct ward_event *ev)
{
	struct stat st;
	if (fstat(fd, &st) < 0)
		return;
	ward_event_u64(ev, WARD_TAG_DEV, st.st_dev);
	ward_event_u64(ev, WARD_TAG_INO, st.st_ino);
	struct program is = {.dev = st.st_dev,
		.ino = st.st_ino,
		.size = st.st_size,
		.mtime = st.st_mtim,
		.ctime = st.st_ctim};
	const size_t set = st.st_ino % KNOWN_SETS;
	for (size_t i = 0; i < KNOWN_WAYS; i++)
		if (same(&x->known[set][i], &is))
			return;
	if (!steady(fd, &st))
		return;
	struct waiting w = {.fd = fcntl(fd, F_DUPFD_CLOEXEC, 3), .is = is, .path = strdup(path)};
	pthread_mutex_lock(&x->lock);
	if (w.fd >= 0 && w.path && x->n < WAITING_MAX) {
		x->queue[(x->first + x->n++) % WAITING_MAX] = w;
		w = (struct waiting){.fd = -1};
		x->known[set][x->oldest[set]] = is;
		x->oldest[set] = (unsigned char)((x->oldest[set] + 1) % KNOWN_WAYS);
		pthread_cond_signal(&x->more);
	}
	pthread_mutex_unlock(&x->lock);
	if (w.fd >= 0)
		close(w.fd);
	free(w.path);
}

void ward_exec_files_free(struct ward_exec_files *x)
{
	struct timespec until;
	if (!x)
		return;
	pthread_mutex_lock(&x->lock);
	x->stop = true;
	pthread_cond_signal(&x->more);
	pthread_mutex_unlock(&x->lock);
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += STOP_MS / 1000;
	if (pthread_clockjoin_np(x->thread, NULL, CLOCK_MONOTONIC, &until) != 0) {
		pthread_mutex_lock(&x->lock);
		x->give_up = true;
		pthread_mutex_unlock(&x->lock);
		pthread_join(x->thread, NULL);
	}
	pthread_cond_destroy(&x->more);
	pthread_mutex_destroy(&x->lock);
	free(x);
}
