/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keeper of a container: the supervisor of its session, and the process that watches both.
 *
 *   front     wardfs-oci as the engine called it; becomes the real runtime. A pidfd leads to it
 *   keeper    has the trail, wardfs-audit and wardfs-fs; goes on while the container lives
 *   watcher   its child; finds the container's first process when the front has ended, and tells
 *             the keeper of its end
 *
 * One dies, all end: the keeper kills the container when a helper or the watcher dies, the watcher
 * kills it when the keeper dies. Both are in the host's namespaces, and hold no mount of the
 * container's: of the guarded volumes the keeper has a descriptor each until it has started the
 * walk (warm.h), which ends with the keeper.
 */
#pragma once

#include "enforcer/oci/container_plan.h"
#include "enforcer/oci/view.h"
#include "enforcer/session/mount/served.h"

struct ward_oci_keep {
	const struct ward_oci_args *args;
	const struct ward_oci_host *host;
	const struct ward_oci_container *container;
	const struct ward_oci_view *view;
	const char *runtime; /* the program */
	const char *place;
	int place_lock;
	int front;		    /* pidfd */
	struct ward_served *served; /* its plan is complete */
};

/*
 * Starts the keeper. Returns once the trees are served and session.start is in the trail: from then
 * on the container may be made. Everything of k is the caller's, and a copy of it the keeper's.
 */
int ward_oci_keeper_start(const struct ward_oci_keep *k, struct ward_err *err) ward_must_check;

/* A process of another command joins: its record is in the trail of the session. -ENOENT,
 * -ECONNREFUSED: the session is over. argv: NULL-terminated. */
int ward_oci_keeper_join(const char *session, char *const *argv, const char *user,
	struct ward_err *err) ward_must_check;
/* Does the session go on? */
int ward_oci_keeper_alive(const char *session, struct ward_err *err) ward_must_check;
