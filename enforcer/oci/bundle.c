/* SPDX-License-Identifier: Apache-2.0 */
/* Reads config.json of a bundle. */
#include "enforcer/oci/bundle.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/patient.h"
#include "enforcer/oci/names.h"
#include "enforcer/oci/oci.h"

#define CONFIG "config.json"

static int check_root(const struct stat *st, const char *what, struct ward_err *err)
{
	if (st->st_uid == geteuid() && !(st->st_mode & (S_IWGRP | S_IWOTH)))
		return 0;
	return ward_err_set(err, -EPERM, "%s: others than root can change it", what);
}

static int open_bundle(const char *path, struct ward_oci_container *c, struct ward_err *err)
{
	int r = ward_patient_reach(path, err);
	if (r < 0)
		return r;
	c->bundle_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (c->bundle_fd < 0)
		return ward_err_sys(err, -errno, "the bundle %s", path);
	r = ward_fd_path(c->bundle_fd, &c->bundle);
	return r < 0 ? ward_err_sys(err, r, "the bundle %s", path) : 0;
}

/* The host's id of user 0 of the container; 0: that of the host. */
static json_int_t mapped_root(const json_t *config)
{
	const json_t *map = NULL;
	size_t i = 0;
	json_array_foreach(json_object_get(json_object_get(config, "linux"), "uidMappings"), i, map)
	{
		if (json_integer_value(json_object_get(map, "containerID")) == 0)
			return json_integer_value(json_object_get(map, "hostID"));
	}
	return 0;
}

/* podman gives the directory to user 0 of the container: ours takes its place then. */
static int check_owner(struct ward_oci_container *c, struct ward_err *err)
{
	struct stat st;
	if (fstat(c->bundle_fd, &st) < 0)
		return ward_err_sys(err, -errno, "the bundle %s", c->bundle);
	const json_int_t root = mapped_root(c->config);
	c->mapped =
		root > 0 && (json_int_t)st.st_uid == root && !(st.st_mode & (S_IWGRP | S_IWOTH));
	return c->mapped ? 0 : check_root(&st, c->bundle, err);
}

static int parse(const char *text, size_t len, json_t **ret, struct ward_err *err)
{
	json_error_t why;
	/* Two members of one name: the runtime would take the other one. */
	json_t *o = json_loadb(text, len, JSON_REJECT_DUPLICATES, &why);
	if (!o)
		return ward_err_set(err, -EINVAL, "config.json, line %d: %s", why.line, why.text);
	const char *version = json_string_value(json_object_get(o, "ociVersion"));
	if (!version || strncmp(version, "1.", 2) != 0) {
		int r = ward_err_set(err, -EINVAL,
			"config.json: version '%s' of the specification; wardfs-oci supports 1.x",
			version ? version : "?");
		json_decref(o);
		return r;
	}
	int r = ward_oci_names_check(o, err);
	if (r < 0) {
		json_decref(o);
		return ward_err_wrap(err, "config.json");
	}
	*ret = o;
	return 0;
}

int ward_oci_bundle_read(const char *path, struct ward_oci_container *c, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	struct stat st;
	int r = open_bundle(path, c, err);
	if (r < 0)
		return r;
	ward_cleanup_fd int fd = ward_fd_open_regular(c->bundle_fd, CONFIG, O_RDONLY);
	if (fd < 0 || fstat(fd, &st) < 0)
		return ward_err_sys(err, fd < 0 ? fd : -errno, "%s/" CONFIG, c->bundle);
	r = check_root(&st, CONFIG, err);
	if (r < 0)
		return r;
	r = ward_fd_read_all(fd, WARD_OCI_CONFIG_MAX, &text);
	if (r < 0)
		return ward_err_sys(err, r, "%s/" CONFIG, c->bundle);
	c->config_fd = openat(c->bundle_fd, CONFIG, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat again;
	if (c->config_fd < 0 || fstat(c->config_fd, &again) < 0 || again.st_dev != st.st_dev ||
		again.st_ino != st.st_ino)
		return ward_err_set(err, -EAGAIN, "%s/" CONFIG ": it was replaced", c->bundle);
	r = parse(ward_buf_str(&text), text.len, &c->config, err);
	return r < 0 ? r : check_owner(c, err);
}
