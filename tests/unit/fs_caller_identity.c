/* SPDX-License-Identifier: Apache-2.0 */
/* A thread takes the groups of the caller's thread, never those of another user's. */
#include "fs/base/caller_identity.h"

#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/suite.h"

#define CALLER 4711U
#define OTHER 4712U
#define GROUP 4713U

/* A process with these ids and GROUP, which waits. fs: its thread acts as that user for files. */
static pid_t process_of(uid_t uid, uid_t fs)
{
	const gid_t group = GROUP;
	int p[2];
	char c;

	ck_assert(pipe(p) == 0);
	const pid_t pid = fork();
	ck_assert(pid >= 0);
	if (pid == 0) {
		if (syscall(SYS_setgroups, 1, &group) < 0 ||
			syscall(SYS_setresgid, uid, uid, uid) < 0)
			_exit(1);
		if (fs != uid)
			syscall(SYS_setfsuid, fs);
		else if (syscall(SYS_setresuid, uid, uid, uid) < 0)
			_exit(1);
		(void)!write(p[1], "x", 1);
		for (;;)
			pause();
	}
	ck_assert(read(p[0], &c, 1) == 1);
	close(p[0]);
	close(p[1]);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Whether a thread that acts as uid with the groups of tid has GROUP. */
static bool has_group(uid_t uid, pid_t tid)
{
	gid_t groups[64];

	ck_assert_int_eq(ward_identity_enter(uid, uid, tid), 0);
	const int n = getgroups(64, groups);
	ward_identity_leave();
	for (int i = 0; i < n; i++)
		if (groups[i] == GROUP)
			return true;
	return false;
}

START_TEST(test_own_groups)
{
	const pid_t pid = process_of(CALLER, CALLER);

	ck_assert(has_group(CALLER, pid));
	ck_assert(!has_group(CALLER, 0));
	end(pid);
}
END_TEST

START_TEST(test_groups_of_another_user)
{
	const pid_t pid = process_of(CALLER, CALLER);
	const pid_t root = process_of(0, 0);

	ck_assert_int_eq(ward_identity_enter(OTHER, OTHER, pid), -EACCES);
	ck_assert_int_eq(ward_identity_enter(CALLER, CALLER, root), -EACCES);
	ck_assert_int_eq((int)syscall(SYS_setfsuid, -1), 0);
	end(pid);
	end(root);
	ck_assert_int_eq(ward_identity_enter(CALLER, CALLER, pid), -EACCES);
}
END_TEST

/* A file server acts as its clients, and access(2) asks for the real id. */
START_TEST(test_acts_as_another)
{
	const pid_t server = process_of(0, CALLER);

	ck_assert(has_group(CALLER, server));
	ck_assert_int_eq(ward_identity_enter(OTHER, OTHER, server), -EACCES);
	end(server);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("fs_caller_identity");
	TCase *t = tcase_create("core");

	if (geteuid() != 0)
		return 77;
	tcase_add_test(t, test_own_groups);
	tcase_add_test(t, test_groups_of_another_user);
	tcase_add_test(t, test_acts_as_another);
	suite_add_tcase(s, t);
	return suite_run(s);
}
