/* SPDX-License-Identifier: Apache-2.0 */
/* Part of the index: from a line to the columns of its row. */
#pragma once

#include <sqlite3.h>
#include <stddef.h>

/* The columns, in the order of the parameters of the statement. */
#define WARD_INDEX_TEXTS "time, kind, verdict, action, path, path2, comm, rule, errno"
#define WARD_INDEX_NUMBERS "pid, process, parent, read, written"

/*
 * Binds them from parameter `first` on to what the line says, NULL where it has no such member. The
 * bindings hold until the line or `scratch` (as large as the line) changes. -EBADMSG: the line is
 * no JSON object; -ENOMEM.
 */
int ward_index_bind(sqlite3_stmt *s, int first, const char *line, size_t len, char *scratch);
