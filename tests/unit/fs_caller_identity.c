/* SPDX-License-Identifier: Apache-2.0 */
/* A thread takes the groups of the caller's thread, never those of another user's. */
#include "fs/base/caller_identity.h"

#include <check.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
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

/* Every thread of this process: setgroups(2) fails, setfsuid(2) and setfsgid(2) do nothing. */
static void forbid_changes(void)
{
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_setgroups, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_setfsuid, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_setfsgid, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	};
	const struct sock_fprog program = {.len = sizeof(f) / sizeof(*f), .filter = f};

	ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

/* Root after root costs no system call, and what is not the thread's now is refused. */
START_TEST(test_root_again)
{
	ck_assert_int_eq(ward_identity_enter(0, 0, 0), 0);
	ward_identity_leave();
	forbid_changes();
	ck_assert_int_eq(ward_identity_enter(0, 0, 0), 0);
	ward_identity_leave();
	ck_assert_int_eq(ward_identity_enter(0, GROUP, 0), -EACCES);
	ck_assert_int_eq(ward_identity_enter(CALLER, CALLER, 0), -EACCES);
	/* Whatever the failures left, nobody knows any more what the thread is. */
	ck_assert_int_eq(ward_identity_enter(0, 0, 0), -EACCES);
}
END_TEST

/* A fresh thread knows nothing of itself. */
START_TEST(test_root_first)
{
	forbid_changes();
	ck_assert_int_eq(ward_identity_enter(0, 0, 0), -EACCES);
}
END_TEST

static void check_now(uid_t uid, gid_t gid, int n_groups)
{
	ck_assert_uint_eq((uid_t)syscall(SYS_setfsuid, -1), uid);
	ck_assert_uint_eq((gid_t)syscall(SYS_setfsgid, -1), gid);
	ck_assert_int_eq(getgroups(0, NULL), n_groups);
}

/* Callers after each other, in every order, leave nothing behind for the next one. */
START_TEST(test_turns)
{
	const pid_t pid = process_of(CALLER, CALLER);
	const struct {
		uid_t uid;
		gid_t gid;
		pid_t tid;
	} callers[] = {{0, 0, 0}, {CALLER, CALLER, pid}, {0, GROUP, 0}, {OTHER, 0, 0}};
	const size_t n = sizeof(callers) / sizeof(*callers);

	for (size_t i = 0; i < n * n * n; i++) {
		const size_t order[] = {i % n, i / n % n, i / n / n};

		for (size_t k = 0; k < 3; k++) {
			const uid_t uid = callers[order[k]].uid;
			const gid_t gid = callers[order[k]].gid;
			const pid_t tid = callers[order[k]].tid;

			ck_assert_int_eq(ward_identity_enter(uid, gid, tid), 0);
			check_now(uid, gid, tid ? 1 : 0);
			ward_identity_leave();
			check_now(0, 0, 0);
		}
	}
	end(pid);
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
	tcase_add_test(t, test_root_again);
	tcase_add_test(t, test_root_first);
	tcase_add_test(t, test_turns);
	suite_add_tcase(s, t);
	return suite_run(s);
}
