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
	{"run", ward_cmd_run, "wardfs run", "run a command in a guarded workspace", NULL,
		"Run a command"},
	{"exec", ward_cmd_exec, "wardfs exec", "run one more command in a running session"},
	{"attach", ward_cmd_attach, "wardfs attach", "join the terminal of a running session"},
	{"approve", ward_cmd_approve, "wardfs approve",
		"list and answer the questions that wait for a person"},
	{"ps", ward_cmd_ps, "wardfs ps", "list running sessions"},
	{"top", ward_cmd_top, "wardfs top", "watch what running sessions use, and what is refused"},
	{"kill", ward_cmd_kill, "wardfs kill", "end a running session"},
	{"grant", ward_cmd_grant, "wardfs grant", "give a running session a right for a while"},
	{"grants", ward_cmd_grants, "wardfs grants", "list what running sessions were granted"},
	{"token", ward_cmd_token, "wardfs token", "make, narrow, show and revoke signed grants"},
	{"revoke", ward_cmd_revoke, "wardfs revoke", "end a grant before its time"},
	{"init", ward_cmd_init, "wardfs init", "write a first policy for this project", NULL,
		"Decide what commands may do"},
	{"learn", ward_cmd_learn, "wardfs learn",
		"run a command, and propose a policy from what it used"},
	{"policy", ward_cmd_policy, "wardfs policy",
		"explain, check and change the policy of this project"},
	{"profile", ward_cmd_profile, "wardfs profile",
		"list and print the policies that come with wardfs"},
	{"risk", ward_cmd_risk, "wardfs risk", "weigh how dangerous a run would be"},
	{"audit", ward_cmd_audit, "wardfs audit", "read, search and verify the trails of sessions",
		NULL, "See what happened"},
	{"review", ward_cmd_review, "wardfs review",
		"look at what a session staged, and apply it or throw it away"},
	{"quota", ward_cmd_quota, "wardfs quota",
		"print how much of their quotas sessions have used"},
	{"home", ward_cmd_home, "wardfs home",
		"list, measure or delete the homes kept for projects", NULL,
		"Look after this host"},
	{"image", ward_cmd_image, "wardfs image", "list, unpack or remove images for run --image"},
	{"doctor", ward_cmd_doctor, "wardfs doctor", "check what this host offers and lacks"},
	{"attack", ward_cmd_attack, "wardfs attack",
		"try to break out of a sandbox, ours or another"},
	{"mount", ward_cmd_mount, "wardfs mount",
		"mount a guarded view of a directory, without a sandbox", NULL, "For special uses"},
	{"umount", ward_cmd_umount, "wardfs umount", "take such a mount away"},
	{"net", ward_cmd_net, "wardfs net", "check what a session tells a proxy"},
	{"seccomp", ward_cmd_seccomp, "wardfs seccomp",
		"tell whether a system call is allowed inside"},
};

static const struct ward_cli_word words[] = {
	{"add", "policy add"},
	{"allow", "policy add allow"},
	{"check", "policy check"},
	{"config", "policy edit"},
	{"denials", "audit denials"},
	{"edit", "policy edit"},
	{"explain", "policy explain"},
	{"list", "ps"},
	{"log", "audit show"},
	{"logs", "audit show"},
	{"ls", "ps"},
	{"report", "audit report"},
	{"show", "audit show"},
	{"start", "run"},
	{"status", "ps"},
	{"stop", "kill"},
	{"summary", "audit summary"},
	{"undo", "policy undo"},
	{"verify", "audit verify"},
	{NULL, NULL},
};

static const struct ward_cli_verbs all = {"wardfs",
	"Runs commands, such as AI coding agents, in a guarded workspace. A policy decides which files\n"
	"and hosts they reach, and a trail that can be verified records what they did.\n\n"
	"    wardfs run -- claude             start an agent in the project around this directory\n"
	"    wardfs audit denials             what was refused, and what would permit it\n"
	"    wardfs policy add read PATH      permit it from now on\n",
	verbs, sizeof(verbs) / sizeof(*verbs), words};

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
