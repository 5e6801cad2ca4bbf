/* SPDX-License-Identifier: Apache-2.0 */
/* The mounts of a container: which of them are volumes of the host, and what becomes of each. */
#pragma once

#include "enforcer/oci/container_plan.h"

/*
 * Fills c->volumes from config.json. A volume whose destination is a tree (trees: sandbox paths
 * that the policy serves) is guarded; the others go by [volumes] of the host's file. protect: host
 * paths that no volume may show or lie in. -EINVAL: refused.
 */
int ward_oci_volumes(struct ward_oci_container *c, const struct ward_oci_host *h,
	const struct ward_policy *p, const char *const *protect,
	struct ward_err *err) ward_must_check;

/* Opens the source of each; without a policy. Before ward_oci_volumes(). */
int ward_oci_volumes_open(struct ward_oci_container *c, struct ward_err *err) ward_must_check;

/* The tree that a destination stands for: what wardfs.tree.DESTINATION says, else itself. */
const char *ward_oci_tree_of(const struct ward_oci_container *c, const char *destination);
