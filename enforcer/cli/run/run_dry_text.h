/* SPDX-License-Identifier: Apache-2.0 */
/* What --dry-run found out (run_dry.c), for people. */
#pragma once

#include <jansson.h>

/* Prints it on stdout. */
void ward_run_dry_print(const json_t *o);
