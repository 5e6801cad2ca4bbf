/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wardfs-image: unpacks an image that nobody trusts. Private to this folder.
 *
 *   wardfs-image PLATFORM [TAG]
 *
 * Descriptor 0 is the image: a file (an archive of `docker save`, `podman save` or `skopeo`) or a
 * directory (an OCI layout). Descriptor 3 is an empty directory, descriptor 1 takes the result:
 * one JSON object. What went wrong is a line on descriptor 2, and then the status is 1.
 *
 * Before it reads a byte, the program confines itself: user, mount, network, ipc and uts namespaces
 * of its own, descriptor 3 as its root, no capabilities, Landlock, a short list of system calls,
 * limits. So every name that it makes lies in that directory, whatever the image says.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/err.h"

#define UNPACK_IN 0
#define UNPACK_RESULT 1
#define UNPACK_SAID 2
#define UNPACK_OUT 3

/* What an image may cost; more is no image that somebody works with, but a bomb. */
#define UNPACK_BYTES_MAX ((uint64_t)20 << 30)
#define UNPACK_FILES_MAX 1000000U
#define UNPACK_LAYERS_MAX 128U
#define UNPACK_PATH_MAX 4095U
#define UNPACK_DEPTH_MAX 100U
/* Beyond the slack, each compressed byte stands for at most so many. */
#define UNPACK_RATIO_MAX 200U
#define UNPACK_RATIO_SLACK ((uint64_t)128 << 20)
/* Manifests and configurations. */
#define UNPACK_JSON_MAX ((size_t)4 << 20)
/* Members of an archive: three for each layer in the oldest format, and a few. */
#define UNPACK_MEMBERS_MAX 1024U
/* Indexes that name indexes. */
#define UNPACK_INDEX_DEPTH 4U

#define UNPACK_DIGEST_LEN 71 /* "sha256:" and 64 digits */

/* confine.c: as above. out: the path of descriptor 3. */
int unpack_confine(struct ward_err *err) ward_must_check;

/* source.c: the blobs of an image by name, from a layout or an archive. */
struct unpack_source;
int unpack_source_open(struct unpack_source **ret, struct ward_err *err) ward_must_check;
void unpack_source_free(struct unpack_source *s);
/* A descriptor at its beginning, the caller's; -ENOENT with text. */
int unpack_source_get(const struct unpack_source *s, const char *name, int *ret_fd,
	struct ward_err *err) ward_must_check;
bool unpack_source_has(const struct unpack_source *s, const char *name);
/* All of it, at most UNPACK_JSON_MAX; digest: what it has to have, or NULL. */
int unpack_source_read(const struct unpack_source *s, const char *name, const char *digest,
	struct ward_buf *ret, struct ward_err *err) ward_must_check;
/* "sha256:…" to "blobs/sha256/…". False: it is no such digest. */
bool unpack_blob_name(const char *digest, char *ret, size_t size);
void unpack_digest_text(const uint8_t digest[32], char ret[UNPACK_DIGEST_LEN + 1]);

/* manifest.c: what an image consists of. */
struct unpack_layer {
	char *name;   /* in the source, owned */
	char *digest; /* of the bytes in the source, owned */
};
struct unpack_image {
	char digest[UNPACK_DIGEST_LEN + 1];
	struct unpack_layer *layers;
	size_t n_layers;
	struct ward_buf config; /* its text */
};
int unpack_manifest(const struct unpack_source *s, const char *platform, const char *tag,
	struct unpack_image *ret, struct ward_err *err) ward_must_check;
void unpack_image_clear(struct unpack_image *m);

/* layer.c, place.c: layers onto each other. */
struct unpack_tally {
	uint64_t bytes, files;
	uint64_t stripped; /* setuid and setgid bits, file capabilities */
	uint64_t skipped;  /* devices, pipes, sockets */
};
int unpack_layer(const struct unpack_source *s, const struct unpack_layer *layer, int root,
	struct unpack_tally *tally, struct ward_err *err) ward_must_check;

/* A name in a layer: without "./" and doubled slashes. -EINVAL: absolute, "..", too long. */
int unpack_name(
	const char *name, char ret[UNPACK_PATH_MAX + 1], struct ward_err *err) ward_must_check;
/*
 * The directory in which the last name of path lies, and that name. made: what is missing is made
 * and counted, as one that an image pays for. NULL: nothing is made. No symbolic link is followed:
 * -ELOOP with text. *ret_fd is the caller's.
 */
int unpack_parent(int root, const char *path, uint64_t *made, int *ret_fd, const char **ret_name,
	struct ward_err *err) ward_must_check;
/* Removes the name and what is beneath; fine where nothing is. */
int unpack_remove(int dir, const char *name, struct ward_err *err) ward_must_check;
/* All in the directory at path, if there is one. */
int unpack_empty(int root, const char *path, struct ward_err *err) ward_must_check;
