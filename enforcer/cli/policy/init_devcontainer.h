/* SPDX-License-Identifier: Apache-2.0 */
/* `wardfs init --devcontainer`: a container for an editor in which wardfs runs. */
#pragma once

#include <stdbool.h>

#include "enforcer/cli/place/policy_place.h"

/*
 * Writes devcontainer.json, a Dockerfile and a list of system calls into .devcontainer of the
 * project, as files of the owner's. replace: also where they exist; else -EEXIST, and nothing
 * changes. dry: prints them instead. Follows no link.
 */
int init_devcontainer(const struct ward_policy_place *place, bool replace, bool dry,
	struct ward_err *err) ward_must_check;
