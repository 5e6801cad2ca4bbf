/* SPDX-License-Identifier: Apache-2.0 */
/* The real runtime: runc, crun or runsc. */
#pragma once

#include <sys/types.h>

#include "enforcer/base/err.h"
#include "enforcer/oci/arguments.h"

/* Asks it for the pid of the container's first process. 0: it has ended. -1: the runtime
 * has no such container. */
int ward_oci_runtime_pid(const char *program, const struct ward_oci_args *a, pid_t *ret,
	struct ward_err *err) ward_must_check;

/* Takes this process's place with the command line as it came, on the same descriptors. Returns
 * only if it cannot. */
int ward_oci_runtime_become(
	const char *program, const struct ward_oci_args *a, struct ward_err *err) ward_must_check;
/* As a child. *ret is the exit status. */
int ward_oci_runtime_call(const char *program, const struct ward_oci_args *a, int *ret,
	struct ward_err *err) ward_must_check;
