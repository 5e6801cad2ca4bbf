/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the user namespaces by which the kernel maps the ids of a volume. */
#include "enforcer/oci/idmap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mount.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/oci/userns.h"

/* UID_GID_MAP_MAX_EXTENTS of include/linux/user_namespace.h. */
#define EXTENTS_MAX 340
/* (uid_t)-1 is no id. */
#define IDS_MAX ((uint64_t)UINT32_MAX)

static const char *const words[] = {"idmap", "ridmap"};

/* The place of the option that asks for mapped ids, or -1. A value after "=" is a form of crun's.
 */
static int find_option(const json_t *mount, bool *ret_all, bool *ret_value)
{
	const json_t *v = NULL;
	size_t i = 0;
	json_array_foreach(json_object_get(mount, "options"), i, v)
	{
		const char *s = json_string_value(v);
		for (size_t k = 0; s && k < 2; k++) {
			const size_t len = strlen(words[k]);
			if (strncmp(s, words[k], len) != 0 || (s[len] != '\0' && s[len] != '='))
				continue;
			*ret_all = k == 1;
			*ret_value = s[len] == '=';
			return (int)i;
		}
	}
	return -1;
}

static bool number(const json_t *o, const char *name, uint64_t *ret)
{
	const json_t *v = json_object_get(o, name);
	if (!json_is_integer(v) || json_integer_value(v) < 0 ||
		(uint64_t)json_integer_value(v) > IDS_MAX)
		return false;
	*ret = (uint64_t)json_integer_value(v);
	return true;
}

/* The lines of uid_map(5). The kernel refuses ranges that overlap. */
static int lines(const json_t *list, const char *name, struct ward_buf *b, struct ward_err *err)
{
	const json_t *v = NULL;
	size_t i = 0;
	if (!json_is_array(list) || json_array_size(list) == 0 ||
		json_array_size(list) > EXTENTS_MAX)
		return ward_err_set(
			err, -EINVAL, "'%s' is no list of 1 to %d ranges", name, EXTENTS_MAX);
	json_array_foreach(list, i, v)
	{
		uint64_t disk = 0;
		uint64_t seen = 0;
		uint64_t n = 0;
		if (!number(v, "containerID", &disk) || !number(v, "hostID", &seen) ||
			!number(v, "size", &n) || n == 0 || disk + n > IDS_MAX ||
			seen + n > IDS_MAX)
			return ward_err_set(err, -EINVAL, "'%s': a range of ids is wrong", name);
		ward_buf_printf(b, "%llu %llu %llu\n", (unsigned long long)disk,
			(unsigned long long)seen, (unsigned long long)n);
	}
	return ward_buf_error(b) ? ward_err_sys(err, -ENOMEM, "%s", name) : 0;
}

int ward_oci_idmap_open(
	const json_t *config, const json_t *mount, int *ret, bool *ret_all, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf uids = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf gids = WARD_BUF_INIT;
	const json_t *from = mount;
	bool all = false;
	bool value = false;
	const bool asked = find_option(mount, &all, &value) >= 0;
	const bool own =
		json_object_get(mount, "uidMappings") || json_object_get(mount, "gidMappings");
	if (!asked && !own) {
		*ret = -1;
		*ret_all = false;
		return 0;
	}
	if (value)
		return ward_err_set(err, -EINVAL,
			"ids behind 'idmap=' are not supported; fix: uidMappings and gidMappings "
			"of the mount, or 'idmap' alone");
	if (!own)
		from = json_object_get(config, "linux");
	if (!own && !json_object_get(from, "uidMappings"))
		return ward_err_set(err, -EINVAL,
			"'idmap' needs a container with a user namespace of its own; fix: --userns");
	int r = lines(json_object_get(from, "uidMappings"), "uidMappings", &uids, err);
	if (r == 0)
		r = lines(json_object_get(from, "gidMappings"), "gidMappings", &gids, err);
	if (r == 0)
		r = ward_oci_userns_make(&uids, &gids, ret, NULL, err);
	if (r == 0)
		*ret_all = all;
	return r;
}

void ward_oci_idmap_done(json_t *mount)
{
	bool all = false;
	bool value = false;
	int at = -1;
	while ((at = find_option(mount, &all, &value)) >= 0)
		json_array_remove(json_object_get(mount, "options"), (size_t)at);
	json_object_del(mount, "uidMappings");
	json_object_del(mount, "gidMappings");
}

int ward_oci_idmap_copy(int fd, int ids, int *ret, struct ward_err *err)
{
	const struct mount_attr attr = {.attr_set = MOUNT_ATTR_IDMAP, .userns_fd = (uint64_t)ids};
	ward_cleanup_fd int tree =
		open_tree(fd, "", AT_EMPTY_PATH | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	if (tree < 0)
		return ward_err_sys(err, -errno, "mapped ids");
	if (mount_setattr(tree, "", AT_EMPTY_PATH, (struct mount_attr *)(uintptr_t)&attr,
		    sizeof(attr)) < 0)
		return ward_err_sys(err, -errno, "its file system cannot map ids");
	*ret = ward_steal_fd(&tree);
	return 0;
}
