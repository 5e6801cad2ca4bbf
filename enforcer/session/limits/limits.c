/* SPDX-License-Identifier: Apache-2.0 */
/* Which limits a session has. Its clocks and figures: limits_watch.c. */
#include "enforcer/session/limits/limits_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/quantity.h"
#include "enforcer/ipc/host.h"
#include "enforcer/session/guard/host_service.h"

/* [limits] tmp as it is without being written: what the view has anyway. */
#define TMP_DEFAULT (UINT64_C(1) << 30)

/* part: what of the control groups gives it; WARD_CGROUP_PARTS: nothing does. */
static const struct limit {
	const char *key;
	enum ward_guarantee guarantee;
	enum ward_cgroup_part part;
	size_t member; /* of struct ward_settings: a uint64_t, but for `core` */
	enum ward_limit_unit unit;
	const char *instead; /* what require = where-available settles for */
} limits[] = {
#define MEMBER(name) offsetof(struct ward_settings, name)
	{"memory", WARD_GUARANTEE_MEMORY, WARD_CGROUP_MEMORY, MEMBER(memory), WARD_LIMIT_BYTES,
		"data of each process by itself"},
	{"cpus", WARD_GUARANTEE_CPUS, WARD_CGROUP_CPU, MEMBER(cpus), WARD_LIMIT_TENTHS,
		"not at all"},
	{"cpu-time", WARD_GUARANTEE_CPU_TIME, WARD_CGROUP_CPUACCT, MEMBER(cpu_time_ns),
		WARD_LIMIT_NS, "time of each process by itself"},
	{"processes", WARD_GUARANTEE_NPROC, WARD_CGROUP_PIDS, MEMBER(processes), WARD_LIMIT_COUNT,
		NULL},
	{"open-files", WARD_GUARANTEE_OPEN_FILES, WARD_CGROUP_PARTS, MEMBER(open_files),
		WARD_LIMIT_COUNT, NULL},
	{"file", WARD_GUARANTEE_FILE, WARD_CGROUP_PARTS, MEMBER(file_size), WARD_LIMIT_BYTES, NULL},
	{"core", WARD_GUARANTEE_CORE, WARD_CGROUP_PARTS, MEMBER(core), WARD_LIMIT_BYTES, NULL},
	{"tmp", WARD_GUARANTEE_TMP, WARD_CGROUP_PARTS, MEMBER(tmp_bytes), WARD_LIMIT_BYTES,
		"not at all"},
	{"wall", WARD_GUARANTEE_WALL, WARD_CGROUP_PARTS, MEMBER(wall_ns), WARD_LIMIT_NS, NULL},
	{"idle", WARD_GUARANTEE_IDLE, WARD_CGROUP_PARTS, MEMBER(idle_ns), WARD_LIMIT_NS, NULL},
#undef MEMBER
};
#define LIMITS (sizeof(limits) / sizeof(limits[0]))
#define IDLE WARD_GUARANTEE_BIT(WARD_GUARANTEE_IDLE)

static uint64_t value_of(const struct ward_limits *l, const struct limit *m)
{
	const void *at = (const char *)l->settings + m->member;
	if (m->guarantee == WARD_GUARANTEE_CORE)
		return l->settings->core ? WARD_UNLIMITED : 0;
	return *(const uint64_t *)at;
}

/* Do the lines of shipped profiles alone ask for it? */
static bool by_default(const struct ward_limits *l, const struct limit *m, struct ward_said *ret)
{
	return ward_policy_said(l->policy, m->member, ret) && ret->shipped;
}

static bool asked(const struct ward_limits *l, const struct limit *m)
{
	uint64_t v = value_of(l, m);
	/* The default of a place that only a view of its own has. */
	if (m->guarantee == WARD_GUARANTEE_TMP && v == TMP_DEFAULT)
		return false;
	return v != WARD_UNLIMITED;
}

void ward_limit_text(enum ward_limit_unit unit, uint64_t v, struct ward_buf *b)
{
	static const char units[] = "TGMK";
	char time[WARD_DURATION_TEXT_MAX];
	switch (unit) {
	case WARD_LIMIT_BYTES:
		for (unsigned i = 0; i < 4; i++) {
			unsigned shift = 40 - 10 * i;
			if (v >> shift && !(v & ((UINT64_C(1) << shift) - 1))) {
				ward_buf_printf(
					b, "%llu%c", (unsigned long long)(v >> shift), units[i]);
				return;
			}
		}
		ward_buf_printf(b, "%llu", (unsigned long long)v);
		break;
	case WARD_LIMIT_TENTHS:
		ward_buf_printf(
			b, "%llu.%llu", (unsigned long long)v / 10, (unsigned long long)v % 10);
		break;
	case WARD_LIMIT_NS:
		ward_quantity_duration_text(v, time);
		ward_buf_puts(b, time);
		break;
	case WARD_LIMIT_COUNT:
		ward_buf_printf(b, "%llu", (unsigned long long)v);
		break;
	}
}

