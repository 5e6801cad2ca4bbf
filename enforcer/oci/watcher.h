/* SPDX-License-Identifier: Apache-2.0 */
/* Who watches container and keeper (keeper.h). */
#pragma once

#include <stdbool.h>

#include "enforcer/oci/arguments.h"

/* What it tells the keeper, a byte each. */
enum ward_oci_word {
	WARD_OCI_WORD_MADE = 'm', /* with the pidfd of the container's first process */
	WARD_OCI_WORD_ENDED = 'e',
	WARD_OCI_WORD_NONE = 'n', /* no container came of it */
};

/*
 * Kills the container's first process, and with that all of them. Before, the front may still be
 * at making it: it has WARD_OCI_RUNTIME_MS to end by itself. container: pidfd, -1: not known.
 */
void ward_oci_kill(const char *runtime, const struct ward_oci_args *a, int front, int container);

/*
 * The watcher's life; it holds front and keeper (a socket) and nothing else. group: groups.h.
 * early: the keeper has to know the container while it runs, also of `run`, whose front ends after
 * it.
 */
void ward_oci_watch(const char *runtime, const struct ward_oci_args *a, const char *group,
	bool early, int front, int keeper) __attribute__((noreturn));
