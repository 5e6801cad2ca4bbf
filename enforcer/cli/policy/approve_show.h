/* SPDX-License-Identifier: Apache-2.0 */
/* A question, for people. */
#pragma once

#include <jansson.h>
#include <stddef.h>

/* o: as `wardfs approve --json` has it. */
void ward_approve_show(const json_t *o);
/* How many paths it is about. */
size_t ward_approve_paths(const json_t *o);
/* As it was when it showed its first n paths. -EINVAL: it never did. */
int ward_approve_shorten(json_t *o, size_t n);

/* The text of a member, "" where it has none. */
const char *ward_approve_member(const json_t *o, const char *name);
