/* SPDX-License-Identifier: Apache-2.0 */
/* Refuses names that only some runtimes understand. */
#include "enforcer/oci/names.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Every name that the floor, the volumes and the rest of wardfs-oci go by. */
static const char *const names[] = {"access", "action", "additionalGids", "allow", "ambient",
	"annotations", "architectures", "args", "bounding", "capabilities", "cgroupsPath",
	"containerID", "cpu", "cpus", "defaultAction", "defaultErrnoRet", "destination", "devices",
	"effective", "env", "errnoRet", "fileMode", "flags", "gid", "gidMappings", "hard", "hooks",
	"hostID", "index", "inheritable", "limit", "linux", "listenerMetadata", "listenerPath",
	"major", "maskedPaths", "memory", "minor", "mounts", "names", "namespaces",
	"noNewPrivileges", "ociVersion", "op", "options", "path", "period", "permitted", "pids",
	"process", "quota", "readonly", "readonlyPaths", "resources", "rlimits", "root",
	"rootfsPropagation", "seccomp", "size", "soft", "source", "swap", "syscalls", "type", "uid",
	"uidMappings", "unified", "user", "value", "valueTwo"};

/* As Go folds names: the next letter, and how long it was. */
static unsigned char fold(const char *s, size_t *ret_len)
{
	const unsigned char c = (unsigned char)*s;
	*ret_len = 1;
	if (strncmp(s, "\u017f", 2) == 0) {
		*ret_len = 2;
		return 's';
	}
	if (strncmp(s, "\u212a", 3) == 0) {
		*ret_len = 3;
		return 'k';
	}
	return c >= 'A' && c <= 'Z' ? (unsigned char)(c - 'A' + 'a') : c;
}

static bool folds_alike(const char *a, const char *b)
{
	while (*a && *b) {
		size_t n = 0;
		size_t m = 0;
		if (fold(a, &n) != fold(b, &m))
			return false;
		a += n;
		b += m;
	}
	return !*a && !*b;
}

/* NULL: it is none of them, or exactly one. */
static const char *meant(const char *name)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (folds_alike(name, names[i]))
			return strcmp(name, names[i]) == 0 ? NULL : names[i];
	return NULL;
}

/* Jansson bounds the depth (JSON_PARSER_MAX_DEPTH). */
int ward_oci_names_check(const json_t *o, struct ward_err *err)
{
	const char *name = NULL;
	json_t *v = NULL;
	size_t i = 0;
	int r = 0;
	json_array_foreach(o, i, v) if (r == 0) r = ward_oci_names_check(v, err);
	json_object_foreach((json_t *)(uintptr_t)o, name, v)
	{
		const char *other = r == 0 ? meant(name) : NULL;
		if (other)
			r = ward_err_set(err, -EINVAL,
				"the member '%s' is not '%s', but some runtimes take it for that",
				name, other);
		if (r == 0 && strcmp(name, "annotations") != 0)
			r = ward_oci_names_check(v, err);
	}
	return r;
}
