/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of -o: evidence of another day may have its name, so a verb replaces a file only where
 * --force says so.
 */
#pragma once

#include <sys/types.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/err.h"
#include "enforcer/cli/audit/audit_cmd.h"
#include "enforcer/cli/base/output.h"

/* The option of a verb with -o, as an initializer of struct argp_option. */
#define AUDIT_OUTPUT_FORCE                                                                         \
	{                                                                                          \
		"force", AUDIT_OPTION_REPLACE, NULL, 0, "With -o: replace FILE if it exists", 0    \
	}

/* As ward_output_begin(); -EEXIST: the file is there, and there is no --force. */
int audit_output_begin(const struct audit_cmd *c, const char *path, mode_t mode,
	struct ward_output *ret, struct ward_err *err) ward_must_check;
/* As ward_output_write(), by the same rule. path NULL: stdout. */
int audit_output_write(const struct audit_cmd *c, const char *path, const struct ward_buf *b,
	struct ward_err *err) ward_must_check;
