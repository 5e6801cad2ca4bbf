/* SPDX-License-Identifier: Apache-2.0 */
/*
 * argp(3), whose messages quote the command line: what they quote is escaped (base/out.h). A script
 * that an agent wrote may call wardfs, and its arguments reach the terminal of the person who runs
 * the script.
 */
#pragma once

#include <argp.h>

#include "enforcer/base/err.h"

/* As argp_parse(3), without the index of the rest. */
error_t ward_arguments_parse(
	const struct argp *argp, int argc, char **argv, unsigned flags, void *input);

/* As argp_error(3): says what is wrong and how to get help, and exits with 2. */
void ward_arguments_wrong(const struct argp_state *state, const char *fmt, ...) ward_printf(2, 3);

/* Prints --help and exits. */
void ward_arguments_help(const struct argp_state *state);
