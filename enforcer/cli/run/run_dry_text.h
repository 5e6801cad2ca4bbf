/* SPDX-License-Identifier: Apache-2.0 */
/* What --dry-run found out (run_dry.c), for people. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

/* Prints it on stdout, in some thirty lines; verbose: every rule, guarantee and variable. */
void ward_run_dry_print(const json_t *o, bool verbose);