/* --- what is missing --- */

static const char *fix_of(const struct ward_limits *l, const struct limit *m)
{
	if (m->part == WARD_CGROUP_PARTS)
		return "--mode restricted";
	if (l->root)
		return "in a container: a writable /sys/fs/cgroup (docker run --privileged, or "
		       "--cgroupns=private with the mount read-write); else boot with the "
		       "controller "
		       "(cgroup_enable=memory)";
	return "a host with cgroup v2 and a user manager of systemd (loginctl enable-linger, "
	       "systemd-run), or as root: see wardfs doctor";
}

static const char *why_of(const struct ward_limits *l, const struct limit *m)
{
	if (m->guarantee == WARD_GUARANTEE_IDLE && l->unheld & IDLE)
		return ward_cgroup_why(l->cg, WARD_CGROUP_CPUACCT);
	return m->part == WARD_CGROUP_PARTS ? "this mode does not have it"
					    : ward_cgroup_why(l->cg, m->part);
}

static int refuse(const struct ward_limits *l, const struct limit *m, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	struct ward_said said;
	bool share = ward_policy_said(l->policy, m->member, &said) && said.share;
	if (share)
		ward_buf_printf(&b, "%s, here ", said.value);
	ward_limit_text(m->unit, value_of(l, m), &b);
	if (!share)
		ward_buf_puts(&b, " here");
	return ward_err_set(err, -ENOTSUP,
		"cannot enforce [limits] %s = %s (%s); nothing was started; fix: %s; or run without this limit: --allow-missing %s%s",
		m->key, ward_buf_str(&b), why_of(l, m), fix_of(l, m),
		ward_guarantee_name(m->guarantee),
		m->instead ? "; or [limits] require = where-available" : "");
}

/*
 * The idle clock of a profile ends nobody's computation: it takes CPU time for a sign of life, and
 * so needs to know it.
 */
static bool can_hold(const struct ward_limits *l, const struct limit *m, bool shipped)
{
	return l->held & WARD_GUARANTEE_BIT(m->guarantee) &&
	       !(shipped && m->guarantee == WARD_GUARANTEE_IDLE &&
		       !ward_cgroup_has(l->cg, WARD_CGROUP_CPUACCT));
}

/* What of the policy no layer of the mode could carry out. */
static int check_filter(const struct ward_limits *l, struct ward_err *err)
{
	if (l->settings->seccomp == WARD_LIST_DEFAULT || l->mode->takes & WARD_TAKES_SECCOMP)
		return 0;
	return ward_err_set(err, -ENOTSUP,
		"[process] seccomp asks for a list, and mode '%s' has no filter; nothing was "
		"started; "
		"fix: --mode restricted",
		l->mode->word);
}

static int compare(struct ward_limits *l, uint32_t allowed, struct ward_err *err)
{
	int r = check_filter(l, err);
	if (r < 0)
		return r;
	uint32_t required = l->mode->guarantees;
	l->held = l->mode->guarantees;
	for (size_t i = 0; i < LIMITS; i++) {
		uint32_t bit = WARD_GUARANTEE_BIT(limits[i].guarantee);
		if (asked(l, &limits[i]))
			required |= bit;
		if (limits[i].part != WARD_CGROUP_PARTS && ward_cgroup_has(l->cg, limits[i].part))
			l->held |= bit;
	}
	for (size_t i = 0; i < LIMITS; i++) {
		uint32_t bit = WARD_GUARANTEE_BIT(limits[i].guarantee);
		struct ward_said said;
		const bool shipped = by_default(l, &limits[i], &said);
		if (!(required & bit) || can_hold(l, &limits[i], shipped))
			continue;
		if (allowed & bit)
			l->left_out |= bit;
		else if (shipped)
			l->unheld |= bit;
		else if (l->settings->limits_where_available && limits[i].instead)
			l->weakened |= bit;
		else
			return refuse(l, &limits[i], err);
	}
	return 0;
}

/* Does a limit stand that only a control group of its own can hold? */
static bool accounted(const struct ward_settings *s)
{
	return s->memory != WARD_UNLIMITED || s->cpus != WARD_UNLIMITED ||
	       s->cpu_time_ns != WARD_UNLIMITED;
}

bool ward_limits_want_delegation(const struct ward_settings *s)
{
	return accounted(s) && ward_cgroup_lacks_delegation();
}

