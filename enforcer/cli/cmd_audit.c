/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/cli/cmd_audit.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <jansson.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/chain.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/cli/cli.h"
#include "enforcer/cli/say.h"
#include "enforcer/ipc/system.h"

#define USAGE 2
#define HELPED (-1) /* help was asked for and given */

static const char help[] =
	"Usage: wardfs audit list    [--json] [FILTER...]\n"
	"       wardfs audit show    [--json] [--follow] [FILTER...] [SESSION]\n"
	"       wardfs audit tail    [--json] [-f] [--lines N] [FILTER...] [SESSION]\n"
	"       wardfs audit file    [--json] [FILTER...] PATH [SESSION]\n"
	"       wardfs audit process [--json] [FILTER...] PID [SESSION]\n"
	"       wardfs audit denials [--json] [FILTER...] [SESSION]\n"
	"       wardfs audit summary [--json] [FILTER...] [SESSION]\n"
	"       wardfs audit diff    [--json] [FILTER...] SESSION SESSION\n"
	"       wardfs audit export  [--format FORMAT] [--after SEQ] [FILTER...] [SESSION]\n"
	"       wardfs audit export  --to TARGET [--cursor FILE] [--format FORMAT] [FILTER...] [SESSION]\n"
	"       wardfs audit verify  [--json] [SESSION | FILE | --all]\n"
	"       wardfs audit verify  [--json] --key KEY... [SESSION | FILE | --all]\n"
	"       wardfs audit index   [--json] [--rebuild]\n"
	"       wardfs audit sql     [--json] QUERY\n"
	"       wardfs audit report  [--format html|md|json] [-o FILE] [SESSION]\n"
	"       wardfs audit attest  [-o FILE] [SESSION]\n"
	"       wardfs audit key     [--json] show [SESSION] | rotate | chain | list\n"
	"       wardfs audit key     enroll KEY | revoke KEY\n"
	"       wardfs audit prove   [--size N] SESSION SEQ\n"
	"       wardfs audit prove   [--size N] --file PATH SESSION\n"
	"       wardfs audit prove   [--size N] --from N SESSION\n"
	"       wardfs audit bundle  [-o FILE] [SESSION]\n"
	"       wardfs audit remove  SESSION\n"
	"       wardfs audit prune   [--json]\n"
	"\n"
	"  list     the sessions that the ledger knows; with a FILTER those that have such records, and\n"
	"           how many\n"
	"  show     the records of a session; --json: the trail's own lines\n"
	"  tail     the last ones; -f: and those that come\n"
	"  file     those of one file, under all names that renames and links gave it\n"
	"  process  those of one process and its threads, or of one thread\n"
	"  denials  what was refused, how often, by which rule, and what would permit it\n"
	"  summary  figures\n"
	"  diff     what only one of two sessions did to which file; exit status 1 if anything\n"
	"  export   the records as jsonl (default), csv, cef, ocsf or otel\n"
	"  verify   is the trail what the writer wrote? intact, or incomplete, gap, truncated,\n"
	"           deleted, reordered, edited, missing, removed, expired, unstarted, foreign key\n"
	"  index    brings the index over all trails up to date\n"
	"  sql      does so and answers a SELECT: records(session, seq, at, time, kind, verdict, action,\n"
	"           path, path2, pid, process, parent, comm, rule, errno, read, written)\n"
	"  report   a session on one page: what it did, what was refused, whether the trail is whole\n"
	"  attest   a signed statement of what was in force in a session, what held, and whether the\n"
	"           trail is whole; verify takes it as a FILE\n"
	"  key      the public key that checkpoints are signed with, now or in a session; a fresh one\n"
	"           takes its place (chain: a file for --key that leads from earlier ones to it); one of\n"
	"           another host is taken from now on, or one is not any more\n"
	"  prove    a proof that record SEQ is in the trail, or all records of a file, or that an\n"
	"           earlier checkpoint is the beginning of a later one; verify takes it as a FILE\n"
	"  bundle   a trail to take away: a tar archive with checkpoints, public key, attestation and\n"
	"           how to verify it without this host\n"
	"  remove   deletes a trail; the ledger keeps, signed, that it was there\n"
	"  prune    deletes the trails that were kept as long as [audit] keep of their policy wants (the\n"
	"           ledger keeps that too), and compresses those of sessions that have ended\n"
	"\n"
	"  SESSION  a name, its unique beginning, or \"latest\" (default)\n"
	"  FILE     a trail elsewhere (with a '/'); key and ledger are those of the state directory\n"
	"\n" AUDIT_FILTER_HELP "\n"
	"  --key KEY    verify with the trail's checkpoints and public keys alone: KEY is what \"key\n"
	"               show\" prints, or a file of such lines; may be repeated\n"
	"  --no-index   with a FILTER: look at every line, also where an index is up to date\n"
	"  --verify     the same, not list: verify the whole trail also where an index answered\n"
	"  --proof      show, file, process: the records as proofs, which verify takes as a FILE (with\n"
	"               --json: each record beside its proof)\n"
	"  --rebuild    index: from nothing\n"
	"  --size N     prove: with the checkpoint of N records (default: the last one)\n"
	"  --file PATH  prove: all records of this file, under all its names\n"
	"  --from N     prove: that the checkpoint of N records is the beginning of that one\n"
	"  --checkpoints FILE  those of FILE (default: the file \"checkpoints\" beside it); with\n"
	"               --all: any that were kept elsewhere, against what is here\n"
	"  -j, --json   as JSON\n"
	"  --lines N    tail: so many (default: 10)\n"
	"  -f, --follow go on printing until the session ends\n"
	"  --format F   what export and report write\n"
	"  -o, --output FILE  report, attest, bundle: into this file (default: stdout)\n"
	"  --after SEQ  only records behind that one: goes on where an export ended\n"
	"  --to TARGET  to a syslog daemon (RFC 5424): unix:PATH, or tcp:HOST:PORT\n"
	"  --cursor FILE  keeps how far it came: the same command goes on there\n"
	"  --all        the ledger and all its sessions; with --key: all that are in the directory\n"
	"  --state DIR  the state directory (default: $XDG_STATE_HOME/wardfs, /var/lib/wardfs as\n"
	"               root, else ~/.local/state/wardfs)\n"
	"  --system     the trails that the system's writer keeps of you ([audit] writer = system)\n"
	"  --owner USER for root: those of that user\n"
	"\n"
	"Exit status: 0, 1 if a trail is not intact, 2 for bad usage, 125 if it could not be read.\n";

