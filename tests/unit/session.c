/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What sessions that were killed leave, and who sweeps it: directories of control sockets, marks of
 * starts; who may connect to such a socket. What a child that reads an agent's files has open.
 */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "audit/store/store.h"
#include "enforcer/session/control/control.h"
#include "enforcer/session/guard/helper.h"
#include "enforcer/session/tree/git_objects.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

/* More than enough to meet in every place where two can meet. */
#define RACERS 3
#define ROUNDS 150

static bool there(const char *runtime, const char *name)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s/%s", runtime, name);
	struct stat st;
	return lstat(path, &st) == 0;
}

/* A session that listens and is killed: its directory stays. */
static void crash(const char *runtime, const char *name)
{
	int status = 0;
	pid_t pid = fork();
	if (pid == 0) {
		int dir = -1;
		int fd = -1;
		if (ward_control_listen(runtime, name, &dir, &fd, NULL) == 0)
			kill(getpid(), SIGKILL);
		_exit(1);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status));
}

START_TEST(sweeps_the_dead_alone)
{
	char *runtime = scratch_make();
	char path[4096];
	int dir = -1;
	int fd = -1;
	int other = -1;
	int other_fd = -1;
	ck_assert_int_eq(ward_control_listen(runtime, "live", &dir, &fd, NULL), 0);
	/* One that is about to listen: made and locked, without any socket yet. */
	snprintf(path, sizeof(path), "%s/young", runtime);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	int young = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_eq(flock(young, LOCK_EX), 0);
	crash(runtime, "dead");
	ck_assert(there(runtime, "dead/control")); /* control: it is left */
	/* Leftovers of a broker's sockets, and a file that no session of ours made. */
	crash(runtime, "more");
	snprintf(path, sizeof(path), "%s/more/control.new", runtime);
	ck_assert_int_eq(mknod(path, S_IFSOCK | 0600, 0), 0);
	crash(runtime, "kept");
	snprintf(path, sizeof(path), "%s/kept/notes", runtime);
	ck_assert_int_eq(mknod(path, S_IFREG | 0600, 0), 0);
	ck_assert_int_eq(ward_control_listen(runtime, "other", &other, &other_fd, NULL), 0);
	ck_assert(!there(runtime, "dead"));
	ck_assert(!there(runtime, "more"));
	ck_assert(there(runtime, "kept/notes"));
	ck_assert(there(runtime, "live/control"));
	ck_assert(there(runtime, "young"));
	close(young);
	ward_control_sweep(runtime);
	ck_assert(!there(runtime, "young"));
	ck_assert(there(runtime, "live/control"));
	ck_assert(there(runtime, "other/control"));
	ward_control_remove(runtime, "live", dir);
	ck_assert(!there(runtime, "live"));
	ward_control_remove(runtime, "other", other);
	const int fds[] = {dir, fd, other, other_fd};
	for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++)
		close(fds[i]);
	scratch_remove(runtime);
}
END_TEST

/* Two state directories can give a session the same name. */
START_TEST(a_name_is_taken_once)
{
	char *runtime = scratch_make();
	struct ward_err err = WARD_ERR_INIT;
	int dir = -1;
	int fd = -1;
	int second = -1;
	int second_fd = -1;
	ck_assert_int_eq(ward_control_listen(runtime, "same", &dir, &fd, NULL), 0);
	ck_assert_int_eq(ward_control_listen(runtime, "same", &second, &second_fd, &err), -EBUSY);
	ck_assert_ptr_nonnull(strstr(err.text, "choose another name with --session"));
	ck_assert(there(runtime, "same/control"));
	close(dir);
	close(fd);
	/* control: nobody holds it any more */
	ck_assert_int_eq(ward_control_listen(runtime, "same", &second, &second_fd, &err), 0);
	ward_control_remove(runtime, "same", second);
	close(second);
	close(second_fd);
	scratch_remove(runtime);
}
END_TEST

/*
 * Attack: the owner of the directory above puts a directory or a link in the place of ours while
 * the session runs. Neither is believed, and nothing is removed there. The control: in its own
 * place it goes.
 */
START_TEST(another_directory_is_not_ours)
{
	char *top = scratch_make();
	char *far = scratch_make();
	char runtime[256];
	char aside[256];
	char elsewhere[256];
	int dir = -1;
	int fd = -1;
	snprintf(runtime, sizeof(runtime), "%s/wardfs", top);
	snprintf(aside, sizeof(aside), "%s/aside", top);
	snprintf(elsewhere, sizeof(elsewhere), "%s/s", far);
	ck_assert_int_eq(ward_control_listen(runtime, "s", &dir, &fd, NULL), 0);
	ck_assert(!ward_control_wait_gone(runtime, "s", 0));
	ck_assert_int_eq(rename(runtime, aside), 0);
	ck_assert_int_eq(mkdir(elsewhere, 0700), 0);
	ck_assert_int_eq(symlink(far, runtime), 0);
	ck_assert(!ward_control_wait_gone(runtime, "s", 0));
	ward_control_remove(runtime, "s", dir);
	ck_assert(there(far, "s"));
	/* One of ours by its owner and mode, and another session's all the same. */
	ck_assert_int_eq(unlink(runtime), 0);
	ck_assert_int_eq(rename(far, runtime), 0);
	ward_control_remove(runtime, "s", dir);
	ck_assert(there(runtime, "s"));
	/* Others can write to it. */
	ck_assert_int_eq(chmod(runtime, 0777), 0);
	ck_assert(!ward_control_wait_gone(runtime, "s", 0));
	ck_assert_int_eq(chmod(runtime, 0700), 0);
	ck_assert_int_eq(rename(runtime, far), 0);
	ck_assert_int_eq(rename(aside, runtime), 0);
	ward_control_remove(runtime, "s", dir);
	ck_assert(!there(runtime, "s"));
	ck_assert(ward_control_wait_gone(runtime, "s", 0));
	close(dir);
	close(fd);
	scratch_remove(far);
	scratch_remove(top);
}
END_TEST

