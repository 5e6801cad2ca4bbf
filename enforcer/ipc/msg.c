/* SPDX-License-Identifier: Apache-2.0 */
/* Encodes, sends and decodes the messages between our processes. */
#include "enforcer/ipc/msg.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

/* asm-generic/socket.h, Linux 6.16; the installed headers may be older. */
#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83
#endif

void ward_msg_init(struct ward_msg *m, uint32_t type)
{
	m->buf = WARD_BUF_INIT;
	ward_msg_put_u32(m, WARD_MSG_VERSION);
	ward_msg_put_u32(m, type);
}

void ward_msg_clear(struct ward_msg *m)
{
	ward_buf_clear(&m->buf);
}

void ward_msg_put_u32(struct ward_msg *m, uint32_t v)
{
	ward_buf_add(&m->buf, &v, sizeof(v));
}

void ward_msg_put_u64(struct ward_msg *m, uint64_t v)
{
	ward_buf_add(&m->buf, &v, sizeof(v));
}

void ward_msg_put_bytes(struct ward_msg *m, const void *data, size_t len)
{
	if (len > UINT32_MAX) {
		m->buf.error = -E2BIG;
		return;
	}
	ward_msg_put_u32(m, (uint32_t)len);
	ward_buf_add(&m->buf, data, len);
}

void ward_msg_put_str(struct ward_msg *m, const char *s)
{
	ward_msg_put_bytes(m, s ? s : "", s ? strlen(s) : 0);
}

/*
 * The kernel counts the descriptors in flight of a user, and compares the count with the soft limit
 * of the sender (too_many_unix_fds()). Descriptors in flight of one session must not stop the
 * owner's next session from starting. Returns whether more are allowed now. Then the caller
 * restores *ret_before.
 */
static bool raise_files(struct rlimit *ret_before)
{
	struct rlimit more;
	if (getrlimit(RLIMIT_NOFILE, ret_before) < 0 ||
		ret_before->rlim_cur >= ret_before->rlim_max)
		return false;
	more = *ret_before;
	more.rlim_cur = more.rlim_max;
	return setrlimit(RLIMIT_NOFILE, &more) == 0;
}

static ssize_t send_raised(int sock, const struct msghdr *mh)
{
	struct rlimit before;
	if (!raise_files(&before)) {
		errno = ETOOMANYREFS;
		return -1;
	}
	ssize_t n = sendmsg(sock, mh, MSG_NOSIGNAL);
	int code = errno;
	(void)!setrlimit(RLIMIT_NOFILE, &before);
	errno = code;
	return n;
}

int ward_msg_send(int sock, const struct ward_msg *m, const int *fds, size_t n_fds)
{
	int r = ward_buf_error(&m->buf);
	if (r < 0)
		return r;
	if (m->buf.len > WARD_MSG_MAX || n_fds > WARD_MSG_FDS_MAX)
		return -E2BIG;
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(sizeof(int) * WARD_MSG_FDS_MAX)];
	} control;
	struct iovec iov = {.iov_base = m->buf.data, .iov_len = m->buf.len};
	struct msghdr mh = {.msg_iov = &iov, .msg_iovlen = 1};
	if (n_fds > 0) {
		memset(&control, 0, sizeof(control));
		mh.msg_control = control.space;
		mh.msg_controllen = CMSG_SPACE(sizeof(int) * n_fds);
		struct cmsghdr *c = CMSG_FIRSTHDR(&mh);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int) * n_fds);
		memcpy(CMSG_DATA(c), fds, sizeof(int) * n_fds);
	}
	for (;;) {
		ssize_t n = sendmsg(sock, &mh, MSG_NOSIGNAL);
		if (n < 0 && errno == ETOOMANYREFS)
			n = send_raised(sock, &mh);
		if (n >= 0)
			return (size_t)n == m->buf.len ? 0 : -EIO;
		if (errno != EINTR)
			return -errno;
	}
}

int ward_msg_take_fds(int sock, bool takes)
{
	const int on = takes;
	return setsockopt(sock, SOL_SOCKET, SO_PASSRIGHTS, &on, sizeof(on)) < 0 ? -errno : 0;
}

