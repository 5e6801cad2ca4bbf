/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files beneath a directory that a session may write to as well. Each name is opened beneath the
 * directory's descriptor and follows no link and no mount, so whatever a session puts there in the
 * meantime leads nobody out of it.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "enforcer/base/err.h"

/* open(2) of a path beneath `at`, close-on-exec, never waiting. A descriptor, or -1 with errno. */
int ward_tree_open(int at, const char *path, int flags, mode_t mode) ward_must_check;

/* Makes a new file (-1 with EEXIST) with this text, or a new directory. 0, or -1 with errno. */
int ward_tree_put(int at, const char *path, const char *text, mode_t mode) ward_must_check;
int ward_tree_dir(int at, const char *path, mode_t mode) ward_must_check;

/* Makes a symbolic link that leads to `to`. 0, or -1 with errno. */
int ward_tree_link(int at, const char *path, const char *to) ward_must_check;

/* Copies a program to a new file beneath `at`, with mode 0755. 0, or -1 with errno. */
int ward_tree_copy(const char *from, int at, const char *path) ward_must_check;

/* A new directory "wardfs-attack.XXXXXX" in `at`, open; its name in ret. -1 with errno. */
#define WARD_TREE_NAME 24
int ward_tree_new(int at, char ret[WARD_TREE_NAME]) ward_must_check;

/* Removes the path and all beneath it, as far as the caller may. */
void ward_tree_remove(int at, const char *path);

/*
 * Mixes into h what the path is, its content and what is beneath it, in the order of names: another
 * number if something changed.
 */
uint64_t ward_tree_mix(uint64_t h, int at, const char *path);

/* FNV-1a */
#define WARD_MIX_BEGIN 0xcbf29ce484222325ULL
uint64_t ward_mix(uint64_t h, const void *data, size_t len);
