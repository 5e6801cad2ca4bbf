/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System call filters: a list of conf/seccomp (data; default.list describes the format at its top)
 * compiled to classic BPF. Runs while wardfs is built, and in tests: what is in force is
 * filters.h's.
 */
#pragma once

#include "enforcer/base/buf.h"
#include "enforcer/base/err.h"

/*
 * Compiles a list. name and text are the list's; errors say "NAME:LINE: what is wrong". Appends
 * the program (struct sock_filter[]) to ret_bpf. "include NAME" takes a shipped list. -EINVAL for a
 * bad list, -ENOMEM.
 */
int ward_seccomp_compile(const char *name, const char *text, size_t len, struct ward_buf *ret_bpf,
	struct ward_err *err) ward_must_check;
