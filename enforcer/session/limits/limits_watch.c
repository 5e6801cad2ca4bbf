/* SPDX-License-Identifier: Apache-2.0 */
/* The clocks of a session, and what its control groups say while it runs and at its end. */
#include "enforcer/session/limits/limits_internal.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/plural.h"
#include "enforcer/session/records/session_records.h"

/* CPU time is looked at no more often than this, however near the limit. */
#define CPU_LOOK_NS (WARD_NS_PER_SEC / 20)
/* The idle clock looks for signs of life this many times in its period. */
#define IDLE_LOOKS 10
#define IDLE_LOOK_MIN_NS (WARD_NS_PER_SEC / 20)

/* Said where no limit of the session is to blame. */
static const char ran_out[] = "memory ran out around the session, not by a limit of its own";

static bool known(uint64_t v)
{
	return v != WARD_USAGE_UNKNOWN;
}

static uint64_t min64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Modulo 2^64: in a time namespace either clock can be ahead (time_namespaces(7)). */
static uint64_t ahead(void)
{
	/* In this order nothing is counted that did not pass. */
	const uint64_t boot = ward_clock_boot_ns();
	return boot - ward_clock_mono_ns();
}

/* The two clocks are read one after the other: less than this apart is no suspension. */
#define APART_NS (WARD_NS_PER_SEC / 10)

/* After the host was suspended: so much less is left of the wall clock. Not of the idle clock. */
static void take_suspended(struct ward_limits *l)
{
	const uint64_t now = ahead();
	const uint64_t more = now - l->ahead;
	/* Of what is negative, the reading order makes a little. */
	if ((int64_t)more < (int64_t)APART_NS)
		return;
	l->ahead = now;
	if (l->wall_at != WARD_UNLIMITED)
		l->wall_at -= min64(more, l->wall_at);
	if (l->near_wall_at != WARD_UNLIMITED)
		l->near_wall_at -= min64(more, l->near_wall_at);
	/* What rang in between was set by the clock of before. */
	l->rang = true;
}

/* When all figures are taken next, whatever happens. */
static uint64_t full_at(const struct ward_limits *l)
{
	uint64_t at = min64(min64(l->wall_at, l->near_wall_at), l->cpu_at);
	uint64_t idle = l->settings->idle_ns;
	return idle == WARD_UNLIMITED ? at : min64(at, l->active_at + idle);
}

static void arm(struct ward_limits *l)
{
	const struct ward_settings *s = l->settings;
	uint64_t at = min64(min64(full_at(l), l->look_at), l->netlink_at);
	if (s->idle_ns != WARD_UNLIMITED) {
		uint64_t look = s->idle_ns / IDLE_LOOKS;
		look = look < IDLE_LOOK_MIN_NS ? IDLE_LOOK_MIN_NS : look;
		at = min64(at, ward_clock_mono_ns() + look);
	}
	/* The timer goes on while the host is suspended: it rings when the host wakes up. */
	if (at != WARD_UNLIMITED)
		at += l->ahead;
	/* {0} would switch it off; a time in the past rings at once. */
	struct itimerspec its = {.it_value = {.tv_sec = (time_t)(at / WARD_NS_PER_SEC),
					 .tv_nsec = (long)(at % WARD_NS_PER_SEC)}};
	if (at == WARD_UNLIMITED || !l->running)
		its = (struct itimerspec){0};
	timerfd_settime(l->timer, TFD_TIMER_ABSTIME, &its, NULL);
}

/* No sooner can what is left of the CPU time be used up: all CPUs at once. */
static void plan_cpu(struct ward_limits *l, uint64_t now)
{
	uint64_t limit = l->settings->cpu_time_ns;
	l->cpu_at = WARD_UNLIMITED;
	if (limit == WARD_UNLIMITED || !ward_cgroup_has(l->cg, WARD_CGROUP_CPUACCT) ||
		!known(l->last.cpu_ns))
		return;
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t tenths = online > 0 ? 10 * (uint64_t)online : 10;
	if (ward_cgroup_has(l->cg, WARD_CGROUP_CPU))
		tenths = min64(tenths, l->settings->cpus);
	/* First to the point where it is nearly used. */
	uint64_t to = l->near_cpu ? limit : ward_limit_near_value(limit);
	uint64_t left = l->last.cpu_ns < to ? to - l->last.cpu_ns : 0;
	uint64_t wait = tenths ? left / tenths * 10 : left;
	l->cpu_at = now + (wait < CPU_LOOK_NS ? CPU_LOOK_NS : wait);
}

