/* SPDX-License-Identifier: Apache-2.0 */
/* Where the mounts of a container lie once the runtime has followed the links of the image. */
#pragma once

#include <sys/types.h>

#include "enforcer/oci/container_plan.h"

/*
 * Sets the spot of each volume: its destination with the links followed that the image has, and
 * that volumes have which are mounted before. -EINVAL: too many links.
 */
int ward_oci_spots_find(struct ward_oci_container *c, struct ward_err *err) ward_must_check;

/*
 * Of a container that was made and has not started: does a mount lie over a guarded one, or over a
 * part of it? pid: its first process. Whoever can write to the image or to a volume may have
 * changed a link since ward_oci_spots_find(). -EPERM: one does.
 */
int ward_oci_spots_check(pid_t pid, struct ward_err *err) ward_must_check;
