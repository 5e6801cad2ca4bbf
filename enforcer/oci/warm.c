/* SPDX-License-Identifier: Apache-2.0 */
/* Lists a container's guarded volumes once, beside the container. */
#include "enforcer/oci/warm.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <poll.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "enforcer/base/walk.h"

/* The runtime makes the container first; one that ends at once needs no walk. */
#define DELAY_MS 100
/* (uid_t)-1 is no id. */
#define IDS_MAX ((json_int_t)UINT32_MAX)

/* What is missing is 0, as for the runtime. */
static bool get_id(const json_t *v, uint32_t *ret)
{
	*ret = 0;
	if (!v)
		return true;
	if (!json_is_integer(v) || json_integer_value(v) < 0 || json_integer_value(v) >= IDS_MAX)
		return false;
	*ret = (uint32_t)json_integer_value(v);
	return true;
}

static bool get_user(const json_t *config, struct ward_oci_warm *w)
{
	const json_t *user = json_object_get(json_object_get(config, "process"), "user");
	const json_t *groups = json_object_get(user, "additionalGids"), *v = NULL;
	size_t i = 0;
	if (!get_id(json_object_get(user, "uid"), &w->uid) ||
		!get_id(json_object_get(user, "gid"), &w->gid) ||
		json_array_size(groups) > WARD_OCI_WARM_GROUPS)
		return false;
	json_array_foreach(groups, i, v) if (!get_id(v, &w->groups[w->n_groups++])) return false;
	return true;
}

static bool has_userns(const json_t *config)
{
	const json_t *list = json_object_get(json_object_get(config, "linux"), "namespaces");
	const json_t *v = NULL;
	size_t i = 0;
	json_array_foreach(list, i, v)
	{
		const char *type = json_string_value(json_object_get(v, "type"));
		if (type && strcmp(type, "user") == 0)
			return true;
	}
	return false;
}

void ward_oci_warm_open(const struct ward_oci_container *c, const struct ward_oci_view *v,
	struct ward_oci_warm *ret)
{
	ret->n = ret->n_groups = 0;
	for (size_t i = 0; i < c->n_volumes; i++)
		if (c->volumes[i].ids >= 0)
			return;
	if (has_userns(c->config) || !get_user(c->config, ret))
		return;
	for (size_t i = 0; i < v->n; i++) {
		/* A volume that is a file is no directory. */
		const int fd =
			open(v->mounts[i].path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd >= 0)
			ret->fds[ret->n++] = fd;
	}
}

void ward_oci_warm_close(struct ward_oci_warm *w)
{
	for (size_t i = 0; i < w->n; i++)
		close(w->fds[i]);
	w->n = 0;
}

static bool become(const struct ward_oci_warm *w)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	const struct __user_cap_data_struct none[2] = {{0}};
	return setgroups(w->n_groups, w->groups) == 0 && setresgid(w->gid, w->gid, w->gid) == 0 &&
	       setresuid(w->uid, w->uid, w->uid) == 0 && syscall(SYS_capset, &head, none) == 0 &&
	       prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0;
}

struct walker {
	const struct ward_oci_warm *w;
	uint64_t tops[WARD_TREES_MAX];
};

static int open_one(void *user, size_t i)
{
	struct walker *q = user;
	for (size_t k = 0; i == 0 && k < q->w->n; k++) {
		struct stat st;
		q->tops[k] = fstat(q->w->fds[k], &st) == 0 ? st.st_ino : 0;
	}
	return openat(q->w->fds[i], ".", O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC);
}

void ward_oci_warm_walk(const struct ward_oci_warm *w, int leash)
{
	struct pollfd p = {.fd = leash, .events = POLLIN};
	struct walker q = {.w = w};
	struct ward_walk walk = {.open = open_one, .user = &q, .tops = q.tops, .n_trees = w->n};
	if (!become(w))
		_exit(1);
	ward_walk_begin(&walk, DELAY_MS);
	while (!walk.over && poll(&p, 1, ward_walk_wait(&walk)) == 0)
		ward_walk_step(&walk);
	_exit(0);
}
