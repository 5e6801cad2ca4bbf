/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs seccomp: what the lists of system calls say. */
#include <argp.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/out.h"
#include "enforcer/cli/base/arguments.h"
#include "enforcer/cli/base/cli.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/cli/base/verbs.h"
#include "enforcer/sandbox/filters.h"

struct explain_args {
	const char *list; /* NULL: all */
	char **names;
	int n_names;
};

static const struct argp_option explain_options[] = {
	{"list", 'l', "LIST", 0, "Only this list: default, strict or no-exec", 0},
	{0},
};

static error_t parse_explain(int key, char *arg, struct argp_state *state)
{
	struct explain_args *a = state->input;
	switch (key) {
	case 'l':
		a->list = arg;
		return 0;
	case ARGP_KEY_ARGS:
		a->names = state->argv + state->next;
		a->n_names = state->argc - state->next;
		return 0;
	case ARGP_KEY_NO_ARGS:
		ward_arguments_wrong(state, "the name of a system call is missing");
		return EINVAL;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp explain_argp = {explain_options, parse_explain, "SYSCALL...",
	"Tells how each list of [process] seccomp answers a system call of a guarded command. "
	"wardfs reads a list from top to bottom; the first line that matches decides.\vA system "
	"call that a list does not name fails with ENOSYS, for example a newer one. A system "
	"call of another architecture (32-bit, x32) ends the process.\nExit status: 0; 1 no "
	"list names one of them; 2 usage.",
	NULL, NULL, NULL};

/* "EPERM if argument 2 is 0x5412    TIOCSTI: …  (default.list:310)" */
static void print_line(const char *list, char *line)
{
	char *field[4] = {line, NULL, NULL, NULL};
	for (int i = 1; i < 4; i++) {
		field[i] = strchr(field[i - 1], '\t');
		if (!field[i])
			return;
		*field[i]++ = '\0';
	}
	ward_outf("  %-8s %s%s%s%s%s  (%s)\n", list, field[0], *field[1] ? " " : "", field[1],
		*field[2] ? "   # " : "", field[2], field[3]);
}

/* Returns whether the list names it. */
static bool explain(enum ward_seccomp s, const char *name)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	const char *list = ward_seccomp_name(s);
	char *save = NULL;
	int r = ward_seccomp_explain(s, name, &b);
	if (r < 1) {
		ward_outf("  %-8s ENOSYS   # not in the list\n", list);
		return false;
	}
	bool first = true;
	for (char *l = strtok_r((char *)b.data, "\n", &save); l; l = strtok_r(NULL, "\n", &save)) {
		print_line(first ? list : "", l);
		first = false;
	}
	return true;
}

static int cmd_explain(int argc, char **argv)
{
	struct explain_args a = {0};
	bool known_list = false;
	int status = 0;
	if (ward_arguments_parse(&explain_argp, argc, argv, 0, &a))
		return 2;
	for (int s = WARD_SECCOMP_NO_EXEC; s <= WARD_SECCOMP_DEFAULT; s++)
		known_list |=
			a.list && strcmp(a.list, ward_seccomp_name((enum ward_seccomp)s)) == 0;
	if (a.list && !known_list) {
		ward_sayf("there is no list '%s': name default, strict or no-exec", a.list);
		return 2;
	}
	for (int i = 0; i < a.n_names; i++) {
		bool known = false;
		ward_outf("%s\n", a.names[i]);
		for (int s = WARD_SECCOMP_DEFAULT; s >= WARD_SECCOMP_NO_EXEC; s--)
			if (!a.list || strcmp(a.list, ward_seccomp_name((enum ward_seccomp)s)) == 0)
				known |= explain((enum ward_seccomp)s, a.names[i]);
		if (!known)
			status = 1;
	}
	return status;
}

int ward_cmd_seccomp(int argc, char **argv)
{
	static const struct ward_cli_verb verbs[] = {{"explain", cmd_explain,
		"wardfs seccomp explain", "tell how the sandbox answers a system call"}};
	static const struct ward_cli_verbs all = {"wardfs seccomp",
		"Explains the lists of system calls for [process] seccomp.\n", verbs,
		sizeof(verbs) / sizeof(*verbs)};
	return ward_cli_call(&all, argc, argv);
}
