/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs run: a command in a guarded workspace. */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/quantity.h"
#include "enforcer/cli/base/arguments.h"
#include "enforcer/cli/base/cli.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/cli/run/run_keep.h"
#include "enforcer/cli/run/run_once.h"
#include "enforcer/cli/run/run_prepare.h"
#include "enforcer/cli/run/token_file.h"
#include "enforcer/modes/modes.h"
#include "enforcer/session/records/session_about.h"
#include "enforcer/session/run/run.h"

enum {
	OPT_READ = 0x100,
	OPT_WRITE,
	OPT_STATUS_FD,
	OPT_KEEP,
	OPT_HIDE,
	OPT_NET,
	OPT_PUBLISH,
	OPT_FORWARD,
	OPT_ALLOW_MISSING,
	OPT_TRUST,
	OPT_IMAGE,
	OPT_ENGINE,
	OPT_REFUSED,
	OPT_LABEL,
	OPT_TOKEN,
	OPT_REVIEW,
	OPT_FROM,
	OPT_JSON,
	OPT_PREPARE
};

struct args {
	struct ward_run_options o;
	bool dry, json, verbose;
	const char *prepare; /* context (warm/key.h) */
};

static const struct argp_option options[] = {
	{NULL, 0, NULL, 0, "What CMD may reach, in this run (each repeats):", 1},
	{"read", OPT_READ, "PATH", 0, "May be read", 1},
	{"write", OPT_WRITE, "PATH", 0, "May be written", 1},
	{"hide", OPT_HIDE, "PATTERN", 0, "Does not exist for CMD", 1},
	{"net", OPT_NET, "HOST[:PORT]", 0, "May be reached", 1},
	{"publish", OPT_PUBLISH, "PORT[:PORT]", 0, "This port here leads to it (or the 2nd) inside",
		1},
	{"forward", OPT_FORWARD, "PORT[:PORT]", 0, "This port inside leads to it (or the 2nd) here",
		1},
	{"env", 'e', "NAME[=VALUE]", 0, "Pass a variable on, or set it; never recorded", 1},
	{"token", OPT_TOKEN, "FILE", 0, "Give what a signed grant grants (wardfs token)", 1},
	{NULL, 0, NULL, 0, "What decides, and how CMD is isolated:", 2},
	{"policy", 'p', "FILE|PROFILE", 0, "In place of your file for this project", 2},
	{"mode", 'm', "MODE", 0, "", 2}, /* help() names those that are ready */
	{"trust", OPT_TRUST, "LEVEL", 0, "Yours, for mode auto: low, medium, high", 2},
	{"image", OPT_IMAGE, "IMAGE", 0, "Programs of an image, not of this host; or none", 2},
	{"engine", OPT_ENGINE, "ENGINE", 0, "Mode docker's: runc, runsc, podman or docker", 2},
	{"allow-missing", OPT_ALLOW_MISSING, "NAME", 0,
		"Run without a limit that cannot be enforced here", 2},
	{"review", OPT_REVIEW, NULL, 0, "Changes wait for wardfs review apply", 2},
	{"from", OPT_FROM, "SESSION[@STEP]", 0, "Begin where that session was; --review", 2},
	{NULL, 0, NULL, 0, "The session:", 3},
	{"session", 's', "NAME", 0, "Its name; a number follows one that was used", 3},
	{"keep", OPT_KEEP, NULL, 0, "Keep it when CMD ends, until wardfs kill", 3},
	{"label", OPT_LABEL, "KEY=VALUE", 0, "Record what it is for (task, ticket); repeats", 3},
	{"status-fd", OPT_STATUS_FD, "N", 0, "Write its events to descriptor N, as JSON", 3},
	{"user", 'u', "USER", 0, "Whose session it is; as root only", 3},
	{NULL, 0, NULL, 0, "Look first:", 4},
	{"dry-run", 'n', NULL, 0, "Print what would be in force; start nothing", 4},
	{"json", OPT_JSON, NULL, 0, "With --dry-run: one JSON object", 4},
	{"verbose", 'v', NULL, 0, "Also say what is the same at each start", 4},
	/* What wardfs starts itself (run_prepare.h). */
	{"prepare", OPT_PREPARE, "CONTEXT", OPTION_HIDDEN, "", 4},
	/* Known to people who come from an engine. */
	{"privileged", OPT_REFUSED, NULL, OPTION_HIDDEN, "", 4},
	{"cap-add", OPT_REFUSED, "CAP", OPTION_HIDDEN, "", 4},
	{"device", OPT_REFUSED, "DEVICE", OPTION_HIDDEN, "", 4},
	{"security-opt", OPT_REFUSED, "OPTION", OPTION_HIDDEN, "", 4},
	{"volume", OPT_REFUSED, "VOLUME", OPTION_HIDDEN, "", 4},
	{"pid", OPT_REFUSED, "NAMESPACE", OPTION_HIDDEN, "", 4},
	{"ipc", OPT_REFUSED, "NAMESPACE", OPTION_HIDDEN, "", 4},
	{"uts", OPT_REFUSED, "NAMESPACE", OPTION_HIDDEN, "", 4},
	{"userns", OPT_REFUSED, "NAMESPACE", OPTION_HIDDEN, "", 4},
	{"cgroupns", OPT_REFUSED, "NAMESPACE", OPTION_HIDDEN, "", 4},
	{0},
};

