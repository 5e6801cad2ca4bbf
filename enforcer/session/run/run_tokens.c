/* SPDX-License-Identifier: Apache-2.0 */
/* Presents the tokens of a run. */
#include "enforcer/session/run/run_tokens.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "enforcer/session/run/run_asks.h"
#include "enforcer/session/run/run_control.h"

/* For wardfs-fs to say that it has a grant. It looks at once; a host can be held up for long. */
#define ANSWER_MS 60000

struct given {
	bool done, refused;
	struct ward_err *err;
};

static void on_given(void *arg, const struct ward_grant_held *held, const char *error)
{
	struct given *g = arg;
	g->done = true;
	if (!held || error) {
		g->refused = true;
		ward_err_set(g->err, -EPERM, "%s", error ? error : "the session ends");
	}
}

static int present(struct ward_running *r, const char *token, struct ward_err *err)
{
	struct given g = {.err = err};
	const struct ward_grantor by = {.uid = getuid(), .pid = getpid(), .how = "token"};
	const int fs = r->guard.fs.control;
	struct pollfd p = {.fd = fs, .events = POLLIN};
	int e = ward_granting_present(r->granting, token, strlen(token), 0, &by, on_given, &g, err);
	while (e == 0 && !g.done) {
		const int n = poll(&p, 1, ANSWER_MS);
		if (n < 0 && errno == EINTR)
			continue;
		e = n > 0 ? ward_ask_fs_message(&r->ask_fs, fs) : -ETIMEDOUT;
		if (e < 0)
			ward_err_sys(err, e, "wardfs-fs gave no answer");
	}
	/* A later answer would find nothing of ours. */
	if (!g.done && e == -ETIMEDOUT)
		ward_ask_fs_clear(&r->ask_fs);
	return e < 0 ? e : g.refused ? -EPERM : 0;
}

int ward_run_tokens(struct ward_running *r, struct ward_err *err)
{
	const struct ward_strs *tokens = &r->options->tokens;
	struct ward_err why = WARD_ERR_INIT;
	/* From here on wardfs-fs is heard. */
	ward_run_asks_begin(r);
	int e = ward_hook_new(r->plan, &r->hook, err);
	if (e < 0)
		return e;
	e = tokens->n ? ward_run_granting(r) : 0;
	if (e < 0)
		return ward_err_sys(err, e, "tokens");
	for (size_t i = 0; i < tokens->n && e == 0; i++)
		if ((e = present(r, tokens->v[i], &why)) < 0)
			ward_err_set(err, e, "--token: %s", why.text);
	return e;
}
