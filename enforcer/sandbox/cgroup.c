/* SPDX-License-Identifier: Apache-2.0 */
/* The groups of a session: made, limited, joined, removed. What they say: cgroup_usage.c. */
#include "enforcer/sandbox/cgroup_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/ipc/helper.h"

/* Microseconds: the kernel's default for both versions (cpu.max, cpu.cfs_period_us). */
#define CPU_PERIOD_US 100000
/* At this part of a memory limit the kernel tells us (v1 has thresholds; v2: see limits). */
#define NEAR_PERCENT 90
/* The host shares tcp_mem and udp_mem. One session gets this part of the first, pressure-free
 * number. */
#define SOCKETS_PART 4

/* v2: moving a process needs the right to write here, above where it comes from and goes to. */
static bool may_move(int dir)
{
	ward_cleanup_fd int procs = openat(dir, "cgroup.procs", O_WRONLY | O_CLOEXEC);
	return procs >= 0;
}

/* The parts of a session whose absence would leave a limit without effect. */
static unsigned limited(const struct ward_cgroup_spec *s)
{
	return (s->memory != WARD_UNLIMITED ? 1U << WARD_CGROUP_MEMORY : 0) |
	       (s->processes != WARD_UNLIMITED ? 1U << WARD_CGROUP_PIDS : 0) |
	       (s->cpus != WARD_UNLIMITED ? 1U << WARD_CGROUP_CPU : 0);
}

/* Goes from path up to the top, to the first group in which one of ours can be made with `must`. */
static int climb(const struct ward_hierarchy *h, const struct ward_cgroup_spec *spec,
	unsigned parts, unsigned must, struct ward_group *g)
{
	char path[2 * WARD_CGROUP_PATH_MAX];
	int first = 0;
	/* Root: the top. Others: their own group, then what is above it. */
	snprintf(path, sizeof(path), "%s%s", h->mount, spec->root ? "" : h->own);
	for (;;) {
		ward_cleanup_fd int base = ward_cgroup_open(AT_FDCWD, path);
		g->top = strcmp(path, h->mount) == 0;
		int r = base < 0 ? base : 0;
		/* An earlier session moved our shell there: what was delegated is above. */
		if (r == 0 && h->v2 && strcmp(strrchr(path, '/') + 1, WARD_CGROUP_OTHERS) == 0)
			r = -EACCES;
		unsigned here = r == 0 && h->v2 ? parts & ward_cgroup_offers(base) : parts;
		if (r == 0 && !spec->root && !may_move(base))
			r = -EACCES;
		if (r == 0 && must & ~here)
			r = -EOPNOTSUPP;
		if (r == 0)
			r = ward_group_make_in(g, base, here, spec);
		if (r == 0) {
			snprintf(g->path, sizeof(g->path), "%s/%s%s/%s", path,
				spec->user ? WARD_HOST_GROUPS_DIR "/" : WARD_CGROUP_DIR, g->holder,
				g->name);
			g->parts = here;
			return 0;
		}
		if (first == 0 || first == -EACCES)
			first = r;
		if (g->top)
			return first;
		*strrchr(path, '/') = '\0';
	}
}

static int make_group(const struct ward_hierarchy *h, const struct ward_cgroup_spec *spec,
	unsigned parts, struct ward_group *g)
{
	g->v2 = h->v2;
	unsigned must = parts & limited(spec);
	int r = climb(h, spec, parts, must, g);
	/* Better some of it than nothing: the caller asks for each part. */
	if (r == -EOPNOTSUPP && must)
		r = climb(h, spec, parts, 0, g);
	return r;
}

static int make_leaf(int dir, const char *name, int *ret)
{
	if (mkdirat(dir, name, 0755) < 0)
		return -errno;
	int fd = ward_cgroup_open(dir, name);
	if (fd < 0)
		return fd;
	*ret = fd;
	return 0;
}

/*
 * The session's processes and its helpers side by side, beneath what limits both. Of v2 only
 * threaded controllers are given on: memory is then counted in the directory itself.
 */