/* What a verb takes. */
enum takes {
	TAKES_SESSION = 1,
	TAKES_OBJECT = 2,
	TAKES_FILTER = 4,
	TAKES_FOLLOW = 8,
	TAKES_ALL = 16,
	TAKES_EXPORT = 32,
	TAKES_KEYS = 64,
	TAKES_SIZES = 128,
	TAKES_LINES = 512,
	TAKES_REBUILD = 2048,
	TAKES_OUTPUT = 4096,
	TAKES_FORMAT = 8192,
	TAKES_INDEX = 16384,  /* may be answered from the index */
	TAKES_VERIFY = 32768, /* and verified then, too */
	TAKES_PROOFS = 65536, /* or be answered with proofs */
	TAKES_SECOND = 1024,  /* the object is a session, and a second one must follow */
	TAKES_PROOF = 256,    /* SESSION, and SEQ unless --from is given */
};

#define TAKES_ASKED (TAKES_FILTER | TAKES_INDEX | TAKES_VERIFY)

static const struct {
	const char *name;
	int (*run)(struct audit_cmd *c, struct ward_err *err);
	unsigned takes;
	const char *lacks; /* said where the object is missing */
} verbs[] = {
	{"list", audit_cmd_list, TAKES_FILTER | TAKES_INDEX},
	{"show", audit_cmd_show, TAKES_SESSION | TAKES_FOLLOW | TAKES_ASKED | TAKES_PROOFS},
	{"tail", audit_cmd_tail, TAKES_SESSION | TAKES_FILTER | TAKES_FOLLOW | TAKES_LINES},
	{"file", audit_cmd_file, TAKES_OBJECT | TAKES_SESSION | TAKES_ASKED | TAKES_PROOFS,
		": which one? a path is needed"},
	{"process", audit_cmd_process, TAKES_OBJECT | TAKES_SESSION | TAKES_ASKED | TAKES_PROOFS,
		": which one? a process number is needed"},
	{"denials", audit_cmd_denials, TAKES_SESSION | TAKES_ASKED},
	{"summary", audit_cmd_summary, TAKES_SESSION | TAKES_ASKED},
	{"diff", audit_cmd_diff, TAKES_OBJECT | TAKES_SESSION | TAKES_SECOND | TAKES_ASKED,
		": two sessions are needed"},
	{"export", audit_cmd_export, TAKES_SESSION | TAKES_FILTER | TAKES_EXPORT | TAKES_FORMAT},
	{"verify", audit_cmd_verify, TAKES_SESSION | TAKES_ALL | TAKES_KEYS},
	{"index", audit_cmd_index, TAKES_REBUILD},
	{"sql", audit_cmd_sql, TAKES_OBJECT, ": a question is needed"},
	{"report", audit_cmd_report, TAKES_SESSION | TAKES_FORMAT | TAKES_OUTPUT},
	{"attest", audit_cmd_attest, TAKES_SESSION | TAKES_OUTPUT},
	{"key", audit_cmd_key, TAKES_OBJECT | TAKES_SESSION,
		": show, rotate, chain, list, enroll or revoke?"},
	{"prove", audit_cmd_prove, TAKES_PROOF | TAKES_SIZES},
	{"bundle", audit_cmd_bundle, TAKES_SESSION | TAKES_OUTPUT},
	{"remove", audit_cmd_remove, TAKES_OBJECT, ": which session?"},
	{"prune", audit_cmd_prune, 0},
};

