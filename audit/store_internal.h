/* SPDX-License-Identifier: Apache-2.0 */
/* For the files of store alone. */
#pragma once

#include "audit/store.h"

struct ward_store {
	char *path;
	char *index; /* NULL: index.sqlite in it */
	int dir_fd;
	int sessions_fd; /* -1: not there (opened for reading) */
	int running_fd;	 /* the same */
};
