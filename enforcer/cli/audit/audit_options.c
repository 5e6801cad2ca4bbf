/* SPDX-License-Identifier: Apache-2.0 */
/* The options of the audit verbs, and taking them from the command line. */
#include "enforcer/cli/audit/audit_options.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "audit/write/ledger.h"
#include "enforcer/base/quantity.h"
#include "enforcer/base/timestamp.h"
#include "enforcer/cli/audit/audit_filter.h"
#include "enforcer/cli/audit/audit_keys.h"
#include "enforcer/cli/base/arguments.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/session/records/session_about.h"

#define OPTION_HELP 'h'

static const struct argp_option state_options[] = {
	{"state", AUDIT_OPTION_STATE, "DIR", 0,
		"The state directory (default: $XDG_STATE_HOME/wardfs, /var/lib/wardfs as root, else "
		"~/.local/state/wardfs)",
		0},
	{"system", AUDIT_OPTION_SYSTEM, NULL, 0,
		"Your trails that the system's writer keeps ([audit] writer = system)", 0},
	{"owner", AUDIT_OPTION_OWNER, "USER", 0, "The trails of USER; as root only", 0},
	{NULL, OPTION_HELP, NULL, OPTION_HIDDEN, NULL, 0},
	{0},
};
static const struct argp_option index_options[] = {
	{"no-index", AUDIT_OPTION_NO_INDEX, NULL, 0,
		"With a filter: read every record, even if the index is up to date", 0},
	{"verify", AUDIT_OPTION_VERIFY, NULL, 0,
		"Verify the whole trail, even if the index answered", 0},
	{0},
};
static const struct argp_option sessions_options[] = {
	{"label", AUDIT_OPTION_LABEL, "KEY=VALUE", 0, "Only sessions with this label; repeats", 0},
	{"login", AUDIT_OPTION_LOGIN, "USER", 0,
		"Only sessions of this login (loginuid): a name or a number", 0},
	{"audit-session", AUDIT_OPTION_AUDIT_SESSION, "ID", 0,
		"Only sessions with this session ID of the kernel's audit", 0},
	{0},
};
/* The filters have --pid as a child, which process lacks. */
static error_t take_filters(int key, char *arg, struct argp_state *state)
{
	if (key != ARGP_KEY_INIT)
		return audit_options_take(key, arg, state);
	state->child_inputs[0] = state->input;
	return 0;
}

static const struct argp state_argp = {
	state_options, audit_options_take, NULL, NULL, NULL, NULL, NULL};
static const struct argp index_argp = {
	index_options, audit_options_take, NULL, NULL, NULL, NULL, NULL};
static const struct argp sessions_argp = {
	sessions_options, audit_options_take, NULL, NULL, NULL, NULL, NULL};
static const struct argp pid_argp = {
	audit_filter_pid, audit_options_take, NULL, NULL, NULL, NULL, NULL};
static const struct argp_child pid_child[] = {{&pid_argp, 0, NULL, 0}, {0}};
static const struct argp filter_argp = {
	audit_filter_options, take_filters, NULL, NULL, pid_child, NULL, NULL};
static const struct argp process_argp = {
	audit_filter_options, audit_options_take, NULL, NULL, NULL, NULL, NULL};

/* The headings keep the groups apart in --help. */
#define FILTERS "Which records:"
#define FOUND "How they are found:"
#define SESSIONS "Which sessions:"
#define TRAILS "Whose trails:"
const struct argp_child audit_options_plain[] = {{&state_argp, 0, TRAILS, 3}, {0}};
const struct argp_child audit_options_sessions[] = {
	{&sessions_argp, 0, SESSIONS, 1}, {&state_argp, 0, TRAILS, 3}, {0}};
const struct argp_child audit_options_listed[] = {{&filter_argp, 0, FILTERS, 1},
	{&sessions_argp, 0, SESSIONS, 2}, {&state_argp, 0, TRAILS, 3}, {0}};
const struct argp_child audit_options_filtered[] = {{&filter_argp, 0, FILTERS, 1},
	{&sessions_argp, 0, SESSIONS, 2}, {&state_argp, 0, TRAILS, 3}, {0}};
const struct argp_child audit_options_asked[] = {{&filter_argp, 0, FILTERS, 1},
	{&index_argp, 0, FOUND, 2}, {&sessions_argp, 0, SESSIONS, 3}, {&state_argp, 0, TRAILS, 4},
	{0}};
const struct argp_child audit_options_process[] = {{&process_argp, 0, FILTERS, 1},
	{&index_argp, 0, FOUND, 2}, {&sessions_argp, 0, SESSIONS, 3}, {&state_argp, 0, TRAILS, 4},
	{0}};

error_t audit_options_wrong(const struct audit_cmd *c, const char *what, const char *arg)
{
	ward_sayf("audit %s: %s%s; wardfs audit %s --help tells more", c->verb, what, arg, c->verb);
	return EINVAL;
}

/* An option whose argument is a number: what it takes, and of what size. */
static error_t take_number(const struct audit_cmd *c, const char *takes, const char *arg,
	uint64_t min, uint64_t max, uint64_t *to)
{
	struct ward_err err = {0};
	if (ward_quantity_whole(arg, min, max, to, &err) < 0)
		return audit_options_wrong(c, takes, err.text);
	return 0;
}

