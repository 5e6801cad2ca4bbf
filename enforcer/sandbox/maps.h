/* SPDX-License-Identifier: Apache-2.0 */
/* The ids of a sandbox that root makes. Private to this folder. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "enforcer/base/err.h"

/*
 * Writes the maps of the user namespace of `pid`, a child of ours that has not been waited for:
 * each id onto itself, uid, gid, and of the groups as many as fit; none of them 0. zero: uid and
 * gid are 0 inside. Root alone can.
 */
int ward_maps_write(pid_t pid, uid_t uid, gid_t gid, bool zero, const gid_t *groups,
	size_t n_groups, struct ward_err *err) ward_must_check;
