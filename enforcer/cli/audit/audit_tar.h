/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bundle (cmd_audit_bundle.c) read where it lies: what is in it goes into files without a name.
 *
 * The archive is foreign. It has members of one directory, each once, with names that a bundle can
 * have and sizes that fit into the file; anything else is no bundle. Behind its end there are
 * zeros, and not many.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "audit/log/log.h"
#include "enforcer/base/err.h"

struct audit_tar {
	struct ward_log_file *v; /* segments, rising; owned */
	size_t n;
	int checkpoints, attestation, approvals, chain; /* owned, read from 0 on; -1: not in it */
	struct audit_tar_text {
		char name[32];
		int fd;
	} * texts; /* policies, owned: policy, policy.N, policy.txt */
	size_t n_texts;
	char dir[156]; /* what all members are in */
	bool readme, keys;
};
#define AUDIT_TAR_INIT                                                                             \
	((struct audit_tar){.checkpoints = -1, .attestation = -1, .approvals = -1, .chain = -1})

/*
 * fd: the archive, borrowed; path for messages. 1: it was read. 0: it is no tar archive. -EBADMSG:
 * it is one, and no bundle. Clear *ret with audit_tar_clear() also on failure.
 */
int audit_tar_read(
	int fd, const char *path, struct audit_tar *ret, struct ward_err *err) ward_must_check;
void audit_tar_clear(struct audit_tar *t);
