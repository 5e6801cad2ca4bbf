/* SPDX-License-Identifier: Apache-2.0 */
/* Which sessions have the labels and the login that a question names. */
#pragma once

#include <stdbool.h>

#include "audit/query/index_about.h"
#include "enforcer/cli/audit/audit_cmd.h"

/*
 * Does the session have all labels of c, and its login? True where none is named. Reads the first
 * record of its trail; a session without a trail has none.
 */
bool audit_labels_match(struct audit_cmd *c, const char *session);
/* Does c name a label, or a login? */
bool audit_labels_asked(const struct audit_cmd *c);
/* The same question for the index. Borrows from c. */
struct ward_index_wanted audit_labels_wanted(const struct audit_cmd *c);
