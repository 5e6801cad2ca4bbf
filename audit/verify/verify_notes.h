/* SPDX-License-Identifier: Apache-2.0 */
/* Part of verify.c and verify_public.c: the checkpoints. */
#pragma once

#include <stddef.h>

#include "audit/log/note.h"
#include "audit/verify/result.h"
#include "audit/write/checkpoint.h"

/*
 * The checkpoints by themselves: form, order, signatures. INTACT, or what is wrong with them, with
 * first_bad 0. session NULL: that of the first.
 */
void ward_verify_notes(const struct ward_checkpoint_list *notes, const char *session,
	const struct ward_public_key *keys, size_t n_keys, struct ward_verify_result *ret);
