/* SPDX-License-Identifier: Apache-2.0 */
/* The table of what wardfs-init executes: reports arrive, and nonsense does not. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "enforcer/sandbox/exec_table.h"
#include "tests/support/suite.h"

static char *const some[] = {
	(char *)(uintptr_t) "prog", (char *)(uintptr_t) "", (char *)(uintptr_t) "a b", NULL};
static struct ward_exec_table *table;
static struct ward_exec_told told;
static int fd;

static void set_up(void)
{
	struct ward_err err = WARD_ERR_INIT;
	ck_assert_int_eq(ward_exec_table_new(&table, &fd, &err), 0);
}

static void tear_down(void)
{
	ward_exec_table_unmap(table);
	close(fd);
}

/* In a process of its own; returns its pid. It has ended. */
static pid_t tell(const char *path, char *const *argv)
{
	pid_t pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		ward_exec_table_tell(table, path, argv);
		_exit(0);
	}
	int status = 0;
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	return pid;
}

static struct ward_exec_slot *slot_of(pid_t pid)
{
	for (size_t i = 0; i < WARD_EXEC_SLOTS; i++)
		if (table->slots[i].owner == (uint32_t)pid)
			return &table->slots[i];
	return NULL;
}

START_TEST(what_is_told_is_heard_once)
{
	char cwd[PATH_MAX];
	ck_assert_ptr_nonnull(getcwd(cwd, sizeof(cwd)));
	pid_t pid = tell("./prog", some);
	ck_assert(!ward_exec_table_take(table, pid + 1, &told));
	ck_assert(!ward_exec_table_take(table, 0, &told));
	ck_assert(!ward_exec_table_take(NULL, pid, &told));
	ck_assert(ward_exec_table_take(table, pid, &told));
	ck_assert_str_eq(told.path, "./prog");
	ck_assert_str_eq(told.cwd, cwd);
	ck_assert_uint_eq(told.cut, 0);
	ck_assert_uint_eq(told.argv_len, 10);
	ck_assert_mem_eq(told.argv, "prog\0\0a b", 10);
	ck_assert(!ward_exec_table_take(table, pid, &told));
	/* Where nobody asks. */
	ward_exec_table_tell(NULL, "/prog", some);
}
END_TEST

START_TEST(arguments_are_cut_at_the_end)
{
	char *big = malloc(WARD_EXEC_SLOT_BYTES + 1);
	ck_assert_ptr_nonnull(big);
	memset(big, 'x', WARD_EXEC_SLOT_BYTES);
	/* With "prog", NUL and its own NUL: exactly the room that there is. */
	big[WARD_EXEC_ARGV_BYTES - 6] = '\0';
	char *argv[] = {some[0], big, NULL, NULL};
	ck_assert(ward_exec_table_take(table, tell("/prog", argv), &told));
	ck_assert_uint_eq(told.cut, 0);
	ck_assert_uint_eq(told.argv_len, WARD_EXEC_ARGV_BYTES);
	argv[2] = some[1];
	ck_assert(ward_exec_table_take(table, tell("/prog", argv), &told));
	ck_assert_uint_eq(told.cut, 1);
	ck_assert_uint_eq(told.argv_len, WARD_EXEC_ARGV_BYTES);
	argv[2] = NULL;
	big[WARD_EXEC_ARGV_BYTES - 6] = 'x';
	ck_assert(ward_exec_table_take(table, tell("/prog", argv), &told));
	ck_assert_uint_eq(told.cut, 1);
	ck_assert_int_eq(told.argv[WARD_EXEC_ARGV_BYTES - 1], '\0');
	free(big);
}
END_TEST

START_TEST(a_path_that_no_call_can_have_is_not_told)
{
	char *path = malloc(PATH_MAX + 1);
	ck_assert_ptr_nonnull(path);
	memset(path, 'x', PATH_MAX);
	path[PATH_MAX] = '\0';
	ck_assert(!ward_exec_table_take(table, tell(path, some), &told));
	path[PATH_MAX - 1] = '\0';
	ck_assert(ward_exec_table_take(table, tell(path, some), &told));
	free(path);
}
END_TEST

/* As many as there are slots each have their own; then the dead are written over. */
START_TEST(many_at_once)
{
	pid_t pids[WARD_EXEC_SLOTS];
	for (size_t i = 0; i < WARD_EXEC_SLOTS; i++)
		pids[i] = tell("/prog", some);
	for (size_t i = 0; i < WARD_EXEC_SLOTS; i++)
		ck_assert_ptr_nonnull(slot_of(pids[i]));
	pid_t late = tell("/late", some);
	ck_assert_ptr_eq(slot_of(late), &table->slots[(size_t)late % WARD_EXEC_SLOTS]);
	ck_assert(ward_exec_table_take(table, late, &told));
	ck_assert_str_eq(told.path, "/late");
	size_t heard = 0;
	for (size_t i = 0; i < WARD_EXEC_SLOTS; i++)
		heard += ward_exec_table_take(table, pids[i], &told);
	ck_assert_uint_eq(heard, WARD_EXEC_SLOTS - 1);
}
END_TEST

/* Which byte is spoiled, and how. */
static void spoil(struct ward_exec_slot *s, int how)
{
	switch (how) {
	case 0:
		memset(s->told.path, 'x', sizeof(s->told.path));
		break;
	case 1:
		memset(s->told.cwd, '/', sizeof(s->told.cwd));
		break;
	case 2:
		s->told.path[0] = '\0';
		break;
	case 3:
		s->told.cwd[0] = 'x';
		break;
	case 4:
		s->told.argv_len = sizeof(s->told.argv) + 1;
		break;
	case 5:
		s->told.argv_len = UINT32_MAX;
		break;
	case 6:
		s->told.argv[s->told.argv_len - 1] = 'x';
		break;
	case 7:
		s->told.cut = 2;
		break;
	case 8:
		s->owner |= WARD_EXEC_SLOT_WRITING;
		break;
	default:
		break; /* the control */
	}
}

START_TEST(nonsense_is_not_heard)
{
	for (int how = 0; how <= 9; how++) {
		pid_t pid = tell("/prog", some);
		spoil(slot_of(pid), how);
		ck_assert_int_eq(ward_exec_table_take(table, pid, &told), how == 9);
		ck_assert_ptr_null(slot_of(pid));
	}
}
END_TEST

START_TEST(its_size_is_sealed)
{
	struct ward_exec_table *again = NULL;
	ck_assert_int_lt(ftruncate(fd, 4096), 0);
	ck_assert_int_lt(ftruncate(fd, (off_t)sizeof(*table) * 2), 0);
	ck_assert_int_lt(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), 0);
	ck_assert_int_eq(ward_exec_table_map(fd, &again), 0);
	ward_exec_table_unmap(again);
	/* Another file is no table. */
	int other = memfd_create("other", MFD_CLOEXEC);
	ck_assert_int_ge(other, 0);
	ck_assert_int_eq(ward_exec_table_map(other, &again), -EBADMSG);
	close(other);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("exec_table");
	TCase *t = tcase_create("table");
	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t, what_is_told_is_heard_once);
	tcase_add_test(t, arguments_are_cut_at_the_end);
	tcase_add_test(t, a_path_that_no_call_can_have_is_not_told);
	tcase_add_test(t, many_at_once);
	tcase_add_test(t, nonsense_is_not_heard);
	tcase_add_test(t, its_size_is_sealed);
	suite_add_tcase(s, t);
	return suite_run(s);
}
