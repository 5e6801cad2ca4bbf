/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs net: what the network of a session tells others. */
#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "audit/log/chain.h"
#include "audit/verify/verify.h"
#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/out.h"
#include "enforcer/base/quantity.h"
#include "enforcer/cli/base/arguments.h"
#include "enforcer/cli/base/cli.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/cli/base/verbs.h"
#include "enforcer/net/protocol/token.h"

/* A file of public keys is no longer. */
#define KEY_FILE_MAX 65536
/* Two hosts whose clocks are kept differ by less. A token expires on time all the same. */
#define SLACK_S 30

enum { OPT_AT = 0x100, OPT_LINES, OPT_JSON, OPT_ANY };

struct verify {
	struct ward_public_key keys[WARD_VERIFY_KEYS_MAX];
	size_t n_keys;
	const char *token;
	const char *destination; /* NULL: of lines, each names its own */
	bool any;		 /* whatever the destination */
	uint64_t at_s;		 /* 0: now */
	bool lines, json;
};

static const struct argp_option options[] = {
	{"key", 'k', "KEY|FILE", 0,
		"Public key of the host that runs the session, as `wardfs audit key show` prints "
		"it, or a file of such lines; repeats",
		0},
	{"destination", 'd', "HOST:PORT", 0,
		"Where the request goes; the token must name the same destination", 0},
	{"any-destination", OPT_ANY, NULL, 0,
		"Accept a token for any destination; the answer names the destination", 0},
	{"at", OPT_AT, "SECONDS", 0, "Judge as at this time (since the epoch), not now", 0},
	{"lines", OPT_LINES, NULL, 0,
		"Read lines \"TOKEN HOST PORT\" and answer each with OK or ERR (a helper of "
		"squid's external_acl_type); a number is taken once. A line without HOST and PORT "
		"is for --destination",
		0},
	{"json", OPT_JSON, NULL, 0, "Write JSON", 0},
	{0},
};

static bool add_key(struct verify *v, const char *text, size_t len)
{
	if (v->n_keys == WARD_VERIFY_KEYS_MAX ||
		ward_public_key_parse(text, len, &v->keys[v->n_keys]) < 0)
		return false;
	v->n_keys++;
	return true;
}

