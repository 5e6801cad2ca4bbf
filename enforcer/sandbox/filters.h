/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The system call filters that wardfs has: compiled from conf/seccomp when it was built
 * (filter_table.c), so that a start compiles, reads and trusts nothing.
 */
#pragma once

#include <stddef.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/err.h"

/* In the order of the words of [process] seccomp. */
enum ward_seccomp { WARD_SECCOMP_NO_EXEC = 0, WARD_SECCOMP_STRICT, WARD_SECCOMP_DEFAULT };

/* "default", …; "no-exec", the closest, out of range. */
const char *ward_seccomp_name(enum ward_seccomp s);

/* A compiled program (struct sock_filter[]), borrowed. */
struct ward_seccomp_filter {
	const void *bpf;
	size_t len; /* bytes */
};

/* For the command. Total. */
struct ward_seccomp_filter ward_seccomp_command(enum ward_seccomp s);
/* What pid 1 needs while it watches; nothing else. */
struct ward_seccomp_filter ward_seccomp_init(void);
/* The same of the replayer. */
struct ward_seccomp_filter ward_seccomp_replay(void);
/*
 * Asks about each execve(2) and execveat(2), lets all else be. It stands beside that of the
 * command, which has refused other architectures (and x32) already.
 */
struct ward_seccomp_filter ward_seccomp_execs(void);

/*
 * What a list says of a system call. Appends a line each: answer, conditions, reason and place,
 * separated by tabs ("EPERM\tif argument 2 is 0x5412\tTIOCSTI: …\tdefault.list:310\n"); the first
 * that holds decides. Returns 1; 0 if the list does not name it: then it answers ENOSYS. A negative
 * errno.
 */
int ward_seccomp_explain(
	enum ward_seccomp s, const char *name, struct ward_buf *ret_lines) ward_must_check;
