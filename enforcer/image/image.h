/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Images: directories whose files a session sees in place of the host's. One is either a directory
 * of the host, or what `wardfs image pull` unpacked into the store below the state directory.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "enforcer/base/err.h"

struct ward_image {
	int fd;	      /* its root, O_PATH, owned; -1: no image */
	char *root;   /* the path of that, without links, owned */
	char *name;   /* as it was asked for, owned */
	char *digest; /* "sha256:…" of its manifest, owned; NULL: a directory of the host */
	char **env;   /* NAME=VALUE, ends with NULL, owned; NULL: none */
	char **argv;  /* what it starts by itself, the same */
	char *cwd;    /* where, an absolute path inside, owned; NULL: it does not say */
	char *user;   /* as whom it would run, owned; NULL: it does not say */
	int lock;     /* while it is open nobody removes the image, owned; -1: none */
	uint64_t bytes, files;
	uint64_t stripped; /* files that had setuid or setgid bits, or capabilities */
	uint64_t skipped;  /* devices, pipes and sockets */
};

#define WARD_IMAGE_INIT ((struct ward_image){.fd = -1, .lock = -1})
void ward_image_clear(struct ward_image *x);

/*
 * Does fd, a directory, look like the root of a system? -EINVAL with text if not: without /usr and
 * /bin nothing could start in it, and a directory of something else was meant.
 */
int ward_image_check_root(int fd, const char *path, struct ward_err *err) ward_must_check;

/*
 * Can a user other than root and owner change what the directory fd has at its top, or lead path
 * elsewhere? Looks at the directories on the way, at fd, and at what fd has in it; not deeper.
 * -EPERM names the place.
 */
int ward_image_check_owners(
	int fd, const char *path, uid_t owner, struct ward_err *err) ward_must_check;

/* --- the store: STATE/images --- */

/*
 * Finds an unpacked image by the name or path that it was pulled by, or by its digest. A path is
 * absolute; if what is there is not what was unpacked, -ESTALE. -ENOENT: nothing of that name was
 * pulled. Both have a text that says what to type.
 */
int ward_image_find(const char *state, const char *name, struct ward_image *ret,
	struct ward_err *err) ward_must_check;

/*
 * Calls fn for each image by each of its names, and for those without a name (name NULL). Ends if
 * it returns something else than 0. What cannot be read is left out.
 */
typedef int (*ward_image_fn)(void *user, const struct ward_image *x);
int ward_image_each(
	const char *state, ward_image_fn fn, void *user, struct ward_err *err) ward_must_check;

struct ward_image_pull {
	const char *state;
	const char *program; /* path of wardfs-image */
	const char *name;    /* what it will be found by: a reference, or an absolute path */
	const char *tag;     /* of several images in a layout, or NULL */
	int input;	     /* an archive that was opened for reading, or a layout's directory */
	bool keep; /* an image that has this name by now keeps it, and is what was asked for */
};

/* Makes the store where there is none. */
int ward_image_store_make(const char *state, struct ward_err *err) ward_must_check;

/* Unpacks it, unless it is in the store already. Fills *ret, the caller's, as ward_image_find(). */
int ward_image_pull(const struct ward_image_pull *p, struct ward_image *ret,
	struct ward_err *err) ward_must_check;

struct ward_image_fetch {
	const char *state;
	const char *program;	       /* path of wardfs-image */
	const char *name;	       /* a reference */
	bool registry;		       /* skopeo may ask a registry for what the engines lack */
	uint64_t time_ns;	       /* for all engines together */
	void (*say)(const char *text); /* what is waited for; NULL: nobody is told */
};

/*
 * For a run: has an engine of the host save the image, and adds it, unless the store has one of
 * that name; none is ever replaced. Fetches wait for each other. *ret_engine: the word of the
 * engine, static; NULL: the image was there. Fills *ret, the caller's, as ward_image_find().
 */
int ward_image_fetch(const struct ward_image_fetch *f, struct ward_image *ret,
	const char **ret_engine, struct ward_err *err) ward_must_check;

/*
 * Takes the name away, and with the last one the image; of a digest all names. -EBUSY: a session
 * uses it, and nothing was removed.
 */
int ward_image_remove(const char *state, const char *name, struct ward_err *err) ward_must_check;
/* Removes images without a name, and what a pull that was killed left. *ret: how many. */
int ward_image_prune(const char *state, size_t *ret, struct ward_err *err) ward_must_check;
