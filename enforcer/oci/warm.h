/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A walk through the guarded volumes of a container (enforcer/base/walk.h), by a process of ours
 * that has the ids of the container's first process and no capability. It holds no mount namespace,
 * but the directories of these volumes, and is gone when its leash or its time ends.
 */
#pragma once

#include "enforcer/oci/view.h"

/* NGROUPS_SOFT: with more groups there is no walk. */
#define WARD_OCI_WARM_GROUPS 256

struct ward_oci_warm {
	int fds[WARD_TREES_MAX]; /* O_PATH */
	size_t n;
	uid_t uid;
	gid_t gid, groups[WARD_OCI_WARM_GROUPS];
	size_t n_groups;
};

/*
 * In the view, before it is served. None where the container has a user namespace, or a volume ids
 * of its own: as whom to ask there is not known. The descriptors are the caller's.
 */
void ward_oci_warm_open(const struct ward_oci_container *c, const struct ward_oci_view *v,
	struct ward_oci_warm *ret);
void ward_oci_warm_close(struct ward_oci_warm *w);
/* The life of that process. leash: ends when its other end is closed. */
void ward_oci_warm_walk(const struct ward_oci_warm *w, int leash) __attribute__((noreturn));
