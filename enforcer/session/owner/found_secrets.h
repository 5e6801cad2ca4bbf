/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds out what the rules of `secret` have to know of the trees when a policy is loaded: which of
 * the files that git tracks hold what git has (ward_policy_set_found()). Content decides, not the
 * index: an earlier session may have written that. No program is run, and everything is bounded;
 * where a bound is met, or a repository cannot be read, nothing counts as known, and what is there
 * is refused rather than hidden.
 */
#pragma once

#include "enforcer/policy/policy.h"
#include "enforcer/session/owner/identity.h"

/* Larger ones count as changed. */
#define WARD_FOUND_FILE_MAX ((size_t)4 << 20)
/* Read of all files together. */
#define WARD_FOUND_BYTES_MAX ((size_t)64 << 20)
/* Of one repository; 64 MiB hold half a million files. */
#define WARD_FOUND_INDEX_MAX ((size_t)64 << 20)
/* Tracked under such rules, and repositories that cannot be read: beyond, nothing is known. */
#define WARD_FOUND_NAMES_MAX 32768U
#define WARD_FOUND_UNREADABLE_MAX 1024U
/* The search of a tree for repositories, and the work as a whole. */
#define WARD_FOUND_DIRS_MAX 65536U
#define WARD_FOUND_DEPTH_MAX 64U
#define WARD_FOUND_NS UINT64_C(5000000000)

/*
 * What a session that starts now would know of name in the directory dirfd, which stands at `path`
 * inside: never OWN.
 */
enum ward_fact ward_found_fact(
	const struct ward_policy *p, int dirfd, const char *name, const char *path);

/*
 * Does nothing for a policy without `secret`. p is shared with nobody yet. Acts with the rights of
 * the process: the caller has taken the owner's. project: absolute; NULL: none. -ENOMEM, and what
 * ward_policy_set_found() says.
 */
int ward_found_secrets(const struct ward_identity *id, const char *project, struct ward_policy *p,
	struct ward_err *err) ward_must_check;
