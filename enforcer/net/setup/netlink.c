/* SPDX-License-Identifier: Apache-2.0 */
/* Builds and reads messages of netlink(7), and carries them. */
#include "enforcer/net/setup/netlink.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "enforcer/base/cleanup.h"

/* Attributes are aligned as messages are. */
static_assert(NLA_ALIGNTO == NLMSG_ALIGNTO, "attributes and messages");
static_assert(NLMSG_HDRLEN == sizeof(struct nlmsghdr) && NLA_HDRLEN == sizeof(struct nlattr),
	"headers have no padding");

static size_t aligned(size_t len)
{
	return (len + NLMSG_ALIGNTO - 1) & ~((size_t)NLMSG_ALIGNTO - 1);
}

int ward_netlink_open(unsigned groups, int *ret_fd)
{
	const struct sockaddr_nl us = {.nl_family = AF_NETLINK, .nl_groups = groups};
	ward_cleanup_fd int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	if (fd < 0 || bind(fd, (const struct sockaddr *)&us, sizeof(us)) < 0)
		return -errno;
	*ret_fd = ward_steal_fd(&fd);
	return 0;
}

int ward_netlink_send(int fd, const void *messages, size_t len)
{
	const struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
	return sendto(fd, messages, len, 0, (const struct sockaddr *)&kernel, sizeof(kernel)) < 0
		       ? -errno
		       : 0;
}

ssize_t ward_netlink_receive(int fd, void *buf, size_t room)
{
	struct sockaddr_nl from = {0};
	struct iovec iov = {.iov_base = buf, .iov_len = room};
	struct msghdr m = {
		.msg_name = &from, .msg_namelen = sizeof(from), .msg_iov = &iov, .msg_iovlen = 1};
	for (;;) {
		ssize_t n = recvmsg(fd, &m, 0);
		if (n < 0)
			return -errno;
		/* Another process may send to our address: the kernel's own port is 0. */
		if (m.msg_namelen == sizeof(from) && from.nl_pid == 0)
			return m.msg_flags & MSG_TRUNC ? -EMSGSIZE : n;
		m.msg_namelen = sizeof(from);
	}
}

/* `size` more bytes of zero, and what pads them. */
static void *grow(struct nlmsghdr *h, size_t size)
{
	const size_t at = aligned(h->nlmsg_len);
	assert(size <= WARD_NETLINK_MESSAGE_MAX && at + aligned(size) <= WARD_NETLINK_MESSAGE_MAX);
	h->nlmsg_len = (uint32_t)(at + size);
	return memset((char *)h + at, 0, aligned(size));
}

struct nlmsghdr *ward_netlink_begin(void *room)
{
	struct nlmsghdr *h = memset(room, 0, sizeof(*h));
	h->nlmsg_len = sizeof(*h);
	return h;
}

void *ward_netlink_add_body(struct nlmsghdr *h, size_t size)
{
	return grow(h, size);
}

void ward_netlink_add(struct nlmsghdr *h, uint16_t type, const void *data, size_t len)
{
	struct nlattr *a = grow(h, sizeof(*a) + len);
	a->nla_type = type;
	a->nla_len = (uint16_t)(sizeof(*a) + len);
	if (len > 0)
		memcpy(a + 1, data, len);
}

void ward_netlink_add_text(struct nlmsghdr *h, uint16_t type, const char *text)
{
	ward_netlink_add(h, type, text, strlen(text) + 1);
}

void ward_netlink_add_u32(struct nlmsghdr *h, uint16_t type, uint32_t value)
{
	ward_netlink_add(h, type, &value, sizeof(value));
}

void ward_netlink_add_u8(struct nlmsghdr *h, uint16_t type, uint8_t value)
{
	ward_netlink_add(h, type, &value, sizeof(value));
}

struct nlattr *ward_netlink_nest(struct nlmsghdr *h, uint16_t type)
{
	struct nlattr *a = grow(h, sizeof(*a));
	a->nla_type = (uint16_t)(NLA_F_NESTED | type);
	return a;
}

void ward_netlink_end(const struct nlmsghdr *h, struct nlattr *nest)
{
	nest->nla_len = (uint16_t)((const char *)h + h->nlmsg_len - (char *)nest);
}

const struct nlmsghdr *ward_netlink_next(const void *buf, size_t len, size_t *pos)
{
	if (*pos > len || len - *pos < sizeof(struct nlmsghdr))
		return NULL;
	const struct nlmsghdr *h = (const void *)((const char *)buf + *pos);
	if (h->nlmsg_len < sizeof(*h) || h->nlmsg_len > len - *pos)
		return NULL;
	*pos += aligned(h->nlmsg_len);
	return h;
}

const void *ward_netlink_body(const struct nlmsghdr *h, size_t size)
{
	return h->nlmsg_len - sizeof(*h) < size ? NULL : h + 1;
}

bool ward_netlink_attribute(
	const struct nlmsghdr *h, size_t *pos, struct ward_netlink_attribute *ret)
{
	const size_t len = h->nlmsg_len - sizeof(*h), at = aligned(*pos);
	if (at > len || len - at < sizeof(struct nlattr))
		return false;
	const struct nlattr *a = (const void *)((const char *)(h + 1) + at);
	if (a->nla_len < sizeof(*a) || a->nla_len > len - at)
		return false;
	*ret = (struct ward_netlink_attribute){
		a->nla_type & NLA_TYPE_MASK, a + 1, a->nla_len - sizeof(*a)};
	*pos = at + a->nla_len;
	return true;
}
