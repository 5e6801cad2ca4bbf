/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs token: grants that are signed before there is a session. */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "audit/log/chain.h"
#include "audit/store/store.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/out.h"
#include "enforcer/base/quantity.h"
#include "enforcer/cli/base/arguments.h"
#include "enforcer/cli/base/cli.h"
#include "enforcer/cli/base/output.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/cli/base/verbs.h"
#include "enforcer/cli/run/token_file.h"
#include "enforcer/session/grants/grant_token.h"
#include "enforcer/session/grants/token_uses.h"

enum {
	OPT_FOR = 0x100,
	OPT_UNTIL,
	OPT_BEFORE,
	OPT_USES,
	OPT_REASON,
	OPT_KEY,
	OPT_PROJECT,
	OPT_RIGHT,
	OPT_WHAT,
	OPT_LIFTS
};

struct args {
	struct ward_token_block b; /* texts borrowed */
	const char *key, *output, *words[2];
	size_t n, want;
	uint64_t seconds;
	struct ward_buf lifts;
	bool json;
};

static uint64_t take_when(const struct argp_state *state, const char *option, const char *arg)
{
	struct tm tm = {0};
	const char *end = strptime(arg, "%Y-%m-%dT%H:%M:%SZ", &tm);
	const time_t t = end && !*end ? timegm(&tm) : 0;
	if (t <= 0)
		ward_arguments_wrong(
			state, "--%s: a time such as 2026-01-02T03:04:05Z is meant", option);
	return (uint64_t)t;
}

static uint64_t take_for(const struct argp_state *state, const char *arg)
{
	struct ward_err err = WARD_ERR_INIT;
	uint64_t ns = 0;
	if (ward_quantity_duration(arg, WARD_DURATION_BARE | WARD_DURATION_SEVERAL, &ns, &err) < 0)
		ward_arguments_wrong(state, "--for: %s", err.text);
	if (ns < WARD_NS_PER_SEC)
		ward_arguments_wrong(state, "--for: at least one second is needed");
	return ns / WARD_NS_PER_SEC;
}

static void take_uses(const struct argp_state *state, const char *arg, struct args *a)
{
	struct ward_err err = WARD_ERR_INIT;
	uint64_t n = 0;
	if (ward_quantity_whole(arg, 1, UINT32_MAX, &n, &err) < 0)
		ward_arguments_wrong(state, "--uses: %s", err.text);
	a->b.uses = (uint32_t)n;
}

