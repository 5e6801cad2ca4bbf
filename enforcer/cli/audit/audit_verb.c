/* SPDX-License-Identifier: Apache-2.0 */
/* Calls a verb of wardfs audit: its options and words, the store that they name, its exit status.
 */
#include "enforcer/base/escape.h"
#include "enforcer/base/buf.h"
#include "enforcer/cli/audit/audit_verb.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/log/chain.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/patient.h"
#include "enforcer/cli/audit/audit_filter.h"
#include "enforcer/cli/audit/audit_options.h"
#include "enforcer/cli/base/arguments.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/ipc/system.h"

#define USAGE 2
#define FAILED 125

/* A command line while it is taken. */
struct given {
	const struct audit_verb *v;
	struct audit_cmd *c;
	size_t n_words;
};

static error_t take_word(struct given *g, const char *arg)
{
	switch (g->v->words[g->n_words]) {
	case 's':
		g->c->session = arg;
		break;
	case 'o':
		g->c->object = arg;
		break;
	default:
		return audit_options_wrong(g->c, "too many arguments: ", arg);
	}
	g->n_words++;
	return 0;
}

/* All of it is taken. */
static error_t check(const struct given *g)
{
	const struct audit_verb *v = g->v;
	if (g->n_words < v->need)
		return audit_options_wrong(g->c, v->lacks, "");
	if (g->c->all && g->c->session)
		return audit_options_wrong(g->c, "--all and SESSION exclude each other", "");
	if (g->c->filter.f.descendants && !g->c->filter.f.pid && !v->of_process)
		return audit_options_wrong(g->c, "--descendants needs --pid", "");
	return audit_options_check(g->c);
}

error_t audit_verb_parse(int key, char *arg, struct argp_state *state)
{
	struct given *g = state->input;
	const struct argp_child *children = g->v->argp->children;
	/* A parser that takes the options of this verb alone has another input than the groups'. */
	struct argp_state own = *state;
	switch (key) {
	case ARGP_KEY_INIT:
		for (size_t i = 0; children[i].argp; i++)
			state->child_inputs[i] = g->c;
		return 0;
	case ARGP_KEY_ARG:
		return take_word(g, arg);
	case ARGP_KEY_END:
		return check(g);
	default:
		own.input = g->c;
		return audit_options_take(key, arg, &own);
	}
}

/* A name with ".tar" is that of a file where there is one; no session of wardfs is so called. */
bool audit_verb_is_file(const char *what)
{
	const size_t n = what ? strlen(what) : 0;
	return n > 0 && (strchr(what, '/') || (n > 4 && strcmp(what + n - 4, ".tar") == 0 &&
						      access(what, F_OK) == 0));
}

/* Where the trails lie: --state from the current directory, or the default. */
static int state_path(const struct audit_cmd *c, char **ret, struct ward_err *err)
{
	ward_cleanup_free char *here = NULL;
	if (!c->state)
		return ward_store_default_path(geteuid(), secure_getenv("XDG_STATE_HOME"),
			secure_getenv("HOME"), ret, err);
	const bool relative = c->state[0] != '/';
	if (relative && !(here = getcwd(NULL, 0)))
		return ward_err_sys(err, -errno, "--state %s: the current directory", c->state);
	if (asprintf(ret, "%s%s%s", relative ? here : "", relative ? "/" : "", c->state) < 0) {
		*ret = NULL;
		return ward_err_sys(err, -ENOMEM, "--state");
	}
	return 0;
}

static int open_store(struct audit_cmd *c, bool fills, struct ward_err *err)
{
	ward_cleanup_free char *state = NULL;
	int r = state_path(c, &state, err);
	if (r == 0 && !c->system)
		r = ward_patient_reach(state, err);
	if (r == 0 && !c->system)
		return ward_store_open(state, false, &c->store, err);
	if (r == 0)
		r = ward_store_open_system(WARD_SYSTEM_STATE, c->owner, &c->store, err);
	return r == 0 ? ward_store_place_index(c->store, state, fills, c->owner, err) : r;
}

/* A file was named as a session is; or nothing ever ran on this host. */
static void explain(const struct audit_cmd *c, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf word = WARD_BUF_INIT;
	struct stat st;
	if (c->session && !strchr(c->session, '/') && stat(c->session, &st) == 0 &&
		S_ISREG(st.st_mode))
		(void)ward_err_set(err, -ENOENT, "%s is a file here: wardfs audit verify ./%s",
			c->session, ward_shell_quoted(&word, c->session));
	else if (!c->store && !c->state)
		(void)ward_err_set(err, -ENOENT,
			"this host has no trails. To verify a file of another host: wardfs audit "
			"verify --key KEY ./FILE");
}

static int run(const struct audit_verb *v, struct audit_cmd *c)
{
	struct ward_err err = WARD_ERR_INIT;
	int r = ward_chain_setup();
	if (r < 0)
		(void)ward_err_sys(&err, r, "libsodium");
	/* A trail elsewhere and a public key: there need not be any session on this host. */
	if (r == 0 && !((c->n_keys || c->has_ledger_key) && audit_verb_is_file(c->session)))
		r = open_store(c, v->fills, &err);
	if (r == -ENOENT && c->state && !c->store)
		(void)ward_err_sys(&err, r, "--state %s", c->state);
	/* An empty list is an answer. One session, or a directory, that was named must be there. */
	if (r == -ENOENT && v->lists && !c->state && !c->session) {
		if (c->json)
			ward_print_json(json_array());
		ward_say(err.text);
		return 0;
	}
	if (r == 0)
		r = v->run(c, &err);
	if (r == -ENOENT && strcmp(v->name, "verify") == 0)
		explain(c, &err);
	ward_store_close(c->store);
	if (r < 0)
		ward_say(err.text);
	/* A script that asks for the latest session must notice that this is not it. */
	if (r == 0 && c->another)
		r = 1;
	return r < 0 ? FAILED : r;
}

int audit_verb_call(const struct audit_verb *v, int argc, char **argv)
{
	const char *no_color = getenv("NO_COLOR");
	struct audit_cmd c = {
		.verb = v->name, .color = isatty(STDOUT_FILENO) && !(no_color && *no_color)};
	struct given g = {.v = v, .c = &c};
	int status = ward_arguments_parse(v->argp, argc, argv, 0, &g) ? USAGE : run(v, &c);
	audit_filter_clear(&c.filter);
	ward_buf_clear(&c.rotations);
	return status;
}
