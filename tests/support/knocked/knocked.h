/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wardfs-init and wardfs-fs with a layer left out, for `wardfs attack --knock-out`. They are the
 * same sources, linked with functions of this folder in place of some of their own. They are never
 * installed; no policy, option or variable of the real programs does the same.
 */
#pragma once

#include <stdbool.h>

/* Is this layer left out? The file "knock" beside the program has their names, one a line. */
bool ward_knocked(const char *layer);