int ward_limits_open(
	const struct ward_limits_spec *spec, struct ward_limits **ret, struct ward_err *err)
{
	struct ward_limits *l = calloc(1, sizeof(*l));
	if (!l)
		return ward_err_sys(err, -ENOMEM, "limits");
	l->settings = spec->settings;
	l->policy = spec->policy;
	l->idle_default = ward_limits_idle_is_default(spec->policy);
	l->mode = spec->mode;
	l->root = spec->root;
	const struct ward_settings *s = spec->settings;
	const bool ask = !spec->root && ward_cgroup_lacks_delegation() &&
			 (accounted(s) || s->processes != WARD_UNLIMITED);
	const int service = ask ? ward_host_service_connect(WARD_HOST_GROUPS_SOCKET) : -1;
	l->timer = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	struct ward_cgroup_spec cg = {.name = spec->session,
		.root = spec->root,
		.memory = spec->settings->memory,
		.processes = spec->settings->processes,
		.cpus = spec->settings->cpus,
		.replayed = ward_layers_replay(spec->mode->layers),
		.helpers = accounted(spec->settings),
		.service = service < 0 ? -1 : service};
	l->counts_helpers = cg.helpers;
	int r = l->timer < 0 ? ward_err_sys(err, -errno, "clock")
			     : ward_cgroup_make(&cg, &l->cg, err);
	if (r == 0)
		r = compare(l, spec->allow_missing, err);
	if (r < 0) {
		ward_limits_close(l);
		return r;
	}
	ward_cgroup_usage(l->cg, &l->last);
	ward_limits_places_add(l, spec);
	*ret = l;
	return 0;
}

int ward_limits_settle(struct ward_limits *l, struct ward_err *err)
{
	int r = ward_cgroup_settle(l->cg);
	return r < 0 ? ward_err_sys(err, r, "limit memory") : 0;
}

const struct ward_cgroup *ward_limits_cgroup(const struct ward_limits *l)
{
	return l->cg;
}

uint64_t ward_limits_process_data(const struct ward_limits *l)
{
	bool weak = l->weakened & WARD_GUARANTEE_BIT(WARD_GUARANTEE_MEMORY);
	return weak ? l->settings->memory : WARD_UNLIMITED;
}

uint64_t ward_limits_process_seconds(const struct ward_limits *l)
{
	bool weak = l->weakened & WARD_GUARANTEE_BIT(WARD_GUARANTEE_CPU_TIME);
	/* RLIMIT_CPU takes whole seconds, and 0 for one. */
	return weak ? (l->settings->cpu_time_ns + WARD_NS_PER_SEC - 1) / WARD_NS_PER_SEC
		    : WARD_UNLIMITED;
}

/* "memory = 75% (17988M)" */
static void put_default(const struct ward_limits *l, const struct limit *m, struct ward_buf *b)
{
	struct ward_said said;
	(void)by_default(l, m, &said);
	ward_buf_printf(b, "%s = %s", m->key, said.value);
	if (!said.share)
		return;
	ward_buf_puts(b, " (");
	ward_limit_text(m->unit, said.number, b);
	ward_buf_putc(b, ')');
}

char *ward_limits_unheld(const struct ward_limits *l)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	if (!l->unheld)
		return NULL;
	const char *between = ": ";
	ward_buf_puts(&b, "this host cannot enforce these limits of the profile");
	for (size_t i = 0; i < LIMITS; i++) {
		if (!(l->unheld & WARD_GUARANTEE_BIT(limits[i].guarantee)))
			continue;
		ward_buf_puts(&b, between);
		between = ", ";
		put_default(l, &limits[i], &b);
	}
	ward_buf_puts(&b, " ('wardfs doctor' says why)");
	return ward_buf_steal(&b);
}

void ward_limits_not_held(const struct ward_limits *l, json_t *ret)
{
	for (size_t i = 0; i < LIMITS; i++)
		if ((l->unheld | l->weakened | l->left_out) &
			WARD_GUARANTEE_BIT(limits[i].guarantee))
			json_array_append_new(ret, json_string(limits[i].key));
}

bool ward_limits_idle_is_default(const struct ward_policy *p)
{
	struct ward_said said;
	return WARD_SAID(p, idle_ns, &said) && said.shipped;
}

char *ward_limits_warning(const struct ward_limits *l)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	for (size_t i = 0; i < LIMITS; i++) {
		uint32_t bit = WARD_GUARANTEE_BIT(limits[i].guarantee);
		if (!((l->weakened | l->left_out) & bit))
			continue;
		ward_buf_printf(&b, "%slimit '%s' is not enforced for the session: %s (%s)",
			b.len ? "; " : "", limits[i].key,
			l->left_out & bit ? "--allow-missing" : limits[i].instead,
			why_of(l, &limits[i]));
	}
	return b.len ? ward_buf_steal(&b) : NULL;
}