/* Starts, ends, is killed, sweeps: a listening session keeps its socket. */
static int race(const char *runtime, int who)
{
	char name[32];
	char path[64];
	for (int i = 0; i < ROUNDS; i++) {
		int dir = -1;
		int fd = -1;
		snprintf(name, sizeof(name), "s%d.%d", who, i % 4);
		if (ward_control_listen(runtime, name, &dir, &fd, NULL) < 0)
			return 1;
		snprintf(path, sizeof(path), "%s/control", name);
		if (!there(runtime, path))
			return 2;
		if (i % 3)
			ward_control_remove(runtime, name, dir);
		close(fd);
		close(dir);
	}
	return 0;
}

START_TEST(starts_and_sweeps_beside_each_other)
{
	char *runtime = scratch_make();
	pid_t pid[RACERS];
	for (int i = 0; i < RACERS; i++) {
		pid[i] = fork();
		if (pid[i] == 0)
			_exit(race(runtime, i));
	}
	for (int i = 0; i < RACERS; i++) {
		int status = -1;
		ck_assert_int_eq(waitpid(pid[i], &status, 0), pid[i]);
		ck_assert_int_eq(status, 0);
	}
	ward_control_sweep(runtime);
	ck_assert_int_eq(rmdir(runtime), 0); /* nothing is left */
	ck_assert_int_eq(mkdir(runtime, 0700), 0);
	scratch_remove(runtime);
}
END_TEST

/* --- what a start that was killed leaves in the state directory --- */

/* Made and marked as a start does it; the lock is kept where the caller takes it. */
static void begin(struct ward_store *st, const char *name, int *ret_mark, bool synced)
{
	struct ward_store_session s = WARD_STORE_SESSION_INIT;
	struct ward_err err = WARD_ERR_INIT;
	int mark = -1;
	ck_assert_msg(ward_store_create_session(st, name, "x", 1, &s, &err) == 0, "%s", err.text);
	ck_assert_int_eq(ward_store_mark(st, name, "batch x\n", &mark, &err), 0);
	if (synced)
		ck_assert_int_eq(ward_store_sync(st, &s, mark, &err), 0);
	ward_store_session_close(&s);
	if (ret_mark)
		*ret_mark = mark;
	else
		close(mark);
}

START_TEST(sweeps_starts_that_were_killed)
{
	char *state = scratch_make();
	struct ward_store *st = NULL;
	int mark = -1;
	ck_assert_int_eq(ward_store_open(state, true, &st, NULL), 0);
	begin(st, "killed", NULL, false);
	begin(st, "starting", &mark, false);
	begin(st, "started", NULL, true);
	ck_assert(there(state, "running/.new.killed")); /* control: it is left */
	ck_assert(there(state, "sessions/killed/policy"));
	ward_store_sweep(st);
	ck_assert(!there(state, "running/.new.killed"));
	ck_assert(!there(state, "sessions/killed"));
	ck_assert(there(state, "running/.new.starting"));
	ck_assert(there(state, "sessions/starting/policy"));
	ck_assert(there(state, "running/started"));
	ck_assert(there(state, "sessions/started/policy"));
	/* Not one with a record, whatever its mark says. */
	begin(st, "written", NULL, false);
	char path[4096];
	snprintf(path, sizeof(path), "%s/sessions/written/trail.jsonl", state);
	int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	ck_assert_int_eq(write(fd, "{}\n", 3), 3);
	close(fd);
	close(mark);
	ward_store_sweep(st);
	ck_assert(there(state, "sessions/written/trail.jsonl"));
	ck_assert(!there(state, "sessions/starting"));
	ward_store_close(st);
	scratch_remove(state);
}
END_TEST

/* --- who may connect --- */

static _Noreturn void be_client(const char *runtime, int ready, bool stays)
{
	int fd = -1;
	int r = ward_control_connect(runtime, "s", &fd, NULL);
	if (write(ready, r == 0 ? "y" : "n", 1) != 1 || !stays)
		_exit(0);
	pause();
	_exit(0);
}

/* In a pid namespace of its own: the client is a child, and ends with its parent. */
static _Noreturn void be_inside(const char *runtime, int ready)
{
	if (unshare(CLONE_NEWPID) < 0) {
		ck_assert_int_eq(write(ready, "-", 1), 1);
		_exit(0);
	}
	if (fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		be_client(runtime, ready, true);
	}
	pause();
	_exit(0);
}

