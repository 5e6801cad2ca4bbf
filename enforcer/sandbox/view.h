/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The minimal view: which entries of a blueprint make the file system that a command sees. Private
 * to this folder. Only looks at the host (readlink, read of nothing secret); changes nothing.
 */
#pragma once

#include "enforcer/base/err.h"
#include "enforcer/sandbox/blueprint.h"
#include "enforcer/sandbox/sandbox.h"

/* The mounts of the host, to find a file under all its names. */
struct ward_view_mount;
struct ward_view_mounts {
	struct ward_view_mount *v;
	size_t n, cap;
};

/* A growing list of entries; all strings are its own. */
struct ward_view_list {
	struct ward_blueprint_entry *v;
	size_t n, cap;
	int error;	 /* sticky, -ENOMEM or -E2BIG */
	char **programs; /* those of the spec that the view shows, its own */
	size_t n_programs;
};

/*
 * Fills view with what spec and the layers of its mode ask for, ordered so that each entry comes
 * after what it lies on. -EINVAL with text for paths that are not absolute and normalised, for two
 * mounts on one path, for anything below a tree, and for trees over /proc, /sys, /dev and the like.
 */
int ward_view_build(const struct ward_sandbox_spec *spec, uint32_t layers,
	struct ward_view_list *view, struct ward_err *err) ward_must_check;
/*
 * view_host.c: the root of the host, as it is: what stands in / as entries of kind HOST, links as
 * links. With WARD_LAYER_PID /proc is left to pid 1.
 */
int ward_view_host(
	uint32_t layers, struct ward_view_list *view, struct ward_err *err) ward_must_check;
/*
 * view_readonly.c: the whole host, read-only, but for homes and credentials that are entries of /
 * and /etc. Entries that are there already keep their place: what we make ourselves comes first.
 */
int ward_view_whole(struct ward_view_list *view, struct ward_err *err) ward_must_check;
/*
 * view_image.c: the files of an image, around what the view has so far. -E2BIG: too many names in
 * its root.
 */
int ward_view_image(const struct ward_sandbox_image *image, struct ward_view_list *view,
	struct ward_err *err) ward_must_check;
/* As ward_view_whole() for one directory: all its entries but those n. */
int ward_view_all(struct ward_view_list *view, const char *dir, const char *const *but, size_t n,
	struct ward_err *err) ward_must_check;

/* view_names.c: reads /proc/self/mountinfo. */
int ward_view_mounts_read(struct ward_view_mounts *ret) ward_must_check;
void ward_view_mounts_clear(struct ward_view_mounts *m);
/* This errno of open(2) says that nobody inside reaches it either; any other is a failure. */
bool ward_view_unreachable(int code);
/* Could a lookup of path (from dir, if it is relative) wait for a server that never answers? */
bool ward_view_may_wait(const struct ward_view_mounts *m, int dir, const char *path);
/* Any result but 0 ends the list of names. type: S_IFMT of the entry. */
typedef int (*ward_view_name_fn)(void *user, const char *path, mode_t type);
/*
 * Calls fn with each absolute path, without symbolic links, by which these mounts show what fd is.
 * parts: and with the mount points that show something beneath it. What fn returned or an errno.
 */
int ward_view_names(const struct ward_view_mounts *m, int fd, bool parts, ward_view_name_fn fn,
	void *user) ward_must_check;

/* view_hide.c: covers homes, credentials and spec->covers wherever the view so far shows them. */
int ward_view_hide(const struct ward_sandbox_spec *spec, const struct ward_view_mounts *m,
	struct ward_view_list *view, struct ward_err *err) ward_must_check;
/* Covers the path inside, unless another entry than this one shows what is there. */
int ward_view_cover(
	struct ward_view_list *view, size_t entry, const char *inside, mode_t type) ward_must_check;
/* view_sockets.c: covers sockets of the host in what the finished view shows. */
int ward_view_hide_sockets(const struct ward_view_mounts *m, struct ward_view_list *view,
	struct ward_err *err) ward_must_check;
/*
 * view_programs.c: what of the finished list is mounted noexec, where that has holes for programs
 * and libraries, and which programs show. -EINVAL, with text, for what cannot be held.
 */
int ward_view_programs(const struct ward_sandbox_spec *spec, struct ward_view_list *view,
	struct ward_err *err) ward_must_check;
/*
 * view_guarded.c: covers what trees serve wherever the host shows it as it is (spec.guarded), but
 * for the n_own paths of ward_sandbox_own_paths().
 */
int ward_view_guarded(const struct ward_sandbox_spec *spec, const char *const *own, size_t n_own,
	struct ward_view_list *view, struct ward_err *err) ward_must_check;
/* view_engine.c: appends the root of spec->engine. */
void ward_view_engine(const struct ward_sandbox_spec *spec, struct ward_view_list *view);
/* view_list.c: the entry at this path, or NULL. */
struct ward_blueprint_entry *ward_view_find(const struct ward_view_list *view, const char *path);
/* Appends an entry; text may be NULL. Errors are sticky in view. */
void ward_view_add(struct ward_view_list *view, enum ward_blueprint_kind kind, const char *path,
	const char *text, uint32_t mode, uint32_t flags);
void ward_view_clear(struct ward_view_list *view);
