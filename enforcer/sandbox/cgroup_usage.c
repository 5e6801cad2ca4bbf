/* SPDX-License-Identifier: Apache-2.0 */
/* What hierarchies there are, and what groups say about use. Only reads. */
#include "enforcer/sandbox/cgroup_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"

/* A line for each of at most 14 hierarchies. */
#define GROUPS_MAX ((size_t)14 * (WARD_CGROUP_PATH_MAX + 256))
/* mountinfo of a host with many containers is long; a line of it has at most PATH_MAX a field. */
#define MOUNTINFO_LINE_MAX 16384

/* --- which hierarchies --- */

/* True if word is one of the words in list, divided by any of the bytes of sep. */
static bool has_word(const char *list, const char *word, const char *sep)
{
	size_t len = strlen(word);
	for (const char *s = list; *s;) {
		size_t n = strcspn(s, sep);
		if (n == len && strncmp(s, word, n) == 0)
			return true;
		s += n;
		s += strspn(s, sep);
	}
	return false;
}

static bool read_file(int dir, const char *file, char *ret, size_t size)
{
	ward_cleanup_fd int fd = openat(dir, file, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, ret, size - 1);
	if (n < 0)
		return false;
	ret[n] = '\0';
	return true;
}

static unsigned v1_parts(const char *options)
{
	static const struct {
		const char *name;
		enum ward_cgroup_part part;
	} names[] = {{"memory", WARD_CGROUP_MEMORY}, {"pids", WARD_CGROUP_PIDS},
		{"cpu", WARD_CGROUP_CPU}, {"cpuacct", WARD_CGROUP_CPUACCT},
		{"blkio", WARD_CGROUP_IO}};
	unsigned parts = 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (has_word(options, names[i].name, ","))
			parts |= 1U << names[i].part;
	return parts;
}

unsigned ward_cgroup_offers(int dir)
{
	static const struct {
		const char *name;
		enum ward_cgroup_part part;
	} names[] = {{"memory", WARD_CGROUP_MEMORY}, {"pids", WARD_CGROUP_PIDS},
		{"cpu", WARD_CGROUP_CPU}, {"io", WARD_CGROUP_IO}};
	char list[1024];
	/* CPU time (cpu.stat) and pressure need no controller. */
	unsigned parts = 1U << WARD_CGROUP_PRESSURE | 1U << WARD_CGROUP_CPUACCT;
	if (!read_file(dir, "cgroup.controllers", list, sizeof(list)))
		return 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (has_word(list, names[i].name, " \n"))
			parts |= 1U << names[i].part;
	return parts;
}

