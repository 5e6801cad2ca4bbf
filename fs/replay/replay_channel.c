/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the replayer, and waits for its answers. */
#include "fs/replay/replay_channel.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "enforcer/base/cleanup.h"

#define ANSWER_MAX (sizeof(uint64_t) * WARD_REPLAY_INODES + 64U)

/* One message; *ret_pid: who sent it. */
static ssize_t hear(
	const struct ward_replay_channel *c, char buf[ANSWER_MAX], struct ucred *ret_sender)
{
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(sizeof(struct ucred))];
	} control;
	struct iovec iov = {.iov_base = buf, .iov_len = ANSWER_MAX};
	struct msghdr mh = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.space,
		.msg_controllen = sizeof(control.space)};
	struct pollfd p[2] = {{.fd = c->sock, .events = POLLIN}, {.fd = c->stop, .events = POLLIN}};
	struct cmsghdr *cmsg;
	ssize_t n;

	while (poll(p, 2, -1) < 0)
		if (errno != EINTR)
			return -errno;
	if (p[1].revents)
		return -ECANCELED;
	do {
		n = recvmsg(c->sock, &mh, MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	if (n <= 0)
		return -EPIPE;
	cmsg = CMSG_FIRSTHDR(&mh);
	/* A descriptor would not fit beside, and is closed by the kernel. */
	if (mh.msg_flags & (MSG_TRUNC | MSG_CTRUNC) || !cmsg || cmsg->cmsg_level != SOL_SOCKET ||
		cmsg->cmsg_type != SCM_CREDENTIALS)
		return -EBADMSG;
	memcpy(ret_sender, CMSG_DATA(cmsg), sizeof(*ret_sender));
	return n;
}

pid_t ward_replay_hear(const struct ward_replay_channel *c)
{
	ward_cleanup_free char *buf = malloc(ANSWER_MAX);
	struct ucred sender = {.pid = 0};
	struct ward_msg_reader r;
	ssize_t n = buf ? hear(c, buf, &sender) : -ENOMEM;

	if (n < 0)
		return (pid_t)n;
	ward_msg_reader_init(&r, buf, (size_t)n);
	return r.type == WARD_REPLAY_HELLO && ward_msg_done(&r) == 0 && sender.pid > 1 ? sender.pid
										       : -EBADMSG;
}

static int by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static int say(const struct ward_replay_channel *c, const struct ward_msg *m)
{
	return ward_msg_send(c->sock, m, NULL, 0) < 0 ? -EPIPE : 0;
}

int ward_replay_ask(const struct ward_replay_channel *c, struct ward_replay_watched *ret)
{
	ward_cleanup_free char *buf = malloc(ANSWER_MAX);
	ward_cleanup(ward_msg_clear) struct ward_msg m;
	struct ward_msg_reader r;
	struct ucred sender;
	const void *v;
	size_t len;
	ssize_t n;

	ward_msg_init(&m, WARD_REPLAY_ASK);
	n = buf ? say(c, &m) : -ENOMEM;
	if (n == 0)
		n = hear(c, buf, &sender);
	if (n < 0)
		return (int)n;
	ward_msg_reader_init(&r, buf, (size_t)n);
	ret->all = ward_msg_get_u32(&r);
	ret->closes = ward_msg_get_u32(&r);
	v = ward_msg_get_bytes(&r, &len);
	if (r.type != WARD_REPLAY_WATCHED || ward_msg_done(&r) < 0 || len % sizeof(ret->v[0]) ||
		len > sizeof(ret->v))
		return -EBADMSG;
	ret->n = (uint32_t)(len / sizeof(ret->v[0]));
	memcpy(ret->v, v, len);
	qsort(ret->v, ret->n, sizeof(ret->v[0]), by_number);
	return 0;
}

bool ward_replay_is_watched(const struct ward_replay_watched *w, uint64_t inode)
{
	return w->all || bsearch(&inode, w->v, w->n, sizeof(w->v[0]), by_number);
}

int ward_replay_make(const struct ward_replay_channel *c, const struct ward_msg *m)
{
	ward_cleanup_free char *buf = malloc(ANSWER_MAX);
	struct ward_msg_reader r;
	struct ucred sender;
	ssize_t n = buf ? say(c, m) : -ENOMEM;

	if (n == 0)
		n = hear(c, buf, &sender);
	if (n < 0)
		return (int)n;
	ward_msg_reader_init(&r, buf, (size_t)n);
	(void)ward_msg_get_u32(&r);
	return r.type == WARD_REPLAY_MADE ? ward_msg_done(&r) : -EBADMSG;
}
