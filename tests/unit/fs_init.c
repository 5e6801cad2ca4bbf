/* SPDX-License-Identifier: Apache-2.0 */
/* What the answer to INIT asks of kernels of several versions. No mount: the kernel is a socket. */
#include <check.h>
#include <errno.h>
#include <linux/fuse.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "enforcer/ipc/helper.h"
#include "fs/base/request_turn.h"
#include "fs/serve/fuse_session.h"
#include "tests/support/suite.h"

#define MINOR_BEFORE 37 /* Linux 6.1 */
#define MINOR_SINCE 38	/* Linux 6.2 */

/* Asks as a kernel of that version: has the answer FUSE_POSIX_ACL? *ret: what the start says. */
static bool asks_for_acl(uint32_t flags, bool acl, uint32_t minor, int *ret, struct ward_err *err)
{
	struct ward_fs fs = {.flags = flags};
	char path[] = "/workspace";
	struct ward_fs_tree tree = {.fs = &fs, .path = path, .acl = acl};
	struct {
		struct fuse_in_header head;
		struct fuse_init_in init;
	} ask = {.head = {.len = sizeof(ask), .opcode = FUSE_INIT, .unique = 2},
		.init = {.major = FUSE_KERNEL_VERSION,
			.minor = minor,
			.max_readahead = 4096,
			.flags = FUSE_POSIX_ACL | FUSE_MAX_PAGES}};
	struct {
		struct fuse_out_header head;
		struct fuse_init_out init;
	} answer;
	int ends[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	tree.dev_fd = ends[0];
	ck_assert_int_eq(ward_turn_init(&fs), 0);
	ck_assert_int_eq(ward_session_new(&tree, err), 0);
	ward_session_process(&tree, (char *)&ask, sizeof(ask));
	ck_assert_int_eq(recv(ends[1], &answer, sizeof(answer), MSG_DONTWAIT), sizeof(answer));
	ck_assert_int_eq(answer.head.error, 0);
	*ret = ward_session_acl(&tree, err);
	ward_session_free(&tree);
	close(ends[1]);
	return answer.init.flags & FUSE_POSIX_ACL;
}

START_TEST(acl_needs_a_kernel_that_gives_it)
{
	struct ward_err err = WARD_ERR_INIT;
	int r;

	ck_assert(asks_for_acl(WARD_FS_MASK_IDS, true, MINOR_SINCE, &r, &err));
	ck_assert_int_eq(r, 0);
	ck_assert(!asks_for_acl(WARD_FS_MASK_IDS, true, MINOR_BEFORE, &r, &err));
	ck_assert_int_eq(r, -EOPNOTSUPP);
	ck_assert_ptr_nonnull(strstr(err.text, "Linux 6.2"));
	ck_assert_ptr_nonnull(strstr(err.text, "[tree /workspace]"));
}
END_TEST

START_TEST(acl_is_a_choice)
{
	struct ward_err err = WARD_ERR_INIT;
	int r;

	for (uint32_t minor = MINOR_BEFORE; minor <= MINOR_SINCE; minor++) {
		ck_assert(!asks_for_acl(WARD_FS_MASK_IDS, false, minor, &r, &err));
		ck_assert_int_eq(r, 0);
		ck_assert(!asks_for_acl(WARD_FS_ROOT, false, minor, &r, &err));
		ck_assert_int_eq(r, 0);
		/* Many users: the mount is of the initial user namespace. */
		ck_assert(asks_for_acl(WARD_FS_ALLOW_OTHER, true, minor, &r, &err));
		ck_assert_int_eq(r, 0);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("fs_init");
	TCase *t = tcase_create("acl");

	tcase_add_test(t, acl_needs_a_kernel_that_gives_it);
	tcase_add_test(t, acl_is_a_choice);
	suite_add_tcase(s, t);
	return suite_run(s);
}
