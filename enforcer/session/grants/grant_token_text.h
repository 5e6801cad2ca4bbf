/* SPDX-License-Identifier: Apache-2.0 */
/* For the files of grant_token alone. */
#pragma once

#include "enforcer/session/grants/grant_token.h"

/* Adds block i to what t gives. -EBADMSG, -EPERM. */
int ward_token_add(struct ward_grant_token *t, const struct ward_token_block *b, size_t i,
	struct ward_err *err) ward_must_check;
