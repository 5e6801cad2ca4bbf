/* SPDX-License-Identifier: Apache-2.0 */
/* Where the shipped profiles keep what agents want to find again: made when a run needs it. */
#pragma once

#include <stdbool.h>

#include "enforcer/base/err.h"

/* Is path one directory of HOME/.local/share/wardfs/agents? By its name; nothing is looked at. */
bool ward_agents_is(const char *path, const char *home);

/*
 * If path is a directory beneath HOME/.local/share/wardfs/agents that does not exist, makes it and
 * those above it, mode 0700, as the caller; nothing else is ever made. home: the owner's or NULL.
 * -errno.
 */
int ward_agents_make(const char *path, const char *home, struct ward_err *err) ward_must_check;
