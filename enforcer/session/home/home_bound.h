/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which directory a kept home belongs to. A path is only a name: the project can go and somebody
 * else can make a directory of that name, who would get the tokens and caches of the old one. So
 * a file `bound` beside the home says which directory the path stood for:
 *
 *   uid 1000 inode 1234 born 1766400000.123456789
 *
 * The owner, the inode and the time when it was made (statx(2); 0.0 where the file system has
 * none). The number of the device is left out: it changes from start to start of the host.
 */
#pragma once

#include <stdbool.h>

#include "enforcer/base/err.h"

#define WARD_HOME_BOUND_MAX 96

/* What it says of the directory that project_fd (O_PATH will do) is open on. Negative errno. */
int ward_home_bound_text(int project_fd, char ret[WARD_HOME_BOUND_MAX]) ward_must_check;
/*
 * dir: homes/UID/NAME-HASH, or -1. Is the home bound to another directory than that of text? Not
 * bound at all: no. What cannot be read, or is no such line, is another.
 */
bool ward_home_bound_other(int dir, const char *text);
/* Is it bound to that directory? What is not bound, or cannot be read, is not. */
bool ward_home_bound_is(int dir, const char *text);
/* Binds the home, in place of what stands there if again. Without again an old one stays. */
int ward_home_bound_write(int dir, const char *text, bool again) ward_must_check;
