/* SPDX-License-Identifier: Apache-2.0 */
/* What names.c (places) and names_go.c (the order of changes) share. */
#pragma once

#include "enforcer/review/names.h"

#define NOWHERE SIZE_MAX

bool ward_names_same_place(const struct ward_name_place *a, const struct ward_name_place *b);
/* The name that comes from this place; NOWHERE: none does. */
size_t ward_names_from(const struct ward_names *ns, const struct ward_name_place *p);
/*
 * The directory of a place of n, and its last name there, as the host has it. path: PATH_MAX bytes,
 * for the name. *ret_dir is borrowed until the next use of `by`. 0 or a negative errno.
 */
int ward_names_open(struct ward_names *ns, struct ward_swap_place *by,
	const struct ward_name_place *p, const struct ward_name *n, char *path, int *ret_dir,
	const char **ret_name) ward_must_check;
/* The path that the place has before all changes. 0 or -ENAMETOOLONG. */
int ward_names_first(const struct ward_names *ns, const struct ward_name_place *p, char *ret,
	size_t *ret_root) ward_must_check;
/* Directories have moved. */
void ward_names_forget(struct ward_names *ns);
/* The first of by_from whose path is beneath that of v[i], or after it. */
size_t ward_names_beneath(const struct ward_names *ns, size_t i);
bool ward_names_is_beneath(const struct ward_names *ns, size_t i, size_t k);
