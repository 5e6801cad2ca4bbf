/* SPDX-License-Identifier: Apache-2.0 */
/* A question, for people. */
#pragma once

#include <jansson.h>

/* o: as `wardfs approve --json` has it. */
void ward_approve_show(const json_t *o);
/* The text of a member, "" where it has none. */
const char *ward_approve_member(const json_t *o, const char *name);
