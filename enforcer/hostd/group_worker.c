/* SPDX-License-Identifier: Apache-2.0 */
/* Makes, limits, fills and removes the control groups of one session. */
#include "enforcer/hostd/group_worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/out.h"
#include "enforcer/hostd/group_rights.h"
#include "enforcer/hostd/member.h"
#include "enforcer/ipc/helper.h"
#include "enforcer/ipc/host.h"
#include "enforcer/ipc/msg.h"
#include "enforcer/sandbox/cgroup.h"

/* asm-generic/socket.h, Linux 6.5; the installed headers may be older. */
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

#define MESSAGE_MAX 64
/* Tenths of a CPU; more than any host has. */
#define CPUS_MAX 100000U
/* After its session the trail's writer, and other helpers, have an end to come to. */
#define GUARD_NS (10 * WARD_NS_PER_SEC)
/* Between two looks at whether all have ended: longer and longer. */
#define NAP_MIN_NS 1000000L
#define NAP_MAX_NS 500000000L

struct keeping {
	int conn;
	uid_t uid;
	const struct ward_host_groups *bounds;
	struct ward_cgroup *cg;
	struct ward_cgroup_dir v[WARD_CGROUP_PARTS];
	int inside[WARD_CGROUP_PARTS], guard[WARD_CGROUP_PARTS]; /* cgroup.procs, to be written */
	size_t n;
	char own[64];	  /* where its groups are, beneath the top of each hierarchy */
	bool limited;	  /* the client has said what it wants */
	bool found_other; /* a process of another user is in a group */
	bool over;	  /* nothing more is served */
	struct ward_member client, other;
};

/* --- the beginning: before anything is read that the client says --- */

/* The groups of the client when it connected. Whoever is in a session's group gets no other one. */
static int know_client(struct keeping *k, const struct ucred *peer)
{
	int fd = -1;
	socklen_t len = sizeof(fd);

	/* Before Linux 6.5: whoever has the number now, if it is the same user's. */
	if (getsockopt(k->conn, SOL_SOCKET, SO_PEERPIDFD, &fd, &len) < 0)
		fd = (int)syscall(SYS_pidfd_open, peer->pid, 0);
	if (fd < 0)
		return -errno;
	int r = ward_member_read(fd, k->uid, &k->client);
	close(fd);
	if (r == 0 &&
		(!k->client.users || ward_member_within(&k->client, "/" WARD_HOST_GROUPS_DIR) ||
			ward_member_within(&k->client, "/" WARD_CGROUP_DIR)))
		r = -EPERM;
	return r;
}

static int make(struct keeping *k, struct ward_err *err)
{
	char name[16];
	const struct ward_cgroup_user user = {
		.uid = k->uid, .memory = k->bounds->memory, .processes = k->bounds->processes};
	const struct ward_cgroup_spec spec = {.name = name,
		.root = true,
		.memory = WARD_UNLIMITED,
		.processes = WARD_UNLIMITED,
		.cpus = WARD_UNLIMITED,
		.helpers = true,
		.user = &user,
		.service = -1};

	snprintf(name, sizeof(name), "%d", (int)getpid());
	snprintf(k->own, sizeof(k->own), "/" WARD_HOST_GROUPS_DIR "/%u/%s", (unsigned)k->uid, name);
	int r = ward_cgroup_make(&spec, &k->cg, err);
	if (r < 0)
		return r;
	k->n = ward_cgroup_dirs(k->cg, k->v);
	if (k->n == 0)
		return ward_err_set(
			err, -ENOTSUP, "%s", ward_cgroup_why(k->cg, WARD_CGROUP_MEMORY));
	return 0;
}

/*
 * v1 moves a process only if who opened the file has its user id (cgroup1_procs_write()): so that
 * of the user is in effect for the call. v2 asks for a right above that the service alone has.
 */
static int open_procs(struct keeping *k, struct ward_err *err)
{
	for (size_t i = 0; i < k->n; i++) {
		const struct ward_cgroup_dir *d = &k->v[i];
		int r = d->v2 ? 0 : ward_keeper_act_as(k->uid);
		if (r < 0)
			return ward_err_sys(err, r, "act as user %u", (unsigned)k->uid);
		k->inside[i] = openat(d->inside, "cgroup.procs", O_WRONLY | O_CLOEXEC);
		k->guard[i] = openat(d->guard, "cgroup.procs", O_WRONLY | O_CLOEXEC);
		if (k->inside[i] < 0 || k->guard[i] < 0)
			r = -errno;
		if (!d->v2 && ward_keeper_act_as(getuid()) < 0)
			_exit(1);
		if (r < 0)
			return ward_err_sys(err, r, "cgroup.procs");
	}
	return 0;
}

