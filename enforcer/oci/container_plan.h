/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One container before anything is made: the bundle's config.json, the policy, which volumes the
 * guard serves, which are passed on. Everything that a caller can get wrong, or try, ends here.
 */
#pragma once

#include <jansson.h>

#include "enforcer/oci/arguments.h"
#include "enforcer/oci/host_policy.h"
#include "enforcer/session/plan/plan.h"

/* A name of Kubernetes has 253 characters. */
#define WARD_OCI_ACCOUNT_MAX 254

enum ward_oci_how {
	WARD_OCI_HOW_NONE = 0,
	WARD_OCI_HOW_GUARD, /* served by wardfs-fs: a tree of the session */
	WARD_OCI_HOW_READ,
	WARD_OCI_HOW_PASS,
};

/* A bind mount of config.json. */
struct ward_oci_volume {
	json_t *mount;		 /* the object, borrowed from config */
	const char *destination; /* borrowed */
	char *spot;		 /* the same without links, in the container, owned */
	char *source;		 /* host path without links, owned */
	const char *tree;	 /* sandbox path, borrowed; with HOW_GUARD */
	int fd;			 /* O_PATH, owned */
	bool directory, recursive;
	bool noexec;  /* a rule closes all of the tree */
	int ids;      /* user namespace of mapped ids, owned; -1: none */
	bool ids_all; /* of the mounts beneath, too */
	enum ward_oci_how how;
};

struct ward_oci_container {
	json_t *config;	    /* rewritten, but for the sources of volumes */
	int bundle_fd;	    /* directory */
	int config_fd;	    /* config.json in it, O_PATH */
	char *bundle;	    /* its host path */
	bool mapped;	    /* it belongs to user 0 of the container, as ids are mapped */
	const char *policy; /* name or path, borrowed */
	const char *session;
	struct ward_oci_volume volumes[256]; /* WARD_OCI_MOUNTS_MAX */
	size_t n_volumes;
	char account[WARD_OCI_ACCOUNT_MAX]; /* service account of the pod; "": nobody says */
	bool programs; /* the policy has a list of programs, which nobody holds */
	bool noexec;   /* it has noexec rules, and the runtime a kernel that does not ask */
};
#define WARD_OCI_CONTAINER_INIT ((struct ward_oci_container){.bundle_fd = -1, .config_fd = -1})

/* Reads the bundle and decides. plan gets owner, policy, trees, state and runtime. */
int ward_oci_container_plan(const struct ward_oci_args *a, const struct ward_oci_host *h,
	struct ward_oci_container *ret, struct ward_run_plan *plan,
	struct ward_err *err) ward_must_check;
void ward_oci_container_clear(struct ward_oci_container *c);

/* For session.start: {"id", "runtime", "network", "volumes": […], …}. */
json_t *ward_oci_container_json(const struct ward_oci_container *c, const struct ward_oci_args *a,
	const struct ward_oci_host *h, const struct ward_settings *s, const char *runtime);
/* KEY=VALUE of the known annotations: image, pod, namespace, … The strings are ret's, at most max.
 */
size_t ward_oci_labels(const struct ward_oci_container *c, const char *id, char **ret, size_t max);
