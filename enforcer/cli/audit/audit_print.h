/* SPDX-License-Identifier: Apache-2.0 */
/* Records as people read them, and lines of a trail as programs do. */
#pragma once

#include <jansson.h>

#include "audit/query/query.h"
#include "enforcer/cli/audit/audit_cmd.h"

/* Prints a record in one line; rec NULL: the line is none. */
void audit_print_record(const struct audit_cmd *c, const json_t *rec);
/*
 * Prints a line of the trail as it is. Where somebody edited the trail, a record has what a
 * terminal obeys as \u of JSON; a line that is none (rec NULL) is escaped.
 */
void audit_print_line(const char *line, size_t len, const json_t *rec);
/* "  read,write" for a set; nothing for an empty or missing one. */
void audit_print_rights(const json_t *set);
/* before, text, after, unless text is NULL or empty. */
void audit_print_text(const char *before, const char *text, const char *after);
/* On stderr: the names that the file had besides the one that was asked for, each once. NULL: none.
 */
void audit_print_names(const struct ward_file_names *names);
