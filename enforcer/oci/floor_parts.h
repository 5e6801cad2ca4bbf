/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of the floor (floor.h) that need a file of their own. */
#pragma once

#include <jansson.h>

#include "enforcer/oci/host_policy.h"

/*
 * devices: linux.devices; rules: linux.resources.devices, or NULL; both borrowed. A device counts
 * by its numbers: those that every runtime makes, or those that the host has at a path that its
 * file allows. -EINVAL: there is another one.
 */
int ward_oci_floor_devices(const json_t *devices, const json_t *rules,
	const struct ward_oci_host *h, struct ward_err *err) ward_must_check;

/*
 * Each namespace that the container joins by a path, in linux.namespaces of config: it must not be
 * the host's, unless the host's file allows that. What was looked at is mounted below view, and
 * config names that place from now on, so nobody can put another one in its place. -EINVAL.
 */
int ward_oci_join(json_t *config, const struct ward_oci_host *h, const char *view,
	struct ward_err *err) ward_must_check;
