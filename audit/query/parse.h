/* SPDX-License-Identifier: Apache-2.0 */
/* Records as JSON values. */
#pragma once

#include <jansson.h>
#include <stddef.h>

/*
 * As json_loadb(3), and of integers that do not fit into json_int_t (inodes of network file systems
 * have all 64 bits) strings: `mark` and the digits. NULL: it is no JSON, or memory is short.
 */
json_t *ward_parse(const char *text, size_t len, size_t flags, const char *mark);

/* As json_dumps(3), in printable ASCII. Owned; NULL: memory is short. */
char *ward_json_ascii(const json_t *v, size_t flags);
