/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs: finds the verb and hands over. */
#include <argp.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "enforcer/cli/cli.h"

static const struct verb {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *full; /* argv[0] of the verb: what its messages begin with */
	const char *what;
} verbs[] = {
	{"run", ward_cmd_run, "wardfs run", "run a command in a guarded workspace"},
	{"mount", ward_cmd_mount, "wardfs mount", "mount the guard alone on a directory"},
	{"umount", ward_cmd_umount, "wardfs umount", "take such a mount away"},
	{"init", ward_cmd_init, "wardfs init", "begin a policy for this project"},
	{"policy", ward_cmd_policy, "wardfs policy", "explain, check or show a policy"},
	{"audit", ward_cmd_audit, "wardfs audit", "read or verify the trail of a session"},
	{"ps", ward_cmd_ps, "wardfs ps", "list running sessions"},
	{"kill", ward_cmd_kill, "wardfs kill", "end a running session"},
	{"doctor", ward_cmd_doctor, "wardfs doctor", "tell what this host offers and lacks"},
};
#define N_VERBS (sizeof(verbs) / sizeof(*verbs))

static void usage(FILE *f)
{
	fputs("Usage: wardfs VERB [OPTION...] [ARGUMENT...]\n"
	      "A guarded workspace for agents: every open, read and write is decided by a policy\n"
	      "and recorded in a trail that can be verified.\n\nVerbs:\n",
		f);
	for (size_t i = 0; i < N_VERBS; i++)
		fprintf(f, "  %-8s %s\n", verbs[i].name, verbs[i].what);
	fputs("\nwardfs VERB --help tells the options of a verb; man wardfs tells all of it.\n", f);
}

/* The descriptors 0, 1 and 2 must be somebody's: an open() of ours must never become stdout. */
static int fill_stdio(void)
{
	for (;;) {
		int fd = open("/dev/null", O_RDWR);
		if (fd < 0)
			return -1;
		if (fd > 2) {
			close(fd);
			return 0;
		}
	}
}

int main(int argc, char **argv)
{
	argp_err_exit_status = 2;
	if (fill_stdio() < 0)
		return 125;
	if (argc < 2) {
		usage(stderr);
		return 2;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
		(strcmp(argv[1], "help") == 0 && argc == 2)) {
		usage(stdout);
		return 0;
	}
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
		puts("wardfs " WARD_VERSION);
		return 0;
	}
	if (strcmp(argv[1], "help") == 0) {
		static char help[] = "--help";
		argv[1] = argv[2];
		argv[2] = help;
	}
	for (size_t i = 0; i < N_VERBS; i++) {
		if (strcmp(argv[1], verbs[i].name) != 0)
			continue;
		argv[1] = (char *)verbs[i].full;
		return verbs[i].run(argc - 1, argv + 1);
	}
	fprintf(stderr, "wardfs: there is no verb '%s'\n\n", argv[1]);
	usage(stderr);
	return 2;
}
