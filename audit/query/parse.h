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

/*
 * A line of a trail as its readers have it. The writer escapes each text (base/escape.h), so that
 * none has a byte that a terminal obeys; who edits a trail need not. What is not escaped becomes so
 * here, in all members but "detail", which is free JSON. NULL as above.
 */
json_t *ward_parse_record(const char *line, size_t len);

/* As json_dumps(3), in printable ASCII. Owned; NULL: memory is short. */
char *ward_json_ascii(const json_t *v, size_t flags);
