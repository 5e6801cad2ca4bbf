/* SPDX-License-Identifier: Apache-2.0 */
/* Takes away from config.json what the host's file does not give. */
#include "enforcer/oci/floor.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/oci/floor_parts.h"
#include "enforcer/oci/oci.h"
#include "enforcer/oci/wired.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* A member that is an object or array; made where it is missing. NULL: it is something else. */
static json_t *member(json_t *o, const char *name, bool array)
{
	json_t *v = json_object_get(o, name);
	if (!v || json_is_null(v)) {
		json_object_set_new(o, name, array ? json_array() : json_object());
		v = json_object_get(o, name);
	}
	return (array ? json_is_array(v) : json_is_object(v)) ? v : NULL;
}

static int wrong(const char *what, struct ward_err *err)
{
	return ward_err_set(err, -EINVAL, "config.json: '%s' has the wrong type", what);
}

static int floor_capabilities(json_t *process, const struct ward_oci_host *h, struct ward_err *err)
{
	static const char *const sets[] = {
		"bounding", "effective", "permitted", "inheritable", "ambient"};
	json_t *caps = member(process, "capabilities", false);
	for (size_t i = 0; caps && i < COUNT(sets); i++) {
		json_t *set = member(caps, sets[i], true);
		if (!set)
			return wrong("capabilities", err);
		for (size_t k = json_array_size(set); k-- > 0;) {
			const char *cap = json_string_value(json_array_get(set, k));
			if (!cap || !ward_oci_lists(&h->capability, cap))
				json_array_remove(set, k);
		}
	}
	return caps ? 0 : wrong("capabilities", err);
}

/* The lower of both, of an rlimit that the engine sets, or ours. */
static int floor_rlimit(json_t *list, const char *type, uint64_t most, struct ward_err *err)
{
	static const char *const ends[] = {"soft", "hard"};
	bool found = false;
	size_t i = 0;
	json_t *v = NULL;
	if (most == WARD_UNLIMITED)
		return 0;
	json_array_foreach(list, i, v)
	{
		const char *name = json_string_value(json_object_get(v, "type"));
		if (!name)
			return wrong("rlimits", err);
		if (strcmp(name, type) != 0)
			continue;
		found = true;
		for (size_t k = 0; k < 2; k++) {
			const json_t *at = json_object_get(v, ends[k]);
			/* What is beyond 63 bits came as a real number, or not at all. */
			if (!json_is_integer(at) || json_integer_value(at) < 0 ||
				(uint64_t)json_integer_value(at) > most)
				json_object_set_new(v, ends[k], json_integer((json_int_t)most));
		}
	}
	if (!found)
		json_array_append_new(list, json_pack("{s:s, s:I, s:I}", "type", type, "soft",
						    (json_int_t)most, "hard", (json_int_t)most));
	return 0;
}

int ward_oci_floor_process(json_t *process, const struct ward_oci_host *h,
	const struct ward_settings *s, struct ward_err *err)
{
	if (!json_is_object(process))
		return wrong("process", err);
	json_t *rlimits = member(process, "rlimits", true);
	if (!rlimits)
		return wrong("rlimits", err);
	int r = floor_capabilities(process, h, err);
	if (r == 0)
		r = floor_rlimit(rlimits, "RLIMIT_NOFILE", s->open_files, err);
	if (r == 0)
		r = floor_rlimit(rlimits, "RLIMIT_FSIZE", s->file_size, err);
	if (r == 0)
		r = floor_rlimit(rlimits, "RLIMIT_CORE", s->core ? WARD_UNLIMITED : 0, err);
	if (!h->new_privileges)
		json_object_set_new(process, "noNewPrivileges", json_true());
	return r;
}

/* Runtimes differ in which one of two counts. */
static int check_once(const json_t *list, struct ward_err *err)
{
	for (size_t i = 0; i < json_array_size(list); i++)
		for (size_t k = 0; k < i; k++) {
			const json_t *type = json_object_get(json_array_get(list, i), "type");
			if (json_equal(type, json_object_get(json_array_get(list, k), "type")))
				return ward_err_set(err, -EINVAL,
					"config.json: the %s namespace is there twice",
					json_is_string(type) ? json_string_value(type) : "?");
		}
	return 0;
}

/* Namespaces that must not be the host's, and for how their absence is called. */
static int floor_namespaces(json_t *linux_part, const struct ward_oci_host *h,
	const struct ward_settings *s, struct ward_err *err)
{
	static const char *const own[] = {"mount", "pid", "ipc", "network"};
	json_t *list = member(linux_part, "namespaces", true);
	if (check_once(list, err) < 0)
		return -EINVAL;
	for (size_t i = 0; list && i < COUNT(own); i++) {
		json_t *found = NULL;
		json_t *v = NULL;
		size_t k = 0;
		json_array_foreach(list, k, v)
		{
			const char *type = json_string_value(json_object_get(v, "type"));
			if (type && strcmp(type, own[i]) == 0)
				found = v;
		}
		const bool net = i == 3;
		if (net && h->network != WARD_OCI_NET_ENGINE &&
			(s->net == WARD_NET_NONE || ward_oci_wired(h, s))) {
			/* An empty one of its own, whatever the engine has prepared. */
			if (found)
				json_object_del(found, "path");
			else
				json_array_append_new(list, json_pack("{s:s}", "type", "network"));
			continue;
		}
		if (!found && !ward_oci_lists(&h->host_namespace, own[i]))
			return ward_err_set(err, -EINVAL,
				"the container asks for the host's %s namespace; fix: run it without "
				"--%s=host",
				own[i], own[i]);
		if (i == 0 && json_object_get(found, "path"))
			return ward_err_set(err, -EINVAL,
				"the container asks for another one's mount namespace");
	}
	return list ? 0 : wrong("namespaces", err);
}