void ward_limits_start(struct ward_limits *l, pid_t pid1)
{
	uint64_t now = ward_clock_mono_ns();
	l->pid1 = pid1;
	l->running = true;
	l->active_at = now;
	l->idle_cpu = known(l->last.cpu_ns) ? l->last.cpu_ns : 0;
	l->ahead = ahead();
	l->wall_at = l->settings->wall_ns == WARD_UNLIMITED ? WARD_UNLIMITED
							    : now + l->settings->wall_ns;
	l->near_wall_at = l->settings->wall_ns == WARD_UNLIMITED
				  ? WARD_UNLIMITED
				  : now + ward_limit_near_value(l->settings->wall_ns);
	plan_cpu(l, now);
	ward_limits_look_start(l, now);
	ward_limits_netlink_start(l, now);
	arm(l);
}

static void on_timer(void *arg, short revents)
{
	struct ward_limits *l = arg;
	uint64_t rang = 0;
	(void)revents;
	(void)!read(l->timer, &rang, sizeof(rang));
	l->rang = true;
}

/* It says so until its figures were taken (ward_cgroup_seen()). */
static void on_group(void *arg, short revents)
{
	struct ward_limits *l = arg;
	(void)revents;
	l->told = true;
}

int ward_limits_watch(
	struct ward_limits *l, struct ward_pollset *set, unsigned rank, struct ward_err *err)
{
	struct pollfd fds[WARD_CGROUP_POLL_MAX];
	size_t n = ward_cgroup_poll(l->cg, fds);
	int r = ward_pollset_add(set, rank, l->timer, POLLIN, on_timer, l, NULL);
	for (size_t i = 0; i < n && r == 0; i++)
		r = ward_pollset_add(set, rank, fds[i].fd, fds[i].events, on_group, l, NULL);
	return r < 0 ? ward_err_sys(err, r, "limits") : 0;
}

/* --- records --- */

static int record(struct ward_guard *g, const char *name, const char *done,
	enum ward_limit_unit unit, uint64_t limit, uint64_t used, const char *text)
{
	struct ward_record_limit r = {.name = name,
		.done = done,
		.unit = ward_limit_unit_name(unit),
		.limit = limit,
		.used = used,
		.text = text};
	return ward_record_limit(g, &r);
}

int ward_limits_burst(struct ward_guard *g, struct ward_msg_reader *m)
{
	char text[160];
	uint64_t n = ward_msg_get_u64(m), seconds = ward_msg_get_u64(m);
	uint64_t total = ward_msg_get_u64(m);
	if (ward_msg_done(m) < 0)
		return 0; /* from a helper: nothing to lose */
	snprintf(text, sizeof(text), "refusals: a burst of %llu within %llu s; %llu in all so far",
		(unsigned long long)n, (unsigned long long)seconds, (unsigned long long)total);
	struct ward_record_limit r = {.name = "refusals",
		.done = "seen",
		.unit = "refusals",
		.limit = WARD_UNLIMITED,
		.used = n,
		.text = text};
	return ward_record_limit(g, &r);
}

/*
 * The group counts what the kernel ended in it, also where memory had run out around it: on the
 * whole machine, or in a group above. Its own limit was met only where it came to use as much: a
 * huge page at most is refused before.
 */
static bool own_memory(const struct ward_limits *l)
{
	const uint64_t limit = l->settings->memory, peak = l->last.memory_peak;
	return limit != WARD_UNLIMITED && (!known(peak) || peak >= limit - limit / 4);
}

