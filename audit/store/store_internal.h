/* SPDX-License-Identifier: Apache-2.0 */
/* For the files of store alone. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "enforcer/base/err.h"

struct ward_store {
	char *path;
	char *index; /* NULL: index.sqlite in it */
	int dir_fd;
	int sessions_fd; /* -1: not there (opened for reading) */
	int running_fd;	 /* the same */
};

/*
 * taken[1] becomes true if the ledger has a start of session NAME, taken[i] (2 <= i <= max) if it
 * has one of "NAME.i". -errno: the ledger could not be read.
 */
int ward_store_taken(
	struct ward_store *st, const char *name, bool *taken, size_t max) ward_must_check;

/* The names in a directory to disk. */
int ward_store_sync_dir(int fd) ward_must_check;
