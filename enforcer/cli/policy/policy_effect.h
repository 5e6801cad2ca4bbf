/* SPDX-License-Identifier: Apache-2.0 */
/* What a change of the owner's file does: told, and in running sessions done. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "enforcer/base/buf.h"
#include "enforcer/cli/place/policy_place.h"

/* Paths that lose and gain the same rights are one group; one path of each group is shown. */
#define POLICY_EFFECT_GROUPS_MAX 4U
#define POLICY_EFFECT_RULES_MAX 32U
struct policy_effect_group {
	uint32_t lost, gained;
	char *path;  /* owned: the first path of the group, a class of paths where a name is open */
	bool exists; /* there is something at that path */
	bool beneath_file;		   /* there can be nothing */
	bool in_dir;			   /* it names files of one directory, which exists */
	char *here;			   /* owned: a path that exists and changes so, or NULL */
	size_t n_here;			   /* such paths, as far as wardfs looked */
	const struct ward_rule *here_rule; /* which decided there before, borrowed */
	const struct ward_rule *rules[POLICY_EFFECT_RULES_MAX]; /* which decided before, borrowed */
	size_t n_rules;
};
struct policy_effect {
	struct policy_effect_group groups[POLICY_EFFECT_GROUPS_MAX];
	size_t n_groups;
	bool more_groups;	       /* than there is room for */
	struct ward_buf settings_text; /* as it may be shown, a line each */
	size_t paths;		       /* classes of paths that lose or gain a right */
	size_t settings;
	bool cut; /* there are too many rules to compare all */
};
#define POLICY_EFFECT_INIT ((struct policy_effect){.settings_text = WARD_BUF_INIT})
void policy_effect_clear(struct policy_effect *e);

/*
 * Compares two policies, `before` in force; a line on a terminal where it takes long. *ret borrows
 * rules of `before` until policy_effect_clear().
 */
int policy_effect_find(const struct ward_policy_place *before, const struct ward_policy *after,
	struct policy_effect *ret, struct ward_err *err) ward_must_check;
/* pattern: what the user wrote, or NULL: its own path is no example. */
void policy_effect_print(const struct policy_effect *e, const char *pattern);

/*
 * Where the change does nothing but open names of secrets that no file has yet, such as *.jks in a
 * directory: one of these names, borrowed. NULL: it does more, or not all is known. pattern: as
 * above.
 */
const char *policy_effect_opens_names(const struct policy_effect *e, const char *pattern);

/* A file that exists beneath path, was a secret, and can be read afterwards; NULL: none is known.
 */
const char *policy_effect_opens(const struct policy_effect *e, const char *path);

/* Appends "stat,list,read" of a sandbox path, as what is there now has them; returns the set. */
uint32_t policy_effect_rights(
	const struct ward_policy_place *place, const char *path, struct ward_buf *b);
