/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a question to a person is called: 30 random bits, as six letters and digits that are not
 * easily taken for each other. Random, so that the name of another session's question, or of an
 * earlier one, answers nothing.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define WARD_QUESTION_BITS 30
#define WARD_QUESTION_NAME_SIZE 7

/* Paths that one question is about, at most. */
#define WARD_QUESTION_PATHS 8U
/* A question about operations on two paths is about so many of them. */
#define WARD_QUESTION_PAIRS (WARD_QUESTION_PATHS / 2)

void ward_question_name(uint32_t id, char ret[WARD_QUESTION_NAME_SIZE]);
/* False: it is no such name. */
bool ward_question_parse(const char *name, uint32_t *ret);
