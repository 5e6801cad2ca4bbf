/* SPDX-License-Identifier: Apache-2.0 */
/* Decides about the mounts of a container. */
#include "enforcer/oci/volumes.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/patient.h"
#include "enforcer/oci/idmap.h"
#include "enforcer/oci/oci.h"
#include "enforcer/policy/known.h"
#include "enforcer/policy/value.h"
#include "enforcer/session/owner/project.h"

#define TREE_KEY "wardfs.tree."

/* File systems that show nothing of the host's files. */
static const char *const types[] = {
	"proc", "sysfs", "tmpfs", "devpts", "mqueue", "cgroup", "cgroup2"};

static bool option(const json_t *mount, const char *word)
{
	const json_t *v = NULL;
	size_t i = 0;
	json_array_foreach(json_object_get(mount, "options"), i, v)
	{
		const char *s = json_string_value(v);
		if (s && strcmp(s, word) == 0)
			return true;
	}
	return false;
}

static bool is_bind(const json_t *mount)
{
	const char *type = json_string_value(json_object_get(mount, "type"));
	return option(mount, "bind") || option(mount, "rbind") ||
	       (type && (strcmp(type, "bind") == 0 || strcmp(type, "rbind") == 0));
}

const char *ward_oci_tree_of(const struct ward_oci_container *c, const char *destination)
{
	const json_t *notes = json_object_get(c->config, "annotations");
	char key[sizeof(TREE_KEY) + 256];
	for (int slash = 0; slash < 2; slash++) {
		const int n =
			snprintf(key, sizeof(key), TREE_KEY "%s", destination + (slash ? 0 : 1));
		const char *tree = n > 0 && (size_t)n < sizeof(key)
					   ? json_string_value(json_object_get(notes, key))
					   : NULL;
		if (tree)
			return tree;
	}
	return destination;
}

static int open_source(struct ward_oci_volume *v, const char *source, struct ward_err *err)
{
	const struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_MAGICLINKS};
	struct stat st;
	if (!source || source[0] != '/')
		return ward_err_set(err, -EINVAL, "the volume at %s: '%s' is no absolute path",
			v->destination, source ? source : "");
	int r = ward_patient_reach(source, err);
	if (r < 0)
		return r;
	v->fd = ward_fd_openat2(AT_FDCWD, source, &how);
	if (v->fd < 0 || fstat(v->fd, &st) < 0)
		return ward_err_sys(err, v->fd < 0 ? v->fd : -errno, "the volume at %s: %s",
			v->destination, source);
	r = ward_fd_path(v->fd, &v->source);
	if (r < 0)
		return ward_err_sys(err, r, "the volume at %s: %s", v->destination, source);
	if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))
		return ward_err_set(err, -EINVAL,
			"the volume at %s: %s is a %s of the host, and would be a way out",
			v->destination, v->source, S_ISSOCK(st.st_mode) ? "socket" : "device");
	v->directory = S_ISDIR(st.st_mode);
	return 0;
}

static int open_one(struct ward_oci_container *c, json_t *mount, struct ward_err *err)
{
	const char *to = json_string_value(json_object_get(mount, "destination"));
	const char *type = json_string_value(json_object_get(mount, "type"));
	struct ward_err why = WARD_ERR_INIT;
	if (!to || ward_value_sandbox_path(to, false, &why) < 0)
		return ward_err_set(err, -EINVAL,
			"a mount at '%s': the destination must be an "
			"absolute path without '..'",
			to ? to : "");
	if (!is_bind(mount)) {
		for (size_t i = 0; type && i < sizeof(types) / sizeof(*types); i++)
			if (strcmp(type, types[i]) == 0)
				return 0;
		return ward_err_set(err, -EINVAL, "the mount at %s: file system '%s' is refused",
			to, type ? type : "");
	}
	struct ward_oci_volume *v = &c->volumes[c->n_volumes++];
	*v = (struct ward_oci_volume){.mount = mount,
		.destination = to,
		.fd = -1,
		.ids = -1,
		.recursive = !option(mount, "bind")};
	int r = open_source(v, json_string_value(json_object_get(mount, "source")), err);
	if (r == 0 && (r = ward_oci_idmap_open(c->config, mount, &v->ids, &v->ids_all, err)) < 0)
		ward_err_wrap(err, "the volume at %s", to);
	return r;
}

int ward_oci_volumes_open(struct ward_oci_container *c, struct ward_err *err)
{
	json_t *mounts = json_object_get(c->config, "mounts");
	json_t *mount = NULL;
	size_t i = 0;
	int r = 0;
	if (mounts && !json_is_array(mounts))
		return ward_err_set(err, -EINVAL, "config.json: 'mounts' has the wrong type");
	if (json_array_size(mounts) > WARD_OCI_MOUNTS_MAX)
		return ward_err_set(
			err, -EINVAL, "config.json: more than %d mounts", WARD_OCI_MOUNTS_MAX);
	json_array_foreach(mounts, i, mount)
	{
		r = open_one(c, mount, err);
		if (r < 0)
			break;
	}
	return r;
}

static const struct ward_tree *find_tree(const struct ward_policy *p, const char *path)
{
	const struct ward_settings *s = ward_policy_settings(p);
	for (size_t i = 0; i < s->n_trees; i++)
		if (strcmp(s->trees[i].path, path) == 0)
			return &s->trees[i];
	return NULL;
}

