/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of netlink(7): what is built reads back, and what is cut or lies is not read. */
#include "enforcer/net/setup/netlink.h"

#include <check.h>
#include <errno.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <string.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "tests/support/suite.h"

static _Alignas(8) unsigned char room[4 * WARD_NETLINK_MESSAGE_MAX];

static struct nlmsghdr *address_message(void)
{
	memset(room, 0xaa, sizeof(room));
	struct nlmsghdr *h = ward_netlink_begin(room);
	h->nlmsg_type = RTM_NEWADDR;
	struct ifaddrmsg *m = ward_netlink_add_body(h, sizeof(*m));
	m->ifa_family = 2;
	ward_netlink_add_text(h, IFA_LABEL, "wire0"); /* 6 bytes: padded */
	struct nlattr *nest = ward_netlink_nest(h, IFA_PROTO);
	ward_netlink_add_u8(h, 1, 7);
	ward_netlink_add_u32(h, 2, 0x01020304);
	ward_netlink_end(h, nest);
	ward_netlink_add(h, IFA_LOCAL, "\x7f\0\0\1", 4);
	return h;
}

START_TEST(built_and_read)
{
	const struct nlmsghdr *h = address_message();
	/* header 16, body 8, label 4+6+2, nest 4 (4+1+3, 8), address 8 */
	ck_assert_uint_eq(h->nlmsg_len, 16 + 8 + 12 + 20 + 8);
	size_t pos = 0;
	ck_assert_ptr_eq(ward_netlink_next(room, h->nlmsg_len, &pos), h);
	ck_assert_uint_eq(pos, h->nlmsg_len);
	ck_assert_ptr_null(ward_netlink_next(room, h->nlmsg_len, &pos));
	const struct ifaddrmsg *m = ward_netlink_body(h, sizeof(*m));
	ck_assert(m && m->ifa_family == 2 && m->ifa_index == 0);
	struct ward_netlink_attribute a;
	pos = sizeof(*m);
	ck_assert(ward_netlink_attribute(h, &pos, &a));
	ck_assert(a.type == IFA_LABEL && a.len == 6 && memcmp(a.data, "wire0", 6) == 0);
	ck_assert(ward_netlink_attribute(h, &pos, &a));
	/* The flag of a nest is not part of its type. */
	ck_assert(a.type == IFA_PROTO && a.len == 16);
	ck_assert_mem_eq(a.data, "\5\0\1\0\7\0\0\0\10\0\2\0\4\3\2\1", 16);
	ck_assert(ward_netlink_attribute(h, &pos, &a));
	ck_assert(a.type == IFA_LOCAL && a.len == 4 && memcmp(a.data, "\x7f\0\0\1", 4) == 0);
	ck_assert(!ward_netlink_attribute(h, &pos, &a));
}
END_TEST

/* Received in part, a message is none. */
START_TEST(cut)
{
	const size_t whole = address_message()->nlmsg_len;
	for (size_t len = 0; len < whole; len++) {
		size_t pos = 0;
		ck_assert_ptr_null(ward_netlink_next(room, len, &pos));
		ck_assert_uint_eq(pos, 0);
	}
}
END_TEST

/* Lengths that lead out of what was received, or nowhere. */
START_TEST(lying_lengths)
{
	static const uint32_t wrong[] = {0, 1, 15, 65, 1U << 20, UINT32_MAX - 2, UINT32_MAX};
	const size_t whole = address_message()->nlmsg_len;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		address_message()->nlmsg_len = wrong[i];
		size_t pos = 0;
		ck_assert_ptr_null(ward_netlink_next(room, whole, &pos));
	}
	static const uint16_t wrong_attribute[] = {0, 3, 41, UINT16_MAX};
	for (size_t i = 0; i < sizeof(wrong_attribute) / sizeof(*wrong_attribute); i++) {
		struct nlmsghdr *h = address_message();
		struct nlattr *first = (void *)(room + 16 + 8);
		first->nla_len = wrong_attribute[i];
		struct ward_netlink_attribute a;
		size_t pos = sizeof(struct ifaddrmsg);
		ck_assert(!ward_netlink_attribute(h, &pos, &a));
	}
	struct nlmsghdr *h = address_message();
	ck_assert_ptr_nonnull(ward_netlink_body(h, whole - 16));
	ck_assert_ptr_null(ward_netlink_body(h, whole - 15));
}
END_TEST

/* The length of the last one may lack its padding. */
START_TEST(two_messages)
{
	struct nlmsghdr *first = ward_netlink_begin(room);
	ward_netlink_add(first, 1, "x", 1);
	ck_assert_uint_eq(first->nlmsg_len, 21);
	struct nlmsghdr *second = ward_netlink_begin(room + NLMSG_ALIGN(first->nlmsg_len));
	ward_netlink_add(second, 1, "yz", 2);
	const size_t len = NLMSG_ALIGN(first->nlmsg_len) + second->nlmsg_len;
	size_t pos = 0;
	ck_assert_ptr_eq(ward_netlink_next(room, len, &pos), first);
	ck_assert_ptr_eq(ward_netlink_next(room, len, &pos), second);
	ck_assert_ptr_null(ward_netlink_next(room, len, &pos));
}
END_TEST

/* The kernel answers, with the address of the loopback interface among others. */
START_TEST(kernel)
{
	ward_cleanup_fd int fd = -1;
	ck_assert_int_eq(ward_netlink_open(0, &fd), 0);
	struct nlmsghdr *h = ward_netlink_begin(room);
	h->nlmsg_type = RTM_GETLINK;
	h->nlmsg_flags = NLM_F_REQUEST;
	struct ifinfomsg *m = ward_netlink_add_body(h, sizeof(*m));
	m->ifi_index = 1;
	ck_assert_int_eq(ward_netlink_send(fd, room, h->nlmsg_len), 0);
	_Alignas(8) char answer[32768];
	const ssize_t n = ward_netlink_receive(fd, answer, sizeof(answer));
	ck_assert_int_gt(n, 0);
	size_t pos = 0;
	const struct nlmsghdr *got = ward_netlink_next(answer, (size_t)n, &pos);
	ck_assert(got && got->nlmsg_type == RTM_NEWLINK);
	const struct ifinfomsg *link = ward_netlink_body(got, sizeof(*link));
	ck_assert(link && link->ifi_index == 1 && (link->ifi_flags & IFF_LOOPBACK));
	/* Too little room is said, and not taken for the answer. */
	ck_assert_int_eq(ward_netlink_send(fd, room, h->nlmsg_len), 0);
	ck_assert_int_eq(ward_netlink_receive(fd, answer, 32), -EMSGSIZE);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("netlink");
	TCase *t = tcase_create("all");
	tcase_add_test(t, built_and_read);
	tcase_add_test(t, cut);
	tcase_add_test(t, lying_lengths);
	tcase_add_test(t, two_messages);
	tcase_add_test(t, kernel);
	suite_add_tcase(s, t);
	return suite_run(s);
}
