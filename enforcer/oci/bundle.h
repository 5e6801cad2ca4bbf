/* SPDX-License-Identifier: Apache-2.0 */
/* config.json of a bundle, which the caller may have shaped. */
#pragma once

#include "enforcer/oci/container_plan.h"

/*
 * Fills bundle, descriptors and config of *c. The directory and the file have to be root's, and
 * nobody else's to change: the runtime opens them again by name. The file must be regular, no link,
 * at most WARD_OCI_CONFIG_MAX bytes, JSON without duplicate members, of specification 1.x.
 */
int ward_oci_bundle_read(
	const char *path, struct ward_oci_container *c, struct ward_err *err) ward_must_check;
