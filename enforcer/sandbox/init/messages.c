/* SPDX-License-Identifier: Apache-2.0 */
/* What wardfs-init and the supervisor say to each other, and what pid 1's children report to it. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/ipc/msg.h"
#include "enforcer/sandbox/init/init.h"

int ward_init_tell(enum ward_init_type type, const uint32_t *v, size_t n, int fd)
{
	ward_cleanup(ward_msg_clear) struct ward_msg m;
	ward_msg_init(&m, type);
	for (size_t i = 0; i < n; i++)
		ward_msg_put_u32(&m, v[i]);
	return ward_msg_send(WARD_INIT_FD_CONTROL, &m, &fd, fd >= 0 ? 1 : 0);
}

void ward_init_tell_failed(int code, enum ward_init_step step, const char *text)
{
	ward_cleanup(ward_msg_clear) struct ward_msg m;
	ward_msg_init(&m, WARD_INIT_FAILED);
	ward_msg_put_u32(&m, (uint32_t)-code);
	ward_msg_put_u32(&m, step);
	ward_msg_put_str(&m, text);
	/* Nobody there to hear it: then the end of this process says the same. */
	int r = ward_msg_send(WARD_INIT_FD_CONTROL, &m, NULL, 0);
	(void)r;
}

int ward_init_hear(enum ward_init_type type)
{
	char data[256];
	struct ward_msg_reader r;
	size_t none = 0;
	ssize_t n = ward_msg_recv(WARD_INIT_FD_CONTROL, data, sizeof(data), NULL, &none);
	if (n <= 0)
		return n < 0 ? (int)n : -EPIPE;
	ward_msg_reader_init(&r, data, (size_t)n);
	return r.type == (uint32_t)type ? ward_msg_done(&r) : -EBADMSG;
}

/* with: a descriptor that goes along, -1: none. */
bool ward_init_say(int fd, const struct ward_init_report *r, int with)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {.bytes = {0}};
	struct iovec iov = {(void *)(uintptr_t)r, sizeof(*r)};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	if (with >= 0) {
		control.head = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)),
			.cmsg_level = SOL_SOCKET,
			.cmsg_type = SCM_RIGHTS};
		memcpy(CMSG_DATA(&control.head), &with, sizeof(with));
		msg.msg_control = &control;
		msg.msg_controllen = sizeof(control);
	}
	return sendmsg(fd, &msg, MSG_NOSIGNAL) == (ssize_t)sizeof(*r);
}

ssize_t ward_init_hear_report(int fd, struct ward_init_report *ret, int *ret_fd)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov = {ret, sizeof(*ret)};
	struct msghdr msg = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control)};
	ssize_t n = 0;
	do {
		n = recvmsg(fd, &msg, MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	const struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&msg) : NULL;
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
		c->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(ret_fd, CMSG_DATA(c), sizeof(*ret_fd));
	return n;
}