/* Counts that grew since the last look: what the kernel did to hold a limit. */
static int record_met(struct ward_limits *l, struct ward_guard *g, const struct ward_usage *before)
{
	const struct ward_usage *u = &l->last;
	char text[160];
	int r = 0;
	if (known(u->oom_kills) &&
		u->oom_kills > (known(before->oom_kills) ? before->oom_kills : 0)) {
		snprintf(text, sizeof(text), "memory: %s; the kernel ended %llu process%s so far",
			own_memory(l) ? "the limit was met" : ran_out,
			(unsigned long long)u->oom_kills, u->oom_kills == 1 ? "" : "es");
		r = record(g, "memory", "killed", WARD_LIMIT_BYTES, l->settings->memory,
			u->memory_peak, text);
	}
	/* A storm makes thousands: told when it begins, and each time it has doubled. */
	uint64_t refused = known(u->forks_refused) ? u->forks_refused : 0;
	if (r == 0 && refused && refused >= 2 * l->forks_told) {
		l->forks_told = refused;
		snprintf(text, sizeof(text),
			"processes: the limit was met; %llu were refused so far",
			(unsigned long long)refused);
		r = record(g, "processes", "refused", WARD_LIMIT_COUNT, l->settings->processes,
			u->processes, text);
	}
	return r;
}

static void hit(struct ward_limits *l, const char *name, enum ward_limit_unit unit, uint64_t limit,
	const char *before, const char *after, struct ward_limit_hit *ret)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_limit_text(unit, limit, &b);
	ret->name = name;
	ret->limit = limit;
	ret->used = strcmp(name, "cpu-time") == 0 ? l->last.cpu_ns : WARD_UNLIMITED;
	snprintf(ret->text, sizeof(ret->text), "%s%.40s%s", before, ward_buf_str(&b), after);
	l->running = false;
}

static void check_clocks(struct ward_limits *l, uint64_t now, struct ward_limit_hit *ret)
{
	const struct ward_settings *s = l->settings;
	bool counted = ward_cgroup_has(l->cg, WARD_CGROUP_CPUACCT);
	if (now >= l->wall_at)
		hit(l, "wall", WARD_LIMIT_NS, s->wall_ns, "the wall clock of ",
			" ended the session", ret);
	else if (counted && known(l->last.cpu_ns) && l->last.cpu_ns >= s->cpu_time_ns)
		hit(l, "cpu-time", WARD_LIMIT_NS, s->cpu_time_ns, "the session used its ",
			" of CPU time and was ended", ret);
	else if (s->idle_ns != WARD_UNLIMITED && now - l->active_at >= s->idle_ns)
		hit(l, "idle", WARD_LIMIT_NS, s->idle_ns,
			l->idle_default ? "the session did nothing for "
					: "no output, input or file access for ",
			": the session was ended", ret);
}

uint64_t ward_limits_due(const struct ward_limits *l)
{
	uint64_t idle = l->settings->idle_ns;
	uint64_t at = min64(l->wall_at, l->cpu_at);
	if (!l->running)
		return WARD_UNLIMITED;
	return idle == WARD_UNLIMITED ? at : min64(at, l->active_at + idle);
}

/* All figures, and the clocks. */
static int check_all(
	struct ward_limits *l, struct ward_guard *g, uint64_t now, struct ward_limit_hit *ret)
{
	const struct ward_settings *s = l->settings;
	struct ward_usage before = l->last;
	ward_cgroup_seen(l->cg);
	ward_cgroup_usage(l->cg, &l->last);
	int r = ward_limits_near(l, g);
	if (r == 0)
		r = record_met(l, g, &before);
	if (r == 0 && l->running)
		check_clocks(l, now, ret);
	if (r == 0 && l->near_wall_at <= now) {
		uint64_t began = l->wall_at - s->wall_ns;
		l->near_wall_at = WARD_UNLIMITED;
		r = ward_limits_tell_near(g, "wall", WARD_LIMIT_NS, false, s->wall_ns, now - began);
	}
	if (r == 0 && ret->name)
		r = record(g, ret->name, "ended", WARD_LIMIT_NS, ret->limit, ret->used, ret->text);
	plan_cpu(l, now);
	return r;
}