static int make_leaves(struct ward_group *g)
{
	int r = make_leaf(g->dir, WARD_CGROUP_INSIDE, &g->inside);
	if (r == 0)
		r = make_leaf(g->dir, WARD_CGROUP_GUARD, &g->guard);
	if (r == 0 && g->v2)
		r = ward_cgroup_enable(
			g->dir, g->parts & (1U << WARD_CGROUP_PIDS | 1U << WARD_CGROUP_CPU));
	return r;
}

/* --- limits --- */

/* Pages: "low pressure high" (tcp(7), udp(7)). WARD_UNLIMITED: it cannot be read. */
static uint64_t low_pages(const char *path)
{
	char text[64];
	char *end = text;
	ward_cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return WARD_UNLIMITED;
	text[n] = '\0';
	uint64_t pages = strtoull(text, &end, 10);
	return end == text ? WARD_UNLIMITED : pages;
}

/*
 * What one session may keep in buffers of TCP and UDP: bytes, or its part of net.ipv4.tcp_mem and
 * udp_mem, whichever is less.
 */
static uint64_t sockets_share(uint64_t bytes)
{
	static const char *const bounds[] = {
		"/proc/sys/net/ipv4/tcp_mem", "/proc/sys/net/ipv4/udp_mem"};
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	for (size_t i = 0; i < sizeof(bounds) / sizeof(*bounds); i++) {
		uint64_t low = low_pages(bounds[i]);
		if (low != WARD_UNLIMITED && low / SOCKETS_PART < bytes / page)
			bytes = low / SOCKETS_PART * page;
	}
	return bytes;
}

/*
 * Version 1 counts what TCP and UDP keep in buffers beside the rest of the memory, and only for
 * sockets of a group that has a limit itself (mm/memcontrol-v1.c: tcpmem_active), of its own leaf.
 * Not there: the kernel was started with cgroup.memory=nosocket.
 */
static int limit_sockets(const struct ward_group *g, uint64_t bytes)
{
	static const char file[] = "memory.kmem.tcp.limit_in_bytes";
	const int dirs[] = {g->dir, g->inside};
	bytes = sockets_share(bytes);
	for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs); i++) {
		int r = dirs[i] < 0 ? 0 : ward_cgroup_write_number(dirs[i], file, bytes);
		if (r < 0)
			return r == -ENOENT ? 0 : r;
	}
	return 0;
}

static int limit_memory(const struct ward_group *g, uint64_t bytes)
{
	if (bytes == WARD_UNLIMITED)
		return 0;
	if (g->v2) {
		int r = ward_cgroup_write_number(g->dir, "memory.max", bytes);
		if (r < 0)
			return r;
		/* Not there: a kernel without swap. */
		r = ward_cgroup_write_number(g->dir, "memory.swap.max", 0);
		return r == -ENOENT ? 0 : r;
	}
	int r = ward_cgroup_write_number(g->dir, "memory.limit_in_bytes", bytes);
	if (r < 0)
		return r;
	/* Memory and swap together: no swap. Without swap accounting at least none on its own. */
	r = ward_cgroup_write_number(g->dir, "memory.memsw.limit_in_bytes", bytes);
	if (r == -ENOENT)
		r = ward_cgroup_write_number(g->dir, "memory.swappiness", 0);
	if (r < 0)
		return r;
	return limit_sockets(g, bytes);
}

static int limit_cpus(const struct ward_group *g, uint64_t tenths)
{
	char text[64];
	if (tenths == WARD_UNLIMITED)
		return 0;
	/* The kernel takes no less than a millisecond (Documentation/scheduler/sched-bwc.rst). */
	uint64_t quota = tenths * (CPU_PERIOD_US / 10);
	if (g->v2) {
		snprintf(text, sizeof(text), "%llu %d", (unsigned long long)quota, CPU_PERIOD_US);
		return ward_cgroup_write(g->dir, "cpu.max", text);
	}
	int r = ward_cgroup_write_number(g->dir, "cpu.cfs_period_us", CPU_PERIOD_US);
	return r < 0 ? r : ward_cgroup_write_number(g->dir, "cpu.cfs_quota_us", quota);
}