static int add(const char ***v, size_t *n, const char *s)
{
	const char **more = realloc(*v, (*n + 1) * sizeof(*more));
	if (!more)
		return ENOMEM;
	more[(*n)++] = s;
	*v = more;
	return 0;
}

/* The descriptor of --status-fd. */
static void take_status_fd(struct ward_run_options *o, const char *arg, struct argp_state *state)
{
	uint64_t fd = 0;
	/* Nobody else gets it: the command and the helpers have descriptors of their own. */
	if (ward_quantity_whole(arg, 3, INT_MAX, &fd, NULL) < 0 ||
		fcntl((int)fd, F_SETFD, FD_CLOEXEC) < 0)
		ward_arguments_wrong(state,
			"--status-fd %s: give the number of an open descriptor, at least 3", arg);
	o->status_fd = (int)fd;
}

/* Read now, with the caller's rights: a token is a secret of the caller's. */
static error_t take_token(struct ward_run_options *o, const char *arg, struct argp_state *state)
{
	struct ward_err err = WARD_ERR_INIT;
	char *text = NULL;
	if (ward_token_file_read(arg, &text, &err) < 0) {
		ward_arguments_wrong(state, "--token: %s", err.text);
		return EINVAL;
	}
	return add(&o->tokens.v, &o->tokens.n, text);
}

/* Without a command that of the image is meant, if one is named here. */
static bool take_no_command(struct ward_run_options *o)
{
	static char own[] = "(of the image)";
	static char *none[] = {own, NULL};
	if (!o->image)
		return false;
	o->of_image = true;
	o->argv = none;
	return true;
}

/* What an engine would take, by the name under which it came. */
static error_t refuse(struct argp_state *state)
{
	const char *last = state->argv[state->next - 1];
	ward_arguments_wrong(state,
		"%s: a container gets no privileges, devices or namespaces of the host, and sees what "
		"the policy's trees show",
		last[0] == '-' ? last : state->argv[state->next - 2]);
	return 0;
}

/* node's -e is no option of wardfs: where a script was meant by it, no command is left. */
static void refuse_no_command(const struct ward_run_options *o, struct argp_state *state)
{
	if (o->mode && strcmp(o->mode, "wasm") == 0 && o->env.n)
		ward_arguments_wrong(state,
			"no command given: -e sets a variable. For a script on the command line: "
			"wardfs run --mode wasm -- -e 'SCRIPT'");
	ward_arguments_wrong(state, "no command given");
}

