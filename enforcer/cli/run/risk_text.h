/* SPDX-License-Identifier: Apache-2.0 */
/* Prints for people what mode auto counts (enforcer/session/records/weighed_json.h). */
#pragma once

#include <jansson.h>
#include <stdbool.h>

/* The table of ward_weighed_json(): rows that cost something; verbose: then the others. */
void ward_risk_print(const json_t *o, bool verbose);
/* In --dry-run: the sum, the mode, and the rows that cost something. */
void ward_risk_print_short(const json_t *o);
