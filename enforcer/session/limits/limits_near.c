/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What comes near its limit without anybody telling us: it is looked at. How often:
 *
 * - While the session uses CPU time: room as soon as what is left could be used up, yet no oftener
 *   than LOOK_MIN_NS: what stays above the mark for that long is seen. Descriptors as often as
 *   their number lets it cost. What the kernel keeps the peak of, each LOOK_GLANCE_NS.
 * - While it does not: half as often each time, down to once in LOOK_ASLEEP_NS.
 */
#include "enforcer/session/limits/limits_internal.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/session/records/session_records.h"

#define MS (WARD_NS_PER_SEC / 1000)
/* The first look: what takes less time is looked at as it ends. */
#define LOOK_FIRST_NS (5 * MS)
#define LOOK_MIN_NS (50 * MS)
#define LOOK_MAX_NS (5 * WARD_NS_PER_SEC)
#define LOOK_GLANCE_NS (200 * MS)
#define LOOK_ASLEEP_NS WARD_NS_PER_SEC
/* Where nobody tells us whether the session sleeps (no control group counts its CPU time). */
#define LOOK_BLIND_NS (250 * MS)
/* No processor fills a tmpfs by more bytes in a nanosecond, or makes a file there in fewer. */
#define FILL_BYTES_PER_NS 4
#define FILL_NS_PER_FILE 1000
/* As many names as pages, and some (sandbox/init/mounts.c). */
#define TMP_BYTES_PER_FILE 4096
/* A look at descriptors costs so many times less CPU time than passes until the next one. */
#define FILES_PACE 5000

static bool known(uint64_t v)
{
	return v != WARD_USAGE_UNKNOWN;
}

uint64_t ward_limit_near_value(uint64_t limit)
{
	return limit / 100 * WARD_LIMIT_NEAR + limit % 100 * WARD_LIMIT_NEAR / 100;
}

static bool near(uint64_t used, uint64_t limit)
{
	return known(used) && limit != WARD_UNLIMITED && used >= ward_limit_near_value(limit);
}

static uint64_t min64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* --- records --- */

const char *ward_limit_unit_name(enum ward_limit_unit unit)
{
	switch (unit) {
	case WARD_LIMIT_BYTES:
		return "bytes";
	case WARD_LIMIT_COUNT:
		return "processes";
	case WARD_LIMIT_NS:
	case WARD_LIMIT_TENTHS:
		break;
	}
	return "ns";
}

int ward_limits_tell_near(struct ward_guard *g, const char *name, enum ward_limit_unit unit,
	bool files, uint64_t limit, uint64_t used)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_buf_printf(&b, "%s: %d %% of ", name, WARD_LIMIT_NEAR);
	ward_limit_text(unit, limit, &b);
	ward_buf_puts(&b, files && strcmp(name, "open-files") != 0 ? " files is used" : " is used");
	struct ward_record_limit r = {.name = name,
		.done = "near",
		.unit = files ? "files" : ward_limit_unit_name(unit),
		.limit = limit,
		.used = used,
		.text = ward_buf_str(&b)};
	return ward_record_limit(g, &r);
}

int ward_limits_near(struct ward_limits *l, struct ward_guard *g)
{
	const struct ward_settings *s = l->settings;
	const struct ward_usage *u = &l->last;
	int r = 0;
	/* The peak tells also of what was over before we looked. */
	uint64_t memory = known(u->memory_peak) ? u->memory_peak : u->memory;
	uint64_t processes = known(u->processes_peak) ? u->processes_peak : u->processes;
	if (!l->near_memory && near(memory, s->memory)) {
		l->near_memory = true;
		r = ward_limits_tell_near(g, "memory", WARD_LIMIT_BYTES, false, s->memory, memory);
	}
	if (r == 0 && !l->near_processes && near(processes, s->processes)) {
		l->near_processes = true;
		r = ward_limits_tell_near(
			g, "processes", WARD_LIMIT_COUNT, false, s->processes, processes);
	}
	if (r == 0 && !l->near_cpu && near(u->cpu_ns, s->cpu_time_ns)) {
		l->near_cpu = true;
		r = ward_limits_tell_near(
			g, "cpu-time", WARD_LIMIT_NS, false, s->cpu_time_ns, u->cpu_ns);
	}
	return r;
}

static int near_place(
	struct ward_guard *g, struct ward_limits_place *p, const struct ward_limits_room *room)
{
	int r = 0;
	if (!p->near_bytes && room->bytes_max && near(room->bytes, room->bytes_max)) {
		p->near_bytes = true;
		r = ward_limits_tell_near(
			g, p->name, WARD_LIMIT_BYTES, false, room->bytes_max, room->bytes);
	}
	if (r == 0 && !p->near_files && room->files_max && near(room->files, room->files_max)) {
		p->near_files = true;
		r = ward_limits_tell_near(
			g, p->name, WARD_LIMIT_COUNT, true, room->files_max, room->files);
	}
	return r;
}

/* ret_wait: no sooner can one of them be near its limit; WARD_UNLIMITED: all warnings were given.
 */
