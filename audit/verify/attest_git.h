/* SPDX-License-Identifier: Apache-2.0 */
/* Part of an attestation: the commits that a session made, and their trees. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "enforcer/base/err.h"

/* Objects of repositories that are remembered; commits that a statement lists; moved branches. */
#define WARD_ATTEST_OBJECTS_MAX 200000U
#define WARD_ATTEST_COMMITS_LISTED 512U
#define WARD_ATTEST_BRANCHES_LISTED 64U
/* Places of other repositories that a statement names. */
#define WARD_ATTEST_PLACES_LISTED 64U

/* Zero; ward_attest_git_clear(). */
struct ward_attest_git {
	json_t *objects;  /* paths of loose objects that the session wrote: {path: true} */
	json_t *commits;  /* [{"tree": PATH of the tree, "commit", "id of its tree"}] */
	json_t *branches; /* [{"path", "name", "before", "after"}] */
	json_t *why;	  /* what was not looked at: texts */
	json_t *tops;	  /* git directories at the top of a tree or mount: {path: true} */
	json_t *places;	  /* other ones that the session wrote objects into: {path: true} */
	json_int_t branches_more, elsewhere;
	bool objects_more;
};
void ward_attest_git_clear(struct ward_attest_git *g);
/* A record, in the order of the trail. -ENOMEM. */
int ward_attest_git_take(struct ward_attest_git *g, const json_t *record) ward_must_check;
/*
 * Appends to subjects, for each commit whose object the session wrote, it and its tree:
 * {"name": "git:PATH#COMMIT", "digest": {"gitCommit": COMMIT}} and
 * {"name": "git:PATH#COMMIT^{tree}", "digest": {"gitTree": TREE}}. *ret: {"commits", "elsewhere",
 * "branches", "branches_more", "not_looked_at"}, the caller's.
 */
int ward_attest_git_list(
	const struct ward_attest_git *g, json_t *subjects, json_t **ret) ward_must_check;
