/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signed answers to a question, as they come in: one by one, or all at once. `[approvals]
 * approvers` says how many keys have to sign before they give something.
 */
#pragma once

#include <jansson.h>
#include <stdint.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/err.h"
#include "enforcer/policy/settings.h"
#include "enforcer/session/ask/asks.h"

/*
 * Adds signed answers (texts: an array of strings) to those that q has. All are looked at by the
 * policy of now, also those that came before: what does not count any more goes. One that does not
 * count refuses all that came with it: -EBADMSG, -EKEYREJECTED, -EPERM, -EINVAL, -ENOSPC. 0: more
 * are needed. 1: these are enough, *ret_says has what they say (one reference), and *ret_keys the
 * names of their keys.
 */
int ward_signed_add(struct ward_asks *a, struct ward_asked *q, const struct ward_settings *s,
	const json_t *texts, json_t **ret_says, struct ward_buf *ret_keys,
	struct ward_err *err) ward_must_check;
