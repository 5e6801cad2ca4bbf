/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of `wardfs audit`. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "audit/store.h"
#include "audit/verify.h"
#include "enforcer/base/err.h"

struct audit_cmd {
	bool json;
	bool all;
	bool color;
	const char *session; /* as given; NULL: the latest */
	struct ward_store *store;
};

/* Each returns the exit status, or a negative errno with err. */
int audit_cmd_list(struct audit_cmd *c, struct ward_err *err);
int audit_cmd_show(struct audit_cmd *c, struct ward_err *err);
int audit_cmd_denials(struct audit_cmd *c, struct ward_err *err);
int audit_cmd_verify(struct audit_cmd *c, struct ward_err *err);

/* The ledger, verified. */
int audit_cmd_ledger(struct audit_cmd *c, const uint8_t root[WARD_KEY_BYTES],
	struct ward_ledger_view *ret, struct ward_err *err) ward_must_check;
/* On stderr, if the trail is not intact (or still being written). */
void audit_cmd_warn(struct audit_cmd *c, const char *session, int log_fd);
