/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The control groups of a container that no runtime knows. A runtime makes them before it writes
 * down that the container exists. If it is killed in between, its `delete` finds no container, and
 * the groups would stay.
 */
#pragma once

#include <jansson.h>

#include "enforcer/oci/arguments.h"

/* linux.cgroupsPath of config.json where it is a plain absolute path, borrowed; else NULL: the
 * group is systemd's, which removes it, or lies where only the runtime knows. */
const char *ward_oci_group(const json_t *config);

/* Removes the group from each hierarchy, unless the runtime knows the container, or a process is
 * left in it. group NULL: does nothing. */
void ward_oci_group_remove(const char *runtime, const struct ward_oci_args *a, const char *group);
