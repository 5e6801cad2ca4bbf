/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What wardfs-net takes from itself: identity and capabilities before it makes the wire, files and
 * system calls before it takes the first byte of the agent's.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "enforcer/base/err.h"

/* Started by root: becomes the owner, without a capability. Else checks that it already is. */
int ward_net_become_owner(uid_t uid, gid_t gid, const gid_t *groups, size_t n_groups, bool root,
	struct ward_err *err) ward_must_check;

/*
 * No new privileges, no dump; Landlock without a single path; seccomp: sockets of the internet,
 * memory, time. No file is opened, nothing executed, no process made.
 */
int ward_net_confine(struct ward_err *err) ward_must_check;
