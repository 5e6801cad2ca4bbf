/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A look that may never end. stat(2) and open(2) wait for the server of a path, which may have gone
 * away or, in user space, may have stopped. Only that server can end the wait. Where it took the
 * request and never answers, not even SIGKILL ends it, and a process with a thread in such a call
 * is never reaped. So a process of its own waits, with the rights of the caller's, and the caller
 * goes on, and can end.
 */
#pragma once

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "enforcer/base/err.h"

/* A path that is not the project's own has as long as this to answer. */
#define WARD_PATIENT_NS UINT64_C(2000000000)

/* What a look found; a look sets what it likes. */
struct ward_patient_found {
	int fd; /* -1: none */
	struct stat st;
	char text[PATH_MAX]; /* "": none */
};

/*
 * Runs in the other process, in which `at` is the one open descriptor. What it changes in memory is
 * not seen by the caller. 0 or a negative errno.
 */
typedef int (*ward_patient_fn)(int at, const char *path, struct ward_patient_found *ret);

/*
 * What look() returns and finds, *ret_found->fd being the caller's; at: a descriptor or AT_FDCWD.
 * -ETIMEDOUT: no answer in time_ns. The other process has then nothing open but `at`, and ends as
 * soon as the kernel lets it. Another negative errno: no process could be made.
 */
int ward_patient(ward_patient_fn look, int at, const char *path, uint64_t time_ns,
	struct ward_patient_found *ret_found) ward_must_check;

/*
 * openat(2) of a directory with O_PATH, following symbolic links but those of /proc, and fstat(2)
 * of it. The descriptor, the caller's; a negative errno; -ETIMEDOUT: no answer in that time.
 */
int ward_patient_open_dir(
	int at, const char *path, uint64_t time_ns, struct stat *ret_st) ward_must_check;

/*
 * Does the server of path answer? Symbolic links are followed. A relative path begins at the
 * current directory. 0: yes, whatever is there or not; -ETIMEDOUT: err names the path, and the
 * mount on it. Where no mount but the root's lies on the way no process is made. What asks
 * afterwards about the same path waits for a server that is alive, or that went away just now.
 */
int ward_patient_reach(const char *path, struct ward_err *err) ward_must_check;
/* The same of n paths. */
int ward_patient_reach_all(char *const *paths, size_t n, struct ward_err *err) ward_must_check;