static unsigned v2_parts(const char *mount)
{
	ward_cleanup_fd int dir = open(mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return dir < 0 ? 0 : ward_cgroup_offers(dir);
}

/*
 * The path of our group in the hierarchy with these v1 options (NULL: v2), as `groups`, the text of
 * /proc/self/cgroup, names it.
 */
static bool own_path(const char *groups, const char *options, char *ret, size_t size)
{
	char line[WARD_CGROUP_PATH_MAX + 256];
	size_t len = 0;
	for (; *groups; groups += len + (groups[len] == '\n')) {
		len = strcspn(groups, "\n");
		if (len >= sizeof(line))
			continue;
		memcpy(line, groups, len);
		line[len] = '\0';
		/* ID:CONTROLLER,…:PATH (cgroups(7)); v2: 0::PATH */
		char *list = strchr(line, ':');
		char *path = list ? strchr(list + 1, ':') : NULL;
		if (!path)
			continue;
		*path++ = '\0';
		list++;
		char first[64];
		snprintf(first, sizeof(first), "%.*s", (int)strcspn(list, ","), list);
		bool here = options ? *list && has_word(options, first, ",") : !*list;
		if (here && strlen(path) < size) {
			snprintf(ret, size, "%s", path);
			return true;
		}
	}
	return false;
}

/* Our group below what is mounted: root is the group that the mount point shows. */
static void set_own(
	struct ward_hierarchy *h, const char *groups, const char *root, const char *options)
{
	char path[WARD_CGROUP_PATH_MAX];
	size_t len = strcmp(root, "/") == 0 ? 0 : strlen(root);
	h->own[0] = '\0';
	if (own_path(groups, options, path, sizeof(path)) && strncmp(path, root, len) == 0 &&
		path[len] == '/' && path[len + 1] != '\0' && !strstr(path, "/.."))
		snprintf(h->own, sizeof(h->own), "%s", path + len);
}

/* One line of mountinfo (proc(5)): … root mountpoint options … - type source superoptions */
static bool parse_mount(char *line, const char *groups, struct ward_hierarchy *h)
{
	char *field[7] = {NULL};
	char *save = NULL;
	char *tail = strstr(line, " - ");
	if (!tail)
		return false;
	*tail = '\0';
	size_t n = 0;
	for (char *s = strtok_r(line, " ", &save); s && n < 6; s = strtok_r(NULL, " ", &save))
		field[n++] = s;
	char *type = strtok_r(tail + 3, " ", &save);
	char *source = strtok_r(NULL, " ", &save);
	char *options = strtok_r(NULL, " \n", &save);
	if (n < 5 || !type || !source || !options || strchr(field[4], '\\') ||
		strlen(field[4]) >= sizeof(h->mount))
		return false;
	h->v2 = strcmp(type, "cgroup2") == 0;
	if (!h->v2 && strcmp(type, "cgroup") != 0)
		return false;
	snprintf(h->mount, sizeof(h->mount), "%s", field[4]);
	h->parts = h->v2 ? v2_parts(h->mount) : v1_parts(options);
	if (h->parts)
		set_own(h, groups, field[3], h->v2 ? NULL : options);
	return h->parts != 0;
}

/* Behind those of v2, or, one itself, as the last of them. A full list loses its last one for it.
 */
static void take_mount(const struct ward_hierarchy *h, struct ward_hierarchy *ret, size_t max,
	size_t *n, size_t *n_v2)
{
	if (*n == max && (!h->v2 || *n_v2 == max))
		return;
	size_t at = h->v2 ? (*n_v2)++ : *n;
	*n += *n < max;
	memmove(ret + at + 1, ret + at, (*n - 1 - at) * sizeof(*ret));
	ret[at] = *h;
}

size_t ward_cgroup_hierarchies(struct ward_hierarchy *ret, size_t max)
{
	size_t n = 0;
	size_t n_v2 = 0;
	ward_cleanup(ward_buf_clear) struct ward_buf groups = WARD_BUF_INIT;
	ward_cleanup_free char *line = malloc(MOUNTINFO_LINE_MAX);
	ward_cleanup_free struct ward_hierarchy *h = malloc(sizeof(*h));
	ward_cleanup_fd int own = open("/proc/self/cgroup", O_RDONLY | O_CLOEXEC);
	ward_cleanup_file FILE *f = fopen("/proc/self/mountinfo", "re");
	if (!line || !h || !f)
		return 0;
	/* Without that we take ourselves to be at the top. */
	if (own < 0 || ward_fd_read_all(own, GROUPS_MAX, &groups) < 0)
		ward_buf_clear(&groups);
	while (fgets(line, MOUNTINFO_LINE_MAX, f))
		if (strstr(line, " - cgroup") && parse_mount(line, ward_buf_str(&groups), h))
			take_mount(h, ret, max, &n, &n_v2);
	return n;
}

#define CONTROLS (1U << WARD_CGROUP_MEMORY | 1U << WARD_CGROUP_PIDS | 1U << WARD_CGROUP_CPU)

static unsigned found_parts(bool delegated, bool v2_alone)
{
	ward_cleanup_free struct ward_hierarchy *h =
		calloc(WARD_HIERARCHIES_MAX, sizeof(struct ward_hierarchy));
	unsigned found = 0;
	size_t n = h ? ward_cgroup_hierarchies(h, WARD_HIERARCHIES_MAX) : 0;
	for (size_t i = 0; i < n; i++) {
		char path[2 * WARD_CGROUP_PATH_MAX + 32];
		snprintf(path, sizeof(path), "%s%s/cgroup.procs", h[i].mount, h[i].own);
		ward_cleanup_fd int fd = delegated ? open(path, O_WRONLY | O_CLOEXEC) : -1;
		if ((!delegated || fd >= 0) && (!v2_alone || h[i].v2))
			found |= h[i].parts;
	}
	return found & CONTROLS;
}

bool ward_cgroup_lacks_delegation(void)
{
	return found_parts(true, false) != CONTROLS;
}

bool ward_cgroup_v2_controls(void)
{
	return found_parts(false, true) == CONTROLS;
}

/* --- what was used --- */

static const struct ward_group *group_of(const struct ward_cgroup *cg, enum ward_cgroup_part part)
{
	int i = cg->part[part].group;
	return i < 0 ? NULL : &cg->groups[i];
}

static uint64_t number(int dir, const char *file)
{
	char text[64];
	if (!read_file(dir, file, text, sizeof(text)) || text[0] < '0' || text[0] > '9')
		return WARD_USAGE_UNKNOWN;
	return strtoull(text, NULL, 10);
}

/* The number behind "KEY " at the start of a line. */
static uint64_t keyed(int dir, const char *file, const char *key)
{
	char text[4096];
	size_t len = strlen(key);
	if (!read_file(dir, file, text, sizeof(text)))
		return WARD_USAGE_UNKNOWN;
	for (const char *s = text; *s;) {
		if (strncmp(s, key, len) == 0 && s[len] == ' ')
			return strtoull(s + len + 1, NULL, 10);
		s += strcspn(s, "\n");
		s += *s == '\n';
	}
	return WARD_USAGE_UNKNOWN;
}

/* The sum of what stands behind each `mark`, over all devices; 0 if it stands nowhere. */
static uint64_t sum(const struct ward_group *g, const char *file, const char *mark)
{
	char text[8192];
	uint64_t total = 0;
	if (!read_file(g->dir, file, text, sizeof(text)))
		return WARD_USAGE_UNKNOWN;
	for (const char *s = text; (s = strstr(s, mark)); s += strlen(mark))
		total += strtoull(s + strlen(mark), NULL, 10);
	return total;
}

/* "some avg10=… total=N" (Documentation/accounting/psi.rst) */
static uint64_t waited(const struct ward_group *g, const char *file)
{
	char text[512];
	if (!read_file(g->dir, file, text, sizeof(text)) || strncmp(text, "some ", 5) != 0)
		return WARD_USAGE_UNKNOWN;
	const char *total = strstr(text, "total=");
	return total ? strtoull(total + 6, NULL, 10) : WARD_USAGE_UNKNOWN;
}

static void use_memory(const struct ward_group *g, struct ward_usage *u)
{
	u->memory = number(g->dir, g->v2 ? "memory.current" : "memory.usage_in_bytes");
	/* memory.peak: Linux 5.19 */
	u->memory_peak = number(g->dir, g->v2 ? "memory.peak" : "memory.max_usage_in_bytes");
	u->oom_kills = g->v2 ? keyed(g->dir, "memory.events", "oom_kill")
			     : keyed(ward_group_inside(g), "memory.oom_control", "oom_kill");
	/* v1 counts one where it was, and not in the group above. */
	uint64_t more =
		g->v2 || g->guard < 0 ? 0 : keyed(g->guard, "memory.oom_control", "oom_kill");
	if (u->oom_kills != WARD_USAGE_UNKNOWN && more != WARD_USAGE_UNKNOWN)
		u->oom_kills += more;
}

/* Without pid 1 and the replayer, which are ours. */
static uint64_t less_ours(const struct ward_cgroup *cg, uint64_t n)
{
	const uint64_t ours = cg->replayed ? 2 : 1;
	return n == WARD_USAGE_UNKNOWN ? n : n > ours ? n - ours : 0;
}

static void use_pids(const struct ward_cgroup *cg, const struct ward_group *g, struct ward_usage *u)
{
	int dir = ward_group_inside(g);
	u->processes = less_ours(cg, number(dir, "pids.current"));
	/* pids.peak: Linux 6.1 */
	u->processes_peak = less_ours(cg, number(dir, "pids.peak"));
	u->forks_refused = keyed(dir, "pids.events", "max");
}

static void use_io(const struct ward_group *g, struct ward_usage *u)
{
	if (g->v2) {
		u->read_bytes = sum(g, "io.stat", "rbytes=");
		u->written_bytes = sum(g, "io.stat", "wbytes=");
	} else {
		u->read_bytes = sum(g, "blkio.throttle.io_service_bytes_recursive", " Read ");
		u->written_bytes = sum(g, "blkio.throttle.io_service_bytes_recursive", " Write ");
	}
}

void ward_cgroup_usage(const struct ward_cgroup *cg, struct ward_usage *ret)
{
	memset(ret, 0xff, sizeof(*ret)); /* WARD_USAGE_UNKNOWN in each */
	if (!cg)
		return;
	const struct ward_group *g = group_of(cg, WARD_CGROUP_MEMORY);
	if (g)
		use_memory(g, ret);
	g = group_of(cg, WARD_CGROUP_PIDS);
	if (g)
		use_pids(cg, g, ret);
	g = group_of(cg, WARD_CGROUP_IO);
	if (g)
		use_io(g, ret);
	g = group_of(cg, WARD_CGROUP_CPUACCT);
	if (g && g->v2) {
		uint64_t us = keyed(g->dir, "cpu.stat", "usage_usec");
		ret->cpu_ns = us == WARD_USAGE_UNKNOWN ? us : us * 1000;
	} else if (g) {
		ret->cpu_ns = number(g->dir, "cpuacct.usage");
	}
	g = group_of(cg, WARD_CGROUP_PRESSURE);
	if (g) {
		ret->wait_cpu_us = waited(g, "cpu.pressure");
		ret->wait_memory_us = waited(g, "memory.pressure");
		ret->wait_io_us = waited(g, "io.pressure");
	}
}

/* --- at a glance --- */

static int open_file(int dir, const char *file)
{
	return openat(dir, file, O_RDONLY | O_CLOEXEC);
}

static void open_glance(struct ward_cgroup *cg)
{
	const struct ward_group *g = group_of(cg, WARD_CGROUP_CPUACCT);
	if (g)
		cg->glance[WARD_GLANCE_CPU] =
			open_file(g->dir, g->v2 ? "cpu.stat" : "cpuacct.usage");
	g = group_of(cg, WARD_CGROUP_PIDS);
	if (g) {
		cg->glance[WARD_GLANCE_PIDS_PEAK] = open_file(ward_group_inside(g), "pids.peak");
		if (cg->glance[WARD_GLANCE_PIDS_PEAK] < 0)
			cg->glance[WARD_GLANCE_PIDS] =
				open_file(ward_group_inside(g), "pids.current");
	}
	g = group_of(cg, WARD_CGROUP_MEMORY);
	if (g && g->v2) {
		cg->glance[WARD_GLANCE_MEMORY_PEAK] = open_file(g->dir, "memory.peak");
		if (cg->glance[WARD_GLANCE_MEMORY_PEAK] < 0)
			cg->glance[WARD_GLANCE_MEMORY] = open_file(g->dir, "memory.current");
	}
	cg->glanced = true;
}

/* The number that a file begins with, or that stands behind its first word (cpu.stat). */
static void read_glance(int fd, uint64_t unit, uint64_t *io)
{
	char text[64];
	ssize_t n = fd < 0 ? -1 : pread(fd, text, sizeof(text) - 1, 0);
	if (n <= 0)
		return;
	text[n] = '\0';
	const char *s = strncmp(text, "usage_usec ", 11) == 0 ? text + 11 : text;
	if (*s >= '0' && *s <= '9')
		*io = strtoull(s, NULL, 10) * unit;
}

void ward_cgroup_glance(struct ward_cgroup *cg, struct ward_usage *io)
{
	if (!cg)
		return;
	if (!cg->glanced)
		open_glance(cg);
	const struct ward_group *g = group_of(cg, WARD_CGROUP_CPUACCT);
	uint64_t n = WARD_USAGE_UNKNOWN;
	uint64_t peak = WARD_USAGE_UNKNOWN;
	read_glance(cg->glance[WARD_GLANCE_CPU], g && g->v2 ? 1000 : 1, &io->cpu_ns);
	read_glance(cg->glance[WARD_GLANCE_PIDS], 1, &n);
	read_glance(cg->glance[WARD_GLANCE_PIDS_PEAK], 1, &peak);
	if (n != WARD_USAGE_UNKNOWN)
		io->processes = less_ours(cg, n);
	if (peak != WARD_USAGE_UNKNOWN)
		io->processes_peak = less_ours(cg, peak);
	read_glance(cg->glance[WARD_GLANCE_MEMORY], 1, &io->memory);
	read_glance(cg->glance[WARD_GLANCE_MEMORY_PEAK], 1, &io->memory_peak);
}
