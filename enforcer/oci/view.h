/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mount namespace in which the real runtime creates the container. It is a copy of the host's,
 * and gets what the host never sees:
 *
 *   PLACE/view          a tmpfs of root's
 *   PLACE/view/N        volume N: /dev/fuse where it is guarded, else a copy of the very mount that
 *                       was decided about
 *   PLACE/view/config   the rewritten config.json, also mounted over the bundle's
 *
 * The container's own namespace is a copy of it. With the container's last process and the runtime
 * the mounts are gone.
 */
#pragma once

#include "enforcer/oci/container_plan.h"
#include "enforcer/session/guard/fusemount.h"

struct ward_oci_view {
	int host;		  /* the namespace that we come from */
	int fuse[WARD_TREES_MAX]; /* of tree i */
	struct ward_fusemount mounts[WARD_TREES_MAX];
	size_t n;
	dev_t dev; /* of the rewritten config.json */
	ino_t ino;
};
#define WARD_OCI_VIEW_INIT ((struct ward_oci_view){.host = -1})

/* Moves this process into the new namespace and mounts. place: the container's directory. */
int ward_oci_view_make(struct ward_oci_container *c, const char *place, struct ward_oci_view *ret,
	struct ward_err *err) ward_must_check;
/* Once the trees are served: the runtime will find the rewritten file at the bundle's path. */
int ward_oci_view_check(
	const struct ward_oci_view *v, const char *bundle, struct ward_err *err) ward_must_check;
void ward_oci_view_clear(struct ward_oci_view *v);
