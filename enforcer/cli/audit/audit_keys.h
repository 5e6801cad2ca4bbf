/* SPDX-License-Identifier: Apache-2.0 */
/* Public keys: those that verify is given, and those of the host. */
#pragma once

#include <stdbool.h>

#include "audit/verify/ledger_view.h"
#include "audit/verify/verify.h"
#include "enforcer/base/err.h"
#include "enforcer/cli/audit/audit_cmd.h"

/* A file of public keys or of rotations is no longer. */
#define AUDIT_KEYS_FILE_MAX 65536

/*
 * Takes --key: a public key, or a file with one a line, or with rotations as 'key chain' prints
 * them. False for anything else. Several keys may come in any order. The caller clears
 * c->rotations.
 */
bool audit_keys_take(struct audit_cmd *c, const char *arg);
/*
 * Once all are taken: the argument that only leads from one key to another, where no key was given.
 * Without one the host's own key would judge, so this is an error. NULL: there is none.
 */
const char *audit_keys_lacking(const struct audit_cmd *c);
/*
 * The keys to which these rotations, as 'key chain' prints them, lead from those that are given
 * count too. False: a line is none, or its signature does not verify.
 */
bool audit_keys_lead(struct audit_cmd *c, const char *rotations);
/*
 * Takes the keys of other hosts that were enrolled here, and those to which the rotations lead from
 * them, if one of all these has this id; else none.
 */
void audit_keys_enrolled(struct audit_cmd *c, const struct ward_ledger_view *v,
	const char *rotations, const uint8_t id[4]);
/*
 * Where the root key is the system's writer's: takes the public keys that it keeps beside the
 * trails, which nobody but it can write, in place of --key, and says so on stderr.
 */
int audit_keys_system(struct audit_cmd *c, struct ward_err *err) ward_must_check;
/* The public key that the host signs with now. */
int audit_keys_present(
	struct audit_cmd *c, char ret[WARD_VKEY_MAX], struct ward_err *err) ward_must_check;