/* Options without a value. */
static bool take_flag(struct args *a, int key)
{
	bool *const flags[] = {key == OPT_KEEP ? &a->o.keep : NULL,
		key == OPT_REVIEW ? &a->o.review : NULL, key == 'n' ? &a->dry : NULL,
		key == OPT_JSON ? &a->json : NULL};
	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++)
		if (flags[i])
			return *flags[i] = true;
	return false;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	struct ward_run_options *o = &a->o;
	if (take_flag(a, key))
		return 0;
	switch (key) {
	case 'p':
		o->policy = arg;
		return 0;
	case 'm':
		o->mode = arg;
		return 0;
	case OPT_TRUST:
		o->trust = arg;
		return 0;
	case OPT_FROM:
		a->o.from = arg;
		a->o.review = true;
		return 0;
	case OPT_IMAGE:
		o->image = arg;
		return 0;
	case OPT_ENGINE:
		o->engine = arg;
		return 0;
	case 'u':
		o->user = arg;
		return 0;
	case 's':
		o->session = arg;
		return 0;
	case 'e':
		return add(&o->env.v, &o->env.n, arg);
	case OPT_STATUS_FD:
		take_status_fd(o, arg, state);
		return 0;
	case 'v':
		a->verbose = o->verbose = true;
		return 0;
	case OPT_READ:
		return add(&o->read.v, &o->read.n, arg);
	case OPT_WRITE:
		return add(&o->write.v, &o->write.n, arg);
	case OPT_HIDE:
		return add(&o->hide.v, &o->hide.n, arg);
	case OPT_NET:
		return add(&o->net.v, &o->net.n, arg);
	case OPT_PUBLISH:
		return add(&o->publish.v, &o->publish.n, arg);
	case OPT_FORWARD:
		return add(&o->forward.v, &o->forward.n, arg);
	case OPT_ALLOW_MISSING:
		return add(&o->allow_missing.v, &o->allow_missing.n, arg);
	case OPT_TOKEN:
		return take_token(o, arg, state);
	case OPT_LABEL:
		if (!ward_label_valid(arg) || o->labels.n >= WARD_LABELS_MAX)
			ward_arguments_wrong(state,
				"--label %s: give KEY=VALUE. KEY has at most 32 of a-z, 0-9 and ._-, "
				"VALUE at most 256 bytes, and a session at most 32 labels",
				arg);
		return add(&o->labels.v, &o->labels.n, arg);
	case OPT_PREPARE:
		a->prepare = arg;
		return 0;
	case ARGP_KEY_ARG:
		/* The command begins; its options are its own. */
		o->given = state->argv + state->next - 1;
		o->argv = state->argv + state->next - 1;
		state->next = state->argc;
		if (a->json && !a->dry)
			ward_arguments_wrong(state, "--json goes with --dry-run");
		return 0;
	case ARGP_KEY_NO_ARGS:
		if (take_no_command(o))
			return 0;
		refuse_no_command(o, state);
		return EINVAL;
	default:
		return key == OPT_REFUSED ? refuse(state) : ARGP_ERR_UNKNOWN;
	}
}

/* The modes that are ready, the strictest first. NULL (no memory): nothing is told. */
static char *mode_help(void)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_buf_puts(&b, "Isolation: ");
	bool first = true;
	for (const struct ward_mode *m = ward_modes; m->word; m++) {
		if (!m->ready)
			continue;
		ward_buf_printf(&b, "%s%s%s", first ? "" : ", ", m->word,
			strcmp(m->word, WARD_DEFAULT_MODE) == 0 ? " (the default)" : "");
		first = false;
	}
	return ward_buf_steal(&b);
}

/* argp frees what is not the text that it gave. */
static char *help(int key, const char *text, void *input)
{
	(void)input;
	return key == 'm' ? mode_help() : (char *)(uintptr_t)text;
}

static const struct argp argp = {options, parse, "[--] CMD [ARG...]",
	"Runs CMD in a guarded workspace: the project around the current directory, served at "
	"/workspace and at its own path, everything else absent or read-only, no network.\n\n"
	"    wardfs run -- npm test                 no network, secrets hidden\n"
	"    wardfs run --net HOST -- npm ci        one host may be reached\n"
	"    wardfs run --publish 5173 -- npm run dev\n"
	"    wardfs run -- claude                   an agent, with the profile for it\n"
	"    wardfs run -n -- make                  what would be in force\v"
	"Without --policy your file for this project decides, else the profile medium, or that of "
	"a known agent. A lower level of trust in the policy wins. man wardfs says more of each.\n\n"
	"Exit status: CMD's own; 0 with --dry-run if CMD would start; 2 usage or policy; 124 a clock (wall, idle, "
	"CPU time); 125 the sandbox could not be set up, or a helper or the trail failed; 126 CMD cannot be "
	"executed; 127 CMD was not found; 128+N ended by signal N; 137 memory. With --dry-run: 0 if CMD would start, else 125.",
	NULL, help, NULL};

int ward_cmd_run(int argc, char **argv)
{
	struct args a = {.o = {.say = ward_say, .verb = "run"}};
	struct ward_run_options *o = &a.o;
	int r = ward_arguments_parse(&argp, argc, argv, ARGP_IN_ORDER, &a);
	int status = r		 ? WARD_EXIT_USAGE
		     : a.dry	 ? ward_run_once_dry(o, a.json, a.verbose)
		     : a.prepare ? ward_run_prepare(o, a.prepare, argv, ward_run_once)
		     : o->keep	 ? ward_run_keep(o, argv, ward_run_once)
				 : ward_run_once(o, argv);
	free(o->env.v);
	free(o->read.v);
	free(o->write.v);
	free(o->hide.v);
	free(o->net.v);
	free(o->publish.v);
	free(o->forward.v);
	free(o->allow_missing.v);
	free(o->labels.v);
	for (size_t i = 0; i < o->tokens.n; i++)
		free((char *)(uintptr_t)o->tokens.v[i]);
	free(o->tokens.v);
	return status;
}
