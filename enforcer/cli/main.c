/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs: finds the verb and hands over. */
#include <argp.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "enforcer/base/build_id.h"
#include "enforcer/base/out.h"
#include "enforcer/cli/base/cli.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/cli/base/verbs.h"

static const struct ward_cli_verb verbs[] = {
	{"run", ward_cmd_run, "wardfs run", "run a command in a guarded workspace"},
	{"mount", ward_cmd_mount, "wardfs mount", "mount the guard alone on a directory"},
	{"umount", ward_cmd_umount, "wardfs umount", "take such a mount away"},
	{"init", ward_cmd_init, "wardfs init", "begin a policy for this project"},
	{"learn", ward_cmd_learn, "wardfs learn",
		"run a command, propose a policy of what it used"},
	{"policy", ward_cmd_policy, "wardfs policy",
		"explain, check, test, show, compare, extend or reload a policy"},
	{"profile", ward_cmd_profile, "wardfs profile",
		"list or show the shipped policies, begin one's own with one"},
	{"audit", ward_cmd_audit, "wardfs audit", "read or verify the trail of a session"},
	{"exec", ward_cmd_exec, "wardfs exec", "run one more command in a running session"},
	{"attach", ward_cmd_attach, "wardfs attach", "join the terminal of a running session"},
	{"net", ward_cmd_net, "wardfs net", "check what a session tells a proxy"},
	{"seccomp", ward_cmd_seccomp, "wardfs seccomp",
		"tell how a system call is answered inside"},
	{"ps", ward_cmd_ps, "wardfs ps", "list running sessions"},
	{"top", ward_cmd_top, "wardfs top", "watch running sessions: use, rates, refusals"},
	{"quota", ward_cmd_quota, "wardfs quota", "tell what sessions have used of their quotas"},
	{"home", ward_cmd_home, "wardfs home", "list, measure or clear kept homes"},
	{"kill", ward_cmd_kill, "wardfs kill", "end a running session"},
	{"doctor", ward_cmd_doctor, "wardfs doctor", "tell what this host offers and lacks"},
};

static const struct ward_cli_verbs all = {"wardfs",
	"A guarded workspace for agents: every open, read and write is decided by a policy\n"
	"and recorded in a trail that can be verified.\n",
	verbs, sizeof(verbs) / sizeof(*verbs)};

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
	/* A file that the caller's RLIMIT_FSIZE has no room for is an error that we tell; the
	 * command gets all signals as they are (sandbox/init/command.c). */
	(void)signal(SIGXFSZ, SIG_IGN);
	if (argc > 1 && (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)) {
		char id[WARD_BUILD_ID_SIZE];

		ward_outf("wardfs " WARD_VERSION "\nbuild %s\n", ward_build_id(id));
		return ward_finish_output(0);
	}
	return ward_finish_output(ward_cli_call(&all, argc, argv));
}