static int look_at_places(struct ward_limits *l, struct ward_guard *g, uint64_t *ret_wait)
{
	uint64_t wait = WARD_UNLIMITED;
	for (size_t i = 0; i < l->n_places; i++) {
		struct ward_limits_place *p = &l->places[i];
		struct ward_limits_room room;
		if ((p->near_bytes && p->near_files) || !ward_limits_room(p, &room))
			continue;
		int r = near_place(g, p, &room);
		if (r < 0)
			return r;
		uint64_t bytes = ward_limit_near_value(room.bytes_max);
		uint64_t files = ward_limit_near_value(room.files_max);
		if (!p->near_bytes && room.bytes_max)
			wait = min64(
				wait, (bytes - room.bytes) / FILL_BYTES_PER_NS / l->processors);
		if (!p->near_files && room.files_max)
			wait = min64(wait, (files - room.files) * FILL_NS_PER_FILE / l->processors);
	}
	*ret_wait = wait;
	return 0;
}

/* Can what the session has used of a processor have filled /tmp with bytes, or with names? */
static bool had_time(const struct ward_limits *l)
{
	const uint64_t near_tmp = ward_limit_near_value(l->settings->tmp_bytes);
	const uint64_t cpu = l->last.cpu_ns;
	return !known(cpu) || cpu >= near_tmp / FILL_BYTES_PER_NS ||
	       cpu >= near_tmp / TMP_BYTES_PER_FILE * FILL_NS_PER_FILE;
}

int ward_limits_near_places(struct ward_limits *l, struct ward_guard *g)
{
	uint64_t wait = 0;
	if (!l->processors)
		return 0; /* the command was not started */
	if (had_time(l))
		ward_limits_places_open(l);
	return look_at_places(l, g, &wait);
}

static uint64_t own_cpu_ns(void)
{
	struct timespec t = {0, 0};
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * WARD_NS_PER_SEC + (uint64_t)t.tv_nsec;
}

static int look_at_files(struct ward_limits *l, struct ward_guard *g, uint64_t now)
{
	const uint64_t limit = l->settings->open_files;
	uint64_t began = own_cpu_ns();
	uint64_t files = ward_limits_files(l);
	l->files_at = now + (own_cpu_ns() - began) * FILES_PACE;
	if (!near(files, limit))
		return 0;
	l->near_files = true;
	return ward_limits_tell_near(g, "open-files", WARD_LIMIT_COUNT, true, limit, files);
}

/* --- when --- */

/* Is there something that only a look can find? */
static bool worth_it(const struct ward_limits *l)
{
	const struct ward_settings *s = l->settings;
	const struct ward_usage *u = &l->last;
	if (!l->near_files && s->open_files != WARD_UNLIMITED)
		return true;
	if (!l->near_processes && s->processes != WARD_UNLIMITED && known(u->processes))
		return true;
	/* v1 has a threshold that says so by itself. */
	if (!l->near_memory && s->memory != WARD_UNLIMITED && known(u->memory) &&
		strcmp(ward_cgroup_version(l->cg, WARD_CGROUP_MEMORY), "v2") == 0)
		return true;
	for (size_t i = 0; i < l->n_places; i++)
		if (!l->places[i].near_bytes || !l->places[i].near_files)
			return true;
	return false;
}

void ward_limits_look_start(struct ward_limits *l, uint64_t now)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	l->processors = online > 0 ? (unsigned)online : 1;
	l->look_cpu = l->last.cpu_ns;
	l->look_wait = LOOK_MIN_NS;
	l->look_at = worth_it(l) ? now + LOOK_FIRST_NS : WARD_UNLIMITED;
}

/* Reads what a glance tells. *ret: has the session used CPU time since the last one? */
static int glance(struct ward_limits *l, struct ward_guard *g, uint64_t now, bool *ret_works)
{
	ward_cgroup_glance(l->cg, &l->last);
	int r = ward_limits_near(l, g);
	*ret_works = !known(l->last.cpu_ns) || l->last.cpu_ns != l->look_cpu;
	l->look_cpu = l->last.cpu_ns;
	l->glance_at = now + LOOK_GLANCE_NS;
	return r;
}

/* left: what look_at_places() says. */
static void plan(struct ward_limits *l, uint64_t now, uint64_t left)
{
	uint64_t at = now + min64(left, LOOK_MAX_NS);
	/* Waking up costs more than a look: the others come along, or wake where none does soon. */
	if (at > now + LOOK_GLANCE_NS + LOOK_MIN_NS) {
		at = min64(at, l->glance_at);
		if (!l->near_files && l->settings->open_files != WARD_UNLIMITED)
			at = min64(at, l->files_at);
	}
	l->look_wait = known(l->last.cpu_ns) ? LOOK_MIN_NS : LOOK_BLIND_NS;
	if (at < now + l->look_wait)
		at = now + l->look_wait;
	l->look_at = worth_it(l) ? at : WARD_UNLIMITED;
}

int ward_limits_look(struct ward_limits *l, struct ward_guard *g, uint64_t now)
{
	uint64_t left = WARD_UNLIMITED;
	bool works = true;
	int r = now >= l->glance_at ? glance(l, g, now, &works) : 0;
	if (r == 0 && !works) {
		/* Nothing can have changed without CPU time. */
		l->look_wait = min64(2 * l->look_wait, LOOK_ASLEEP_NS);
		l->look_at = l->glance_at = now + l->look_wait;
		return 0;
	}
	if (r == 0) {
		ward_limits_places_open(l);
		r = look_at_places(l, g, &left);
	}
	if (r == 0 && !l->near_files && l->settings->open_files != WARD_UNLIMITED &&
		now >= l->files_at)
		r = look_at_files(l, g, now);
	plan(l, now, left);
	return r;
}
