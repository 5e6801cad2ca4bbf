/* SPDX-License-Identifier: Apache-2.0 */
/* [limits] cpu-time of a container: the control group that its engine made counts it. */
#pragma once

#include <stdint.h>

#include "enforcer/base/err.h"

/*
 * Opens what counts the CPU time of the group that a process is in, and of all groups beneath. The
 * process must be in the group at that moment. -ENOTSUP: no group of the container's own counts it.
 */
int ward_oci_cpu_open(int pidfd, int *ret, struct ward_err *err) ward_must_check;
/* Since the group was made. -ENODEV: the group is gone. */
int ward_oci_cpu_read(int fd, uint64_t *ret_ns) ward_must_check;
/* When to look again: the limit cannot be passed by more than a moment's use. Nanoseconds. */
uint64_t ward_oci_cpu_wait(uint64_t used_ns, uint64_t limit_ns);
