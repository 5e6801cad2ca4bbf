/* SPDX-License-Identifier: Apache-2.0 */
/* Answers to questions: whether the session could have given one itself. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "enforcer/base/err.h"
#include "enforcer/policy/settings.h"

#define WARD_ANSWERS_SETTINGS 3U

/* Zero; then ward_answers_clear(). */
struct ward_answers {
	json_t *asked;	    /* request: its record, of the questions that have no answer */
	json_t *given;	    /* id of a grant that an answer gave: its record */
	json_t *covered;    /* id of a grant whose answer had the signatures that it needs */
	json_t *demanded;   /* id of a grant of an answer that needs signatures: its record */
	json_t *closed;	    /* request: the answer that closed it */
	json_t *used;	    /* id of a grant: its first use */
	json_t *processes;  /* "PID START" of what the session executed */
	json_int_t uids[3]; /* who may answer; -1: not known */
	bool own;     /* the command could be one of these itself: the session has no such wall */
	bool started; /* the record of the start was seen, and says so much */
	const struct ward_settings *settings[WARD_ANSWERS_SETTINGS]; /* borrowed */
	size_t n_settings;
};
int ward_answers_begin(struct ward_answers *a) ward_must_check;
void ward_answers_clear(struct ward_answers *a);

/*
 * Takes a record of kind session.start, exec, ask, grant, use or answer, in the order of the trail.
 * *ret_why: why it cannot be what a person outside of the session decided; NULL: nothing speaks
 * against it. -ENOMEM. Before an `answer` or a `grant` the caller sets the settings that can have
 * been in force (none: signatures are not looked at).
 */
int ward_answers_take(
	struct ward_answers *a, const json_t *rec, const char **ret_why) ward_must_check;
/*
 * After the last record of a trail that is whole: a grant was used, needed a signed answer, and has
 * none. *ret_seq: the record that used it.
 */
const char *ward_answers_missing(const struct ward_answers *a, uint64_t *ret_seq);
