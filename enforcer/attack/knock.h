/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wardfs with one layer left out, to see which attempts notice. That takes other programs than
 * those that are installed: wardfs-init and wardfs-fs as tests/support/knocked builds them. Only a
 * build directory has these, so no policy, option or variable of an installed wardfs can leave a
 * layer out.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "enforcer/attack/world.h"

struct ward_knock_layer {
	const char *name;
	const char *named;  /* what an attempt that is about it says in `stops` */
	const char *behind; /* NULL, or the layers in front of it, which refuse the same */
};

extern const struct ward_knock_layer ward_knock_layers[];
extern const size_t ward_n_knock_layers;

/* NULL: there is none of this name. */
const struct ward_knock_layer *ward_knock_find(const char *name);

/* Does the attempt name the layer as what stops it? */
bool ward_knock_named(const struct ward_knock_layer *l, const struct ward_attempt *a);

/*
 * Makes a directory in the world's own that has all programs of wardfs (the path of the program
 * itself is given), two of them from the build directory's tests/support. *ret: the path of wardfs
 * there, the caller's. -1 with errno; ENOENT: this is no build directory.
 */
int ward_knock_make(const struct ward_world *w, const char *wardfs, char **ret) ward_must_check;

/* From now on sessions of that program lack this layer. */
int ward_knock_choose(const struct ward_world *w, const char *layer) ward_must_check;
