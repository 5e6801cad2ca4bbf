/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where prepared sessions are listed: RUNTIME/.warm, with one empty file for each session that
 * waits, named GROUP.WHOLE.SESSION (the first WARD_WARM_NAMED digits of the two parts of its key).
 * A list alone: whether a session waits, and with which key, only its supervisor says.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "enforcer/base/err.h"
#include "enforcer/session/warm/key.h"

#define WARD_WARM_NAMED 32

struct ward_warm_entry {
	bool group, whole; /* has these parts of the key that was asked about */
	const char *session;
};
/* Of each that is listed, in no order. Ends when it returns something else than 0. */
typedef int ward_warm_visit(void *user, const struct ward_warm_entry *e);
/* Returns what visit returned last, 0 where nothing is listed. key NULL: about none. */
int ward_warm_each(
	const char *runtime, const struct ward_warm_key *key, ward_warm_visit *visit, void *user);

/* Lists a session. A negative errno. */
int ward_warm_list(const char *runtime, const struct ward_warm_key *key, const char *session,
	struct ward_err *err) ward_must_check;
/* Lists it no more. */
void ward_warm_forget(const char *runtime, const char *session);

/*
 * Held by who prepares a session, one at a time, so that they can count: until *ret is closed.
 * -EAGAIN: another one took longer than ms.
 */
int ward_warm_lock(const char *runtime, int ms, int *ret, struct ward_err *err) ward_must_check;
