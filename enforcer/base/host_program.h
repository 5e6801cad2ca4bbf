/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs of the host that wardfs starts by itself. They are not looked for in PATH: a directory
 * of a project may stand there (.venv/bin, node_modules/.bin, "."), and what lies in it is whatever
 * a session left.
 */
#pragma once

#include <limits.h>

#include "enforcer/base/err.h"

/* The path of the first executable file of this name in a directory of the host's. -ENOENT. */
int ward_host_program(const char *name, char ret[PATH_MAX]) ward_must_check;
