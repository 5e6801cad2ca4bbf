/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What wardfs-fs takes from itself before it serves: identity and capabilities, the paths it could
 * open (Landlock), the system calls it could make (seccomp). Called once, before the first thread.
 */
#pragma once

#include <linux/capability.h>
#include <stddef.h>
#include <stdint.h>

#include "enforcer/base/err.h"

struct ward_fs;

/*
 * WARD_FS_ROOT: becomes the owner (ids and groups) and keeps CAP_SYS_ADMIN, permitted and not
 * effective, where passthrough is asked for; a root owner loses its capabilities nevertheless. With
 * WARD_FS_ALLOW_OTHER: stays root with what acting as callers takes. Else checks that it already is
 * the owner. No dumps, no ptrace.
 */
int ward_confine_identity(const struct ward_fs *fs, struct ward_err *err) ward_must_check;

/*
 * Landlock: the backing directories, and /proc for reading. A kernel without Landlock leaves this
 * layer out: it is the second one, behind openat2's RESOLVE_BENEATH and the owner's identity.
 */
int ward_confine_paths(const struct ward_fs *fs, struct ward_err *err) ward_must_check;

/*
 * seccomp: what serving takes and nothing else; the rest is EPERM. No exec, no sockets, no ptrace,
 * no mounts, no new processes. Not in sanitizer builds, whose runtime needs more.
 */
int ward_confine_calls(struct ward_err *err) ward_must_check;

/*
 * Those of its calls that read or change the backing, by number: what can fail there. A test makes
 * each of them fail.
 */
const int *ward_confine_backing_calls(size_t *ret_n);

/*
 * CAP_SYS_ADMIN alone into effect on the calling thread, and what was in effect back again. Alone:
 * what the kernel does later in the name of this moment (passthrough writes) must not have
 * CAP_FSETID, else a write by anybody would leave setuid bits. -EPERM: it is not permitted.
 */
int ward_confine_raise(
	const struct ward_fs *fs, struct __user_cap_data_struct ret_before[2]) ward_must_check;
int ward_confine_restore(const struct __user_cap_data_struct before[2]) ward_must_check;
