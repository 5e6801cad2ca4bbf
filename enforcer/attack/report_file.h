/* SPDX-License-Identifier: Apache-2.0 */
/* What the reports in files share. */
#pragma once

#include <stdio.h>

#include "enforcer/attack/report.h"

/* A report on its way: a new file in the directory of the name that it is to have. */
struct ward_report_file {
	FILE *out;	  /* NULL: it could not be made */
	int dir, error;	  /* error: why, an errno */
	const char *name; /* borrowed: the last name of the caller's path */
	char beside[32];  /* the new file's name until it is complete */
};

/*
 * The directory may be a project that an agent wrote. So it is reached as ward_plain_above() does,
 * once; a name that is there is replaced if it is a regular file, and is not opened. Always ends
 * with ward_report_end(). Root's reports in a directory of the invoking user's are that user's.
 */
void ward_report_begin(const char *file, struct ward_report_file *ret);
/* Gives it its name: 0, or -1 with errno, and then what was there is there. */
int ward_report_end(struct ward_report_file *f);

/* Text of XML or HTML: what means something there is escaped, and what is not ASCII is '?'. */
void ward_report_text(FILE *out, const char *text);

/* Attempts with this verdict; group -1: of all groups. */
size_t ward_report_count(
	const struct ward_attack_run *r, int group, enum ward_attack_verdict verdict);
