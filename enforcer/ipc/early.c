/* SPDX-License-Identifier: Apache-2.0 */
/* In a helper that is started early: waits for its descriptors, and puts them in their places. */
#include "enforcer/ipc/early.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "enforcer/ipc/helper.h"
#include "enforcer/ipc/msg.h"

/* Above all numbers of helper.h. */
#define NUMBERS_END (WARD_FD_FS_TREES + 2 * WARD_TREES_MAX)

/* The numbers, each once, none of those that are there. */
static int numbers(struct ward_msg_reader *m, size_t n, int ret[WARD_MSG_FDS_MAX])
{
	for (size_t i = 0; i < n; i++) {
		ret[i] = (int)ward_msg_get_u32(m);
		if (ret[i] < WARD_FD_POLICY || ret[i] == WARD_FD_EARLY || ret[i] >= NUMBERS_END)
			return -EBADMSG;
		for (size_t j = 0; j < i; j++)
			if (ret[j] == ret[i])
				return -EBADMSG;
	}
	return ward_msg_done(m);
}

/* First all of them out of the way of all numbers, then down onto these. */
static int place(int *fds, const int *to, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int high = fcntl(fds[i], F_DUPFD_CLOEXEC, NUMBERS_END);
		if (high < 0)
			return -errno;
		close(fds[i]);
		fds[i] = high;
	}
	for (size_t i = 0; i < n; i++) {
		if (dup3(fds[i], to[i], O_CLOEXEC) < 0)
			return -errno;
		close(fds[i]);
	}
	return 0;
}

int ward_early_status(int r)
{
	/* RLIMIT_NOFILE, as fcntl(2), dup(2), and recvmsg(2) by what is cut off, tell of it. */
	return r == -EPIPE ? 1 : WARD_HELPER_NO_FDS;
}

int ward_early_take(int argc, char **argv)
{
	if (argc < 2 || strcmp(argv[1], WARD_EARLY) != 0)
		return 0;
	uint8_t buf[256];
	int fds[WARD_MSG_FDS_MAX];
	int to[WARD_MSG_FDS_MAX];
	size_t n = WARD_MSG_FDS_MAX;
	ssize_t len = ward_msg_recv(WARD_FD_EARLY, buf, sizeof(buf), fds, &n);
	if (len <= 0)
		return len < 0 ? (int)len : -EPIPE;
	struct ward_msg_reader m;
	ward_msg_reader_init(&m, buf, (size_t)len);
	if (m.type != WARD_MSG_FDS || ward_msg_get_u32(&m) != n || numbers(&m, n, to) < 0)
		return -EBADMSG;
	close(WARD_FD_EARLY);
	return place(fds, to, n);
}
