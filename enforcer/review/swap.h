/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps that change a file of the project: each is one rename(2), is whole or not at all, and
 * looks at what it displaced. What is displaced comes to lie in the directory of kept files.
 */
#pragma once

#include "enforcer/review/host_file.h"

struct ward_swapping {
	int dir;	  /* O_PATH; where the name lies; the caller's */
	const char *name; /* borrowed */
	int keep;	  /* the directory of kept files, borrowed */
	char kept[16];	  /* the name there */
	bool elsewhere;	  /* keep is of another mount: files get there as copies */
	char beside[80];  /* what is written in dir first; a file of that name is ours */
};

/*
 * The name at path beneath root_fd, and number among the kept files of keep. 0, or a negative errno
 * of the directory that it lies in. ward_swap_end() in any case.
 */
int ward_swap_begin(int root_fd, const char *path, int keep, uint32_t number,
	struct ward_swapping *ret) ward_must_check;
void ward_swap_end(struct ward_swapping *s);

/*
 * Makes the file ready that is to come to the name, a copy of `from` in from_dir: as the kept file,
 * or beside. *ret: what it is. was: what it stands in for, or NULL; it is kept as a copy now, where
 * it cannot be later. -EEXIST: the file beside is somebody's.
 */
int ward_swap_write(struct ward_swapping *s, int from_dir, const char *from, mode_t type,
	const struct ward_review_base *was, struct ward_review_base *ret) ward_must_check;
/* Where it lies until then. */
int ward_swap_ready(const struct ward_swapping *s, const char **ret_name);
/* Keeps a copy of a file that ward_swap_take() is to remove, where it cannot be kept itself. */
int ward_swap_copy(const struct ward_swapping *s, mode_t type,
	const struct ward_review_base *was) ward_must_check;

/* It comes to the name, where nothing is. -EEXIST: something is. */
int ward_swap_add(struct ward_swapping *s) ward_must_check;
/*
 * It comes to the name, in the place of `was`. -ESTALE: another file stood there, and stands there
 * again. -EBUSY: it does not; it is the kept file, or beside.
 */
int ward_swap_exchange(struct ward_swapping *s, const struct ward_review_base *was) ward_must_check;
/* What stands at the name goes, which is `was`. The same errors. */
int ward_swap_take(struct ward_swapping *s, const struct ward_review_base *was) ward_must_check;
/*
 * After an exchange (was: what it displaced) or an add (NULL): as it was before. came: what stands
 * at the name. The errors of both.
 */
int ward_swap_back(struct ward_swapping *s, mode_t type, const struct ward_review_base *was,
	const struct ward_review_base *came) ward_must_check;
/* Removes what was made ready and is not needed. */
void ward_swap_drop(struct ward_swapping *s);
