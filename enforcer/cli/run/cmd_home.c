/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs home: the homes that [home] mode = project keeps. */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "audit/log/chain.h"
#include "audit/store/store.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/out.h"
#include "enforcer/base/plural.h"
#include "enforcer/base/plain.h"
#include "enforcer/cli/base/arguments.h"
#include "enforcer/cli/base/ask.h"
#include "enforcer/cli/base/cli.h"
#include "enforcer/cli/base/progress.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/cli/base/verbs.h"
#include "enforcer/cli/place/policy_place.h"
#include "enforcer/session/home/home.h"
#include "enforcer/session/owner/project.h"

struct args {
	const char *project; /* a path, or a name of `home list`; NULL: where we stand */
	bool json, all, yes;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	switch (key) {
	case 'j':
		a->json = true;
		return 0;
	case 'a':
		a->all = true;
		return 0;
	case 'y':
		a->yes = true;
		return 0;
	case ARGP_KEY_ARG:
		if (a->project)
			return ARGP_ERR_UNKNOWN;
		a->project = arg;
		return 0;
	case ARGP_KEY_END:
		if (a->all && a->project)
			ward_arguments_wrong(state, "--all means every home; name none besides");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int find_state(char **ret, struct ward_err *err)
{
	return ward_store_default_path(
		geteuid(), secure_getenv("XDG_STATE_HOME"), secure_getenv("HOME"), ret, err);
}

/* What one command looks for and does with each home that it finds. */
struct look {
	const struct args *args;
	char *project; /* owned: absolute path of the project that is meant; NULL: all */
	json_t *found;
	bool measure, clear, keep;
	unsigned n;
	struct ward_progress progress;
};

/*
 * A link in the place of the directory is a session's, it may be: it would name the home of another
 * project. What is gone has its path alone.
 */
static int find_named(struct look *l, struct ward_err *err)
{
	struct ward_err why = WARD_ERR_INIT;
	ward_cleanup_fd int fd = -1;
	int r = ward_plain_dir(l->args->project, &fd, &why);
	if (r == -ELOOP || r == -ENOMEM)
		return ward_err_set(err, r, "%s", why.text);
	if (r == 0)
		r = ward_fd_path(fd, &l->project);
	if (!l->project)
		l->project = strdup(l->args->project);
	return l->project ? 0 : ward_err_sys(err, -ENOMEM, "project");
}

/* The project here, or the path as it is on the host: it may be gone by now. */
static int find_project(struct look *l, struct ward_err *err)
{
	struct ward_project p = {.fd = -1};
	if (l->args->all)
		return 0;
	if (l->args->project)
		return find_named(l, err);
	int r = ward_project_find(NULL, WARD_PROJECT_OWNERS, &p, err);
	if (r == 0)
		ward_project_say(&p);
	if (r == 0)
		l->project = ward_steal_ptr(&p.path);
	ward_project_clear(&p);
	return r;
}

static bool is_meant(const struct look *l, const struct ward_home_entry *e)
{
	return !l->project || strcmp(e->project, l->project) == 0 ||
	       (l->args->project && strcmp(e->name, l->args->project) == 0);
}

static int visit(void *user, const struct ward_home_entry *e, struct ward_err *err)
{
	struct look *l = user;
	struct ward_home_size size = {0, 0};
	if (!is_meant(l, e))
		return 0;
	int r = l->measure && e->home >= 0 ? ward_home_measure(e->home, &size, err) : 0;
	if (r == 0 && l->keep)
		r = ward_home_bind(e, err);
	if (r == 0 && l->clear)
		r = ward_home_delete(e, ward_progress_tell, &l->progress, err);
	if (r < 0)
		return r;
	l->n++;
	json_t *o = json_pack("{s:s, s:o, s:o, s:I, s:b}", "name", e->name, "project",
		ward_json_text(e->project), "path", ward_json_text(e->path), "uid",
		(json_int_t)e->uid, "busy", e->busy);
	if (l->measure)
		json_object_update_new(o, json_pack("{s:I, s:I}", "bytes", (json_int_t)size.bytes,
						  "files", (json_int_t)size.files));
	json_array_append_new(l->found, o);
	return 0;
}

static void print_row(const struct look *l, const json_t *o)
{
	char text[32];
	const json_t *bytes = json_object_get(o, "bytes");
	const json_t *files = json_object_get(o, "files");
	if (bytes)
		ward_outf("%8s %9" JSON_INTEGER_FORMAT "  ",
			ward_size_text((uint64_t)json_integer_value(bytes), text, sizeof(text)),
			json_integer_value(files));
	/* escaped once, when it was found */
	ward_outf("%s%s%s\n",
		l->clear  ? "cleared: "
		: l->keep ? "kept for: "
			  : "",
		json_string_value(json_object_get(o, "project")),
		json_is_true(json_object_get(o, "busy")) ? "  (a session runs)" : "");
}

static int tell(struct look *l, int r, const struct ward_err *err)
{
	const json_t *o = NULL;
	size_t i = 0;
	if (r == 0 && !l->n && l->project)
		ward_sayf("no home is kept for %s; 'wardfs home list' lists the kept homes",
			l->project);
	if (l->args->json)
		ward_print_json(json_incref(l->found));
	if (!l->args->json && l->measure && l->n)
		ward_outf("%8s %9s  %s\n", "SIZE", "FILES", "PROJECT");
	if (!l->args->json)
		json_array_foreach(l->found, i, o) print_row(l, o);
	if (r < 0)
		ward_say(err->text);
	return r < 0 || (!l->n && l->project) ? 1 : 0;
}

struct census {
	unsigned homes, owners;
	uid_t last; /* of the owners: homes of one stand together */
};

static int count_home(void *user, const struct ward_home_entry *e, struct ward_err *err)
{
	struct census *c = user;
	(void)err;
	c->owners += c->homes == 0 || c->last != e->uid;
	c->homes++;
	c->last = e->uid;
	return 0;
}

/* All homes at once, logins of agents in them: root's command means those of every user. */
static int ask_all(const struct args *a, const char *state, struct ward_err *err)
{
	struct census c = {0};
	int r = a->yes ? 0 : ward_home_each(state, count_home, &c, err);
	if (r < 0 || c.homes == 0)
		return r;
	if (!ask_possible())
		return ward_err_set(err, -ECANCELED,
			"nothing was cleared: --all would clear %u home%s of %u owner%s in %s, and there is "
			"no terminal on which to ask. Give --yes ('wardfs home list' lists them)",
			c.homes, ward_s(c.homes), c.owners, ward_s(c.owners), state);
	ward_outf("%u home%s of %u owner%s in %s, with what agents stored there, sign-ins too.\n",
		c.homes, ward_s(c.homes), c.owners, ward_s(c.owners), state);
	return ask_word("Clear all of them? y, n [n]", "yn", 'n', 'n') == 'y'
		       ? 0
		       : ward_err_set(err, -ECANCELED, "nothing was cleared");
}

static int look(const struct argp *argp, struct look *l, int argc, char **argv, bool all)
{
	struct args a = {0};
	struct ward_err err = WARD_ERR_INIT;
	ward_cleanup_free char *state = NULL;
	if (ward_arguments_parse(argp, argc, argv, 0, &a))
		return 2;
	a.all = a.all || (all && !a.project);
	l->args = &a;
	l->found = json_array();
	ward_progress_begin(&l->progress, "clearing a home", "names");
	int r = ward_chain_setup() < 0 ? ward_err_set(&err, -EIO, "libsodium cannot be used")
				       : find_project(l, &err);
	if (r == 0)
		r = find_state(&state, &err);
	if (r == 0 && l->clear && a.all)
		r = ask_all(&a, state, &err);
	if (r == 0)
		r = ward_home_each(state, visit, l, &err);
	ward_progress_end(&l->progress);
	int status = tell(l, r, &err);
	json_decref(l->found);
	free(l->project);
	return status;
}

static const struct argp_option list_options[] = {
	{"json", 'j', NULL, 0, "One JSON array of objects: name, project, path, uid, busy", 0},
	{0},
};
static const struct argp list_argp = {list_options, parse, NULL,
	"Lists the homes that sessions keep for their projects ([home] mode = project).", NULL,
	NULL, NULL};

static const struct argp_option size_options[] = {
	{"json", 'j', NULL, 0, "One JSON array of objects, as of home list, and bytes, files", 0},
	{0},
};
static const struct argp size_argp = {size_options, parse, "[PROJECT]",
	"Counts what is in each kept home, or in that of PROJECT: a path, or a name of home list "
	"--json.",
	NULL, NULL, NULL};

static const struct argp_option clear_options[] = {
	{"all", 'a', NULL, 0, "Of all projects; as root of all users", 0},
	{"yes", 'y', NULL, 0, "With --all: do not ask first", 0},
	{"json", 'j', NULL, 0, "One JSON array of what was cleared, as of home list", 0},
	{0},
};
static const struct argp clear_argp = {clear_options, parse, "[PROJECT]",
	"Removes the kept home of PROJECT (a path, or a name of home list --json; without it "
	"the "
	"project here). The next session starts with an empty one.\v"
	"--all asks first; without a terminal it needs --yes.\n"
	"Exit status: 0 cleared; 1 no home is kept, or a session uses it (it stays unchanged), or "
	"--all was "
	"not confirmed.",
	NULL, NULL, NULL};

static int cmd_list(int argc, char **argv)
{
	struct look l = {.measure = false};
	return look(&list_argp, &l, argc, argv, true);
}

static int cmd_size(int argc, char **argv)
{
	struct look l = {.measure = true};
	return look(&size_argp, &l, argc, argv, true);
}

static int cmd_clear(int argc, char **argv)
{
	struct look l = {.clear = true};
	return look(&clear_argp, &l, argc, argv, false);
}

static const struct argp_option keep_options[] = {
	{"json", 'j', NULL, 0, "One JSON array of what was kept, as of home list", 0},
	{0},
};
static const struct argp keep_argp = {keep_options, parse, "[PROJECT]",
	"Gives the kept home of PROJECT (a path, or a name of home list --json; without it the "
	"project "
	"here) to the directory that exists at its path now, such as a new clone. Sessions in it "
	"get what "
	"earlier ones left, tokens too.\v"
	"Exit status: 0 kept; 1 no home is kept, or the directory is missing.",
	NULL, NULL, NULL};

static int cmd_keep(int argc, char **argv)
{
	struct look l = {.keep = true};
	return look(&keep_argp, &l, argc, argv, false);
}

int ward_cmd_home(int argc, char **argv)
{
	static const struct ward_cli_verb verbs[] = {
		{"list", cmd_list, "wardfs home list", "list the kept homes and their owners"},
		{"size", cmd_size, "wardfs home size", "print their sizes"},
		{"keep", cmd_keep, "wardfs home keep",
			"give a kept home to a new directory at the same path"},
		{"clear", cmd_clear, "wardfs home clear", "delete a kept home"},
	};
	static const struct ward_cli_verbs all = {"wardfs home",
		"Manages the homes that sessions keep for their projects.\n", verbs,
		sizeof(verbs) / sizeof(*verbs)};
	return ward_cli_call(&all, argc, argv);
}
