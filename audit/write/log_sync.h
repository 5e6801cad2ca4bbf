/* SPDX-License-Identifier: Apache-2.0 */
/* Brings a log to the disk, and finds out whether the disk still takes anything. */
#pragma once

#include "enforcer/base/err.h"

/* Everything that was written to fd (O_RDWR) is on the disk: 0. Else -errno. */
int ward_log_sync(int fd) ward_must_check;
