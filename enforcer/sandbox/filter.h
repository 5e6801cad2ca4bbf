/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System call filters: the list of conf/seccomp (data; its format is told at its top) compiled by
 * libseccomp to classic BPF.
 */
#pragma once

#include "enforcer/base/buf.h"
#include "enforcer/base/err.h"

/*
 * Compiles a list. name and text are the list's; errors say "NAME:LINE: what is wrong". Appends
 * the program (struct sock_filter[]) to ret_bpf. -EINVAL for a bad list, -ENOMEM.
 */
int ward_seccomp_compile(const char *name, const char *text, size_t len, struct ward_buf *ret_bpf,
	struct ward_err *err) ward_must_check;

/* The shipped list `default`, for the command. */
int ward_seccomp_command(struct ward_buf *ret_bpf, struct ward_err *err) ward_must_check;

/* What pid 1 needs while it watches; nothing else. */
int ward_seccomp_init(struct ward_buf *ret_bpf, struct ward_err *err) ward_must_check;
