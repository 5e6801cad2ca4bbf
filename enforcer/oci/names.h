/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of members that two programs read differently. A runtime written in Go takes "Mounts" for
 * "mounts", and a long s or a Kelvin sign for s and k (encoding/json). So what this program would
 * not look at could still be in force.
 */
#pragma once

#include <jansson.h>

#include "enforcer/base/err.h"

/* Objects and lists of o (borrowed) at any depth; names of annotations are free. -EINVAL: one is
 * meant for a name of the specification and is another. */
int ward_oci_names_check(const json_t *o, struct ward_err *err) ward_must_check;
