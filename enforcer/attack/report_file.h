/* SPDX-License-Identifier: Apache-2.0 */
/* What the reports in files share. */
#pragma once

#include <stdio.h>

#include "enforcer/attack/report.h"

/*
 * A new file beside FILE, which ward_report_end() gives its name: nothing planted there is
 * followed. Its name in *beside, which ward_report_end() frees. NULL with errno.
 */
FILE *ward_report_begin(const char *file, char **beside);
/* 0, or -1 with errno. out NULL: beginning failed. */
int ward_report_end(FILE *out, const char *file, char *beside);

/* Text of XML or HTML: what means something there is escaped, and what is not ASCII is '?'. */
void ward_report_text(FILE *out, const char *text);

/* Attempts with this verdict; group -1: of all groups. */
size_t ward_report_count(
	const struct ward_attack_run *r, int group, enum ward_attack_verdict verdict);
