/* SPDX-License-Identifier: Apache-2.0 */
/* The command's child waits for its word, and for another command than the blueprint's. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/sandbox/init/init.h"

/* The description, then 0, 1, 2. */
#define FDS_MAX 4

int ward_init_read_description(int fd, struct ward_blueprint_exec *ret)
{
	struct stat st;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (st.st_size <= 0 || (size_t)st.st_size > WARD_BLUEPRINT_BYTES_MAX)
		return -EBADMSG;
	void *data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED)
		return -errno;
	int r = ward_blueprint_exec_decode(data, (size_t)st.st_size, ret);
	munmap(data, (size_t)st.st_size);
	return r;
}

/* One byte of pid 1's and the descriptors with it. */
static int hear(int fd, char *ret, int fds[FDS_MAX], size_t *n_fds)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int) * FDS_MAX)];
	} control;
	struct iovec iov = {ret, 1};
	struct msghdr msg = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control)};
	*n_fds = 0;
	ssize_t n = recvmsg(fd, &msg, MSG_CMSG_CLOEXEC);
	const struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&msg) : NULL;
	if (n <= 0)
		return n < 0 ? -errno : -EPIPE;
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
		*n_fds = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(fds, CMSG_DATA(c), *n_fds * sizeof(int));
	}
	return msg.msg_flags & MSG_CTRUNC ? -EBADMSG : 0;
}

/* fds: the description, 0, 1, 2. */
static int take(struct ward_blueprint *p, const int fds[FDS_MAX], struct ward_err *err)
{
	struct ward_blueprint_exec e = {0};
	int r = ward_init_read_description(fds[0], &e);
	if (r < 0)
		return ward_err_sys(err, r, "the description of the command");
	for (int i = 0; i < 3; i++)
		if (dup2(fds[1 + i], i) < 0)
			return ward_err_sys(err, -errno, "give descriptor %d", i);
	r = ward_init_own_devices(p->layers, err);
	if (r < 0)
		return r;
	if (chdir(e.cwd) < 0)
		return ward_err_sys(err, -errno, "enter %s, the start directory inside", e.cwd);
	/* This process is about to become that command: nothing is freed. */
	p->argv = e.argv;
	p->envp = e.envp;
	p->n_envp = e.n_envp;
	return 0;
}

int ward_init_wait_given(int fd, struct ward_blueprint *p, struct ward_err *err)
{
	for (;;) {
		char word = 0;
		int fds[FDS_MAX];
		size_t n = 0;
		int r = hear(fd, &word, fds, &n);
		if (r == 0 && word == WARD_INIT_GIVEN && n == FDS_MAX)
			r = take(p, fds, err);
		else if (r == 0 && (word != WARD_INIT_GO_ON || n > 0))
			r = -EBADMSG;
		for (size_t i = 0; i < n; i++)
			close(fds[i]);
		if (r < 0)
			return err->code ? r : ward_err_sys(err, r, "hear from pid 1");
		if (word == WARD_INIT_GO_ON)
			return 0;
	}
}
