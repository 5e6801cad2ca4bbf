/* SPDX-License-Identifier: Apache-2.0 */
/* Takes away from config.json what the host's file does not give. */
#include "enforcer/oci/floor.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/major.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/oci/oci.h"

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

/* Namespaces that must not be the host's, and for how their absence is called. */
static int floor_namespaces(json_t *linux_part, const struct ward_oci_host *h,
	const struct ward_settings *s, struct ward_err *err)
{
	static const char *const own[] = {"mount", "pid", "ipc", "network"};
	json_t *list = member(linux_part, "namespaces", true);
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
		if (net && h->network == WARD_OCI_NET_POLICY && s->net == WARD_NET_NONE) {
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

/* Pseudoterminals: every runtime allows them by itself, and a container sees its own ones only. */
static bool terminals(const json_t *rule)
{
	const char *type = json_string_value(json_object_get(rule, "type"));
	return type && strcmp(type, "c") == 0 &&
	       json_integer_value(json_object_get(rule, "major")) == UNIX98_PTY_SLAVE_MAJOR;
}

static int floor_devices(json_t *linux_part, const struct ward_oci_host *h, struct ward_err *err)
{
	/* Every runtime makes them by itself. */
	static const char *const usual[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random",
		"/dev/urandom", "/dev/tty", "/dev/console", "/dev/ptmx"};
	json_t *list = member(linux_part, "devices", true);
	json_t *v = NULL;
	size_t i = 0;
	json_array_foreach(list, i, v)
	{
		const char *path = json_string_value(json_object_get(v, "path"));
		bool fine = path && ward_oci_covers(&h->device, path);
		for (size_t k = 0; path && k < COUNT(usual); k++)
			fine = fine || strcmp(path, usual[k]) == 0;
		if (!fine)
			return ward_err_set(err, -EINVAL,
				"the container asks for the device %s; fix: run it without --device "
				"and --privileged",
				path ? path : "?");
	}
	json_t *rules = json_object_get(json_object_get(linux_part, "resources"), "devices");
	json_array_foreach(rules, i, v)
	{
		const char *access = json_string_value(json_object_get(v, "access"));
		/* A single one, or the right to make nodes, which opens none. */
		if (!json_is_false(json_object_get(v, "allow")) &&
			(json_integer_value(json_object_get(v, "major")) <= 0 ||
				!json_is_integer(json_object_get(v, "minor"))) &&
			(!access || strcmp(access, "m") != 0) && !terminals(v) && h->device.n == 0)
			return ward_err_set(err, -EINVAL,
				"the container asks for all devices of a kind; fix: run it without "
				"--privileged");
	}
	return list ? 0 : wrong("devices", err);
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
	if (s->cpus != WARD_UNLIMITED) {
		const json_t *period = json_object_get(cpu, "period");
		const json_int_t p =
			json_integer_value(period) > 0 ? json_integer_value(period) : 100000;
		json_object_set_new(cpu, "period", json_integer(p));
		lower(cpu, "quota", (uint64_t)p * s->cpus / 10);
	}
	return 0;
}

int ward_oci_floor_policy(const struct ward_oci_host *h, const struct ward_settings *s,
	bool programs, struct ward_err *err)
{
	const struct {
		bool set;
		enum ward_oci_missing missing;
		const char *what;
	} asked[] = {
		{programs, WARD_OCI_MISSING_EXEC, "[process] exec"},
		{s->seccomp != WARD_LIST_DEFAULT, WARD_OCI_MISSING_SECCOMP, "[process] seccomp"},
	};
	for (size_t i = 0; i < COUNT(asked); i++)
		if (asked[i].set && !ward_oci_may_miss(h, asked[i].missing))
			return ward_err_set(err, -ENOTSUP,
				"the policy sets %s, which wardfs-oci cannot hold; fix: take it out, "
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
	if (h->network == WARD_OCI_NET_POLICY && s->net != WARD_NET_NONE && s->net != WARD_NET_HOST)
		return ward_err_set(err, -EINVAL,
			"the policy's [network] mode needs wardfs-net, which wardfs-oci does not "
			"start; fix: mode = none, or network = engine in /etc/wardfs/oci.policy");
	int r = ward_oci_floor_process(process, h, s, err);
	if (r == 0)
		r = floor_namespaces(linux_part, h, s, err);
	if (r == 0)
		r = floor_devices(linux_part, h, err);
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
