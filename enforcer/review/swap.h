/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps that change a file of the project: each is one rename(2), is whole or not at all, and
 * looks at what it displaced. What is displaced comes to lie in the directory of kept files.
 */
#pragma once

#include <limits.h>

#include "enforcer/review/content.h"
#include "enforcer/review/host_file.h"

/* A directory, and where it is mounted. */
struct ward_swap_at {
	dev_t dev;
	uint64_t ino, mnt;
};

/*
 * The directory of kept files, and the directory of the last name: most changes lie beside one
 * another. It is found anew after WARD_SWAP_DIR_NS, since the host may rename directories.
 */
struct ward_swap_place {
	int keep; /* borrowed; -1: nothing is kept */
	struct ward_swap_at kept;
	bool known; /* kept is */
	int dir;    /* O_PATH; -1: none is open */
	int root_fd;
	size_t len; /* of path */
	char path[PATH_MAX];
	struct ward_swap_at at;
	uint64_t until_ns;
	uint64_t found; /* how often a directory was found */
};

#define WARD_SWAP_DIR_NS (20ULL * 1000 * 1000)

void ward_swap_place_init(struct ward_swap_place *p, int keep);
/* To be called where a directory was renamed, made or removed, and at the end. */
void ward_swap_place_forget(struct ward_swap_place *p);

struct ward_swapping {
	int dir;	  /* O_PATH; where the name lies; of the place, until its next name */
	const char *name; /* borrowed */
	int keep;	  /* the directory of kept files, borrowed */
	char kept[16];	  /* the name there */
	bool elsewhere;	  /* keep is of another mount: files get there as copies */
	char beside[80];  /* what is written in dir first; a file of that name is ours */
};

/* Is the directory of another mount than that of kept files? -errno. */
int ward_swap_is_elsewhere(struct ward_swap_place *p, int dir) ward_must_check;
/*
 * A name gets another one, where nothing is. -EEXIST: something is. Where the file system has no
 * call for that, a file has both names for a moment.
 */
int ward_swap_rename(int dir, const char *from, int dir2, const char *to) ward_must_check;
/* Two names change places. -EINVAL: the file system has no call that does. */
int ward_swap_names(int dir, const char *a, int dir2, const char *b) ward_must_check;

/*
 * The name at path beneath root_fd, and number among the kept files of the place. 0, or a negative
 * errno of the directory that it lies in. The place outlives *ret.
 */
int ward_swap_begin(struct ward_swap_place *p, int root_fd, const char *path, uint32_t number,
	struct ward_swapping *ret) ward_must_check;

/*
 * Makes the file ready that is to come to the name, a copy of `from` in from_dir: as the kept file,
 * or beside. *ret: what it is; digests: of what is in it. was: what it
 * stands in for, or NULL; it is kept as a copy now, where it cannot be later. -EEXIST: the file
 * beside is somebody's.
 */
int ward_swap_write(struct ward_swapping *s, int from_dir, const char *from, mode_t type,
	const struct ward_review_base *was, struct ward_review_base *ret,
	struct ward_content_digests *digests) ward_must_check;
/* Where it lies until then. */
int ward_swap_ready(const struct ward_swapping *s, const char **ret_name);
/* Keeps a copy of a file that ward_swap_take() is to remove, where it cannot be kept itself. */
int ward_swap_copy(const struct ward_swapping *s, mode_t type,
	const struct ward_review_base *was) ward_must_check;

/* It comes to the name, where nothing is. -EEXIST: something is. */
int ward_swap_add(struct ward_swapping *s) ward_must_check;
/*
 * It comes to the name, in the place of `was`. -ESTALE: another file stood there, and stands there
 * again. -EBUSY: it does not; it is the kept file, or beside. -EINVAL: the two cannot be exchanged,
 * because the file system has no call for that, or something is mounted on the name.
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
/* As ward_swap_take(), of a name that nothing is kept of: the file has another one. */
int ward_swap_unlink(struct ward_swapping *s, const struct ward_review_base *was) ward_must_check;
/* Removes what was made ready and is not needed. */
void ward_swap_drop(struct ward_swapping *s);
