/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a take carries beside the descriptors 0, 1, 2: a sealed memory file, encoded as
 * enforcer/ipc/msg.h says, type WARD_WARM_TAKEN:
 *
 *   list argv, list environment (NAME=VALUE), list names that --env gave, list labels (KEY=VALUE),
 *   str directory inside
 *
 * where a list is a u32 count and so many strings. The client of the same user wrote it: it is
 * decoded whole, or refused.
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include "enforcer/base/err.h"

#define WARD_WARM_TAKEN 0x4d524157U /* "WARM" */
/* As much as a blueprint may have (sandbox/blueprint.h). */
#define WARD_WARM_TAKEN_MAX ((size_t)4 << 20)
#define WARD_WARM_STRINGS_MAX 65536U

struct ward_warm_strings {
	char **v; /* NULL-terminated; owned in what was decoded */
	size_t n;
};

struct ward_warm_taken {
	struct ward_warm_strings argv, envp, env, labels;
	char *cwd;
};
/* For ward_cleanup(), of what was decoded. */
void ward_warm_taken_clear(struct ward_warm_taken *t);

/* *ret_fd is the caller's. -E2BIG: more than a take carries. */
int ward_warm_taken_encode(
	const struct ward_warm_taken *t, int *ret_fd, struct ward_err *err) ward_must_check;
/* -EBADMSG: it is no such file, whole and sealed. */
int ward_warm_taken_decode(
	int fd, struct ward_warm_taken *ret, struct ward_err *err) ward_must_check;
