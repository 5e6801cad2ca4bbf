/* SPDX-License-Identifier: Apache-2.0 */
/* Decides about the devices of a container, by their numbers. */
#include "enforcer/oci/floor_parts.h"

#include <errno.h>
#include <linux/major.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Every runtime makes them by itself. A name alone says nothing: `--device /dev/X:/dev/null`. */
static const struct usual {
	const char *path;
	json_int_t major, minor;
} usual[] = {
	{"/dev/null", MEM_MAJOR, 3},
	{"/dev/zero", MEM_MAJOR, 5},
	{"/dev/full", MEM_MAJOR, 7},
	{"/dev/random", MEM_MAJOR, 8},
	{"/dev/urandom", MEM_MAJOR, 9},
	{"/dev/tty", TTYAUX_MAJOR, 0},
	{"/dev/console", TTYAUX_MAJOR, 1},
	{"/dev/ptmx", TTYAUX_MAJOR, 2},
};
/* /dev/net/tun, which containerd and runc let in; it takes CAP_NET_ADMIN to use. */
#define TUN_MINOR 200

static json_int_t number(const json_t *o, const char *name)
{
	const json_t *v = json_object_get(o, name);
	return json_is_integer(v) ? json_integer_value(v) : -1;
}

static const char *type_of(const json_t *o)
{
	const char *type = json_string_value(json_object_get(o, "type"));
	return type ? type : "";
}

/* The host's device of that path. */
static bool is_hosts(const char *path, const json_t *device)
{
	struct stat st;
	const char *type = type_of(device);
	return stat(path, &st) == 0 &&
	       ((S_ISCHR(st.st_mode) && (strcmp(type, "c") == 0 || strcmp(type, "u") == 0)) ||
		       (S_ISBLK(st.st_mode) && strcmp(type, "b") == 0)) &&
	       number(device, "major") == (json_int_t)major(st.st_rdev) &&
	       number(device, "minor") == (json_int_t)minor(st.st_rdev);
}

static bool is_usual(const json_t *o, const char *path)
{
	if (strcmp(type_of(o), "c") != 0)
		return false;
	for (size_t i = 0; i < COUNT(usual); i++)
		if ((!path || strcmp(usual[i].path, path) == 0) &&
			number(o, "major") == usual[i].major &&
			number(o, "minor") == usual[i].minor)
			return true;
	return false;
}

/* Pseudoterminals: every runtime allows them by itself, and a container sees its own ones only. */
static bool terminals(const json_t *rule)
{
	return strcmp(type_of(rule), "c") == 0 && number(rule, "major") == UNIX98_PTY_SLAVE_MAJOR;
}

/* Is the rule about one of the devices that the container gets? */
static bool is_listed(const json_t *rule, const json_t *devices)
{
	const json_t *v = NULL;
	size_t i = 0;
	json_array_foreach(devices, i, v)
	{
		if (strcmp(type_of(rule), type_of(v)) == 0 && number(rule, "major") >= 0 &&
			number(rule, "major") == number(v, "major") && number(rule, "minor") >= 0 &&
			number(rule, "minor") == number(v, "minor"))
			return true;
	}
	return false;
}

/* An image brings what nodes it likes: a rule alone opens a device. */
static int check_rule(const json_t *rule, const json_t *devices, const struct ward_oci_host *h,
	struct ward_err *err)
{
	const char *access = json_string_value(json_object_get(rule, "access"));
	const bool tun = strcmp(type_of(rule), "c") == 0 && number(rule, "major") == MISC_MAJOR &&
			 number(rule, "minor") == TUN_MINOR;
	/* The right to make nodes opens none. */
	if (json_is_false(json_object_get(rule, "allow")) || (access && strcmp(access, "m") == 0) ||
		terminals(rule) || tun || is_usual(rule, NULL) || is_listed(rule, devices) ||
		ward_oci_covers(&h->device, "/dev"))
		return 0;
	if (number(rule, "major") <= 0 || number(rule, "minor") < 0)
		return ward_err_set(err, -EINVAL,
			"the container asks for all devices of a kind; fix: run it without "
			"--privileged");
	return ward_err_set(err, -EINVAL,
		"the container asks for the device %.1s %lld:%lld; fix: run it without "
		"--device-cgroup-rule",
		type_of(rule), (long long)number(rule, "major"), (long long)number(rule, "minor"));
}

int ward_oci_floor_devices(const json_t *devices, const json_t *rules,
	const struct ward_oci_host *h, struct ward_err *err)
{
	const json_t *v = NULL;
	size_t i = 0;
	int r = 0;
	json_array_foreach(devices, i, v)
	{
		const char *path = json_string_value(json_object_get(v, "path"));
		if (!path || !(is_usual(v, path) ||
				     (ward_oci_covers(&h->device, path) && is_hosts(path, v))))
			return ward_err_set(err, -EINVAL,
				"the container asks for the device %s (%.1s %lld:%lld); fix: run it "
				"without --device and --privileged",
				path ? path : "?", type_of(v), (long long)number(v, "major"),
				(long long)number(v, "minor"));
	}
	json_array_foreach(rules, i, v) if (r == 0) r = check_rule(v, devices, h, err);
	return r;
}
