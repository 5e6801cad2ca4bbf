/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of a journal's entries (fs/review/journal.h), read and written. */
#pragma once

#include "enforcer/review/review.h"

/* One entry's fields that are left. */
struct ward_fields {
	char *at;
	bool bad; /* one was missing, or is not what it should be */
};

/* The next one, within the entry; NULL: there is none, and f is bad. */
char *ward_fields_next(struct ward_fields *f);
/* s as digits of this base, 10 at most, and at most max; else *bad, and 0. */
uint64_t ward_fields_number(const char *s, int base, uint64_t max, bool *bad);
/* The next one as bytes, in place. */
char *ward_fields_bytes(struct ward_fields *f);
/* Beneath a root: no way up, and no way around. "" is the root. */
bool ward_fields_good_path(const char *path);
bool ward_fields_good_name(const char *name);
/* BASE. */
bool ward_fields_base(char *s, struct ward_review_base *b);

/* Appends a space and the field. */
void ward_fields_put_base(struct ward_buf *b, const struct ward_review_base *base);
void ward_fields_put_bytes(struct ward_buf *b, const char *s);