/* Connects and stays until it is killed, or goes at once. -1: may have no pid namespace. */
static pid_t connect_from(const char *runtime, bool inside, bool stays)
{
	int ready[2];
	char byte = 0;
	ck_assert_int_eq(pipe(ready), 0);
	pid_t pid = fork();
	if (pid == 0 && inside)
		be_inside(runtime, ready[1]);
	if (pid == 0)
		be_client(runtime, ready[1], stays);
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	if (byte == '-') {
		ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
		return -1;
	}
	ck_assert_int_eq(byte, 'y');
	return pid;
}

static int accept_here(int listener)
{
	int fd = -1;
	int r = ward_control_accept(listener, geteuid(), 0, &fd);
	if (fd >= 0)
		close(fd);
	return r;
}

/* By a process that did not start the client. */
static int accepted(int listener)
{
	int status = 0;
	pid_t pid = fork();
	if (pid == 0)
		_exit(-accept_here(listener));
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	return -WEXITSTATUS(status);
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

/* Killed, and not ended: a zombie, or one that is held in its end; of others that is not said. */
START_TEST(sees_a_helper_that_was_killed)
{
	struct ward_helper h = WARD_HELPER_INIT;
	ck_assert(!ward_helper_dying(&h));
	h.pid = fork();
	ck_assert_int_ge(h.pid, 0);
	if (h.pid == 0)
		for (;;)
			pause();
	ck_assert(!ward_helper_dying(&h));
	ck_assert_int_eq(kill(h.pid, SIGSTOP), 0);
	ck_assert_int_eq(waitpid(h.pid, NULL, WUNTRACED), h.pid);
	ck_assert(!ward_helper_dying(&h));
	ck_assert_int_eq(kill(h.pid, SIGKILL), 0);
	ck_assert(ward_helper_dying(&h));
	siginfo_t info;
	ck_assert_int_eq(waitid(P_PID, (id_t)h.pid, &info, WEXITED | WNOWAIT), 0);
	ck_assert(ward_helper_dying(&h));
	ck_assert_int_eq(waitpid(h.pid, NULL, 0), h.pid);
}
END_TEST

START_TEST(answers_processes_of_the_host_that_live)
{
	char *runtime = scratch_make();
	int dir = -1;
	int fd = -1;
	ck_assert_int_eq(ward_control_listen(runtime, "s", &dir, &fd, NULL), 0);
	/* control: from outside, alive */
	pid_t pid = connect_from(runtime, false, true);
	ck_assert_int_eq(accepted(fd), 0);
	end(pid);
	/* The same, started by who accepts. */
	pid = connect_from(runtime, false, true);
	ck_assert_int_eq(accept_here(fd), -EPERM);
	end(pid);
	/* Gone, and its number perhaps another's already. */
	pid = connect_from(runtime, false, false);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert_int_eq(accepted(fd), -EPERM);
	/* From a pid namespace of its own. */
	pid = connect_from(runtime, true, true);
	if (pid > 0) {
		ck_assert_int_eq(accepted(fd), -EPERM);
		end(pid);
	} else {
		ck_assert_int_ne((int)geteuid(), 0);
	}
	ward_control_remove(runtime, "s", dir);
	close(dir);
	close(fd);
	scratch_remove(runtime);
}
END_TEST

static unsigned count_fds(pid_t pid)
{
	char path[64];
	unsigned n = 0;
	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	DIR *d = opendir(path);
	ck_assert_ptr_nonnull(d);
	for (struct dirent *e; (e = readdir(d));)
		n += e->d_name[0] != '.';
	closedir(d);
	return n;
}

START_TEST(an_unpacker_has_two_pipes)
{
	struct ward_git_unpacker u = {0};
	/* one below its own numbers, and one above; without those there is nothing to close */
	int low = dup(0), high = fcntl(0, F_DUPFD_CLOEXEC, 500);
	ck_assert_int_ge(low, 0);
	ck_assert_int_ge(high, 500);
	ck_assert_uint_gt(count_fds(getpid()), 4);
	ck_assert_int_eq(ward_git_unpacker_start(&u), 0);
	for (int i = 0; i < 6000 && count_fds(u.pid) != 2; i++)
		usleep(10000);
	ck_assert_uint_eq(count_fds(u.pid), 2);
	ward_git_unpacker_end(&u);
	close(low);
	close(high);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("session");
	TCase *t = tcase_create("control");
	tcase_add_test(t, sweeps_the_dead_alone);
	tcase_add_test(t, a_name_is_taken_once);
	tcase_add_test(t, another_directory_is_not_ours);
	tcase_add_test(t, starts_and_sweeps_beside_each_other);
	tcase_add_test(t, sweeps_starts_that_were_killed);
	tcase_add_test(t, sees_a_helper_that_was_killed);
	tcase_add_test(t, answers_processes_of_the_host_that_live);
	tcase_add_test(t, an_unpacker_has_two_pipes);
	suite_add_tcase(s, t);
	return suite_run(s);
}
