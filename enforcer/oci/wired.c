/* SPDX-License-Identifier: Apache-2.0 */
/* Gives a container the network namespace that wardfs-net serves. */
#include "enforcer/oci/wired.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/oci/oci.h"
#include "enforcer/oci/userns.h"
#include "enforcer/session/plan/environment.h"
#include "enforcer/session/plan/network.h"

#define RESOLV_CONF "/etc/resolv.conf"

bool ward_oci_wired(const struct ward_oci_host *h, const struct ward_settings *s)
{
	return h->network == WARD_OCI_NET_OURS &&
	       (s->net == WARD_NET_ALLOWLIST || s->net == WARD_NET_PROXY);
}

static json_t *namespace_of(const json_t *config, const char *type)
{
	json_t *v = NULL;
	size_t i = 0;
	json_array_foreach(json_object_get(json_object_get(config, "linux"), "namespaces"), i, v)
	{
		const char *s = json_string_value(json_object_get(v, "type"));
		if (s && strcmp(s, type) == 0)
			return v;
	}
	return NULL;
}

int ward_oci_wired_check(const json_t *config, const struct ward_oci_host *h,
	const struct ward_settings *s, struct ward_err *err)
{
	if (h->network == WARD_OCI_NET_OURS && s->net == WARD_NET_HOST)
		return ward_err_set(err, -EINVAL,
			"the policy's [network] mode = host is not the network of wardfs; fix: mode = "
			"allowlist, or network = engine in " WARD_OCI_HOST_FILE);
	if (!ward_oci_wired(h, s))
		return 0;
	if (s->net_socket.n)
		return ward_err_set(err, -EINVAL,
			"[network] socket cannot be served in a container; fix: take it out of the "
			"policy");
	/* Such a runtime mounts /sys, which only the owner of a network namespace can. */
	if (namespace_of(config, "user"))
		return ward_err_set(err, -EINVAL,
			"the network of wardfs needs a container without a user namespace of its own; "
			"fix: run it without --userns, or network = engine in " WARD_OCI_HOST_FILE);
	return 0;
}

static int make_namespaces(struct ward_oci_wired *w, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf all = WARD_BUF_INIT;
	/* Every id, as itself: root there is root here, without the rights of root here. */
	ward_buf_puts(&all, "0 0 4294967295\n");
	return ward_buf_error(&all) ? ward_err_sys(err, -ENOMEM, "network")
				    : ward_oci_userns_make(&all, &all, &w->user, &w->net, err);
}

static int mount_namespace(const struct ward_oci_wired *w, const char *path, struct ward_err *err)
{
	char from[64];
	ward_cleanup_fd int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
	(void)snprintf(from, sizeof(from), "/proc/self/fd/%d", w->net);
	if (fd < 0 || mount(from, path, NULL, MS_BIND, NULL) < 0)
		return ward_err_sys(err, -errno, "the network namespace at %s", path);
	return 0;
}

/* The engine's file, if it brought one, gives way to ours. */
static int add_resolv(json_t *config, const char *path, struct ward_err *err)
{
	json_t *mounts = json_object_get(config, "mounts");
	json_t *v = NULL;
	size_t i = 0;
	const char *text = ward_network_resolv();
	ward_cleanup_fd int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
	int r = fd < 0 ? -errno : ward_fd_write_all(fd, text, strlen(text));
	if (r < 0)
		return ward_err_sys(err, r, "%s", path);
	if (!mounts && json_object_set_new(config, "mounts", json_array()) == 0)
		mounts = json_object_get(config, "mounts");
	json_array_foreach(mounts, i, v)
	{
		const char *to = json_string_value(json_object_get(v, "destination"));
		if (to && strcmp(to, RESOLV_CONF) == 0)
			json_array_remove(mounts, i--);
	}
	r = json_array_append_new(
		mounts, json_pack("{s:s, s:s, s:s, s:[s, s, s, s, s]}", "destination", RESOLV_CONF,
				"type", "bind", "source", path, "options", "bind", "ro", "nosuid",
				"nodev", "noexec"));
	return r < 0 ? ward_err_sys(err, -ENOMEM, RESOLV_CONF) : 0;
}

/* For programs that go by proxies alone. What the engine says of one is wrong inside. */
static int add_proxies(json_t *config, struct ward_err *err)
{
	json_t *process = json_object_get(config, "process");
	json_t *env = json_object_get(process, "env");
	if (!env && json_object_set_new(process, "env", json_array()) == 0)
		env = json_object_get(process, "env");
	for (const char *const *s = ward_environment_proxies(); *s; s++) {
		const size_t name = strcspn(*s, "=") + 1;
		for (size_t i = json_array_size(env); i-- > 0;) {
			const char *had = json_string_value(json_array_get(env, i));
			if (had && strncasecmp(had, *s, name) == 0)
				json_array_remove(env, i);
		}
		if (json_array_append_new(env, json_string(*s)) < 0)
			return ward_err_sys(err, -ENOMEM, "environment");
	}
	return 0;
}

int ward_oci_wired_make(
	json_t *config, const char *view, struct ward_oci_wired *ret, struct ward_err *err)
{
	char path[PATH_MAX + 32];
	struct ward_oci_wired w = WARD_OCI_WIRED_INIT;
	/* The floor has put one there. */
	json_t *net = namespace_of(config, "network");
	int r = net ? make_namespaces(&w, err) : ward_err_set(err, -EINVAL, "no network");
	(void)snprintf(path, sizeof(path), "%s/net", view);
	if (r == 0)
		r = mount_namespace(&w, path, err);
	if (r == 0 && json_object_set_new(net, "path", json_string(path)) < 0)
		r = ward_err_sys(err, -ENOMEM, "network");
	(void)snprintf(path, sizeof(path), "%s/resolv.conf", view);
	if (r == 0)
		r = add_resolv(config, path, err);
	if (r == 0)
		r = add_proxies(config, err);
	if (r < 0)
		ward_oci_wired_clear(&w);
	else
		*ret = w;
	return r;
}

void ward_oci_wired_clear(struct ward_oci_wired *w)
{
	if (w->user >= 0)
		close(w->user);
	if (w->net >= 0)
		close(w->net);
	*w = WARD_OCI_WIRED_INIT;
}