/* A name or a number. */
static error_t take_user(const struct audit_cmd *c, const char *arg, uint64_t *ret)
{
	const struct passwd *pw = getpwnam(arg);
	if (pw)
		*ret = pw->pw_uid;
	else if (ward_quantity_whole(arg, 0, UINT32_MAX - 1, ret, NULL) < 0)
		return audit_options_wrong(c, "no such user: ", arg);
	return 0;
}

/* Whose trails of the system's writer. */
static error_t take_owner(struct audit_cmd *c, const char *arg)
{
	uint64_t n = 0;
	if (take_user(c, arg, &n))
		return EINVAL;
	c->system = true;
	c->owner = (uid_t)n;
	c->owner_given = true;
	return 0;
}

/* A moment: as records have it. */
static error_t take_moment(struct audit_cmd *c, const char *option, const char *arg,
	const char **ret, char ret_time[WARD_CLOCK_TEXT_MAX])
{
	struct ward_err err = {0};
	*ret = arg;
	return ward_timestamp_beginning(arg, ward_clock_real_ns(), ret_time, &err) < 0
		       ? audit_options_wrong(c, option, err.text)
		       : 0;
}

/* Which of many sessions are asked for. ARGP_ERR_UNKNOWN: the option is another. */
static error_t take_sessions(int key, const char *arg, struct audit_cmd *c)
{
	switch (key) {
	case AUDIT_OPTION_LABEL:
		if (!ward_label_valid(arg) || c->n_labels >= AUDIT_LABELS_MAX)
			return audit_options_wrong(
				c, "--label takes KEY=VALUE, at most eight times: ", arg);
		c->labels[c->n_labels++] = arg;
		return 0;
	case AUDIT_OPTION_LOGIN:
		c->has_login = true;
		return take_user(c, arg, &c->login);
	case AUDIT_OPTION_AUDIT_SESSION:
		c->has_audit_session = true;
		return take_number(c, "--audit-session takes a number: ", arg, 0, UINT32_MAX - 1,
			&c->audit_session);
	case AUDIT_OPTION_LIMIT:
		if (strcmp(arg, "all") == 0) {
			c->limit = AUDIT_LIMIT_ALL;
			return 0;
		}
		return take_number(c, "--limit takes a number of sessions, or all: ", arg, 1,
			AUDIT_LINES_MAX, &c->limit);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Which trails are asked for, and which records. */
static error_t take_subject(int key, const char *arg, struct audit_cmd *c)
{
	switch (key) {
	case AUDIT_OPTION_STATE:
		c->state = arg;
		return 0;
	case AUDIT_OPTION_SYSTEM:
		c->system = true;
		c->owner = c->owner_given ? c->owner : getuid();
		return 0;
	case AUDIT_OPTION_OWNER:
		return take_owner(c, arg);
	case AUDIT_OPTION_ALL:
		c->all = true;
		return 0;
	case AUDIT_OPTION_EXPECTED:
		c->expected = true;
		return 0;
	case AUDIT_OPTION_KEY:
		return audit_keys_take(c, arg)
			       ? 0
			       : audit_options_wrong(c,
					 "neither a public key nor a file of public keys: ", arg);
	case AUDIT_OPTION_LEDGER:
		c->ledger = true;
		return 0;
	case AUDIT_OPTION_WITNESS:
		c->has_witness = ward_note_key_parse(arg, strlen(arg), &c->witness) == 0 &&
				 c->witness.type == WARD_NOTE_COSIGNATURE;
		return c->has_witness
			       ? 0
			       : audit_options_wrong(
					 c, "not a witness key (NAME+ID+BASE64, type 4): ", arg);
	case AUDIT_OPTION_CHECKPOINTS:
		c->checkpoints = arg;
		return 0;
	case AUDIT_OPTION_VERIFIED:
		c->verified = arg;
		return 0;
	case AUDIT_OPTION_DIGEST:
		c->digest = arg;
		return strlen(arg) == 64 && strspn(arg, "0123456789abcdef") == 64
			       ? 0
			       : audit_options_wrong(c,
					 "--digest takes 64 hexadecimal digits, in small letters: ",
					 arg);
	case AUDIT_OPTION_FILE:
		c->prove_file = arg;
		return 0;
	case AUDIT_OPTION_AT:
		return take_moment(c, "--at: ", arg, &c->at, c->at_time);
	case AUDIT_OPTION_SINCE:
		return take_moment(c, "--since: ", arg, &c->since, c->since_time);
	case AUDIT_OPTION_UNTIL:
		return take_moment(c, "--until: ", arg, &c->until, c->until_time);
	case AUDIT_OPTION_HOST:
		c->host = arg;
		return 0;
	case AUDIT_OPTION_AFTER:
		return take_number(c, "--after takes the number of a record: ", arg, 0,
			WARD_QUANTITY_MAX, &c->after);
	case AUDIT_OPTION_LINES:
		return take_number(c, "--lines: ", arg, 1, AUDIT_LINES_MAX, &c->lines);
	case AUDIT_OPTION_SIZE:
		return take_number(c, "--size takes a number of records: ", arg, 1,
			WARD_QUANTITY_MAX, &c->size);
	case AUDIT_OPTION_FROM:
		c->has_from = true;
		return take_number(c, "--from takes a number of records: ", arg, 0,
			WARD_QUANTITY_MAX, &c->from);
	default:
		break;
	}
	const error_t e = take_sessions(key, arg, c);
	if (e != ARGP_ERR_UNKNOWN)
		return e;
	int r = audit_filter_take(&c->filter, key, arg);
	return r > 0 ? 0 : r < 0 ? EINVAL : ARGP_ERR_UNKNOWN;
}

static error_t take_reason(struct audit_cmd *c, const char *arg)
{
	if (!arg[strspn(arg, " \t\n")] || strlen(arg) > WARD_LEDGER_REASON_MAX)
		return audit_options_wrong(c, "--reason: a text of at most 1024 bytes", "");
	c->reason = arg;
	return 0;
}

/* A time of `export --to`, from min seconds on. */
static error_t take_seconds(const struct audit_cmd *c, const char *option, const char *arg,
	uint64_t min, uint64_t *ret, bool *ret_given)
{
	struct ward_err err = {0};
	uint64_t ns = 0;
	if (ward_quantity_duration(arg, WARD_DURATION_BARE, &ns, &err) < 0)
		return audit_options_wrong(c, option, err.text);
	if (ns / WARD_NS_PER_SEC < min || ns / WARD_NS_PER_SEC > AUDIT_SECONDS_MAX)
		return audit_options_wrong(c, option, "give a time between 1s and 1d");
	*ret = ns / WARD_NS_PER_SEC;
	*ret_given = true;
	return 0;
}

/* How records are sent. ARGP_ERR_UNKNOWN: the option is another. */
static error_t take_sending(int key, const char *arg, struct audit_cmd *c)
{
	switch (key) {
	case AUDIT_OPTION_TO:
		c->to = arg;
		return 0;
	case AUDIT_OPTION_CURSOR:
		c->cursor = arg;
		return 0;
	case AUDIT_OPTION_CA:
		c->ca = arg;
		return 0;
	case AUDIT_OPTION_CERT:
		c->cert = arg;
		return 0;
	case AUDIT_OPTION_CLIENT_KEY:
		c->client_key = arg;
		return 0;
	case AUDIT_OPTION_HEADERS:
		c->headers = arg;
		return 0;
	case AUDIT_OPTION_TIMEOUT:
		return take_seconds(c, "--timeout: ", arg, 1, &c->timeout_s, &c->timeout_given);
	case AUDIT_OPTION_RETRY:
		return take_seconds(c, "--retry: ", arg, 0, &c->retry_s, &c->retry_given);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

error_t audit_options_take(int key, char *arg, struct argp_state *state)
{
	struct audit_cmd *c = state->input;
	switch (key) {
	case 'v':
		c->verbose = true;
		return 0;
	case 'j':
		c->json = true;
		return 0;
	case 'f':
		c->follow = true;
		return 0;
	case 'o':
		c->output = arg;
		return 0;
	case OPTION_HELP:
		ward_arguments_help(state);
		return 0;
	case AUDIT_OPTION_NO_INDEX:
		c->no_index = true;
		return 0;
	case AUDIT_OPTION_VERIFY:
		c->verify = true;
		return 0;
	case AUDIT_OPTION_BLAME:
		c->blame = true;
		return 0;
	case AUDIT_OPTION_PROOF:
		c->proof = true;
		return 0;
	case AUDIT_OPTION_REBUILD:
		c->rebuild = true;
		return 0;
	case AUDIT_OPTION_FORCE:
		c->force = true;
		return 0;
	case AUDIT_OPTION_REPLACE:
		c->replace = true;
		return 0;
	case AUDIT_OPTION_REASON:
		return take_reason(c, arg);
	case AUDIT_OPTION_FORMAT:
		c->format = arg;
		return 0;
	default:
		break;
	}
	const error_t e = take_sending(key, arg, c);
	return e == ARGP_ERR_UNKNOWN ? take_subject(key, arg, c) : e;
}

error_t audit_options_check(struct audit_cmd *c)
{
	if (audit_keys_lacking(c))
		return audit_options_wrong(c,
			"neither a public key nor a file of public keys: ", audit_keys_lacking(c));
	if (c->system && c->state)
		return audit_options_wrong(c, "--state and --system exclude each other", "");
	if (c->verified && (!c->all || c->n_keys))
		return audit_options_wrong(c, "--verified goes with --all, and not with --key", "");
	if (c->digest && !c->verified)
		return audit_options_wrong(c, "--digest needs --verified FILE", "");
	if (c->replace && !c->output)
		return audit_options_wrong(c, "--force goes with -o FILE", "");
	if (c->force && !c->reason)
		return audit_options_wrong(
			c, "--force needs --reason TEXT: why does the trail go early?", "");
	return audit_filter_check(&c->filter) < 0 ? EINVAL : 0;
}