int audit_cmd_usage(const char *what, const char *arg)
{
	ward_sayf("audit: %s%s; wardfs audit --help tells more", what, arg);
	return USAGE;
}

int audit_cmd_ledger(struct audit_cmd *c, const uint8_t root[WARD_KEY_BYTES],
	struct ward_ledger_view *ret, struct ward_err *err)
{
	ward_cleanup_fd int fd = -1;
	int r = ward_store_open_ledger(c->store, &fd, err);
	if (r < 0 && r != -ENOENT)
		return r;
	return ward_verify_ledger(fd, root, ret, err);
}

void audit_cmd_warn(struct audit_cmd *c, const char *session, struct ward_log *log)
{
	struct ward_err err = WARD_ERR_INIT;
	struct ward_ledger_view ledger = {0};
	struct ward_verify_result res = {0};
	uint8_t root[WARD_KEY_BYTES];
	int r = ward_store_read_key(c->store, root, &err);
	if (r == 0)
		r = audit_cmd_ledger(c, root, &ledger, &err);
	if (r == 0) {
		r = ward_verify_trail(log, session, root, ward_ledger_view_find(&ledger, session),
			NULL, &res, &err);
		ward_ledger_view_free(&ledger);
	}
	ward_chain_wipe(root, sizeof(root));
	if (r < 0)
		ward_sayf("this trail was not verified: %s", err.text);
	else if (res.state != WARD_VERIFY_INTACT && !res.running)
		ward_sayf("this trail is not intact: %s%s%s", ward_verify_state_name(res.state),
			res.text[0] ? ": " : "", res.text);
}

/* --- the verb --- */

static int open_state(struct audit_cmd *c, const char *state, struct ward_err *err)
{
	ward_cleanup_free char *path = NULL;
	int r = 0;
	if (!state) {
		r = ward_store_default_path(geteuid(), secure_getenv("XDG_STATE_HOME"),
			secure_getenv("HOME"), &path, err);
		state = path;
	}
	if (r == 0 && !c->system)
		return ward_store_open(state, false, &c->store, err);
	if (r == 0)
		r = ward_store_open_system(WARD_SYSTEM_STATE, c->owner, &c->store, err);
	bool fills = strcmp(c->verb, "index") == 0 || strcmp(c->verb, "sql") == 0;
	return r == 0 ? ward_store_place_index(c->store, state, fills, c->owner, err) : r;
}

/* Options by letter; upper-case ones are filters. */
static const struct option options[] = {{"json", 0, NULL, 'j'}, {"all", 0, NULL, 'a'},
	{"follow", 0, NULL, 'f'}, {"state", 1, NULL, 's'}, {"help", 0, NULL, 'h'},
	AUDIT_FILTER_OPTIONS, {"format", 1, NULL, 'T'}, {"after", 1, NULL, 'n'},
	{"rebuild", 0, NULL, 'b'}, {"output", 1, NULL, 'o'}, {"lines", 1, NULL, 'l'},
	{"key", 1, NULL, 'k'}, {"to", 1, NULL, 't'}, {"cursor", 1, NULL, 'u'},
	{"checkpoints", 1, NULL, 'c'}, {"size", 1, NULL, 'z'}, {"from", 1, NULL, 'F'},
	{"file", 1, NULL, 'p'}, {"no-index", 0, NULL, 'N'}, {"system", 0, NULL, 'y'},
	{"owner", 1, NULL, 'O'}, {"verify", 0, NULL, 'v'}, {"proof", 0, NULL, 'x'}, {0}};

