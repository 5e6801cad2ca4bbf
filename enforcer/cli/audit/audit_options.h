/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of the audit verbs, and taking them from the command line. A verb lists the options
 * that it takes for argp(3), with the keys below and the groups as children; audit_options_take()
 * takes all of them, so each means the same for every verb.
 */
#pragma once

#include <argp.h>

#include "enforcer/cli/audit/audit_cmd.h"

/* The keys of options without a letter; -j, -f, -n and -o have theirs. audit_filter.h has more. */
enum audit_option {
	AUDIT_OPTION_STATE = 0x100,
	AUDIT_OPTION_SYSTEM,
	AUDIT_OPTION_OWNER,
	AUDIT_OPTION_NO_INDEX,
	AUDIT_OPTION_VERIFY,
	AUDIT_OPTION_PROOF,
	AUDIT_OPTION_BLAME,
	AUDIT_OPTION_FORMAT,
	AUDIT_OPTION_AFTER,
	AUDIT_OPTION_TO,
	AUDIT_OPTION_CURSOR,
	AUDIT_OPTION_KEY,
	AUDIT_OPTION_CHECKPOINTS,
	AUDIT_OPTION_LIMIT,
	AUDIT_OPTION_ALL,
	AUDIT_OPTION_EXPECTED,
	AUDIT_OPTION_REBUILD,
	AUDIT_OPTION_SIZE,
	AUDIT_OPTION_FROM,
	AUDIT_OPTION_FILE,
	AUDIT_OPTION_WITNESS,
	AUDIT_OPTION_LEDGER,
	AUDIT_OPTION_AT,
	AUDIT_OPTION_HOST,
	AUDIT_OPTION_LABEL,
	AUDIT_OPTION_LOGIN,
	AUDIT_OPTION_VERIFIED,
	AUDIT_OPTION_DIGEST,
	AUDIT_OPTION_AUDIT_SESSION,
	AUDIT_OPTION_SINCE,
	AUDIT_OPTION_UNTIL,
	AUDIT_OPTION_FORCE,
	AUDIT_OPTION_REPLACE,
	AUDIT_OPTION_REASON,
	AUDIT_OPTION_CA,
	AUDIT_OPTION_CERT,
	AUDIT_OPTION_CLIENT_KEY,
	AUDIT_OPTION_HEADERS,
	AUDIT_OPTION_TIMEOUT,
	AUDIT_OPTION_RETRY,
	AUDIT_OPTION_LINES = 'n', /* as tail(1) has it */
};

/* The children of a verb: --state, --system and --owner, which every verb takes; */
extern const struct argp_child audit_options_plain[];
/* and which sessions are meant (audit_trail_meant()); */
extern const struct argp_child audit_options_sessions[];
/* and these and the filters; */
extern const struct argp_child audit_options_listed[];
/* and the filters; */
extern const struct argp_child audit_options_filtered[];
/* and --no-index and --verify, where an index may answer; */
extern const struct argp_child audit_options_asked[];
/* and those without --pid, where the process is a word. */
extern const struct argp_child audit_options_process[];

/*
 * The parser of a group: takes one option into the struct audit_cmd that is its input. EINVAL after
 * a message on stderr if it is wrong.
 */
error_t audit_options_take(int key, char *arg, struct argp_state *state);
/* Whether the options fit together, once all are taken: 0, or EINVAL after a message. */
error_t audit_options_check(struct audit_cmd *c);
/* Says "audit VERB: WHAT ARG" and where to read more. Returns EINVAL. */
error_t audit_options_wrong(const struct audit_cmd *c, const char *what, const char *arg);
