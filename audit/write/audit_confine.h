/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The writer's own cage: no new privileges, no capabilities, not dumpable, no file, no network, no
 * process (Landlock where the kernel has it, and a seccomp list that allows what the loop needs).
 */
#pragma once

#include "enforcer/base/err.h"

/* Cannot be undone. -EPERM and others name the step that failed. */
int ward_audit_confine(struct ward_err *err) ward_must_check;
