/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wardfs attack: hands over to wardfs-attack, which is a static program of its own. Where a
 * certificate is wanted it stays, and signs what that program found: the key is never with a
 * program that touches a sandbox.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/cli/base/cli.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/cli/run/attack_certificate.h"
#include "enforcer/cli/run/attack_paths.h"
#include "enforcer/session/guard/helper.h"
#include "enforcer/session/owner/exit_status.h"

/* A statement is no larger; a certificate has it in base64. */
#define STATEMENT_MAX ((size_t)512 << 10)
/* Where the program finds the file for it. */
#define STATEMENT_FD 3

/* argp takes beginnings of options. What is no option changes nothing: no statement comes. */
static bool wants_certificate(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strncmp(argv[i], "--c", 3) == 0)
			return true;
	return false;
}

static _Noreturn void become(const char *program, char **words, int statement)
{
	const int from[] = {statement}, to[] = {STATEMENT_FD};
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (ward_fd_inherit(from, to, 1) == 0)
		execv(program, words);
	_exit(WARD_EXIT_SETUP);
}

/* Runs it, and signs what it found. The exit status. */
static int run_and_sign(const char *program, char **words, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_cleanup_fd int statement = memfd_create("statement", MFD_CLOEXEC);
	int status;
	const pid_t pid = statement < 0 ? -1 : fork();

	if (pid == 0)
		become(program, words, statement);
	/* A person's Ctrl-C is for both; the program cleans up, and then this one ends. */
	(void)signal(SIGINT, SIG_IGN);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return ward_err_set(err, -errno, "cannot start %s: %s", program, strerror(errno));
	if (WIFSIGNALED(status))
		return 128 + WTERMSIG(status);
	int r = ward_fd_pread_all(statement, STATEMENT_MAX, &b);
	if (r < 0)
		return ward_err_sys(err, r, "the statement");
	if (b.len == 0)
		return WEXITSTATUS(status);
	r = ward_certificate_write(b.data, b.len, err);
	return r < 0 ? r : WEXITSTATUS(status);
}

static int hand_over(int argc, char **argv, struct ward_err *err)
{
	ward_cleanup_free char *program = NULL;
	char self[4096], option[] = "--wardfs", to[] = "--statement=3";
	const bool certificate = wants_certificate(argc, argv);
	ward_cleanup_free char **words = calloc((size_t)argc + 4, sizeof(*words));
	size_t n = 0;

	if (!words)
		return ward_err_sys(err, -ENOMEM, "wardfs-attack");
	const ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	self[len < 0 ? 0 : len] = '\0';
	const int r = ward_helper_program("wardfs-attack", &program, err);
	if (r < 0)
		return r;
	words[n++] = argv[0];
	words[n++] = option;
	words[n++] = self;
	if (certificate)
		words[n++] = to;
	for (int i = 1; i < argc; i++)
		words[n++] = argv[i];
	if (certificate)
		return run_and_sign(program, words, err);
	execv(program, words);
	return ward_err_set(err, -errno, "cannot start %s: %s", program, strerror(errno));
}

int ward_cmd_attack(int argc, char **argv)
{
	struct ward_err err = WARD_ERR_INIT;

	if (argc > 1 && strcmp(argv[1], "verify") == 0)
		return ward_finish_output(ward_certificate_verify(argc - 1, argv + 1));
	/* Names of a policy are decided here: wardfs-attack knows no policies. */
	for (int i = 1; i < argc; i++)
		if (strncmp(argv[i], "--path-rules", 12) == 0)
			return ward_attack_paths(argc, argv);
	const int r = hand_over(argc, argv, &err);
	if (r >= 0)
		return r;
	ward_say(err.text);
	return WARD_EXIT_SETUP;
}
