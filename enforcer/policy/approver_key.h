/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Public keys of `[approvals] approver`, all of them of Ed25519:
 *
 *   wardfs/NAME+ID+KEY                    as `wardfs token key` prints one (audit/log/note.h)
 *   ssh-ed25519 BASE64 [COMMENT]          a line of a file .pub of OpenSSH
 *   sk-ssh-ed25519@openssh.com BASE64 …   the same, of a key on a FIDO token (PROTOCOL.u2f)
 *
 * The policy holds the key itself, and no name of a file. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "enforcer/base/err.h"

#define WARD_APPROVER_KEY_BYTES 32U
/* Of a token's application, such as "ssh:", and NUL. */
#define WARD_APPROVER_APPLICATION_MAX 64U
/* "SHA256:" and 43 characters, as ssh-keygen(1) prints it, or "wardfs/" and 16 digits; and NUL. */
#define WARD_APPROVER_NAME_MAX 56U
/* How many signed answers a policy can demand: all of them stand in one record. */
#define WARD_APPROVERS_MAX 4U

enum ward_approver_kind {
	WARD_APPROVER_NONE = 0,
	WARD_APPROVER_WARDFS,
	WARD_APPROVER_SSH,
	WARD_APPROVER_SSH_SK,
};

struct ward_approver_key {
	enum ward_approver_kind kind;
	uint8_t key[WARD_APPROVER_KEY_BYTES];
	char application[WARD_APPROVER_APPLICATION_MAX]; /* of a token; else "" */
	char name[WARD_APPROVER_NAME_MAX];		 /* for people and for the trail */
};

/* -EINVAL: no such key. */
int ward_approver_key_parse(
	const char *text, struct ward_approver_key *ret, struct ward_err *err) ward_must_check;
/* The same from the decoded BASE64 of an OpenSSH public key. False: the bytes are no such key. */
bool ward_approver_key_blob(const uint8_t *p, size_t n, struct ward_approver_key *ret);
/* The same key, for the same way of signing. */
bool ward_approver_key_equal(const struct ward_approver_key *a, const struct ward_approver_key *b);

/*
 * Takes a string of OpenSSH (RFC 4251, 5) off the beginning of what is left of *n bytes at *p:
 * borrowed. False: it is not whole.
 */
bool ward_approver_string(const uint8_t **p, size_t *n, const uint8_t **ret, size_t *ret_len);
