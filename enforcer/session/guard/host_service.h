/* SPDX-License-Identifier: Apache-2.0 */
/* The service that registers passthrough for ordinary users (ipc/host.h). */
#pragma once

#include "enforcer/base/err.h"

/*
 * A connection to it for wardfs-fs, with time limits; the caller's. Waits for 0.2 s at most. A
 * negative errno: the host does not have the service, or root does not listen there; sessions work
 * without.
 */
int ward_host_service_connect(void) ward_must_check;