static enum ward_token_right take_right(const struct argp_state *state, const char *word)
{
	const enum ward_token_right r = ward_token_right_of(word);
	if (!r)
		ward_arguments_wrong(state, "'%s' is no right: read, append, write, connect", word);
	return r;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	switch (key) {
	case OPT_FOR:
		a->seconds = take_for(state, arg);
		return 0;
	case OPT_UNTIL:
		a->b.until_s = take_when(state, "until", arg);
		return 0;
	case OPT_BEFORE:
		a->b.from_s = take_when(state, "not-before", arg);
		return 0;
	case OPT_USES:
		take_uses(state, arg, a);
		return 0;
	case OPT_REASON:
		a->b.reason = arg;
		return 0;
	case OPT_KEY:
		a->key = arg;
		return 0;
	case 's':
		a->b.session = arg;
		return 0;
	case OPT_PROJECT:
		a->b.project = arg;
		return 0;
	case OPT_LIFTS:
		ward_buf_printf(&a->lifts, "%s%s", a->lifts.len ? "\n" : "", arg);
		return 0;
	case OPT_RIGHT:
		a->b.right = take_right(state, arg);
		return 0;
	case OPT_WHAT:
		a->b.what = arg;
		return 0;
	case 'o':
		a->output = arg;
		return 0;
	case 'j':
		a->json = true;
		return 0;
	case ARGP_KEY_ARG:
		if (a->n >= a->want)
			ward_arguments_wrong(state, "too many arguments");
		else
			a->words[a->n++] = arg;
		return 0;
	case ARGP_KEY_END:
		if (a->n < a->want)
			ward_arguments_wrong(state, "an argument is missing");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static bool taken(const struct argp *argp, int argc, char **argv, size_t want, struct args *a)
{
	*a = (struct args){.want = want};
	if (ward_arguments_parse(argp, argc, argv, 0, a))
		return false;
	if (ward_chain_setup() == 0)
		return true;
	ward_say("libsodium cannot be used");
	return false;
}

/* --- what comes out --- */

static int say(const struct ward_err *err)
{
	ward_say(err->text);
	return err->code == -EINVAL ? 2 : 1;
}

/* A token is a secret: whoever has it can use it. */
static int write_out(const char *path, const struct ward_buf *b, struct ward_err *err)
{
	ward_cleanup(ward_output_drop) struct ward_output out = WARD_OUTPUT_INIT;
	if (!path) {
		ward_outf("%s", ward_buf_str(b));
		return 0;
	}
	int r = ward_output_begin(path, 0600, false, &out, err);
	if (r == 0 && (r = ward_fd_write_all(out.fd, b->data, b->len)) < 0)
		ward_err_sys(err, r, "%s", path);
	return r == 0 ? ward_output_finish(&out, err) : r;
}

static void print_key(const struct ward_signing_key *key)
{
	char text[WARD_VKEY_MAX];
	ward_public_key_print(&key->pub, text);
	ward_outf("%s\n", text);
}

/* --for counts from the beginning, which is now where none is named. */
static void set_end(struct args *a)
{
	const uint64_t now = ward_clock_real_ns() / WARD_NS_PER_SEC;
	if (a->seconds && !a->b.until_s)
		a->b.until_s = (a->b.from_s ? a->b.from_s : now) + a->seconds;
}

/* --- the verbs --- */

static const struct argp key_argp = {NULL, parse, "FILE",
	"Makes a key that signs tokens, in FILE, which must not exist. Prints its public half, for "
	"'[approvals] approver' of a policy.",
	NULL, NULL, NULL};

static int cmd_key(int argc, char **argv)
{
	struct args a;
	struct ward_signing_key key;
	struct ward_err err = WARD_ERR_INIT;
	if (!taken(&key_argp, argc, argv, 1, &a))
		return 2;
	if (ward_token_key_make(a.words[0], &key, &err) < 0)
		return say(&err);
	print_key(&key);
	ward_chain_wipe(&key, sizeof(key));
	return 0;
}

static const struct argp_option make_options[] = {
	{"key", OPT_KEY, "FILE", 0,
		"Sign with the key in FILE; default: this host's, which signs its trails", 0},
	{"session", 's', "NAME", 0, "For the session of this name", 0},
	{"project", OPT_PROJECT, "DIR", 0, "For any session of the project at this absolute path",
		0},
	{"for", OPT_FOR, "TIME", 0, "It ends after TIME (30s, 10m, 1h30m)", 0},
	{"until", OPT_UNTIL, "WHEN", 0, "It ends at WHEN, such as 2026-01-02T03:04:05Z", 0},
	{"not-before", OPT_BEFORE, "WHEN", 0, "It begins at WHEN", 0},
	{"uses", OPT_USES, "N", 0, "It allows N uses on each host; default: any number", 0},
	{"reason", OPT_REASON, "TEXT", 0, "Why, for the trail", 0},
	{"break-glass", OPT_LIFTS, "GUARD", 0,
		"Lift this line of [guard] ('deny = .env') for what the token gives; may be repeated. For one session, with a reason, an hour at most; the floor has to name the key",
		0},
	{"output", 'o', "FILE", 0, "Write the token to FILE, which must not exist; default: stdout",
		0},
	{0},
};
static const struct argp make_argp = {make_options, parse,
	"read|append|write PATTERN\nconnect HOST[:PORT]",
	"Makes a token: a grant that is signed before there is a session. It counts where '[approvals] "
	"approver' of the policy or the floor names the key. Anybody who has the token can use it: keep it "
	"secret.",
	NULL, NULL, NULL};

static int cmd_make(int argc, char **argv)
{
	struct args a;
	struct ward_signing_key key;
	struct ward_err err = WARD_ERR_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf out = WARD_BUF_INIT;
	if (!taken(&make_argp, argc, argv, 2, &a))
		return 2;
	a.b.right = ward_token_right_of(a.words[0]);
	a.b.what = (char *)(uintptr_t)a.words[1];
	if (a.lifts.len && ward_buf_error(&a.lifts) == 0) {
		ward_buf_putc(&a.lifts, '\0');
		a.b.lifts = a.lifts.data;
		/* The hour begins somewhere: a token that waits for use would have none. */
		a.b.from_s = a.b.from_s ? a.b.from_s : ward_clock_real_ns() / WARD_NS_PER_SEC;
	}
	set_end(&a);
	int r = ward_token_key_read(a.key, &key, &err);
	if (r == 0)
		r = ward_grant_token_make(&key, &a.b, &out, &err);
	ward_chain_wipe(&key, sizeof(key));
	ward_buf_clear(&a.lifts);
	if (r == 0)
		r = write_out(a.output, &out, &err);
	return r < 0 ? say(&err) : 0;
}

static const struct argp_option narrow_options[] = {
	{"session", 's', "NAME", 0, "Only for the session of this name", 0},
	{"right", OPT_RIGHT, "RIGHT", 0, "Only read or append", 0},
	{"what", OPT_WHAT, "PATTERN|HOST", 0, "Only for what lies beneath", 0},
	{"for", OPT_FOR, "TIME", 0, "It ends after TIME, from now", 0},
	{"until", OPT_UNTIL, "WHEN", 0, "It ends at WHEN, such as 2026-01-02T03:04:05Z", 0},
	{"not-before", OPT_BEFORE, "WHEN", 0, "It begins at WHEN", 0},
	{"uses", OPT_USES, "N", 0, "It allows N uses on each host", 0},
	{"reason", OPT_REASON, "TEXT", 0, "Why, for the trail", 0},
	{"output", 'o', "FILE", 0, "Write the token to FILE, which must not exist; default: stdout",
		0},
	{0},
};
static const struct argp narrow_argp = {narrow_options, parse, "TOKEN",
	"Makes a weaker token from the one in the file TOKEN, without its issuer and without a network. What "
	"would give more is refused. The new token cannot be made into the old one again.",
	NULL, NULL, NULL};

static int cmd_narrow(int argc, char **argv)
{
	struct args a;
	struct ward_err err = WARD_ERR_INIT;
	ward_cleanup_free char *text = NULL;
	ward_cleanup(ward_buf_clear) struct ward_buf out = WARD_BUF_INIT;
	if (!taken(&narrow_argp, argc, argv, 1, &a))
		return 2;
	set_end(&a);
	int r = ward_token_file_read(a.words[0], &text, &err);
	if (r == 0)
		r = ward_grant_token_narrow(text, strlen(text), &a.b, &out, &err);
	if (r == 0)
		r = write_out(a.output, &out, &err);
	return r < 0 ? say(&err) : 0;
}

static const struct argp_option show_options[] = {
	{"json", 'j', NULL, 0, "One JSON object", 0},
	{0},
};
static const struct argp show_argp = {show_options, parse, "TOKEN",
	"Checks the token in the file TOKEN and prints what it gives. Which policies name its issuer, and "
	"whether it was revoked, is not looked at.\vExit status: 0 it is whole; 1 it is not.",
	NULL, NULL, NULL};

static void put_text(json_t *o, const char *name, const char *text)
{
	json_object_set_new(o, name, text ? ward_json_text(text) : json_null());
}

static void put_time(json_t *o, const char *name, uint64_t s)
{
	char text[WARD_CLOCK_TEXT_MAX];
	ward_clock_format(s * WARD_NS_PER_SEC, text);
	json_object_set_new(o, name, s ? json_string(text) : json_null());
}

static json_t *token_json(const struct ward_grant_token *t)
{
	const struct ward_token_block *b = &t->gives;
	char key[WARD_VKEY_MAX];
	json_t *o = json_object(), *ids = json_array();
	for (size_t i = 0; i < t->n; i++)
		json_array_append_new(ids, json_string(t->blocks[i].id));
	ward_public_key_print(&t->issuer, key);
	json_object_set_new(o, "ids", ids);
	json_object_set_new(o, "issuer", json_string(key));
	put_text(o, "session", b->session);
	put_text(o, "project", b->project);
	json_object_set_new(o, "right", json_string(ward_token_right_name(b->right)));
	put_text(o, "what", b->what);
	put_time(o, "from", b->from_s);
	put_time(o, "until", b->until_s);
	json_object_set_new(o, "uses", b->uses ? json_integer(b->uses) : json_null());
	put_text(o, "reason", b->reason);
	if (b->lifts)
		put_text(o, "lifts", b->lifts);
	return o;
}

/* One line for each member that says something. */
static void print_token(const json_t *o)
{
	const char *name = NULL;
	json_t *v = NULL;
	size_t i = 0;
	json_object_foreach((json_t *)(uintptr_t)o, name, v)
	{
		json_t *one = NULL;
		if (json_is_string(v))
			ward_outf("%-8s %s\n", name, json_string_value(v));
		else if (json_is_integer(v))
			ward_outf("%-8s %" PRId64 "\n", name, (int64_t)json_integer_value(v));
		json_array_foreach(v, i, one) ward_outf("%-8s %s\n", "id", json_string_value(one));
	}
}

static int cmd_show(int argc, char **argv)
{
	struct args a;
	struct ward_err err = WARD_ERR_INIT;
	ward_cleanup_free char *text = NULL;
	ward_cleanup(ward_grant_token_clear) struct ward_grant_token t = {.n = 0};
	if (!taken(&show_argp, argc, argv, 1, &a))
		return 2;
	int r = ward_token_file_read(a.words[0], &text, &err);
	if (r == 0)
		r = ward_grant_token_read(text, strlen(text), &t, &err);
	if (r < 0)
		return say(&err);
	json_t *o = token_json(&t);
	if (a.json)
		ward_print_json(json_incref(o));
	else
		print_token(o);
	json_decref(o);
	return 0;
}

static const struct argp revoke_argp = {NULL, parse, "ID",
	"From now on no session of the caller takes a token with this id, or one that was narrowed from it. "
	"Sessions that have a grant from the token keep it: wardfs revoke ends that. For other hosts: "
	"'[approvals] revoked' of the policy or the floor names a list of ids.",
	NULL, NULL, NULL};

static int cmd_revoke(int argc, char **argv)
{
	struct args a;
	struct ward_err err = WARD_ERR_INIT;
	struct ward_store *st = NULL;
	ward_cleanup_free char *state = NULL;
	if (!taken(&revoke_argp, argc, argv, 1, &a))
		return 2;
	int r = ward_store_default_path(
		geteuid(), secure_getenv("XDG_STATE_HOME"), secure_getenv("HOME"), &state, &err);
	if (r == 0)
		r = ward_store_open(state, true, &st, &err);
	if (r == 0)
		r = ward_token_revoke(st, a.words[0], &err);
	ward_store_close(st);
	return r < 0 ? say(&err) : 0;
}

int ward_cmd_token(int argc, char **argv)
{
	static const struct ward_cli_verb verbs[] = {
		{"key", cmd_key, "wardfs token key", "make a key that signs tokens"},
		{"make", cmd_make, "wardfs token make", "make a token"},
		{"narrow", cmd_narrow, "wardfs token narrow", "make a weaker one from a token"},
		{"show", cmd_show, "wardfs token show", "check a token and print what it gives"},
		{"revoke", cmd_revoke, "wardfs token revoke", "take a token back on this host"},
	};
	static const struct ward_cli_verbs all = {"wardfs token",
		"Grants that are signed before there is a session.\n", verbs,
		sizeof(verbs) / sizeof(*verbs)};
	return ward_cli_call(&all, argc, argv);
}
