/* SPDX-License-Identifier: Apache-2.0 */
/* Part of the index: from a line of a trail to what its rows have of it. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ward_index_text {
	WARD_INDEX_KIND,
	WARD_INDEX_VERDICT,
	WARD_INDEX_ACTION,
	WARD_INDEX_PATH,
	WARD_INDEX_PATH2,
	WARD_INDEX_COMM,
	WARD_INDEX_RULE,
	WARD_INDEX_ERRNO,
	/* of the network */
	WARD_INDEX_HOST,
	WARD_INDEX_ADDR,
	WARD_INDEX_PROTO,
	WARD_INDEX_VIA,
	WARD_INDEX_TIME, /* no word: its number is in `ns` */
	WARD_INDEX_TEXTS
};
enum ward_index_number {
	WARD_INDEX_PID,
	WARD_INDEX_PROCESS,
	WARD_INDEX_PARENT,
	WARD_INDEX_READ,
	WARD_INDEX_WRITTEN,
	/* of the network */
	WARD_INDEX_PORT,
	WARD_INDEX_SENT,
	WARD_INDEX_RECEIVED,
	WARD_INDEX_DURATION,
	WARD_INDEX_NUMBERS
};

struct ward_index_row {
	const char *text[WARD_INDEX_TEXTS]; /* NULL: the record does not have it */
	size_t len[WARD_INDEX_TEXTS];
	int64_t number[WARD_INDEX_NUMBERS];
	bool has[WARD_INDEX_NUMBERS];
	int64_t ns;	/* since 1970; -1: the time is not in the form of the writer's */
	json_t *parsed; /* what the texts belong to, or NULL */
};

/*
 * Reads a line. The texts are valid until it, `scratch` (as large as the line) or the row changes.
 * -EBADMSG: it is no JSON object. ward_index_row_clear() in any case.
 */
int ward_index_row_read(struct ward_index_row *row, const char *line, size_t len, char *scratch);
void ward_index_row_clear(struct ward_index_row *row);
