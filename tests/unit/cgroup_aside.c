/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who runs in a delegated group of cgroup v2 makes room in it: whom wardfs moves, and whom not. In
 * a real tree, as root, with whichever controller version 2 has here (wrapped enable()).
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/sandbox/cgroup_internal.h"
#include "tests/support/suite.h"

#define USER 4711
#define ANOTHER 4712
#define PARTS (1U << WARD_CGROUP_MEMORY)
#define PATH_SIZE 512

static char controller[64], top[64], group[128], beneath[PATH_SIZE];

static int put(const char *dir, const char *file, const char *text)
{
	char path[2 * PATH_SIZE];
	snprintf(path, sizeof(path), "%s/%s", dir, file);
	ward_cleanup_fd int fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd < 0 || write(fd, text, strlen(text)) < 0 ? -errno : 0;
}

static int control(const char *dir, char sign)
{
	char text[80];
	snprintf(text, sizeof(text), "%c%s", sign, controller);
	return put(dir, "cgroup.subtree_control", text);
}

int __wrap_ward_cgroup_enable(int dir, unsigned parts);
int __wrap_ward_cgroup_enable(int dir, unsigned parts)
{
	char text[80];
	ck_assert_uint_eq(parts, PARTS);
	snprintf(text, sizeof(text), "+%s", controller);
	return ward_cgroup_write(dir, "cgroup.subtree_control", text);
}

/* A group with processes can give these on, too (cgroup-v2.rst, Threads). */
static bool is_threaded(const char *name)
{
	static const char *const threaded[] = {"cpu", "cpuset", "perf_event", "pids"};
	for (size_t i = 0; i < sizeof(threaded) / sizeof(threaded[0]); i++)
		if (strcmp(name, threaded[i]) == 0)
			return true;
	return false;
}

/* The first version 2 tree that has a controller to give on. */
static bool find_tree(void)
{
	static const char *const places[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
	for (size_t i = 0; geteuid() == 0 && i < sizeof(places) / sizeof(places[0]); i++) {
		char path[PATH_SIZE];
		snprintf(path, sizeof(path), "%s/cgroup.controllers", places[i]);
		ward_cleanup_file FILE *f = fopen(path, "re");
		while (f && fscanf(f, "%63s", controller) == 1)
			if (!is_threaded(controller)) {
				snprintf(top, sizeof(top), "%s", places[i]);
				return true;
			}
	}
	printf("not root, or no controller in cgroup v2\n");
	return false;
}

static void make(const char *dir)
{
	static const char *const files[] = {"", "/cgroup.procs", "/cgroup.subtree_control"};
	ck_assert_int_eq(mkdir(dir, 0755), 0);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		char path[2 * PATH_SIZE];
		snprintf(path, sizeof(path), "%s%s", dir, files[i]);
		ck_assert_int_eq(chown(path, USER, USER), 0);
	}
}

static void setup(void)
{
	ck_assert_int_eq(control(top, '+'), 0);
	snprintf(group, sizeof(group), "%s/wardfs-aside.%d", top, (int)getpid());
	snprintf(beneath, sizeof(beneath), "%s/scope", group);
	make(group);
}

static bool is_left(void)
{
	char path[2 * PATH_SIZE];
	snprintf(path, sizeof(path), "%s/" WARD_CGROUP_OTHERS, group);
	(void)rmdir(path);
	(void)rmdir(beneath);
	return rmdir(group) < 0 && errno != ENOENT;
}

static void teardown(void)
{
	for (int i = 0; i < 1000 && is_left(); i++)
		usleep(10000);
	ck_assert_int_eq(access(group, F_OK), -1);
}

static void become(uid_t uid, const char *dir)
{
	ck_assert_int_eq(put(dir, "cgroup.procs", "0"), 0);
	ck_assert_int_eq(setgroups(0, NULL), 0);
	ck_assert_int_eq(setresgid(uid, uid, uid), 0);
	ck_assert_int_eq(setresuid(uid, uid, uid), 0);
}

