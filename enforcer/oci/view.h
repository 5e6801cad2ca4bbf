/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mount namespace in which the real runtime creates the container. It is a copy of the host's,
 * and gets what the host never sees:
 *
 *   PLACE/view          a tmpfs of root's
 *   PLACE/view/N        volume N: /dev/fuse where it is guarded, else a copy of the very mount that
 *                       was decided about
 *   PLACE/view/ns-TYPE  a namespace that the container joins: the one that was looked at
 *   PLACE/view/net      the network namespace, and PLACE/view/resolv.conf, if wardfs-net serves it
 *   PLACE/view/config   the rewritten config.json, also mounted over the bundle's
 *
 * The container's own namespace is a copy of it. With the container's last process and the runtime
 * the mounts are gone.
 */
#pragma once

#include "enforcer/oci/container_plan.h"
#include "enforcer/oci/wired.h"
#include "enforcer/session/guard/fusemount.h"

struct ward_oci_view {
	int host;		  /* the namespace that we come from */
	int fuse[WARD_TREES_MAX]; /* of tree i */
	struct ward_fusemount mounts[WARD_TREES_MAX];
	size_t n;
	struct ward_oci_wired wired;
	dev_t dev; /* of the rewritten config.json */
	ino_t ino;
};
#define WARD_OCI_VIEW_INIT ((struct ward_oci_view){.host = -1, .wired = WARD_OCI_WIRED_INIT})

/* Moves this process into the new namespace and mounts. place: the container's directory. wired:
 * with the network of wardfs-net. */
int ward_oci_view_make(struct ward_oci_container *c, const struct ward_oci_host *h,
	const char *place, bool wired, struct ward_oci_view *ret,
	struct ward_err *err) ward_must_check;
/* Once the trees are served: the runtime will find the rewritten file at the bundle's path. */
int ward_oci_view_check(
	const struct ward_oci_view *v, const char *bundle, struct ward_err *err) ward_must_check;
void ward_oci_view_clear(struct ward_oci_view *v);
