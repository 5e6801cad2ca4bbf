/* SPDX-License-Identifier: Apache-2.0 */
/* The services of the host for ordinary users: passthrough, control groups (ipc/host.h). */
#pragma once

#include "enforcer/base/err.h"
#include "enforcer/ipc/host.h"

/*
 * A connection to the one at path, with time limits; the caller's. Waits for 0.2 s at most. A
 * negative errno: the host does not have the service, or root does not listen there; sessions work
 * without.
 */
int ward_host_service_connect(const char *path) ward_must_check;
