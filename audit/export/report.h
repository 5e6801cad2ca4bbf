/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session for people who were not there: what was read, written, refused, when, by what, and
 * whether the trail is whole. Collected once as JSON, then written as a page that needs nothing
 * else (no network; one script of its own, for searching), as Markdown, or as it is.
 */
#pragma once

#include <jansson.h>

#include "audit/log/log.h"
#include "audit/verify/verify.h"
#include "enforcer/base/buf.h"

/* Bars of the time line. */
#define WARD_REPORT_SLOTS 60
/* Paths that a page lists; the rest is counted. */
#define WARD_REPORT_PATHS 5000
/* Records that are named for one path; `wardfs audit file` shows them, and the rest. */
#define WARD_REPORT_RECORDS 12

/*
 * *ret (one reference):
 *   session, verify {state, text, records, first_bad}, generated
 *   summary   ward_query_summary()
 *   start     detail of session.start; policy (digest)
 *   under     {base, profile}: the file and the profile that it extends, as far as known
 *   end       session.end; null where there is none
 *   refusals  [{count, action, object, path, host, addr, port, rule, rule_text, errno, permit,
 *             forbidden_by}]; object: the path, or HOST:PORT
 *   probes    start-up probes
 *   network   connections: the rows of audit/query/traffic.h
 *   policies  [{since, seq, by, sha256, good, text}]: those in force; good: text has that digest
 *   reloads   other policies, in force or refused
 *   slots     [{"done": n, "refused": n}] of equal time between first and last record
 *   files     ward_diff_collect()
 *   records   {PATH: [seq, …]}: the records of each of these paths, the first
 *             WARD_REPORT_RECORDS; then null, if there are more
 *   approvals questions to a person and their answers (`ask`, `grant`)
 *   approved  who allowed what, for how long, having seen what (audit/query/approvals.h)
 *   steps     marks, and steps back
 *   reviewed  what became of staged changes, after ward_report_reviews() (report_reviews.h)
 *   external  what others changed meanwhile, the first WARD_REPORT_PATHS
 * end, and each of probes, reloads, approvals and external, is a record: {seq, time, kind, …} with
 * all members that its event brought (audit/record_members.def).
 */
int ward_report_collect(struct ward_log *log, const char *session,
	const struct ward_verify_result *verify, json_t **ret,
	struct ward_err *err) ward_must_check;

/* Append the report; ask ward_buf_error(). Every text of a record is escaped once more. */
void ward_report_html(struct ward_buf *b, const json_t *report);
void ward_report_markdown(struct ward_buf *b, const json_t *report);

/* For the pages: what of the report answers to which requirement. Ends with a NULL requirement. */
struct ward_report_standard {
	const char *requirement;
	const char *answer;
};
extern const struct ward_report_standard ward_report_standards[];