/* Whose files Landlock leaves: of the groups, of those that they lie in, and of /proc. */
static int confine(const struct keeping *k, struct ward_err *err)
{
	struct ward_keeper_dir dirs[2 * WARD_CGROUP_PARTS];

	for (size_t i = 0; i < k->n; i++) {
		dirs[2 * i] = (struct ward_keeper_dir){.fd = k->v[i].parent, .files = true};
		dirs[2 * i + 1] = (struct ward_keeper_dir){.fd = k->v[i].above};
	}
	return ward_keeper_confine(dirs, 2 * k->n, err);
}

static int begin(struct keeping *k, const struct ucred *peer, struct ward_err *err)
{
	/* The user reads what groups say. */
	umask(022);
	/* Root makes them by itself. */
	int r = peer->uid == 0 ? -EPERM : know_client(k, peer);
	if (r < 0)
		return ward_err_sys(err, r, "the client");
	r = ward_keeper_raise();
	if (r < 0)
		return ward_err_sys(err, r, "capset");
	r = make(k, err);
	if (r == 0)
		r = open_procs(k, err);
	return r < 0 ? r : confine(k, err);
}

/* --- messages --- */

static int answer(const struct keeping *k, uint32_t type, int error, bool groups)
{
	struct ward_msg m;
	int fds[WARD_CGROUP_PARTS + 1];
	size_t n = 0;

	ward_msg_init(&m, type);
	ward_msg_put_u32(&m, (uint32_t)-error);
	if (groups)
		ward_msg_put_u32(&m, error ? 0 : (uint32_t)k->n);
	/* Descriptions of their own: a lock on ours stays ours (cgroup.h). */
	for (; groups && !error && n < k->n; n++) {
		fds[n] = openat(k->v[n].dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		ward_msg_put_u32(&m, k->v[n].v2);
		ward_msg_put_u32(&m, k->v[n].parts);
	}
	const int event = groups && !error ? ward_cgroup_memory_event(k->cg) : -1;
	if (event >= 0)
		fds[n] = event;
	/* Who does not read gets no further one: only its own session waits for that. */
	int r = ward_msg_send(k->conn, &m, fds, n + (event >= 0));
	ward_msg_clear(&m);
	for (size_t i = 0; i < n; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	return r;
}

static int limit(struct keeping *k, struct ward_msg_reader *m)
{
	struct ward_err err = WARD_ERR_INIT;
	struct ward_cgroup_spec spec = {.helpers = true, .service = -1};

	spec.memory = ward_msg_get_u64(m);
	spec.processes = ward_msg_get_u64(m);
	spec.cpus = ward_msg_get_u64(m);
	const uint32_t replayed = ward_msg_get_u32(m);
	if (ward_msg_done(m) < 0 || replayed > 1 || k->limited)
		return -EBADMSG;
	spec.replayed = replayed;
	k->limited = true;
	int r = 0;
	if ((spec.memory != WARD_UNLIMITED && spec.memory > k->bounds->memory) ||
		(spec.processes != WARD_UNLIMITED && spec.processes > k->bounds->processes) ||
		(spec.cpus != WARD_UNLIMITED && spec.cpus > CPUS_MAX))
		r = -EDQUOT;
	if (r == 0)
		r = ward_cgroup_limit(k->cg, &spec, &err);
	return answer(k, WARD_MSG_HOST_GROUPED, r, true);
}

/* --- processes in the groups --- */

/*
 * Calls each() with the processes in the group at dir, whose pidfd is fd: k->other is about it. A
 * number that was read may be another process's by now. Returns whether there are any.
 */
static bool for_each(struct keeping *k, int dir, void (*each)(struct keeping *k, int fd))
{
	char text[4096];
	ward_cleanup_fd int list = openat(dir, "cgroup.procs", O_RDONLY | O_CLOEXEC);
	const ssize_t n = list < 0 ? 0 : read(list, text, sizeof(text) - 1);

	if (n <= 0)
		return false;
	text[n] = '\0';
	for (char *at = text, *end = NULL;; at = end + 1) {
		const long pid = strtol(at, &end, 10);
		/* A last number that was cut off does not count. */
		if (end == at || *end != '\n')
			return true;
		ward_cleanup_fd int fd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
		if (fd >= 0 && ward_member_read(fd, k->uid, &k->other) == 0 &&
			ward_member_within(&k->other, k->own))
			each(k, fd);
	}
}

static void note_other(struct keeping *k, int fd)
{
	k->found_other |= !k->other.users;
}

/*
 * v2 takes a number and asks nobody whose it is. If the process ended meanwhile, the number can
 * have been another user's: then nothing may be limited there any more, and the session is over.
 * That process is not ended with it. Returns whether there is one.
 */
static bool let_go_of_others(struct keeping *k)
{
	static const char *const limits[] = {"memory.max", "cpu.max", "pids.max"};

	k->found_other = false;
	for (size_t i = 0; i < k->n; i++)
		if (k->v[i].v2) {
			(void)for_each(k, k->v[i].inside, note_other);
			(void)for_each(k, k->v[i].guard, note_other);
		}
	for (size_t i = 0; k->found_other && i < k->n; i++)
		for (size_t f = 0; k->v[i].v2 && f < sizeof(limits) / sizeof(*limits); f++) {
			const int dir = f == 2 ? k->v[i].inside : k->v[i].dir;
			ward_cleanup_fd int fd = openat(dir, limits[f], O_WRONLY | O_CLOEXEC);
			if (fd >= 0)
				(void)!write(fd, "max", 3);
		}
	return k->found_other;
}

/* Where the client was when it connected, or already in the groups of this session. */
static int check(struct keeping *k, int fd)
{
	struct ward_member *m = &k->other;
	int r = ward_member_read(fd, k->uid, m);

	if (r < 0)
		return r;
	if (!m->users)
		return -EPERM;
	if (strcmp(m->groups, k->client.groups) != 0 && !ward_member_within(m, k->own))
		return -EPERM;
	return 0;
}

static int move(struct keeping *k, int fd, bool helper)
{
	char text[16];
	int r = check(k, fd);

	if (r < 0)
		return r;
	const int len = snprintf(text, sizeof(text), "%d", (int)k->other.pid);
	for (size_t i = 0; r == 0 && i < k->n; i++)
		if (write(helper ? k->guard[i] : k->inside[i], text, (size_t)len) != len)
			r = errno == EACCES ? -EPERM : -errno;
	if (r == 0 && !ward_member_runs(fd)) {
		r = -ESRCH;
		k->over = let_go_of_others(k);
	}
	return r;
}

/* Another one may follow: 0. */
static int take(struct keeping *k, struct ward_msg_reader *m, const int *fds, size_t n_fds)
{
	int r;

	if (m->type == WARD_MSG_HOST_GROUP && n_fds == 0)
		return limit(k, m);
	if (m->type != WARD_MSG_HOST_MOVE || n_fds != 1 || !k->limited)
		return -EBADMSG;
	const uint32_t helper = ward_msg_get_u32(m);
	if (ward_msg_done(m) < 0 || helper > 1)
		return -EBADMSG;
	r = answer(k, WARD_MSG_HOST_MOVED, move(k, fds[0], helper), false);
	return k->over ? -ESRCH : r;
}

static int serve(struct keeping *k)
{
	int r = 0;

	while (r == 0) {
		char buf[MESSAGE_MAX];
		int fd = -1;
		size_t n_fds = 1;
		struct ward_msg_reader m;
		const ssize_t len = ward_msg_recv(k->conn, buf, sizeof(buf), &fd, &n_fds);
		if (len <= 0)
			return len == 0 ? 0 : (int)len;
		ward_msg_reader_init(&m, buf, (size_t)len);
		r = take(k, &m, &fd, n_fds);
		if (n_fds)
			close(fd);
	}
	return r;
}

/* --- the end --- */

/* SIGKILL to the user's own. */
static void kill_one(struct keeping *k, int fd)
{
	if (k->other.users)
		(void)syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0);
}

static bool has_any(int dir)
{
	char byte;
	ward_cleanup_fd int fd = openat(dir, "cgroup.procs", O_RDONLY | O_CLOEXEC);

	return fd >= 0 && read(fd, &byte, 1) > 0;
}

/* Until nothing is inside. It is counted for the user as long as that takes. */
static void end(struct keeping *k)
{
	const uint64_t until = ward_clock_mono_ns() + GUARD_NS;
	struct timespec nap = {.tv_nsec = NAP_MIN_NS};
	bool any = k->cg != NULL;

	while (any) {
		any = false;
		for (size_t i = 0; i < k->n; i++) {
			any |= for_each(k, k->v[i].inside, kill_one);
			any |= ward_clock_mono_ns() < until ? has_any(k->v[i].guard)
							    : for_each(k, k->v[i].guard, kill_one);
		}
		if (any)
			(void)nanosleep(&nap, NULL);
		nap.tv_nsec = nap.tv_nsec * 2 > NAP_MAX_NS ? NAP_MAX_NS : nap.tv_nsec * 2;
	}
	ward_cgroup_free(k->cg);
}

int ward_host_keeper_serve(const struct ward_host_groups *g, int conn, const struct ucred *peer)
{
	struct ward_err err = WARD_ERR_INIT;
	static struct keeping k;

	k.conn = conn;
	k.uid = peer->uid;
	k.bounds = g;
	int r = begin(&k, peer, &err);
	if (r < 0)
		ward_tellf("wardfs-hostd: user %u: %s\n", (unsigned)peer->uid, err.text);
	else
		r = serve(&k);
	end(&k);
	return r < 0;
}
