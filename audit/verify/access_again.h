/* SPDX-License-Identifier: Apache-2.0 */
/* Decides accesses of a trail again: by its policies and its grants. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/log/log.h"
#include "enforcer/base/err.h"
#include "enforcer/policy/policy.h"
#include "enforcer/policy/settings.h"

struct ward_access_again;

/* Reads the policies of the trail. A trail without any that can be read has none. */
int ward_access_again_new(
	struct ward_log *log, struct ward_access_again **ret, struct ward_err *err) ward_must_check;
void ward_access_again_free(struct ward_access_again *a);

/*
 * The policies that can have been in force at the record seq: the one there, and those before and
 * behind. They are a's. The number of them; 0: there is none, or one cannot be read, or is of 0.1.
 */
size_t ward_access_again_policies(
	struct ward_access_again *a, uint64_t seq, struct ward_policy *ret[3]);
/* The settings of these policies, also of those of 0.1; as many. */
size_t ward_access_again_settings(
	struct ward_access_again *a, uint64_t seq, const struct ward_settings *ret[3]);

/* The record `session.start`, which says in which trees changes are staged. -ENOMEM. */
int ward_access_again_start(struct ward_access_again *a, const json_t *rec) ward_must_check;
/* A record `grant` that gives one. -ENOMEM. */
int ward_access_again_grant(struct ward_access_again *a, const json_t *rec) ward_must_check;
/*
 * A record `use`: *ret_why says why the grant does not cover what it is said to have allowed; NULL:
 * it does, or that is unknown. -ENOMEM.
 */
int ward_access_again_use(
	struct ward_access_again *a, const json_t *rec, const char **ret_why) ward_must_check;
/* A record `rename` or `link`; the same. */
int ward_access_again_moved(
	struct ward_access_again *a, const json_t *rec, const char **ret_why) ward_must_check;
/*
 * A line of kind `open`, `create` or `remove`, the record seq: *ret_why as above; a line of what a
 * grant allowed is not looked at. -ENOMEM.
 */
int ward_access_again_done(struct ward_access_again *a, const char *line, size_t len, uint64_t seq,
	const char **ret_why) ward_must_check;
