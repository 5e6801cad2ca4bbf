/* SPDX-License-Identifier: Apache-2.0 */
/* Messages to people and programs: every message of the command line goes through here. */
#pragma once

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "enforcer/base/buf.h"

/*
 * Prints "wardfs: TEXT" and a newline on stderr. Text may carry names from a hostile repository or
 * the agent: it is escaped as base/out.h says, newlines too.
 */
void ward_say(const char *text);
void ward_sayf(const char *fmt, ...) ward_printf(1, 2);
/* The same for each line of text that is not empty, with `before` in front of each. */
void ward_say_lines(const char *before, const char *text);

/* Prints the text of a policy on stdout as ward_out_lines() does, and says so if it changed. */
void ward_print_policy(const char *text, size_t len);

/*
 * After a rule that stands at `place` (FILE:LINE): where FILE is a shipped profile, prints the
 * command that shows that line, " (wardfs profile show medium:16)", on stdout; else nothing.
 */
void ward_print_shown_by(const char *place);

/* Prints o on stdout with these flags of json_dumps(3), in printable ASCII. */
void ward_put_json(const json_t *o, size_t flags);

/* The same indented, and a newline. Takes the reference. */
void ward_print_json(json_t *o);

/* The escaped text as a JSON string; null for NULL. The caller's reference. */
json_t *ward_json_text(const char *text);

/* A copy in which escaped texts are as ward_outf() wants them: with single backslashes. The
 * caller's.
 */
json_t *ward_json_shown(const json_t *o);

/* A set of rights (enum ward_right) as a JSON array of their names. The caller's reference. */
json_t *ward_json_rights(uint32_t rights);

/*
 * Of n names, which stand `stride` bytes apart as pointers, the one that word is a slip of the
 * finger for; NULL if none is near.
 */
const char *ward_near(const char *word, const void *names, size_t n, size_t stride);

/*
 * n bytes as the policy writes sizes, "1.5M"; whole numbers where they say it exactly. Returns buf
 * (of len bytes: 32 are enough).
 */
const char *ward_size_text(uint64_t n, char *buf, size_t len);

/*
 * Writes out what is left for stdout. Returns status, or 125 after a message if something of it
 * could not be written and status would be one of success.
 */
int ward_finish_output(int status);