/* CPU time of a session that does nothing (timers ring in vain): at least, and of the period. */
#define IDLE_CPU_MIN_NS (WARD_NS_PER_SEC / 1000)
#define IDLE_CPU_PART UINT64_C(1000000)

/* A sign of life for the idle clock of a profile: see ward_limits_idle_is_default(). */
static bool lives(struct ward_limits *l, bool attended)
{
	if (!l->idle_default)
		return false;
	/* Not into l->last: what the kernel refused since then is not reported yet. */
	struct ward_usage use;
	ward_cgroup_usage(l->cg, &use);
	const uint64_t cpu = use.cpu_ns, before = l->idle_cpu;
	l->idle_cpu = cpu;
	const uint64_t part = l->settings->idle_ns / IDLE_CPU_PART;
	return attended || !known(cpu) ||
	       cpu - before >= (part > IDLE_CPU_MIN_NS ? part : IDLE_CPU_MIN_NS);
}

/* Before the limit of memory is met they are ended: nothing else would do it. */
static int check_netlink(
	struct ward_limits *l, struct ward_guard *g, uint64_t now, struct ward_limit_hit *ret)
{
	if (!l->running || !ward_limits_netlink_over(l, now))
		return 0;
	hit(l, "memory", WARD_LIMIT_BYTES, l->settings->memory, "the memory limit of ",
		" was met: netlink sockets kept more than a quarter of it unread, and the session "
		"was ended",
		ret);
	ret->used = l->netlink;
	return record(g, "memory", "ended", WARD_LIMIT_BYTES, ret->limit, l->netlink, ret->text);
}

void ward_limits_hold_idle(struct ward_limits *l, bool waits)
{
	const uint64_t now = ward_clock_mono_ns();
	if (l->held_at)
		l->active_at = min64(l->active_at + (now - l->held_at), now);
	l->held_at = waits ? now : 0;
}

int ward_limits_check(struct ward_limits *l, struct ward_guard *g, uint64_t activity, bool attended,
	struct ward_limit_hit *ret)
{
	*ret = (struct ward_limit_hit){0};
	uint64_t now = ward_clock_mono_ns();
	take_suspended(l);
	if (activity != l->activity) {
		l->activity = activity;
		l->active_at = now;
	}
	if (!l->rang && !l->told)
		return 0;
	bool told = l->told;
	if (l->rang && l->running && lives(l, attended))
		l->active_at = now;
	l->rang = l->told = false;
	int r = told || now >= full_at(l) ? check_all(l, g, now, ret) : 0;
	if (r == 0 && now >= l->look_at)
		r = ward_limits_look(l, g, now);
	if (r == 0)
		r = check_netlink(l, g, now, ret);
	arm(l);
	return r;
}

void ward_limits_starve(struct ward_limits *l, int signal)
{
	l->starved = signal;
}

/* Without a control group the kernel ends nothing, but gives a process no more than so much. */
static bool bounded_each(const struct ward_limits *l)
{
	return ward_limits_process_data(l) != WARD_UNLIMITED;
}

/* The signals by which programs end themselves where something that they need is missing. */
static bool by_itself(int signal)
{
	return signal == SIGTRAP || signal == SIGABRT || signal == SIGILL || signal == SIGSEGV ||
	       signal == SIGBUS;
}

int ward_limits_finish(
	struct ward_limits *l, struct ward_guard *g, int signal, struct ward_limit_hit *ret)
{
	*ret = (struct ward_limit_hit){0};
	if (l->finished)
		return 0;
	l->finished = true;
	l->signal = signal;
	struct ward_usage before = l->last;
	ward_cgroup_usage(l->cg, &l->last);
	int r = ward_limits_near(l, g);
	/* What was put there shortly before the end lies there still. */
	if (r == 0)
		r = ward_limits_near_places(l, g);
	ward_limits_places_close(l);
	if (r == 0)
		r = record_met(l, g, &before);
	if (r == 0 && signal == SIGKILL && known(l->last.oom_kills) && l->last.oom_kills > 0 &&
		own_memory(l)) {
		hit(l, "memory", WARD_LIMIT_BYTES, l->settings->memory, "the memory limit of ",
			" was met: the kernel ended the command", ret);
		r = record(g, "memory", "ended", WARD_LIMIT_BYTES, ret->limit, l->last.memory_peak,
			ret->text);
	} else if (r == 0 && l->starved && signal == l->starved && bounded_each(l)) {
		hit(l, "memory", WARD_LIMIT_BYTES, l->settings->memory, "the memory limit of ",
			" for each process was met: the runtime got no more and ended itself; fix: a "
			"larger [limits] memory, or a host with control groups ('wardfs doctor')",
			ret);
		r = record(
			g, "memory", "ended", WARD_LIMIT_BYTES, ret->limit, ret->used, ret->text);
	}
	return r;
}