/* A key, or the name of a file of them. */
static bool add_keys(struct verify *v, const char *arg)
{
	if (add_key(v, arg, strlen(arg)))
		return true;
	ward_cleanup_fd int fd = -1;
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	if (ward_fd_open_named(arg, WARD_NAMED_PIPE, &fd, NULL) < 0 ||
		ward_fd_read_all(fd, KEY_FILE_MAX, &b) < 0)
		return false;
	size_t n = 0;
	for (const char *p = ward_buf_str(&b); *p; p += strspn(p, "\n"), n++) {
		size_t len = strcspn(p, "\n");
		if (!add_key(v, p, len))
			return false;
		p += len;
	}
	return n > 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct verify *v = state->input;
	switch (key) {
	case 'k':
		if (!add_keys(v, arg))
			ward_arguments_wrong(
				state, "--key %s: neither a public key nor a file of them", arg);
		return 0;
	case 'd':
		v->destination = arg;
		return 0;
	case OPT_ANY:
		v->any = true;
		return 0;
	case OPT_AT:
		if (ward_quantity_whole(arg, 1, WARD_QUANTITY_MAX, &v->at_s, NULL) < 0)
			ward_arguments_wrong(state, "--at %s: seconds since 1970 are needed", arg);
		return 0;
	case OPT_LINES:
		v->lines = true;
		return 0;
	case OPT_JSON:
		v->json = true;
		return 0;
	case ARGP_KEY_ARG:
		if (v->token)
			return ARGP_ERR_UNKNOWN;
		v->token = arg;
		return 0;
	case ARGP_KEY_END:
		if (v->n_keys == 0)
			ward_arguments_wrong(
				state, "--key is needed: what `wardfs audit key show` prints");
		if (v->lines == (v->token != NULL))
			ward_arguments_wrong(state, "either a token or --lines is needed");
		if (v->any && v->destination)
			ward_arguments_wrong(
				state, "--destination and --any-destination exclude each other");
		if (!v->any && !v->destination && !v->lines)
			ward_arguments_wrong(state,
				"--destination HOST:PORT is needed: where the request goes. Or say "
				"--any-destination");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {options, parse, "TOKEN",
	"Tells which session a request to a proxy comes from ([network] identify): checks the "
	"token "
	"in it with the host's public key alone. TOKEN may begin with \"Bearer \"; of SOCKS5 it is "
	"USER~PASSWORD.\v"
	"Exit status: 0 it is good; 1 it is not: forged, expired, from the future, or for another "
	"destination; 2 usage. A token is good for a minute, by the clock of the host that checks "
	"it. That clock may be up to 30 seconds behind the clock of the session's host. Who "
	"keeps the largest number of each session sees a token that comes twice; --lines does.",
	NULL, NULL, NULL};

/* Why the token is not to be believed; NULL: it is. */
static const char *judge(const struct verify *v, const char *text, const char *destination,
	struct ward_token *ret, size_t *ret_key)
{
	uint64_t now = v->at_s ? v->at_s : ward_clock_real_ns() / WARD_NS_PER_SEC;
	if (strncmp(text, "Bearer ", 7) == 0)
		text += 7;
	if (ward_token_parse(text, strlen(text), ret) < 0)
		return "this is no token";
	switch (ward_token_check(ret, text, v->keys, v->n_keys, now, SLACK_S, ret_key)) {
	case WARD_TOKEN_FORGED:
		return "not signed for by the given key";
	case WARD_TOKEN_EARLY:
		return "from the future: the clocks of the two hosts differ";
	case WARD_TOKEN_EXPIRED:
		return "expired";
	case WARD_TOKEN_GOOD:
		break;
	}
	/* a proxy may name it as a request does: the case of a name says nothing (RFC 4343) */
	if (destination && strcasecmp(destination, ret->destination) != 0)
		return "for another destination";
	return NULL;
}

static void print_json(const char *fault, const struct ward_token *t, const char *key)
{
	json_t *o = json_pack("{s:b}", "good", !fault);
	if (fault)
		json_object_set_new(o, "why", json_string(fault));
	/* Nothing unsigned is passed on. */
	else
		json_object_update_new(
			o, json_pack("{s:s, s:s, s:s, s:s, s:I, s:I}", "key", key, "session",
				   t->session, "destination", t->destination, "policy", t->policy,
				   "number", (json_int_t)t->number, "expires",
				   (json_int_t)t->expires_s));
	ward_print_json(o);
}

static int verify_one(const struct verify *v)
{
	struct ward_token t = {0};
	char key[WARD_VKEY_MAX] = "";
	size_t signer = 0;
	const char *fault = judge(v, v->token, v->destination, &t, &signer);
	if (!fault)
		ward_public_key_print(&v->keys[signer], key);
	if (v->json)
		print_json(fault, &t, key);
	else if (fault)
		ward_sayf("the token is not valid: %s", fault);
	else
		ward_outf("session      %s\ndestination  %s\npolicy       %s\nnumber       %llu\n"
			  "key          %s\n",
			t.session, t.destination, t.policy, (unsigned long long)t.number, key);
	return fault ? 1 : 0;
}

/* --- a helper of a proxy --- */

/* The last numbers of a session: connections that are opened at once overtake one another. */
#define WINDOW 1024
#define SESSIONS_MAX 1024

struct seen {
	uint8_t key[WARD_SIGN_PUBLIC_BYTES];
	uint64_t last;	    /* the largest */
	bool taken[WINDOW]; /* of last and those before, by number % WINDOW */
	uint64_t used;	    /* the counter of lines */
};

/* False: it was taken before, or is too old to tell. */
static bool take_number(struct seen *all, uint64_t line, const struct ward_token *t)
{
	struct seen *s = NULL;
	for (size_t i = 0; i < SESSIONS_MAX && !s; i++)
		if (all[i].used && memcmp(all[i].key, t->key, sizeof(t->key)) == 0)
			s = &all[i];
	if (!s) {
		s = &all[0];
		for (size_t i = 1; i < SESSIONS_MAX; i++)
			if (all[i].used < s->used)
				s = &all[i];
		*s = (struct seen){.last = 0};
		memcpy(s->key, t->key, sizeof(s->key));
	}
	s->used = line;
	if (t->number > s->last) {
		if (t->number - s->last >= WINDOW)
			memset(s->taken, 0, sizeof(s->taken));
		else
			while (++s->last < t->number)
				s->taken[s->last % WINDOW] = false;
		s->last = t->number;
	} else if (s->last - t->number >= WINDOW || s->taken[t->number % WINDOW]) {
		return false;
	}
	s->taken[t->number % WINDOW] = true;
	return true;
}

/* squid sends what a header had with %XX for what is no plain character. */
static void unescape(char *s)
{
	char *to = s;
	unsigned v = 0;
	for (; *s; s++) {
		if (*s == '%' && isxdigit((unsigned char)s[1]) && isxdigit((unsigned char)s[2]) &&
			sscanf(s + 1, "%2x", &v) == 1 && v) {
			*to++ = (char)v;
			s += 2;
		} else {
			*to++ = *s;
		}
	}
	*to = 0;
}

/* "TOKEN" alone where the options say more, "TOKEN HOST:PORT" or "TOKEN HOST PORT", the token with
 * "Bearer " or not. */
static const char *judge_line(
	const struct verify *v, char *line, struct ward_token *ret, size_t *ret_key)
{
	char to[WARD_TOKEN_DESTINATION_MAX] = "";
	char *save = NULL;
	char *word = strtok_r(line, " ", &save);
	if (word)
		unescape(word);
	/* A space inside the word is escaped, so a plain space ends the word. */
	if (word && strcmp(word, "Bearer") == 0)
		word = strtok_r(NULL, " ", &save);
	const char *host = strtok_r(NULL, " ", &save), *port = strtok_r(NULL, " ", &save);
	if (host)
		snprintf(to, sizeof(to), "%s%s%s", host, port ? ":" : "", port ? port : "");
	if (!*to && !v->destination && !v->any)
		return "the line names no destination";
	const char *fault = judge(v, word ? word : "", *to ? to : v->destination, ret, ret_key);
	/* Where both are said, the token is for both. */
	if (!fault && *to && v->destination && strcasecmp(v->destination, to) != 0)
		return "for another destination";
	return fault;
}

/* The next line, without its end. *ret_fault: why it cannot be judged, or NULL. False: no more. */
static bool next_line(char *line, size_t size, const char **ret_fault)
{
	size_t n = 0;
	int c = getchar();
	if (c == EOF)
		return false;
	*ret_fault = NULL;
	for (; c != '\n' && c != EOF; c = getchar()) {
		if (!c)
			*ret_fault = "a line with a NUL byte";
		else if (n + 1 == size)
			*ret_fault = "a line that is too long";
		else
			line[n++] = (char)c;
	}
	if (c == EOF && !*ret_fault)
		*ret_fault = "a line without an end";
	line[n] = 0;
	line[strcspn(line, "\r")] = 0;
	return true;
}

static int verify_lines(const struct verify *v)
{
	char line[4 * WARD_TOKEN_MAX];
	const char *fault = NULL;
	ward_cleanup_free struct seen *all = calloc(SESSIONS_MAX, sizeof(*all));
	if (!all) {
		ward_say("out of memory");
		return 2;
	}
	for (uint64_t n = 1; next_line(line, sizeof(line), &fault); n++) {
		struct ward_token t = {0};
		size_t signer = 0;
		if (!fault)
			fault = judge_line(v, line, &t, &signer);
		if (!fault && !take_number(all, n, &t))
			fault = "its number was taken before";
		if (fault)
			ward_outf("ERR message=\"%s\"\n", fault);
		else
			ward_outf("OK user=%s tag=%llu key=%02x%02x%02x%02x\n", t.session,
				(unsigned long long)t.number, v->keys[signer].id[0],
				v->keys[signer].id[1], v->keys[signer].id[2],
				v->keys[signer].id[3]);
		if (ward_out_flush() < 0)
			return 2;
	}
	return 0;
}

static int cmd_verify_token(int argc, char **argv)
{
	struct verify v = {0};
	if (ward_chain_setup() < 0) {
		ward_say("libsodium cannot be used");
		return 2;
	}
	if (ward_arguments_parse(&argp, argc, argv, 0, &v))
		return 2;
	return v.lines ? verify_lines(&v) : verify_one(&v);
}

int ward_cmd_net(int argc, char **argv)
{
	static const struct ward_cli_verb verbs[] = {{"verify-token", cmd_verify_token,
		"wardfs net verify-token", "name the session that sent a request to a proxy"}};
	static const struct ward_cli_verbs all = {"wardfs net",
		"Tells a proxy outside which session sent a request.\n", verbs,
		sizeof(verbs) / sizeof(*verbs)};
	return ward_cli_call(&all, argc, argv);
}