/* docker has this command prepare the network of each container, whatever namespace that has. */
static bool sets_network(const json_t *hook)
{
	const json_t *v = NULL;
	size_t i = 0;
	json_array_foreach(json_object_get(hook, "args"), i, v)
	{
		const char *s = json_string_value(v);
		if (s && strcmp(s, "libnetwork-setkey") == 0)
			return true;
	}
	return false;
}

/* The container's network is none of the engine's: the engine must not plug its own into it. */
static void drop_network_hooks(json_t *config, const struct ward_oci_host *h)
{
	const char *when = NULL;
	json_t *list = NULL;
	if (h->network == WARD_OCI_NET_ENGINE)
		return;
	json_object_foreach(json_object_get(config, "hooks"), when, list)
	{
		for (size_t i = json_array_size(list); i-- > 0;)
			if (sets_network(json_array_get(list, i)))
				json_array_remove(list, i);
	}
}

/* Programs of the host that run with the runtime's rights. */
static int floor_hooks(const json_t *config, const struct ward_oci_host *h, struct ward_err *err)
{
	const char *when = NULL;
	json_t *list = NULL;
	json_t *v = NULL;
	size_t i = 0;
	json_object_foreach(json_object_get(config, "hooks"), when, list)
	{
		json_array_foreach(list, i, v)
		{
			const char *path = json_string_value(json_object_get(v, "path"));
			ward_cleanup_free char *real = NULL;
			ward_cleanup_fd int fd = path ? open(path, O_PATH | O_CLOEXEC) : -1;
			if (fd < 0 || ward_fd_path(fd, &real) < 0 ||
				!ward_oci_covers(&h->hook, real))
				return ward_err_set(err, -EINVAL,
					"the engine wants to run %s on the host as a hook (%s); fix: "
					"hook = %s in [floor] of /etc/wardfs/oci.policy",
					real   ? real
					: path ? path
					       : "?",
					when, real ? real : "PROGRAM");
		}
	}
	return 0;
}

static void add_paths(json_t *list, const char *const *paths, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		json_t *v = NULL;
		size_t k = 0;
		bool there = false;
		json_array_foreach(list, k, v)
		{
			const char *path = json_string_value(v);
			there = there || (path && strcmp(path, paths[i]) == 0);
		}
		if (!there)
			json_array_append_new(list, json_string(paths[i]));
	}
}

/* As every engine has them by default. */
static int floor_paths(json_t *linux_part, struct ward_err *err)
{
	static const char *const masked[] = {"/proc/acpi", "/proc/kcore", "/proc/keys",
		"/proc/latency_stats", "/proc/timer_list", "/proc/sched_debug", "/proc/scsi",
		"/sys/firmware"};
	static const char *const readonly[] = {
		"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"};
	json_t *hidden = member(linux_part, "maskedPaths", true);
	json_t *fixed = member(linux_part, "readonlyPaths", true);
	if (!hidden || !fixed)
		return wrong("maskedPaths", err);
	add_paths(hidden, masked, COUNT(masked));
	add_paths(fixed, readonly, COUNT(readonly));
	return 0;
}

/* A number of the engine's stays where it is the lower one; 0 and less mean none. */
static void lower(json_t *o, const char *name, uint64_t most)
{
	const json_t *v = json_object_get(o, name);
	const bool less = json_is_integer(v) && json_integer_value(v) > 0 &&
			  (uint64_t)json_integer_value(v) <= most;
	if (most <= INT64_MAX && !less)
		json_object_set_new(o, name, json_integer((json_int_t)most));
}

/* Files of control groups, version 2, by their names: they would have the last word. */
static void floor_unified(json_t *resources, const struct ward_settings *s)
{
	json_t *files = json_object_get(resources, "unified");
	const struct {
		const char *begins;
		bool limited;
	} rows[] = {{"memory.", s->memory != WARD_UNLIMITED},
		{"pids.", s->processes != WARD_UNLIMITED}, {"cpu.", s->cpus != WARD_UNLIMITED}};
	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *name = NULL;
		json_t *v = NULL;
		void *next = NULL;
		json_object_foreach_safe(files, next, name,
			v) if (rows[i].limited &&
			       strncmp(name, rows[i].begins, strlen(rows[i].begins)) == 0)
			json_object_del(files, name);
	}
}

