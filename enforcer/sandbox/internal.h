/* SPDX-License-Identifier: Apache-2.0 */
/* Between the files of the library. Private to this folder. */
#pragma once

#include "enforcer/ipc/msg.h"
#include "enforcer/sandbox/sandbox.h"

/* The command was executed, and pid 1 lives as far as is known. */
bool ward_sandbox_is_started(const struct ward_sandbox *sb);

/*
 * exec_events.c: takes EXEC_STARTED, EXEC_FAILED or EXEC_ENDED (r->type) apart. fd came with it,
 * -1: none; it is *ret's on success. -EBADMSG.
 */
int ward_sandbox_hear_exec(
	struct ward_msg_reader *r, int fd, struct ward_sandbox_event *ret) ward_must_check;

/* spec_check.c: -EINVAL, -E2BIG, -ENOTSUP for what no sandbox can be made of. */
int ward_sandbox_spec_check(
	const struct ward_sandbox_spec *s, struct ward_err *err) ward_must_check;
/*
 * spec_check.c: the groups that the command keeps: the owner's, as root, if it runs as the owner;
 * never 0, and each once (a map names an id once). *ret is the caller's. -ENOMEM.
 */
int ward_sandbox_groups(
	const struct ward_sandbox_spec *s, gid_t **ret, size_t *ret_n) ward_must_check;
/* The set of enum ward_blueprint_flag; filtered: the mode has a filter of system calls. */
uint32_t ward_sandbox_flags(const struct ward_sandbox_spec *s, bool filtered);
