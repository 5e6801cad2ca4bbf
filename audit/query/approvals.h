/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who allowed what in a session: the answers to its questions and the grants that people gave it,
 * each with what the person had seen, how long it lasted, and which accesses used it.
 */
#pragma once

#include <jansson.h>

#include "audit/log/log.h"
#include "audit/query/record_filter.h"
#include "enforcer/base/err.h"

/* Accesses that are listed for one grant; the rest is counted. */
#define WARD_APPROVALS_ACCESSES 100

/*
 * *ret (one reference): an array of objects, one for each question and for each grant that answers
 * none, in the order of the records that decided. when: only those that were decided then (since,
 * until); NULL: all. Members, missing where the trail has none:
 *
 *   seq time session  of the record that decided: the `answer`, the `grant`, or, where no answer is
 *                     in the trail, the `ask`
 *   result            as in that record; "open": no answer is in the trail
 *   request action asked path path2 host addr port rule rule_text   what it was about
 *   by uid login_uid terminal how scope duration text token key     who decided, and how
 *   lifts             of a break-glass grant: the lines of [guard], one a line
 *   question          all that was shown: the `detail` of the `ask`
 *   shown             its digest
 *   grants            [{grant, seq, time, asked, path, host, until, uses, text, used, end,
 *                     accesses, more}]: what came of it. end: {time, result, by}, the first end
 * that the trail has. accesses: [{seq, time, action, path, path2, host, addr, port, asked, pid,
 * comm, via}] from the records `use`; more: how many are not listed who what lasts saw used   the
 * same for people, as text
 */
int ward_approvals_read(struct ward_log *log, const struct ward_filter *when, json_t **ret,
	struct ward_err *err) ward_must_check;

/* The rows as a file holds them: indented, with a newline behind. NULL: no memory. */
char *ward_approvals_text(const json_t *rows);