/* v1 has eventfds where v2 has files that can be waited for (cgroup-v1/memory.rst, 9 and 10). */
static int v1_event(const struct ward_cgroup *cg, const struct ward_group *g, const char *file,
	uint64_t threshold)
{
	char text[64];
	ward_cleanup_fd int fd = openat(g->dir, file, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (threshold)
		snprintf(text, sizeof(text), "%d %d %llu", cg->memory_event, fd,
			(unsigned long long)threshold);
	else
		snprintf(text, sizeof(text), "%d %d", cg->memory_event, fd);
	return ward_cgroup_write(g->dir, "cgroup.event_control", text);
}

static void *watch_near(void *arg)
{
	struct ward_cgroup *cg = arg;
	cg->near_error = v1_event(cg, cg->near_group, "memory.usage_in_bytes", cg->near_threshold);
	return NULL;
}

/* A thread takes the call: a threshold takes the kernel a grace period of RCU, as moves do. */
static int begin_near(struct ward_cgroup *cg, const struct ward_group *g, uint64_t threshold)
{
	sigset_t all, before;
	cg->near_group = g;
	cg->near_threshold = threshold;
	sigfillset(&all);
	/* Signals are for the loop. */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int r = -pthread_create(&cg->near, NULL, watch_near, cg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	cg->near_runs = r == 0;
	return r;
}

int ward_cgroup_settle(struct ward_cgroup *cg)
{
	if (!cg)
		return 0;
	if (cg->near_runs)
		pthread_join(cg->near, NULL);
	cg->near_runs = false;
	return cg->near_error;
}

static int watch_memory(struct ward_cgroup *cg, const struct ward_group *g, uint64_t limit)
{
	if (g->v2) {
		cg->memory_event = openat(g->dir, "memory.events", O_RDONLY | O_CLOEXEC);
		return cg->memory_event < 0 ? -errno : 0;
	}
	cg->memory_event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (cg->memory_event < 0)
		return -errno;
	int r = v1_event(cg, g, "memory.oom_control", 0);
	if (r == 0 && limit != WARD_UNLIMITED)
		r = cg->near_at_once
			    ? v1_event(cg, g, "memory.usage_in_bytes", limit / 100 * NEAR_PERCENT)
			    : begin_near(cg, g, limit / 100 * NEAR_PERCENT);
	return r;
}

static const struct ward_group *group_of(const struct ward_cgroup *cg, enum ward_cgroup_part part)
{
	int i = cg->part[part].group;
	return i < 0 ? NULL : &cg->groups[i];
}

static int watch_limits(
	struct ward_cgroup *cg, const struct ward_cgroup_spec *s, struct ward_err *err)
{
	const struct ward_group *memory = group_of(cg, WARD_CGROUP_MEMORY);
	const struct ward_group *pids = group_of(cg, WARD_CGROUP_PIDS);
	/* The service has sent its own of v1. */
	int r = memory && cg->memory_event < 0 ? watch_memory(cg, memory, s->memory) : 0;
	if (r < 0)
		return ward_err_sys(err, r, "watch memory in %s", memory->path);
	if (pids && cg->pids_event < 0)
		cg->pids_event =
			openat(ward_group_inside(pids), "pids.events", O_RDONLY | O_CLOEXEC);
	return 0;
}

int ward_cgroup_limit(
	struct ward_cgroup *cg, const struct ward_cgroup_spec *s, struct ward_err *err)
{
	const struct ward_group *memory = group_of(cg, WARD_CGROUP_MEMORY);
	const struct ward_group *pids = group_of(cg, WARD_CGROUP_PIDS);
	const struct ward_group *cpu = group_of(cg, WARD_CGROUP_CPU);
	int r = memory ? limit_memory(memory, s->memory) : 0;
	if (r < 0)
		return ward_err_sys(err, r, "limit memory in %s", memory->path);
	/* Our pid 1, the starter (init/starter.c) and the replayer are more. */
	if (pids && s->processes != WARD_UNLIMITED)
		r = ward_cgroup_write_number(ward_group_inside(pids), "pids.max",
			(s->processes ? s->processes : 1) + (s->replayed ? 3 : 2));
	if (r < 0)
		return ward_err_sys(err, r, "limit processes in %s", pids->path);
	r = cpu ? limit_cpus(cpu, s->cpus) : 0;
	if (r < 0)
		return ward_err_sys(err, r, "limit CPUs in %s", cpu->path);
	/* Of limits that were set before. */
	if (cg->memory_event >= 0)
		close(cg->memory_event);
	if (cg->pids_event >= 0)
		close(cg->pids_event);
	cg->memory_event = cg->pids_event = -1;
	return watch_limits(cg, s, err);
}

/* --- all of it --- */

static void say_why(struct ward_cgroup *cg, unsigned parts, const char *text)
{
	for (unsigned i = 0; i < WARD_CGROUP_PARTS; i++)
		if (parts & 1U << i)
			snprintf(cg->part[i].why, sizeof(cg->part[i].why), "%s", text);
}

/* The parts that this hierarchy can give and no other has given. */
static void take_hierarchy(
	struct ward_cgroup *cg, const struct ward_hierarchy *h, const struct ward_cgroup_spec *spec)
{
	unsigned parts = 0;
	for (unsigned i = 0; i < WARD_CGROUP_PARTS; i++)
		if (cg->part[i].group < 0 && h->parts & 1U << i)
			parts |= 1U << i;
	if (!parts || cg->n_groups == WARD_CGROUP_PARTS)
		return;
	struct ward_group *g = &cg->groups[cg->n_groups];
	*g = WARD_GROUP_INIT;
	int r = make_group(h, spec, parts, g);
	if (r == 0 && spec->helpers)
		r = make_leaves(g);
	if (r == 0) {
		int at = ward_group_inside(g);
		g->procs = openat(at, "cgroup.procs", O_RDWR | O_CLOEXEC);
		r = g->procs < 0 ? -errno : 0;
		if (!g->v2)
			g->tasks = openat(at, "tasks", O_WRONLY | O_CLOEXEC);
	}
	cg->n_groups++; /* what was made of it is removed with the rest */
	char why[sizeof(cg->part[0].why)];
	if (r == -EBUSY && h->v2)
		ward_cgroup_say_busy(h, why, sizeof(why));
	else
		snprintf(why, sizeof(why), "no group can be made in %.300s: %s", h->mount,
			strerror(-r));
	if (r < 0) {
		say_why(cg, parts, why);
		return;
	}
	snprintf(why, sizeof(why), "%.400s does not have the controller", g->path);
	say_why(cg, parts & ~g->parts, why);
	for (unsigned i = 0; i < WARD_CGROUP_PARTS; i++)
		if (g->parts & 1U << i) {
			cg->part[i].group = (int)cg->n_groups - 1;
			cg->part[i].why[0] = '\0';
		}
}

/* What holds a limit is missing: the service may make all of it. */
static void ask_service(struct ward_cgroup *cg, const struct ward_cgroup_spec *spec)
{
	unsigned missing = limited(spec);
	for (unsigned i = 0; i < WARD_CGROUP_PARTS; i++)
		if (cg->part[i].group >= 0)
			missing &= ~(1U << i);
	if (spec->service < 0)
		return;
	if (!missing) {
		close(spec->service);
		return;
	}
	int r = ward_cgroup_ask(cg, spec, spec->service);
	char why[128];
	snprintf(why, sizeof(why), "wardfs-hostd makes no group: %s",
		r == -EDQUOT   ? "the host gives a user less than that"
		: r == -EUSERS ? "this user has as many sessions with groups as the host allows"
		: r == -EPIPE  ? "it does not answer"
			       : strerror(-r));
	if (r < 0)
		say_why(cg, missing, why);
}

int ward_cgroup_make(
	const struct ward_cgroup_spec *spec, struct ward_cgroup **ret, struct ward_err *err)
{
	struct ward_cgroup *cg = calloc(1, sizeof(*cg));
	ward_cleanup_free struct ward_hierarchy *h = calloc(WARD_HIERARCHIES_MAX, sizeof(*h));
	if (!cg || !h) {
		free(cg);
		return ward_err_sys(err, -ENOMEM, "control groups");
	}
	cg->memory_event = cg->pids_event = cg->service.conn = -1;
	cg->replayed = spec->replayed;
	cg->near_at_once = spec->user;
	for (size_t i = 0; i < WARD_GLANCES; i++)
		cg->glance[i] = -1;
	for (size_t i = 0; i < WARD_CGROUP_PARTS; i++) {
		cg->part[i].group = -1;
		snprintf(cg->part[i].why, sizeof(cg->part[i].why),
			i == WARD_CGROUP_PRESSURE ? "cgroup v2 is not mounted"
						  : "no mounted hierarchy has the controller %s",
			ward_cgroup_controllers[i]);
	}
	size_t n = ward_cgroup_hierarchies(h, WARD_HIERARCHIES_MAX);
	for (size_t i = 0; i < n; i++)
		take_hierarchy(cg, &h[i], spec);
	ask_service(cg, spec);
	int r = ward_cgroup_by_service(cg) ? watch_limits(cg, spec, err)
					   : ward_cgroup_limit(cg, spec, err);
	if (r < 0) {
		ward_cgroup_free(cg);
		return r;
	}
	*ret = cg;
	return 0;
}

bool ward_cgroup_has(const struct ward_cgroup *cg, enum ward_cgroup_part part)
{
	return cg && cg->part[part].group >= 0;
}

const char *ward_cgroup_why(const struct ward_cgroup *cg, enum ward_cgroup_part part)
{
	return cg ? cg->part[part].why : "no control groups";
}

const char *ward_cgroup_version(const struct ward_cgroup *cg, enum ward_cgroup_part part)
{
	if (!ward_cgroup_has(cg, part))
		return NULL;
	return group_of(cg, part)->v2 ? "v2" : "v1";
}

const char *ward_cgroup_path(const struct ward_cgroup *cg, size_t i)
{
	size_t k = 0;
	for (; cg && k < cg->n_groups; k++)
		if (cg->groups[k].procs >= 0 && i-- == 0)
			return cg->groups[k].path;
	return NULL;
}

size_t ward_cgroup_join(
	const struct ward_cgroup *cg, struct ward_cgroup_way ret[WARD_CGROUP_JOIN_MAX])
{
	size_t n = 0;
	if (ward_cgroup_by_service(cg)) {
		/* Not changed, but its lock is taken. */
		ret[0] = (struct ward_cgroup_way){.procs = -1,
			.self = -1,
			.into = -1,
			.service = (struct ward_cgroup_service *)(uintptr_t)&cg->service};
		return 1;
	}
	for (size_t i = 0; cg && i < cg->n_groups; i++) {
		const struct ward_group *g = &cg->groups[i];
		if (g->procs >= 0)
			ret[n++] = (struct ward_cgroup_way){.procs = g->procs,
				.self = g->tasks,
				.into = g->v2 ? ward_group_inside(g) : -1};
	}
	return n;
}

int ward_cgroup_add_helper(const struct ward_cgroup *cg, pid_t pid)
{
	int r = 0;
	if (ward_cgroup_by_service(cg))
		return ward_cgroup_service_move(
			(struct ward_cgroup_service *)(uintptr_t)&cg->service, pid, true);
	for (size_t i = 0; i < cg->n_groups && r == 0; i++)
		if (cg->groups[i].procs >= 0 && cg->groups[i].guard >= 0)
			r = ward_cgroup_write_number(
				cg->groups[i].guard, "cgroup.procs", (uint64_t)pid);
	return r;
}

int ward_cgroup_freezer(const struct ward_cgroup *cg, int ret_fds[2])
{
	for (size_t i = 0; cg && i < cg->n_groups; i++) {
		const struct ward_group *g = &cg->groups[i];
		if (!g->v2 || g->procs < 0)
			continue;
		ward_cleanup_fd int freeze =
			openat(ward_group_inside(g), WARD_CGROUP_FREEZE, O_WRONLY | O_CLOEXEC);
		ward_cleanup_fd int events =
			openat(ward_group_inside(g), "cgroup.events", O_RDONLY | O_CLOEXEC);
		if (freeze < 0 || events < 0)
			return -errno;
		ret_fds[WARD_FREEZER_FREEZE] = ward_steal_fd(&freeze);
		ret_fds[WARD_FREEZER_EVENTS] = ward_steal_fd(&events);
		return 0;
	}
	return -ENOENT;
}

size_t ward_cgroup_poll(const struct ward_cgroup *cg, struct pollfd ret_fds[WARD_CGROUP_POLL_MAX])
{
	size_t n = 0;
	if (!cg)
		return 0;
	/* A v2 file says POLLPRI when it has changed since it was read last. */
	if (cg->memory_event >= 0)
		ret_fds[n++] = (struct pollfd){.fd = cg->memory_event,
			.events = group_of(cg, WARD_CGROUP_MEMORY)->v2 ? POLLPRI : POLLIN};
	if (cg->pids_event >= 0)
		ret_fds[n++] = (struct pollfd){.fd = cg->pids_event, .events = POLLPRI};
	return n;
}

void ward_cgroup_seen(struct ward_cgroup *cg)
{
	char text[256];
	if (cg && cg->memory_event >= 0 && group_of(cg, WARD_CGROUP_MEMORY)->v2)
		(void)!pread(cg->memory_event, text, sizeof(text), 0);
	else if (cg && cg->memory_event >= 0)
		(void)!read(cg->memory_event, text, sizeof(text));
	if (cg && cg->pids_event >= 0)
		(void)!pread(cg->pids_event, text, sizeof(text), 0);
}

/* --- the end --- */

/* Processes of a v1 group, one by one. Returns whether there were any. */
static bool kill_each(const struct ward_group *g)
{
	char text[8192];
	ssize_t n = pread(g->procs, text, sizeof(text) - 1, 0);
	if (n <= 0)
		return false;
	text[n] = '\0';
	for (char *s = text; *s;) {
		char *end = s;
		long pid = strtol(s, &end, 10);
		/* A last number that was cut off does not count. */
		if (end == s || *end != '\n')
			break;
		/* 0: a process of another pid namespace; we are never in there ourselves. */
		if (pid > 1 && pid != getpid())
			kill((pid_t)pid, SIGKILL);
		s = end + 1;
	}
	return true;
}

void ward_cgroup_kill(struct ward_cgroup *cg)
{
	for (size_t i = 0; cg && i < cg->n_groups; i++) {
		const struct ward_group *g = &cg->groups[i];
		if (g->procs < 0 ||
			(g->v2 && ward_cgroup_write(ward_group_inside(g), "cgroup.kill", "1") == 0))
			continue;
		for (int k = 0; k < WARD_CGROUP_TRIES && kill_each(g); k++)
			usleep(WARD_CGROUP_NAP_US);
	}
}

void ward_cgroup_free(struct ward_cgroup *cg)
{
	if (!cg)
		return;
	(void)!ward_cgroup_settle(cg);
	if (cg->memory_event >= 0)
		close(cg->memory_event);
	if (cg->pids_event >= 0)
		close(cg->pids_event);
	for (size_t i = 0; i < WARD_GLANCES; i++)
		if (cg->glance[i] >= 0)
			close(cg->glance[i]);
	if (ward_cgroup_by_service(cg))
		ward_cgroup_give_back(cg);
	for (size_t i = 0; i < cg->n_groups; i++)
		ward_group_remove(&cg->groups[i]);
	free(cg);
}

/* --- for wardfs-hostd --- */

int ward_cgroup_memory_event(const struct ward_cgroup *cg)
{
	const struct ward_group *memory = group_of(cg, WARD_CGROUP_MEMORY);
	return !memory || memory->v2 ? -1 : cg->memory_event;
}

size_t ward_cgroup_dirs(const struct ward_cgroup *cg, struct ward_cgroup_dir ret[WARD_CGROUP_PARTS])
{
	size_t n = 0;
	for (size_t i = 0; i < cg->n_groups; i++) {
		const struct ward_group *g = &cg->groups[i];
		if (g->procs >= 0)
			ret[n++] = (struct ward_cgroup_dir){.v2 = g->v2,
				.parts = g->parts,
				.dir = g->dir,
				.inside = g->inside,
				.guard = g->guard,
				.parent = g->parent,
				.above = g->above};
	}
	return n;
}