static void add(json_t *o, const char *name, uint64_t v)
{
	json_object_set_new(o, name, known(v) ? json_integer((json_int_t)v) : json_null());
}

json_t *ward_limits_usage(const struct ward_limits *l, bool now)
{
	static const struct {
		enum ward_cgroup_part part;
		const char *name;
	} parts[] = {{WARD_CGROUP_MEMORY, "memory"}, {WARD_CGROUP_CPUACCT, "cpu"},
		{WARD_CGROUP_PIDS, "processes"}, {WARD_CGROUP_IO, "io"},
		{WARD_CGROUP_PRESSURE, "pressure"}};
	struct ward_usage u = l->last;
	if (now && !l->finished)
		ward_cgroup_usage(l->cg, &u);
	json_t *o = json_object(), *unknown = json_object();
	/* At most: the two need not have had their peaks at the same time. */
	if (known(u.memory))
		u.memory += l->netlink;
	if (known(u.memory_peak))
		u.memory_peak += l->netlink_peak;
	if (!l->finished) {
		add(o, "memory", u.memory);
		add(o, "processes", u.processes);
	}
	add(o, "memory_peak", u.memory_peak);
	add(o, "cpu_ns", u.cpu_ns);
	add(o, "processes_peak", u.processes_peak);
	add(o, "read_bytes", u.read_bytes);
	add(o, "written_bytes", u.written_bytes);
	add(o, "wait_cpu_us", u.wait_cpu_us);
	add(o, "wait_memory_us", u.wait_memory_us);
	add(o, "wait_io_us", u.wait_io_us);
	add(o, "oom_kills", u.oom_kills);
	add(o, "forks_refused", u.forks_refused);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (!ward_cgroup_has(l->cg, parts[i].part))
			json_object_set_new(unknown, parts[i].name,
				json_string(ward_cgroup_why(l->cg, parts[i].part)));
	if (json_object_size(unknown))
		json_object_set(o, "unknown", unknown);
	json_decref(unknown);
	return o;
}

char *ward_limits_note(const struct ward_limits *l)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	const struct ward_usage *u = &l->last;
	if (known(u->oom_kills) && u->oom_kills > 0) {
		if (own_memory(l)) {
			ward_buf_puts(&b, "the memory limit of ");
			ward_limit_text(WARD_LIMIT_BYTES, l->settings->memory, &b);
			ward_buf_puts(&b, " was met");
		} else {
			ward_buf_puts(&b, ran_out);
		}
		ward_buf_printf(&b, ": the kernel ended %llu process%s",
			(unsigned long long)u->oom_kills, u->oom_kills == 1 ? "" : "es");
	}
	if (bounded_each(l) && by_itself(l->signal)) {
		ward_buf_printf(&b,
			"signal %d ended the command, as it does programs that get no more memory: "
			"each process may have ",
			l->signal);
		ward_limit_text(WARD_LIMIT_BYTES, l->settings->memory, &b);
		ward_buf_puts(&b, "; fix: a larger [limits] memory, or a host with control groups "
				  "('wardfs doctor')");
	}
	if (known(u->forks_refused) && u->forks_refused > 0)
		ward_buf_printf(&b, "%sthe limit of %llu processes was met: %llu %s refused",
			b.len ? "; " : "", (unsigned long long)l->settings->processes,
			(unsigned long long)u->forks_refused, ward_were(u->forks_refused));
	return b.len ? ward_buf_steal(&b) : NULL;
}
