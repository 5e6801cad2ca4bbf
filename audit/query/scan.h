/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Members of a line of a trail, one after the other, without building a tree of it: many times as
 * fast as a JSON parser, and no parser. It knows what the writer writes most of the time (numbers,
 * names and lists of names, in ASCII); all else it leaves to a parser. What it accepts is JSON
 * (RFC 8259), so that both give the same answer.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "enforcer/base/err.h"

enum ward_scan_type {
	WARD_SCAN_NONE = 0,
	WARD_SCAN_STRING,
	WARD_SCAN_INTEGER, /* fits int64_t */
	WARD_SCAN_OTHER,   /* true, false, null, a list of strings */
};

struct ward_scan {
	const char *p;
	const char *end;
	bool first;
};

/* Borrowed from the line. */
struct ward_scan_member {
	const char *name;
	size_t name_len;
	enum ward_scan_type type;
	const char *value; /* STRING: between the quotes, as it stands there */
	size_t len;
	bool escaped;	/* STRING: ward_scan_text() has work to do */
	int64_t number; /* INTEGER */
};

/* The line is borrowed. */
void ward_scan_begin(struct ward_scan *s, const char *line, size_t len);
/* 1 a member, 0 the object ended with the line, -EBADMSG: let a parser look at this line. */
int ward_scan_next(struct ward_scan *s, struct ward_scan_member *ret) ward_must_check;
/* The text of a STRING, at most m->len bytes, into `to`. Returns how many. */
size_t ward_scan_text(const struct ward_scan_member *m, char *to);