/* The options of a command line. */
struct given {
	const char *state;
	bool help;
	unsigned takes; /* what they belong to */
	struct audit_filter filter;
};

static void clear_given(struct given *g)
{
	audit_filter_clear(&g->filter);
}

/* An option whose argument is a number. */
static int take_number(const char *option, uint64_t *to)
{
	char what[64];
	char *end = NULL;
	errno = 0;
	*to = strtoull(optarg, &end, 10);
	if (!errno && end != optarg && !*end && isdigit((unsigned char)*optarg))
		return 0;
	snprintf(what, sizeof(what), "%s takes the number of a record, not ", option);
	return audit_cmd_usage(what, optarg);
}

/* Options with numbers; *ret_takes is what they belong to. 1: it is none of them. */
static int take_numbers(struct audit_cmd *c, int o, unsigned *ret_takes)
{
	switch (o) {
	case 'n':
		*ret_takes |= TAKES_EXPORT;
		return take_number("--after", &c->after);
	case 'l':
		*ret_takes |= TAKES_LINES;
		return take_number("--lines", &c->lines);
	case 'z':
		*ret_takes |= TAKES_SIZES;
		return take_number("--size", &c->size);
	case 'F':
		c->has_from = true;
		*ret_takes |= TAKES_SIZES;
		return take_number("--from", &c->from);
	default:
		return 1;
	}
}

/* Whose trails of the system's writer. */
static int take_owner(struct audit_cmd *c, int o)
{
	char *end = NULL;
	c->system = true;
	if (o == 'y') {
		c->owner = c->owner_given ? c->owner : getuid();
		return 0;
	}
	const struct passwd *pw = getpwnam(optarg);
	errno = 0;
	unsigned long n = pw ? pw->pw_uid : strtoul(optarg, &end, 10);
	if (!pw && (errno || end == optarg || *end || n > UINT32_MAX - 1))
		return audit_cmd_usage("no such user: ", optarg);
	c->owner = (uid_t)n;
	c->owner_given = true;
	return 0;
}

static int parse(struct audit_cmd *c, int argc, char **argv, struct given *g)
{
	optind = 0; /* GNU: begins anew, main may have used it */
	for (int o = 0; (o = getopt_long(argc, argv, ":jhfo:", options, NULL)) != -1;) {
		int number = take_numbers(c, o, &g->takes);
		if (number < 0 || number == USAGE)
			return USAGE;
		if (number == 0)
			continue;
		if (o == 'j')
			c->json = true;
		else if (o == 'a')
			c->all = true, g->takes |= TAKES_ALL;
		else if (o == 'f')
			c->follow = true, g->takes |= TAKES_FOLLOW;
		else if (o == 's')
			g->state = optarg;
		else if ((o == 'y' || o == 'O') && take_owner(c, o) == USAGE)
			return USAGE;
		else if (o == 'y' || o == 'O')
			continue;
		else if (o == 'T')
			c->format = optarg, g->takes |= TAKES_FORMAT;
		else if (o == 'h')
			g->help = true;
		else if (o == 'o')
			c->output = optarg, g->takes |= TAKES_OUTPUT;
		else if (o == 't')
			c->to = optarg, g->takes |= TAKES_EXPORT;
		else if (o == 'u')
			c->cursor = optarg, g->takes |= TAKES_EXPORT;
		else if (o == 'N')
			c->no_index = true, g->takes |= TAKES_INDEX;
		else if (o == 'v')
			c->verify = true, g->takes |= TAKES_VERIFY;
		else if (o == 'x')
			c->proof = true, g->takes |= TAKES_PROOFS;
		else if (o == 'b')
			c->rebuild = true, g->takes |= TAKES_REBUILD;
		else if (o == 'p')
			c->prove_file = optarg, g->takes |= TAKES_SIZES;
		else if (o == 'c')
			c->checkpoints = optarg, g->takes |= TAKES_KEYS;
		else if (o == 'k' && audit_cmd_add_key(c, optarg))
			g->takes |= TAKES_KEYS;
		else if (o == 'k')
			return audit_cmd_usage("no public key, and no file of them: ", optarg);
		else if ((number = audit_filter_take(&g->filter, o, optarg)) == USAGE)
			return USAGE;
		else if (number == 1)
			g->takes |= TAKES_FILTER;
		else
			return audit_cmd_usage(
				o == ':' ? "an argument is missing: " : "unknown option ",
				argv[optind - 1]);
	}
	if (c->system && g->state)
		return audit_cmd_usage("--state and --system: which one?", "");
	return audit_filter_check(&g->filter);
}

