/* SPDX-License-Identifier: Apache-2.0 */
/* Files with tokens, and with the keys that sign them. */
#pragma once

#include "audit/log/note.h"
#include "enforcer/base/err.h"

/* The text of a token; "-": from stdin. *ret is the caller's. -EBADMSG: it holds a NUL byte. */
int ward_token_file_read(const char *path, char **ret, struct ward_err *err) ward_must_check;

/*
 * The key that signs tokens: of the file "wardfs-key 1\nSEED\n" (base64), or with NULL the host's,
 * which signs trails. Wipe it (ward_chain_wipe()). -EPERM: others may read the file.
 */
int ward_token_key_read(
	const char *path, struct ward_signing_key *ret, struct ward_err *err) ward_must_check;
/* Makes such a file, which must not exist. */
int ward_token_key_make(
	const char *path, struct ward_signing_key *ret, struct ward_err *err) ward_must_check;
