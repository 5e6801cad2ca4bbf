/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policies that were in force in a session, as its trail has them (docs/audit-format.md, The
 * policies of a session): the sources as they were compiled, and the meaning, whose SHA-256 is the
 * digest that the records name.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/log/log.h"
#include "enforcer/base/buf.h"
#include "enforcer/base/err.h"

struct ward_policy_text {
	char *digest;		 /* of the record that put it in force; 64 hexadecimal digits */
	char *since;		 /* the time of that record */
	char *by;		 /* who asked for the reload, "uid N"; NULL: the start */
	uint64_t seq;		 /* of that record */
	bool loaded;		 /* it came into force */
	struct ward_buf sources; /* what the file policy or policy.N holds */
	struct ward_buf meaning; /* empty: wardfs 0.1 wrote the sources alone */
};
/* In the order of the trail. All zero: empty. ward_policy_texts_clear() frees the content. */
struct ward_policy_texts {
	struct ward_policy_text *v;
	size_t n;
};
void ward_policy_texts_clear(struct ward_policy_texts *t);

/*
 * Reads the policies of a trail. first: only the one of the start, without reading on behind it.
 * ret is the caller's to clear in any case. -EINVAL: a text is not in the escaped form.
 */
int ward_policy_texts_read(struct ward_log *log, bool first, struct ward_policy_texts *ret,
	struct ward_err *err) ward_must_check;
/* Does the meaning have the digest that the records name? */
bool ward_policy_text_good(const struct ward_policy_text *t);