static const char *held_by(const struct ward_limits *l, const struct limit *m)
{
	uint32_t bit = WARD_GUARANTEE_BIT(m->guarantee);
	if ((l->left_out | l->unheld) & bit)
		return "nothing";
	if (l->weakened & bit)
		return strcmp(m->instead, "not at all") == 0 ? "nothing" : "rlimit";
	if (m->part != WARD_CGROUP_PARTS && ward_cgroup_has(l->cg, m->part))
		return strcmp(ward_cgroup_version(l->cg, m->part), "v2") == 0 ? "cgroup v2"
									      : "cgroup v1";
	switch (m->guarantee) {
	case WARD_GUARANTEE_WALL:
	case WARD_GUARANTEE_IDLE:
		return "clock";
	case WARD_GUARANTEE_TMP:
		return "tmpfs";
	case WARD_GUARANTEE_FILES:
	case WARD_GUARANTEE_PROCESSES:
	case WARD_GUARANTEE_NETWORK:
	case WARD_GUARANTEE_SYSCALLS:
	case WARD_GUARANTEE_PRIVILEGES:
	case WARD_GUARANTEE_END:
	case WARD_GUARANTEE_INTEGRITY:
	case WARD_GUARANTEE_CPUS:
	case WARD_GUARANTEE_MEMORY:
	case WARD_GUARANTEE_NPROC:
	case WARD_GUARANTEE_OPEN_FILES:
	case WARD_GUARANTEE_FILE:
	case WARD_GUARANTEE_CORE:
	case WARD_GUARANTEE_CPU_TIME:
	case WARD_GUARANTEES:
		break;
	}
	return "rlimit";
}

/* A limit that is asked for, as the trail has it: what was said, and what it comes to here. */
static json_t *describe(const struct ward_limits *l, const struct limit *m)
{
	struct ward_said said;
	json_t *o =
		json_pack("{s:I, s:s}", "value", (json_int_t)value_of(l, m), "by", held_by(l, m));
	if (!ward_policy_said(l->policy, m->member, &said))
		return o;
	if (said.share)
		json_object_set_new(o, "said", json_string(said.value));
	if (said.shipped)
		json_object_set_new(o, "default", json_true());
	return o;
}

/*
 * The limits that nobody set. What could hold them is no guarantee of the session. [limits] tmp has
 * a default, which the view of a session holds.
 */
static uint32_t unset(const struct ward_limits *l)
{
	uint32_t bits = 0;
	for (size_t i = 0; i < LIMITS; i++)
		if (value_of(l, &limits[i]) == WARD_UNLIMITED)
			bits |= WARD_GUARANTEE_BIT(limits[i].guarantee);
	return bits;
}

void ward_limits_describe(const struct ward_limits *l, json_t *o)
{
	json_t *names = json_array(), *held = json_object(), *missing = json_object();
	json_t *groups = json_array();
	const uint32_t given = l->held & ~(l->weakened | l->left_out | l->unheld | unset(l));
	for (unsigned i = 0; i < WARD_GUARANTEES; i++)
		if (given & WARD_GUARANTEE_BIT(i))
			json_array_append_new(
				names, json_string(ward_guarantee_name((enum ward_guarantee)i)));
	for (size_t i = 0; i < LIMITS; i++) {
		const struct limit *m = &limits[i];
		uint32_t bit = WARD_GUARANTEE_BIT(m->guarantee);
		if (!asked(l, m) && !(given & bit))
			continue;
		json_object_set_new(held, m->key, describe(l, m));
		if ((l->weakened | l->left_out | l->unheld) & bit)
			json_object_set_new(missing, ward_guarantee_name(m->guarantee),
				json_pack("{s:s, s:s}", "why", why_of(l, m), "because",
					l->left_out & bit ? "--allow-missing"
					: l->unheld & bit ? "a default of the profile"
							  : "require = where-available"));
	}
	for (size_t i = 0; ward_cgroup_path(l->cg, i); i++)
		json_array_append_new(groups, json_string(ward_cgroup_path(l->cg, i)));
	json_object_set_new(o, "guarantees", names);
	json_object_set_new(o, "limits", held);
	json_object_set_new(o, "missing", missing);
	json_object_set_new(o, "cgroups", groups);
}

void ward_limits_leave(struct ward_limits *l)
{
	if (!l)
		return;
	ward_limits_helpers_end(l);
	ward_cgroup_kill(l->cg);
	ward_cgroup_free(l->cg);
	l->cg = NULL;
}

void ward_limits_close(struct ward_limits *l)
{
	if (!l)
		return;
	ward_limits_places_close(l);
	ward_limits_leave(l);
	if (l->timer >= 0)
		close(l->timer);
	free(l);
}