/* Verb, object and session; *ret_verb is the index. */
static int parse_words(
	struct audit_cmd *c, int argc, char **argv, const struct given *g, size_t *ret_verb)
{
	if (optind < argc && strcmp(argv[optind], "help") == 0) {
		fputs(help, stdout);
		return HELPED;
	}
	if (optind >= argc)
		return audit_cmd_usage(
			"what? list, show, tail, file, process, denials, summary, diff, export, verify, "
			"key, prove, attest, index, sql or report",
			"");
	size_t v = 0;
	const size_t n_verbs = sizeof(verbs) / sizeof(*verbs);
	while (v < n_verbs && strcmp(argv[optind], verbs[v].name) != 0)
		v++;
	if (v == n_verbs) {
		const char *near =
			ward_near(argv[optind], &verbs[0].name, n_verbs, sizeof(verbs[0]));
		ward_sayf("audit: there is no verb '%s'%s%s%s wardfs audit --help lists them",
			argv[optind], near ? ": did you mean '" : ";", near ? near : "",
			near ? "'?" : "");
		return USAGE;
	}
	optind++;
	if (verbs[v].takes & TAKES_OBJECT) {
		if (optind >= argc)
			return audit_cmd_usage(verbs[v].name, verbs[v].lacks);
		c->object = argv[optind++];
	}
	if (optind < argc && verbs[v].takes & TAKES_PROOF) {
		c->session = argv[optind++];
		if (optind < argc)
			c->object = argv[optind++];
	}
	if (optind < argc && verbs[v].takes & TAKES_SESSION)
		c->session = argv[optind++];
	if (verbs[v].takes & TAKES_SECOND && !c->session)
		return audit_cmd_usage(verbs[v].name, verbs[v].lacks);
	if (optind < argc || (c->all && c->session))
		return audit_cmd_usage("too many arguments for ", verbs[v].name);
	if (g->takes & ~verbs[v].takes)
		return audit_cmd_usage("there is an option that is not one of ", verbs[v].name);
	if (verbs[v].run == audit_cmd_process && g->filter.f.pid)
		return audit_cmd_usage("process: --pid is its PID", "");
	if (g->filter.f.descendants && !g->filter.f.pid && verbs[v].run != audit_cmd_process)
		return audit_cmd_usage("--descendants: of which process? --pid is needed", "");
	*ret_verb = v;
	return 0;
}

static int run(struct audit_cmd *c, size_t verb, const char *state)
{
	struct ward_err err = WARD_ERR_INIT;
	int r = ward_chain_setup();
	if (r < 0)
		(void)ward_err_sys(&err, r, "libsodium");
	/* A trail elsewhere and a public key: there need not be any session on this host. */
	c->verb = verbs[verb].name;
	if (r == 0 && !(c->n_keys && c->session && strchr(c->session, '/')))
		r = open_state(c, state, &err);
	if (r == 0)
		r = verbs[verb].run(c, &err);
	ward_store_close(c->store);
	if (r < 0)
		ward_say(err.text);
	return r < 0 ? 125 : r;
}

int ward_cmd_audit(int argc, char **argv)
{
	const char *no_color = getenv("NO_COLOR");
	struct audit_cmd c = {.color = isatty(STDOUT_FILENO) && !(no_color && *no_color)};
	ward_cleanup(clear_given) struct given g = {0};
	size_t verb = 0;
	c.filter = &g.filter;
	int r = parse(&c, argc, argv, &g);
	if (r == 0 && g.help) {
		fputs(help, stdout);
		return 0;
	}
	if (r == 0)
		r = parse_words(&c, argc, argv, &g, &verb);
	if (r == HELPED)
		return 0;
	return r == 0 ? run(&c, verb, g.state) : r;
}
