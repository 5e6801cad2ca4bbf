/* SPDX-License-Identifier: Apache-2.0 */
/* What the trail says about a container. */
#include <stdio.h>
#include <string.h>

#include "enforcer/base/buf.h"
#include "enforcer/oci/container_plan.h"
#include "enforcer/oci/wired.h"
#include "enforcer/session/records/record_text.h"
#include "enforcer/session/records/session_about.h"

/* By the documentation of containerd (CRI), CRI-O, the kubelet, podman and docker. */
static const struct {
	const char *label, *annotation;
} known[] = {
	{"container", "io.kubernetes.cri.container-name"},
	{"container", "io.kubernetes.container.name"},
	{"image", "io.kubernetes.cri.image-name"},
	{"image", "io.kubernetes.cri-o.ImageName"},
	{"image-digest", "io.kubernetes.cri-o.ImageRef"},
	/* Of the image that this one was built on: docs/oci.md says so. */
	{"base-digest", "org.opencontainers.image.base.digest"},
	{"pod", "io.kubernetes.cri.sandbox-name"},
	{"pod", "io.kubernetes.pod.name"},
	{"namespace", "io.kubernetes.cri.sandbox-namespace"},
	{"namespace", "io.kubernetes.pod.namespace"},
	{"pod-id", "io.kubernetes.cri.sandbox-id"},
	{"pod-id", "io.kubernetes.cri-o.SandboxID"},
	{"pod-uid", "io.kubernetes.cri.sandbox-uid"},
	{"pod-uid", "io.kubernetes.pod.uid"},
	{"service-account", "io.kubernetes.pod.service-account"},
	{"manager", "io.container.manager"},
};

static void put(char **ret, size_t *n, size_t max, const char *key, const char *value)
{
	char text[WARD_LABEL_KEY_MAX + WARD_LABEL_VALUE_MAX + 2];
	const size_t len = strlen(key);
	for (size_t i = 0; i < *n; i++)
		if (strncmp(ret[i], key, len) == 0 && ret[i][len] == '=')
			return;
	(void)snprintf(text, sizeof(text), "%s=%.*s", key, (int)WARD_LABEL_VALUE_MAX, value);
	if (*n < max && *value && (ret[*n] = strdup(text)))
		++*n;
}

size_t ward_oci_labels(const struct ward_oci_container *c, const char *id, char **ret, size_t max)
{
	const json_t *notes = json_object_get(c->config, "annotations");
	size_t n = 0;
	put(ret, &n, max, "container-id", id);
	/* Before an annotation, which the author of a pod can write. */
	put(ret, &n, max, "service-account", c->account);
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		const char *v = json_string_value(json_object_get(notes, known[i].annotation));
		if (v)
			put(ret, &n, max, known[i].label, v);
	}
	return n;
}

static const char *how_word(enum ward_oci_how how)
{
	switch (how) {
	case WARD_OCI_HOW_NONE:
		break;
	case WARD_OCI_HOW_GUARD:
		return "guard";
	case WARD_OCI_HOW_READ:
		return "read";
	case WARD_OCI_HOW_PASS:
		return "pass";
	}
	return "refused";
}

json_t *ward_oci_container_json(const struct ward_oci_container *c, const struct ward_oci_args *a,
	const struct ward_oci_host *h, const struct ward_settings *s, const char *runtime)
{
	json_t *volumes = json_array();
	/* A record has room for so many. */
	for (size_t i = 0; i < c->n_volumes && i < 32; i++) {
		const struct ward_oci_volume *v = &c->volumes[i];
		json_array_append_new(volumes,
			json_pack("{s:o, s:o, s:s, s:s*}", "path", ward_record_text(v->destination),
				"source", ward_record_text(v->source), "how", how_word(v->how),
				"ids", v->ids < 0 ? NULL : "mapped"));
	}
	json_t *o = json_pack("{s:s, s:o, s:o, s:s, s:s, s:b, s:o}", "id", a->id, "engine",
		ward_record_text(runtime), "bundle", ward_record_text(c->bundle), "network",
		h->network == WARD_OCI_NET_ENGINE ? "engine"
		: ward_oci_wired(h, s)		  ? "ours"
						  : "none",
		"seccomp", h->seccomp == WARD_OCI_CALLS_ENGINE ? "engine" : "both",
		"new_privileges", h->new_privileges, "volumes", volumes);
	json_t *lacks = json_array();
	/* A service waits for requests for days: the engine says when it ends. */
	if (s->idle_ns != WARD_UNLIMITED)
		json_array_append_new(lacks, json_string("[limits] idle"));
	if (c->programs)
		json_array_append_new(lacks, json_string("[process] exec"));
	if (c->noexec)
		json_array_append_new(lacks, json_string("noexec"));
	/* In the container's own layer, which is the engine's. */
	for (size_t i = 0; i < s->n_trees; i++)
		if (s->trees[i].tmpfs_size)
			json_array_append_new(
				lacks, json_sprintf("[tree %s] source", s->trees[i].path));
	if (s->seccomp != WARD_LIST_DEFAULT)
		json_array_append_new(lacks, json_string("[process] seccomp"));
	if (o && json_array_size(lacks))
		json_object_set(o, "lacks", lacks);
	json_decref(lacks);
	if (o && c->n_volumes > 32)
		json_object_set_new(o, "volumes_more", json_integer((json_int_t)c->n_volumes - 32));
	return o;
}
