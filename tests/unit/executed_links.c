/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where symbolic links lead: what the text alone gives is what the kernel does with links in
 * a tree without others, for every way of three components; and of others, which it alone knows.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/session/tree/executed.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

static char *path;
static int dir = -1;
static struct ward_links links;

static void setup(void)
{
	path = scratch_make();
	dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_ge(dir, 0);
	ck_assert_int_eq(mkdirat(dir, "tree", 0700), 0);
	int tree = openat(dir, "tree", O_PATH | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_ge(tree, 0);
	ck_assert_int_eq(mkdirat(tree, "a", 0700), 0);
	ck_assert_int_eq(mkdirat(tree, "a/a", 0700), 0);
	ck_assert_int_eq(mkdirat(tree, "a/a/a", 0700), 0);
	ward_links_init(&links, tree);
}

static void teardown(void)
{
	close(links.tree);
	close(dir);
	scratch_remove(path);
}

/* Makes the link, asks, and takes it away. */
static enum ward_left_kind judge(const char *name, const char *to)
{
	ck_assert_int_eq(symlinkat(to, links.tree, name), 0);
	enum ward_left_kind kind = ward_links_judge(&links, name, to);
	ck_assert_int_eq(unlinkat(links.tree, name, 0), 0);
	return kind;
}

static bool closed(void *arg, const char *at)
{
	snprintf(arg, 256, "%s", at);
	return false;
}

START_TEST(text_and_kernel_agree)
{
	static const char *const words[] = {"a", "..", ".", ""};
	static const char *const names[] = {"link", "a/link", "a/a/link"};
	unsigned out = 0;
	unsigned in = 0;
	for (unsigned i = 0; i < 4 * 4 * 4 * 3; i++) {
		char to[32];
		const char *name = names[i / 64];
		snprintf(to, sizeof(to), "%s/%s/%s", words[i % 4], words[i / 4 % 4],
			words[i / 16 % 4]);
		if (to[0] == '/') /* the first is empty: a way from the host's root */
			continue;
		bool leaves = ward_links_leave(&links, name, to);
		ck_assert_msg((judge(name, to) == WARD_LEFT_OUT) == leaves, "%s to %s", name, to);
		out += leaves;
		in += !leaves;
	}
	/* Both came up, or nothing was compared. */
	ck_assert_uint_ge(out, 10);
	ck_assert_uint_ge(in, 10);
}
END_TEST

START_TEST(what_is_not_there)
{
	char at[256] = "";
	ck_assert_int_eq(judge("link", "nothing/at/all"), WARD_LEFT_NONE);
	ck_assert_int_eq(judge("link", "link"), WARD_LEFT_NONE);
	links.may_write = closed;
	links.arg = at;
	ck_assert_int_eq(judge("a/link", "./../b//c"), WARD_LEFT_CLOSED);
	ck_assert_str_eq(at, "b/c");
}
END_TEST

START_TEST(by_other_links)
{
	char at[256] = "";
	links.may_write = closed;
	links.arg = at;
	/* "x" is two levels up: by its text "a/a/a/x/.." stays far within. */
	ck_assert_int_eq(symlinkat("../..", links.tree, "a/a/x"), 0);
	ck_assert(!ward_links_leave(&links, "link", "a/a/x/.."));
	ck_assert_int_eq(judge("link", "a/a/x/.."), WARD_LEFT_OUT);
	ck_assert_int_eq(judge("link", "a/a/x/a"), WARD_LEFT_CLOSED);
	ck_assert_str_eq(at, "a");
	ck_assert_int_eq(symlinkat("/etc", links.tree, "e"), 0);
	ck_assert_int_eq(judge("link", "e/passwd"), WARD_LEFT_OUT);
}
END_TEST

START_TEST(absolute)
{
	char to[sizeof(links.root) + 8];
	ck_assert(ward_links_leave(&links, "link", "/etc/passwd"));
	snprintf(to, sizeof(to), "%s/a", links.root);
	ck_assert(!ward_links_leave(&links, "a/link", to));
	ck_assert_int_eq(judge("a/link", to), WARD_LEFT_NONE);
	snprintf(to, sizeof(to), "%s/../x", links.root);
	ck_assert(ward_links_leave(&links, "link", to));
	ck_assert_int_eq(judge("link", to), WARD_LEFT_OUT);
	/* A neighbour whose name begins so. */
	snprintf(to, sizeof(to), "%sx/a", links.root);
	ck_assert(ward_links_leave(&links, "link", to));
	ck_assert_int_eq(judge("link", to), WARD_LEFT_OUT);
}
END_TEST

/* Behind a link ".." is not what the text says. */
START_TEST(absolute_by_other_links)
{
	char to[sizeof(links.root) + 16];
	char at[256] = "";
	links.may_write = closed;
	links.arg = at;
	snprintf(to, sizeof(to), "%s/here/../x", links.root);
	ck_assert(!ward_links_leave(&links, "link", to));
	/* The control: without that link its text is all there is. */
	ck_assert_int_eq(judge("link", to), WARD_LEFT_CLOSED);
	ck_assert_str_eq(at, "x");
	ck_assert_int_eq(symlinkat(".", links.tree, "here"), 0);
	ck_assert_int_eq(judge("link", to), WARD_LEFT_OUT);
	ck_assert_int_eq(symlinkat("a/a", links.tree, "deep"), 0);
	snprintf(to, sizeof(to), "%s/deep/../a", links.root);
	ck_assert_int_eq(judge("link", to), WARD_LEFT_CLOSED);
	ck_assert_str_eq(at, "a/a");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("executed_links");
	TCase *t = tcase_create("links");
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, text_and_kernel_agree);
	tcase_add_test(t, what_is_not_there);
	tcase_add_test(t, by_other_links);
	tcase_add_test(t, absolute);
	tcase_add_test(t, absolute_by_other_links);
	suite_add_tcase(s, t);
	return suite_run(s);
}
