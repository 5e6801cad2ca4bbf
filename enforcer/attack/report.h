/* SPDX-License-Identifier: Apache-2.0 */
/* Verdicts for people and for programs. */
#pragma once

#include "enforcer/attack/observe.h"

struct ward_attack_run {
	const char *sandbox; /* what was attacked, in words */
	char *const *argv;   /* its command line, or NULL */
	const struct ward_attack_outcome *v;
	size_t n;
	double seconds;
	const char *session;	    /* the trail of wardfs's first session; NULL: another sandbox */
	unsigned long repeat, seed; /* how often; 0: in the catalogue's order */
};

/* A table; all: also what held. */
void ward_report_table(const struct ward_attack_run *r, bool all);

/* One JSON object, on standard output. */
void ward_report_json(const struct ward_attack_run *r);

/* JUnit's XML and SARIF 2.1.0 (OASIS), to a file: 0, or -1 with errno. */
int ward_report_junit(const struct ward_attack_run *r, const char *file);
int ward_report_sarif(const struct ward_attack_run *r, const char *file);

/* A page of HTML that stands alone, without a script: the same. */
int ward_report_page(const struct ward_attack_run *r, const char *file);

/*
 * For whoever signs it: {"file": FILE, "run": what --json prints}, to the descriptor. 0, or -1 with
 * errno.
 */
int ward_report_statement(const struct ward_attack_run *r, const char *file, int fd);

/* 0: nothing is broken; 1: something is; 3: nothing is, but something is untested. */
int ward_report_status(const struct ward_attack_run *r);

/* The catalogue; and all about one attempt. */
void ward_report_list(void);
/* target: the options that choose what is attacked, with a blank before each. */
void ward_report_explain(
	const struct ward_attempt *a, enum ward_attack_group group, const char *target);