/* A process in dir that goes on, and starts others all the time if it is a shell. */
static pid_t start(uid_t uid, const char *dir, bool shell)
{
	int ready[2];
	char byte;
	ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
	pid_t pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		become(uid, dir);
		ck_assert_int_eq(write(ready[1], "", 1), 1);
		for (;;) {
			pid_t child = shell ? fork() : -1;
			if (child == 0) {
				usleep(5000);
				_exit(0);
			}
			usleep(1000);
			while (waitpid(-1, NULL, WNOHANG) > 0)
				;
		}
	}
	close(ready[1]);
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

static void stop(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* The group of a process as version 2 has it, below the one of the test. */
static void expect_in(pid_t pid, const char *dir, const char *leaf)
{
	char path[64], line[2 * PATH_SIZE], want[2 * PATH_SIZE];
	bool found = false;
	snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
	snprintf(want, sizeof(want), "0::%s%s\n", dir + strlen(top), leaf);
	ward_cleanup_file FILE *f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (strncmp(line, "0::", 3) == 0) {
			ck_assert_str_eq(line, want);
			found = true;
		}
	ck_assert(found);
}

/* What a session of the user in dir would do: 0 or the errno. other: where that process is then. */
static int aside(const char *dir, pid_t other)
{
	int status = 0;
	pid_t pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		struct ward_group g = WARD_GROUP_INIT;
		char leaf[80];
		become(USER, dir);
		g.v2 = true;
		/* The control: without room nothing is given on. */
		ck_assert_int_eq(control(dir, '+'), -EBUSY);
		ward_cleanup_fd int fd = ward_cgroup_open(AT_FDCWD, dir);
		int r = ward_group_step_aside(&g, fd, PARTS);
		if (r == 0) {
			expect_in(other, dir, "/" WARD_CGROUP_OTHERS);
			snprintf(leaf, sizeof(leaf), "/%s", g.leaf);
			expect_in(getpid(), dir, leaf);
			ck_assert_int_eq(control(dir, '-'), 0);
			ward_group_step_back(&g);
			close(g.base);
		}
		expect_in(getpid(), dir, "");
		expect_in(other, dir, "");
		_exit(-r);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

START_TEST(ones_own_processes_move)
{
	for (int i = 0; i < 10; i++) {
		pid_t shell = start(USER, group, true);
		ck_assert_int_eq(aside(group, shell), 0);
		stop(shell);
	}
}
END_TEST

START_TEST(those_of_others_stay)
{
	pid_t shell = start(USER, group, false), another = start(ANOTHER, group, false);
	ck_assert_int_eq(aside(group, shell), EBUSY);
	expect_in(another, group, "");
	stop(another);
	ck_assert_int_eq(aside(group, shell), 0);
	stop(shell);
}
END_TEST

START_TEST(a_group_of_another_program_stays)
{
	ck_assert_int_eq(control(group, '+'), 0);
	make(beneath);
	pid_t shell = start(USER, beneath, false);
	ck_assert_int_eq(aside(beneath, shell), EBUSY);
	ck_assert_int_eq(setxattr(beneath, "user.delegate", "0", 1, 0), 0);
	ck_assert_int_eq(aside(beneath, shell), EBUSY);
	ck_assert_int_eq(setxattr(beneath, "user.delegate", "1", 1, 0), 0);
	ck_assert_int_eq(aside(beneath, shell), 0);
	stop(shell);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("cgroup_aside");
	TCase *t = tcase_create("cgroup_aside");

	suite_add_tcase(s, t);
	if (find_tree()) {
		tcase_set_timeout(t, 120);
		tcase_add_checked_fixture(t, setup, teardown);
		tcase_add_test(t, ones_own_processes_move);
		tcase_add_test(t, those_of_others_stay);
		tcase_add_test(t, a_group_of_another_program_stays);
	}
	return suite_run(s);
}
