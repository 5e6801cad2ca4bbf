/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Volumes with mapped ids: the files of the volume have other owners in the container than on the
 * host. An engine asks for them in two ways (config-linux.md and config.md of the OCI runtime
 * specification 1.2):
 *
 *   uidMappings, gidMappings of the mount   {"containerID": on the disk, "hostID": seen, "size"}
 *   the option `idmap` or `ridmap` alone    the mappings of the container's user namespace
 *
 * The kernel maps: the volume is a copy of the host's mount with MOUNT_ATTR_IDMAP. The guard has
 * such a copy as its backing, so that everything in it, rights included, goes by the mapped ids.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "enforcer/base/err.h"

/* *ret: a user namespace with the mappings that the mount asks for, the caller's; -1: it asks for
 * none. *ret_all: the mounts beneath get them as well. */
int ward_oci_idmap_open(const json_t *config, const json_t *mount, int *ret, bool *ret_all,
	struct ward_err *err) ward_must_check;
/* Takes out of the mount what asked for them: the runtime gets a volume that is mapped already. */
void ward_oci_idmap_done(json_t *mount);
/* A copy of the directory or file `fd`, attached nowhere, with the ids of `ids`; the caller's. */
int ward_oci_idmap_copy(int fd, int ids, int *ret, struct ward_err *err) ward_must_check;
