/* SPDX-License-Identifier: Apache-2.0 */
/* What shifts.c (places) and shifts_go.c (the order of changes) share. */
#pragma once

#include "enforcer/review/shifts.h"

#define NO_PLACE SIZE_MAX

bool ward_shifts_same_place(const struct ward_shift_place *a, const struct ward_shift_place *b);
/* The name that comes from this place; NO_PLACE: none does. */
size_t ward_shifts_from(const struct ward_shifts *ns, const struct ward_shift_place *p);
/*
 * The directory of a place of n, and its last name there, as the host has it. path: PATH_MAX bytes,
 * for the name. *ret_dir is borrowed until the next use of `by`. 0 or a negative errno.
 */
int ward_shifts_open(struct ward_shifts *ns, struct ward_swap_place *by,
	const struct ward_shift_place *p, const struct ward_shift *n, char *path, int *ret_dir,
	const char **ret_name) ward_must_check;
/* The path that the place has before all changes. 0 or -ENAMETOOLONG. */
int ward_shifts_first(const struct ward_shifts *ns, const struct ward_shift_place *p, char *ret,
	size_t *ret_root) ward_must_check;
/* Directories have moved. */
void ward_shifts_forget(struct ward_shifts *ns);
/* The first of by_from whose path is beneath that of v[i], or after it. */
size_t ward_shifts_beneath(const struct ward_shifts *ns, size_t i);
bool ward_shifts_is_beneath(const struct ward_shifts *ns, size_t i, size_t k);
