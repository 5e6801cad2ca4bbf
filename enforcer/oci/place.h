/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the commands of one container know of each other: a directory beneath WARD_OCI_PLACES, named
 * after the runtime's root and the id. It has the files `session`, {"id", "session", "bundle",
 * "limits"}, and `config.json`, from before the container is made until the session has ended. The
 * keeper holds a lock on the directory.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "enforcer/base/err.h"
#include "enforcer/oci/arguments.h"
#include "enforcer/oci/container_plan.h"
#include "enforcer/policy/settings.h"

/* The directory's path, whether it exists or not; the caller's. */
int ward_oci_place_path(
	const struct ward_oci_args *a, char **ret, struct ward_err *err) ward_must_check;
/* Makes it and locks it; what a killed keeper left there goes. -EBUSY: the container exists. */
int ward_oci_place_make(const char *path, int *ret_lock, struct ward_err *err) ward_must_check;
struct ward_oci_place {
	const char *id, *session;
	const char *bundle;		      /* host path */
	json_t *config;			      /* as the runtime got it */
	const struct ward_settings *settings; /* of the policy */
};

/* Writes what the later commands need, and reads the name of the session. -ENOENT: this container
 * has no session. */
int ward_oci_place_write(
	const char *path, const struct ward_oci_place *p, struct ward_err *err) ward_must_check;
int ward_oci_place_read(const char *path, char **ret_session, struct ward_err *err) ward_must_check;
/* Fills in the limits that an `update` must not raise; the rest of *ret stays. */
int ward_oci_place_limits(
	const char *path, struct ward_settings *ret, struct ward_err *err) ward_must_check;
/*
 * Makes a bundle in the place of a container whose own one others can change, for the view to cover
 * its config.json; c gets that bundle, and a the argument.
 */
int ward_oci_place_bundle(const char *path, struct ward_oci_container *c, struct ward_oci_args *a,
	struct ward_err *err) ward_must_check;
/*
 * A runtime can read config.json again, as runc does for an `exec` without --process. Moves this
 * process into a mount namespace in which the bundle has the rewritten one.
 */
int ward_oci_place_cover(const char *path, struct ward_err *err) ward_must_check;
void ward_oci_place_remove(const char *path);
/* Removes it if nobody locks it: who had it was killed. */
void ward_oci_place_sweep(const char *path);
