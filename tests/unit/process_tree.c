/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processes of a command that is over its time: nobody outside of its pid namespace is one of
 * them, whatever numbers of processes and groups say. Those are given again, and a command can see
 * to it.
 */
#include <check.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "enforcer/session/run/process_tree.h"
#include "tests/support/suite.h"

/* Leads a group of its own. */
static pid_t start(void)
{
	int fds[2];
	char c = 0;
	ck_assert_int_eq(pipe(fds), 0);
	pid_t pid = fork();
	if (pid == 0) {
		setpgid(0, 0);
		(void)!write(fds[1], "", 1);
		for (;;)
			pause();
	}
	ck_assert_int_gt(pid, 0);
	close(fds[1]);
	ck_assert_int_eq(read(fds[0], &c, 1), 1);
	close(fds[0]);
	return pid;
}

START_TEST(only_inside)
{
	struct ward_process_tree t = {.ns = ward_process_ns(getpid())};
	struct ward_process_tree other = {.ns = t.ns + 1}, unknown = {.ns = 0};
	int status = 0;
	pid_t pid = start();
	ck_assert_uint_ne(t.ns, 0);
	/* The attack: the number of the command, and of its group, is somebody else's. */
	ck_assert_uint_eq(ward_process_tree_signal(&other, pid, SIGKILL), 0);
	ck_assert_uint_eq(ward_process_tree_signal(&unknown, pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, &status, WNOHANG), 0);
	/* The control: within the namespace it ends. */
	ck_assert_uint_eq(ward_process_tree_signal(&t, pid, SIGKILL), 1);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("process_tree");
	TCase *t = tcase_create("tree");
	tcase_add_test(t, only_inside);
	suite_add_tcase(s, t);
	return suite_run(s);
}