int ward_msg_takes_fds(int sock)
{
	int on = 1;
	socklen_t len = sizeof(on);
	return getsockopt(sock, SOL_SOCKET, SO_PASSRIGHTS, &on, &len) < 0 || on;
}

int ward_msg_try_send(int sock, const struct ward_msg *m)
{
	struct iovec iov = {.iov_base = m->buf.data, .iov_len = m->buf.len};
	const struct msghdr mh = {.msg_iov = &iov, .msg_iovlen = 1};
	int r = ward_buf_error(&m->buf);
	if (r < 0)
		return r;
	if (m->buf.len > WARD_MSG_MAX)
		return -E2BIG;
	return sendmsg(sock, &mh, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

void ward_msg_reader_init(struct ward_msg_reader *r, const void *data, size_t len)
{
	*r = (struct ward_msg_reader){.p = data, .left = len};
	if (ward_msg_get_u32(r) != WARD_MSG_VERSION)
		r->bad = true;
	r->type = ward_msg_get_u32(r);
}

static void take(struct ward_msg_reader *r, void *to, size_t len)
{
	memset(to, 0, len);
	if (r->bad || r->left < len) {
		r->bad = true;
		return;
	}
	memcpy(to, r->p, len);
	r->p += len;
	r->left -= len;
}

uint32_t ward_msg_get_u32(struct ward_msg_reader *r)
{
	uint32_t v = 0;
	take(r, &v, sizeof(v));
	return v;
}

uint64_t ward_msg_get_u64(struct ward_msg_reader *r)
{
	uint64_t v = 0;
	take(r, &v, sizeof(v));
	return v;
}

const void *ward_msg_get_bytes(struct ward_msg_reader *r, size_t *ret_len)
{
	size_t len = ward_msg_get_u32(r);
	if (r->bad || r->left < len) {
		r->bad = true;
		*ret_len = 0;
		return "";
	}
	const void *p = r->p;
	r->p += len;
	r->left -= len;
	*ret_len = len;
	return p;
}

char *ward_msg_get_str(struct ward_msg_reader *r)
{
	size_t len = 0;
	const void *p = ward_msg_get_bytes(r, &len);
	if (r->bad)
		return NULL;
	char *s = memchr(p, 0, len) ? NULL : strndup(p, len);
	if (!s)
		r->bad = true;
	return s;
}

int ward_msg_done(const struct ward_msg_reader *r)
{
	return r->bad || r->left > 0 ? -EBADMSG : 0;
}

static void close_all(const int *fds, size_t n)
{
	for (size_t i = 0; i < n; i++)
		close(fds[i]);
}

/* Moves the descriptors of mh into fds. Returns -EBADMSG if there are more than max. */
static int take_fds(struct msghdr *mh, int *fds, size_t max, size_t *ret_n)
{
	size_t n = 0;
	int r = 0;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(mh); c; c = CMSG_NXTHDR(mh, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		size_t here = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < here; i++) {
			int fd = -1;
			memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
			if (n < max) {
				fds[n++] = fd;
			} else {
				close(fd);
				r = -EBADMSG;
			}
		}
	}
	*ret_n = n;
	return r;
}

ssize_t ward_msg_recv(int sock, void *buf, size_t size, int *fds, size_t *n_fds)
{
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(sizeof(int) * WARD_MSG_FDS_MAX)];
	} control;
	size_t max = n_fds ? *n_fds : 0;
	if (n_fds)
		*n_fds = 0;
	struct iovec iov = {.iov_base = buf, .iov_len = size};
	struct msghdr mh = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.space,
		.msg_controllen = sizeof(control.space)};
	ssize_t n = 0;
	do {
		n = recvmsg(sock, &mh, MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	size_t got = 0;
	int r = take_fds(&mh, fds, max, &got);
	if (r == 0 && mh.msg_flags & (MSG_TRUNC | MSG_CTRUNC))
		r = -EBADMSG;
	if (r < 0 || n == 0) {
		close_all(fds, got);
		return r < 0 ? r : 0;
	}
	if (n_fds)
		*n_fds = got;
	return n;
}
