/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs policy forget: a repository of an earlier start is guarded no longer. */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "audit/store/store.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/out.h"
#include "enforcer/cli/base/arguments.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/cli/place/policy_place.h"
#include "enforcer/cli/policy/policy_verbs.h"
#include "enforcer/session/owner/remembered.h"

struct args {
	bool beneath;
	const char *path;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	switch (key) {
	case 'a':
		a->beneath = true;
		return 0;
	case ARGP_KEY_ARG:
		if (a->path)
			ward_arguments_wrong(state, "one path at a time");
		a->path = arg;
		return 0;
	case ARGP_KEY_END:
		if (!a->path)
			ward_arguments_wrong(state, "a path is needed");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option options[] = {
	{"all", 'a', NULL, 0, "Also forget all repositories beneath PATH", 0},
	{0},
};
static const struct argp argp = {options, parse, "PATH",
	"Forgets the repository that an earlier start found at PATH. Until you forget a "
	"repository, wardfs guards what is left of it, so that a session cannot remove its "
	"guards by moving a part of it. PATH is a path of the host, or a path inside. If PATH "
	"still is a repository, the next start finds it again.\vExit status: 0 forgotten; 1 "
	"wardfs remembers nothing there; 2 usage or policy.",
	NULL, NULL, NULL};

/* The path on the host: of what the trees serve, else as it was written. */
static int host_path(
	const struct ward_policy_place *p, const char *arg, char **ret, struct ward_err *err)
{
	ward_cleanup_free char *inside = NULL;
	bool dir = false;
	int r = ward_policy_place_path(p, arg, &inside, &dir, err);
	if (r < 0)
		return r;
	*ret = ward_policy_place_host(p, inside);
	if (!*ret)
		*ret = ward_steal_ptr(&inside);
	return *ret ? 0 : ward_err_sys(err, -ENOMEM, "%s", arg);
}

static int forget(const struct args *a, struct ward_err *err)
{
	ward_cleanup(ward_policy_place_clear) struct ward_policy_place place;
	ward_cleanup_free char *path = NULL, *state = NULL;
	size_t n = 0;
	int r = ward_policy_place_find(NULL, &place, err);
	if (r == 0) {
		r = host_path(&place, a->path, &path, err);
	} else if (place.id.home && a->path[0] == '/') {
		/* What is remembered may be what keeps the policy from loading. */
		ward_sayf("taken as a path of this host: %s", err->text);
		path = strdup(a->path);
		r = path ? 0 : ward_err_sys(err, -ENOMEM, "%s", a->path);
	}
	if (r == 0)
		r = ward_store_default_path(
			geteuid(), getenv("XDG_STATE_HOME"), place.id.home, &state, err);
	if (r == 0)
		r = ward_remembered_forget(&place.id, state, path, a->beneath, &n, err);
	if (r < 0)
		return r;
	if (n)
		ward_outf("forgotten: %s\n", path);
	else
		ward_sayf("wardfs remembers nothing of %s%s ('wardfs policy check' lists what it "
			  "remembers)",
			path, a->beneath ? "" : "; --all takes all beneath it");
	return n ? 0 : 1;
}

int ward_policy_cmd_forget(int argc, char **argv)
{
	struct args a = {0};
	if (ward_arguments_parse(&argp, argc, argv, 0, &a))
		return 2;
	struct ward_err err = WARD_ERR_INIT;
	int r = forget(&a, &err);
	if (r < 0) {
		ward_say(err.text);
		return 2;
	}
	return r;
}