/* cpus: tenths of a CPU. Both numbers, as one alone means another limit. */
static void floor_cpu(json_t *cpu, uint64_t cpus)
{
	const json_t *period = json_object_get(cpu, "period");
	const json_int_t p = json_integer_value(period) > 0 ? json_integer_value(period) : 100000;
	json_object_set_new(cpu, "period", json_integer(p));
	lower(cpu, "quota", (uint64_t)p * cpus / 10);
}

int ward_oci_floor_update(json_t *resources, const struct ward_settings *s, struct ward_err *err)
{
	json_t *memory = json_object_get(resources, "memory");
	json_t *pids = json_object_get(resources, "pids");
	json_t *cpu = json_object_get(resources, "cpu");
	if (!json_is_object(resources) || (memory && !json_is_object(memory)) ||
		(pids && !json_is_object(pids)) || (cpu && !json_is_object(cpu)))
		return wrong("resources", err);
	/* What is not there stays as it is. */
	if (s->memory != WARD_UNLIMITED && memory) {
		if (json_object_get(memory, "limit"))
			lower(memory, "limit", s->memory);
		if (json_object_get(memory, "limit") || json_object_get(memory, "swap"))
			lower(memory, "swap", s->memory);
	}
	if (s->processes != WARD_UNLIMITED && pids)
		lower(pids, "limit", s->processes);
	if (s->cpus != WARD_UNLIMITED && cpu)
		floor_cpu(cpu, s->cpus);
	floor_unified(resources, s);
	return 0;
}

static int floor_limits(json_t *linux_part, const struct ward_settings *s, struct ward_err *err)
{
	json_t *resources = member(linux_part, "resources", false);
	json_t *memory = resources ? member(resources, "memory", false) : NULL;
	json_t *pids = memory ? member(resources, "pids", false) : NULL;
	json_t *cpu = pids ? member(resources, "cpu", false) : NULL;
	if (!cpu)
		return wrong("resources", err);
	if (s->memory != WARD_UNLIMITED) {
		lower(memory, "limit", s->memory);
		/* Memory and swap together: no swap on top. */
		json_object_set(memory, "swap", json_object_get(memory, "limit"));
	}
	if (s->processes != WARD_UNLIMITED)
		lower(pids, "limit", s->processes);
	if (s->cpus != WARD_UNLIMITED)
		floor_cpu(cpu, s->cpus);
	floor_unified(resources, s);
	return 0;
}

int ward_oci_floor_policy(const struct ward_oci_host *h, const struct ward_settings *s,
	bool programs, bool noexec, struct ward_err *err)
{
	const struct {
		bool set;
		enum ward_oci_missing missing;
		const char *what;
	} asked[] = {
		{programs, WARD_OCI_MISSING_EXEC, "[process] exec"},
		{noexec, WARD_OCI_MISSING_EXEC, "noexec rules"},
		{s->seccomp != WARD_LIST_DEFAULT, WARD_OCI_MISSING_SECCOMP, "[process] seccomp"},
	};
	for (size_t i = 0; i < COUNT(asked); i++)
		if (asked[i].set && !ward_oci_may_miss(h, asked[i].missing))
			return ward_err_set(err, -ENOTSUP,
				"the policy has %s, which wardfs-oci cannot enforce; fix: take it out, "
				"or run without it: allow-missing = %s in [oci] of %s",
				asked[i].what, ward_oci_missing_name(asked[i].missing),
				WARD_OCI_HOST_FILE);
	return 0;
}

int ward_oci_floor(json_t *config, const struct ward_oci_host *h, const struct ward_settings *s,
	struct ward_err *err)
{
	json_t *process = json_object_get(config, "process");
	json_t *linux_part = member(config, "linux", false);
	if (!linux_part)
		return wrong("linux", err);
	const json_t *devices = member(linux_part, "devices", true);
	if (h->network == WARD_OCI_NET_POLICY && s->net != WARD_NET_NONE && s->net != WARD_NET_HOST)
		return ward_err_set(err, -EINVAL,
			"the policy's [network] mode needs wardfs-net, which wardfs-oci does not "
			"start; fix: mode = none, or network = ours in /etc/wardfs/oci.policy");
	int r = ward_oci_wired_check(config, h, s, err);
	if (r == 0)
		r = ward_oci_floor_process(process, h, s, err);
	if (r == 0)
		r = floor_namespaces(linux_part, h, s, err);
	if (r == 0)
		r = devices ? ward_oci_floor_devices(devices,
				      json_object_get(
					      json_object_get(linux_part, "resources"), "devices"),
				      h, err)
			    : wrong("devices", err);
	drop_network_hooks(config, h);
	if (r == 0)
		r = floor_hooks(config, h, err);
	if (r == 0)
		r = floor_paths(linux_part, err);
	if (r == 0)
		r = floor_limits(linux_part, s, err);
	if (r < 0 || h->seccomp == WARD_OCI_CALLS_ENGINE)
		return r;
	json_t *list = ward_oci_seccomp_both(json_object_get(linux_part, "seccomp"));
	if (!list)
		return wrong("seccomp", err);
	json_object_set_new(linux_part, "seccomp", list);
	return 0;
}
