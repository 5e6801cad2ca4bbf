/* SPDX-License-Identifier: Apache-2.0 */
/* One connection of the service: registers files for one session of one user. */
#pragma once

#include <sys/socket.h>

#include "enforcer/hostd/bounds.h"

struct ward_host_worker {
	int conn;
	int fusectl; /* of ward_host_fusectl() */
	struct ward_host_bounds *bounds;
};

/* Until the connection ends or says something that is not valid. Returns the exit status. */
int ward_host_worker_serve(const struct ward_host_worker *w, const struct ucred *peer);
