/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages of netlink(7): a header (struct nlmsghdr), a body that its type fixes, and attributes
 * (struct nlattr: length, type, data), each padded to NLMSG_ALIGNTO. Writing builds messages of a
 * handful of attributes; reading takes nothing of a message that lies beyond what was received.
 */
#pragma once

#include <linux/netlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "enforcer/base/err.h"

/* What is built fits in this; the caller gives as much room, aligned to NLMSG_ALIGNTO. */
#define WARD_NETLINK_MESSAGE_MAX 256

/* A socket of NETLINK_ROUTE that hears of `groups` (RTMGRP_…). Negative errno on failure. */
int ward_netlink_open(unsigned groups, int *ret_fd) ward_must_check;
/* Sends len bytes of messages to the kernel. Negative errno on failure. */
int ward_netlink_send(int fd, const void *messages, size_t len) ward_must_check;
/*
 * Receives from the kernel, and from nobody else: the length, or a negative errno. -EMSGSIZE: the
 * answer is longer than `room`.
 */
ssize_t ward_netlink_receive(int fd, void *buf, size_t room) ward_must_check;

/* An empty message at `room`, whose header the caller completes. */
struct nlmsghdr *ward_netlink_begin(void *room);
/* Adds the body, `size` bytes of zero, and returns it. */
void *ward_netlink_add_body(struct nlmsghdr *h, size_t size);
void ward_netlink_add(struct nlmsghdr *h, uint16_t type, const void *data, size_t len);
void ward_netlink_add_text(struct nlmsghdr *h, uint16_t type, const char *text);
void ward_netlink_add_u32(struct nlmsghdr *h, uint16_t type, uint32_t value);
void ward_netlink_add_u8(struct nlmsghdr *h, uint16_t type, uint8_t value);
/* What is added until _end(), with what _nest() returned, is inside of this attribute. */
struct nlattr *ward_netlink_nest(struct nlmsghdr *h, uint16_t type);
void ward_netlink_end(const struct nlmsghdr *h, struct nlattr *nest);

/*
 * The message at *pos of the `len` bytes at buf, which are aligned to NLMSG_ALIGNTO; *pos moves
 * behind it. NULL where no whole message is left.
 */
const struct nlmsghdr *ward_netlink_next(const void *buf, size_t len, size_t *pos);
/* The body of a message, of `size` bytes; NULL where it has fewer. */
const void *ward_netlink_body(const struct nlmsghdr *h, size_t size);

struct ward_netlink_attribute {
	uint16_t type; /* without its flags */
	const void *data;
	size_t len;
};
/*
 * The attribute at *pos, which starts at the size of the body. False where no whole one is left.
 */
bool ward_netlink_attribute(
	const struct nlmsghdr *h, size_t *pos, struct ward_netlink_attribute *ret);