/* The guard is not asked when a file is mapped as code: the mount refuses that (docs/adr/0022). */
static int find_noexec(struct ward_oci_volume *v, const struct ward_policy *p, struct ward_err *err)
{
	char **closed = NULL;
	if (ward_policy_noexec(p, &closed) < 0)
		return ward_err_sys(err, -ENOMEM, "noexec rules");
	for (size_t i = 0; closed[i]; i++) {
		v->noexec = v->noexec || strcmp(closed[i], "/") == 0 ||
			    ward_path_beneath(v->tree, closed[i]);
		free(closed[i]);
	}
	free(closed);
	return 0;
}

/* The volume takes the place of the tree's source; but what is meant to begin empty gets nothing of
 * the host's. */
static int guard(struct ward_oci_volume *v, const struct ward_tree *tree, struct ward_err *err)
{
	if (tree->tmpfs_size)
		return ward_err_set(err, -EINVAL,
			"the policy has %s in memory, empty: it takes no volume (%s at %s); fix: run "
			"the container without this volume, or under another policy",
			v->tree, v->source, v->destination);
	v->how = WARD_OCI_HOW_GUARD;
	return 0;
}

/* Neither what wardfs itself keeps, nor a directory above it, nor the whole host. */
static int check_protected(
	const struct ward_oci_volume *v, const char *const *protect, struct ward_err *err)
{
	struct statfs fs;
	if (strcmp(v->source, "/") == 0)
		return ward_err_set(
			err, -EINVAL, "the volume at %s is the root of the host", v->destination);
	for (; *protect; protect++)
		if (strcmp(v->source, *protect) == 0 || ward_known_beneath(v->source, *protect) ||
			ward_known_beneath(*protect, v->source))
			return ward_err_set(err, -EINVAL,
				"the volume at %s: %s shows what wardfs keeps in %s",
				v->destination, v->source, *protect);
	if (fstatfs(v->fd, &fs) == 0 &&
		(fs.f_type == PROC_SUPER_MAGIC || fs.f_type == SYSFS_MAGIC ||
			fs.f_type == CGROUP2_SUPER_MAGIC || fs.f_type == CGROUP_SUPER_MAGIC))
		return ward_err_set(err, -EINVAL,
			"the volume at %s: %s shows processes or devices of the host",
			v->destination, v->source);
	return 0;
}

static int uncovered(struct ward_oci_volume *v, const struct ward_oci_host *h, struct ward_err *err)
{
	enum ward_oci_uncovered what = h->uncovered;
	if (ward_oci_covers(&h->engine, v->source) || ward_oci_covers(&h->pass, v->source))
		what = WARD_OCI_PASS;
	else if (ward_oci_covers(&h->read, v->source))
		what = WARD_OCI_READ;
	switch (what) {
	case WARD_OCI_PASS:
		v->how = WARD_OCI_HOW_PASS;
		return 0;
	case WARD_OCI_READ:
		v->how = WARD_OCI_HOW_READ;
		return 0;
	case WARD_OCI_REFUSE:
		break;
	}
	return ward_err_set(err, -EINVAL,
		"no policy covers the volume %s at %s; fix: [tree %s] in the policy, or read = %s in "
		"[volumes] of /etc/wardfs/oci.policy",
		v->source, v->destination, v->destination, v->source);
}

/* Nothing may lie over a part of a guarded tree, or over all of it, by whatever links. */
static int check_places(const struct ward_oci_container *c, struct ward_err *err)
{
	for (size_t i = 0; i < c->n_volumes; i++)
		for (size_t k = 0; k < c->n_volumes; k++) {
			const struct ward_oci_volume *v = &c->volumes[i];
			const struct ward_oci_volume *o = &c->volumes[k];
			if (i == k || v->how != WARD_OCI_HOW_GUARD)
				continue;
			if (o->how == WARD_OCI_HOW_GUARD && strcmp(v->tree, o->tree) == 0)
				return ward_err_set(
					err, -EINVAL, "two volumes for the tree %s", v->tree);
			if (strcmp(v->spot, o->spot) == 0 ||
				(o->how != WARD_OCI_HOW_GUARD &&
					ward_known_beneath(o->spot, v->spot)))
				return ward_err_set(err, -EINVAL,
					"the volume at %s would lie over the guarded %s",
					o->destination, v->destination);
		}
	return 0;
}

int ward_oci_volumes(struct ward_oci_container *c, const struct ward_oci_host *h,
	const struct ward_policy *p, const char *const *protect, struct ward_err *err)
{
	int r = 0;
	for (size_t i = 0; i < c->n_volumes && r == 0; i++) {
		struct ward_oci_volume *v = &c->volumes[i];
		v->tree = ward_oci_tree_of(c, v->destination);
		r = check_protected(v, protect, err);
		if (r < 0)
			break;
		const struct ward_tree *tree = find_tree(p, v->tree);
		if (v->directory && tree)
			r = find_noexec(v, p, err) < 0 ? -ENOMEM : guard(v, tree, err);
		else if (strcmp(v->tree, v->destination) != 0)
			r = ward_err_set(err, -EINVAL,
				"the annotation for %s: the policy has no [tree %s]",
				v->destination, v->tree);
		else
			r = uncovered(v, h, err);
	}
	return r == 0 ? check_places(c, err) : r;
}
