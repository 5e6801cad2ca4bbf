/* SPDX-License-Identifier: Apache-2.0 */
/* The writer's cage: what it must do still works inside, anything else ends the process. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "audit/write/audit_confine.h"
#include "tests/support/suite.h"

/* Each returns 0 if it was done. */
static int try_open(void)
{
	return open("/dev/null", O_RDONLY | O_CLOEXEC) < 0;
}

static int try_socket(void)
{
	return socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0) < 0;
}

static int try_exec(void)
{
	char *const argv[] = {(char *)"true", NULL};
	return execv("/bin/true", argv);
}

static int try_fork(void)
{
	pid_t pid = fork();
	if (pid == 0)
		_exit(0);
	return pid < 0 || waitpid(pid, NULL, 0) != pid;
}

static int try_kill(void)
{
	return kill(getppid(), 0) < 0;
}

static int try_unlink(void)
{
	return unlink("/proc/nothing") < 0 && errno != ENOENT;
}

static int try_exec_memory(void)
{
	return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
	       MAP_FAILED;
}

static int try_dumpable(void)
{
	return prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0;
}

static int try_memory(void)
{
	void *p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return p == MAP_FAILED || munmap(p, 1 << 20) < 0;
}

static int try_write(void)
{
	return write(2, "", 0) < 0;
}

static const struct {
	const char *name;
	int (*attempt)(void);
	int allowed;
} attempts[] = {{"open", try_open, 0}, {"socket", try_socket, 0}, {"exec", try_exec, 0},
	{"fork", try_fork, 0}, {"kill", try_kill, 0}, {"unlink", try_unlink, 0},
	{"executable memory", try_exec_memory, 0}, {"dumpable", try_dumpable, 0},
	{"memory", try_memory, 1}, {"write", try_write, 1}};

static int run(int (*attempt)(void), int confined)
{
	pid_t pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		if (confined && ward_audit_confine(NULL) < 0)
			_exit(99);
		_exit(attempt() == 0 ? 0 : 1);
	}
	int status = 0;
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return status;
}

START_TEST(the_cage_holds)
{
	/* The control: outside of the cage it works. */
	ck_assert_msg(run(attempts[_i].attempt, 0) == 0, "%s", attempts[_i].name);
	int status = run(attempts[_i].attempt, 1);
	if (attempts[_i].allowed)
		ck_assert_msg(status == 0, "%s: status %d", attempts[_i].name, status);
	else
		ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS, "%s: status %d",
			attempts[_i].name, status);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("audit_confine");
	TCase *t = tcase_create("audit_confine");
	tcase_add_loop_test(t, the_cage_holds, 0, sizeof(attempts) / sizeof(*attempts));
	suite_add_tcase(s, t);
	return suite_run(s);
}
