/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cage of a helper that works on descriptors which it was given, and on nothing else: no new
 * privileges, no capabilities, not dumpable, no file, no network, no process (Landlock where the
 * kernel has it, and a seccomp list of what a loop over sockets needs).
 */
#pragma once

#include <stddef.h>

#include "enforcer/base/err.h"

/*
 * Cannot be undone. own: numbers of further system calls that this helper makes (SCMP_SYS()).
 * -EPERM and others name the step that failed.
 */
int ward_cage(const int *own, size_t n_own, struct ward_err *err) ward_must_check;
