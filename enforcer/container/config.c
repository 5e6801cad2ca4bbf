/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.json of the bundle: OCI runtime specification 1.0, which 1.1 and 1.2 only add to. Nothing
 * in it comes from a project or from an image: it starts our pid 1 with no environment, no
 * capabilities, no hooks and no mounts of the host's.
 */
#include <jansson.h>
#include <stdio.h>

#include "enforcer/container/container_internal.h"

/* As pid 1 covers them where there is no engine (enforcer/sandbox/init/root.c). */
const char *const ward_container_masked[] = {"/proc/acpi", "/proc/fs", "/proc/kcore",
	"/proc/key-users", "/proc/keys", "/proc/kmsg", "/proc/latency_stats", "/proc/locks",
	"/proc/sched_debug", "/proc/scsi", "/proc/sysrq-trigger", "/proc/timer_list",
	"/proc/vmallocinfo", NULL};
static const char *const readonly[] = {
	"/proc/bus", "/proc/driver", "/proc/irq", "/proc/pressure", "/proc/sys"};
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static json_t *strings(const char *const *v, size_t n)
{
	json_t *a = json_array();
	for (size_t i = 0; i < n; i++)
		json_array_append_new(a, json_string(v[i]));
	return a;
}

/*
 * The command has none. Our pid 1, which makes the command's own user namespace in the container,
 * maps user 0 of the container's, and for that the kernel asks for CAP_SETFCAP (verify_root_map(),
 * Linux 5.12). pid 1 gives it up before the command is there.
 */
static json_t *capabilities(const struct ward_engine *e)
{
	static const char *const sets[] = {
		"bounding", "effective", "permitted", "ambient", "inheritable"};
	json_t *o = json_object();
	for (size_t i = 0; i < COUNT(sets); i++)
		json_object_set_new(o, sets[i],
			i < 3 && !e->own_kernel ? json_pack("[s]", "CAP_SETFCAP") : json_array());
	return o;
}

static json_t *process(const struct ward_engine *e, const struct ward_sandbox_spec *spec)
{
	const bool tty = e->own_kernel && spec->pty;
	/* An engine maps the one id that it has, the command's, to 0; pid 1 maps it back. */
	return json_pack("{s:b, s:{s:i, s:i}, s:[s, s], s:[s], s:s, s:o, s:b}", "terminal", tty,
		"user", "uid", 0, "gid", 0, "args", WARD_SANDBOX_ENGINE_INIT,
		WARD_SANDBOX_ENGINE_INSIDE, "env", "PATH=/usr/bin:/bin", "cwd", "/", "capabilities",
		capabilities(e), "noNewPrivileges", 1);
}

static json_t *mounts(const struct ward_engine *e)
{
	json_t *a = json_array();
	json_array_append_new(
		a, json_pack("{s:s, s:s, s:s, s:[s, s, s]}", "destination", "/proc", "type", "proc",
			   "source", "proc", "options", "nosuid", "noexec", "nodev"));
	if (!e->own_kernel) {
		json_array_append_new(
			json_object_get(json_array_get(a, 0), "options"), json_string("hidepid=2"));
		/* Else it would make devices of its own there. */
		json_array_append_new(a,
			json_pack("{s:s, s:s, s:s, s:[s]}", "destination", "/dev", "type", "bind",
				"source", WARD_SANDBOX_ENGINE_VIEW "/dev", "options", "rbind"));
	}
	/* gVisor would put file systems of its own there, in memory that [limits] tmp does not
	 * bound. */
	static const char *const ours[][3] = {{"/tmp", WARD_SANDBOX_ENGINE_VIEW "/tmp", "rw"},
		{"/dev/shm", WARD_SANDBOX_ENGINE_VIEW "/dev/shm", "rw"},
		{WARD_SANDBOX_ENGINE_TALK, WARD_SANDBOX_ENGINE_STATE "/talk", "rw"},
		{WARD_SANDBOX_ENGINE_PLAN, WARD_SANDBOX_ENGINE_STATE "/plan", "ro"}};
	for (size_t i = 0; e->own_kernel && i < COUNT(ours); i++)
		json_array_append_new(
			a, json_pack("{s:s, s:s, s:s, s:[s, s]}", "destination", ours[i][0], "type",
				   "bind", "source", ours[i][1], "options", "bind", ours[i][2]));
	/* Read-only already. To say so again would be a new mount without nosuid, which a namespace
	 * of its own may not make. */
	json_array_append_new(
		a, json_pack("{s:s, s:s, s:s, s:[s]}", "destination", WARD_SANDBOX_ENGINE_INIT,
			   "type", "bind", "source", WARD_SANDBOX_ENGINE_INIT, "options", "bind"));
	return a;
}

/* Network, ipc, uts and control groups are the sandbox's own namespaces: the engine runs in them.
 */
static json_t *linux_part(const struct ward_engine *e, const struct ward_sandbox_spec *spec)
{
	json_t *namespaces = json_pack("[{s:s}, {s:s}]", "type", "mount", "type", "pid");
	json_t *o = json_pack("{s:o, s:o, s:o}", "namespaces", namespaces, "maskedPaths",
		strings(ward_container_masked, COUNT(ward_container_masked) - 1), "readonlyPaths",
		strings(readonly, COUNT(readonly)));
	if (e->own_kernel)
		return o;
	json_array_append_new(namespaces, json_pack("{s:s}", "type", "user"));
	json_object_set_new(o, "uidMappings",
		json_pack("[{s:i, s:I, s:i}]", "containerID", 0, "hostID",
			(json_int_t)spec->agent_uid, "size", 1));
	json_object_set_new(o, "gidMappings",
		json_pack("[{s:i, s:I, s:i}]", "containerID", 0, "hostID",
			(json_int_t)spec->agent_gid, "size", 1));
	json_object_set_new(o, "seccomp", json_loads(ward_oci_seccomp, 0, NULL));
	return o;
}

char *ward_container_config(const struct ward_engine *e, const struct ward_sandbox_spec *spec)
{
	json_t *labels = json_object();
	if (spec->session)
		json_object_set_new(labels, "wardfs.session", json_string(spec->session));
	if (spec->policy_digest)
		json_object_set_new(labels, "wardfs.policy", json_string(spec->policy_digest));
	/* The view is read-only as it is. gVisor would make a new mount of it to say so again. */
	json_t *o = json_pack("{s:s, s:o, s:{s:s, s:b}, s:o, s:o, s:o}", "ociVersion", "1.0.2",
		"process", process(e, spec), "root", "path", WARD_SANDBOX_ENGINE_VIEW, "readonly",
		!e->own_kernel, "mounts", mounts(e), "annotations", labels, "linux",
		linux_part(e, spec));
	char *text = o ? json_dumps(o, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;
	json_decref(o);
	return text;
}
