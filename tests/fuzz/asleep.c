/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as what the system bus says to a session. A byte says how many bytes come in one piece,
 * and whether descriptors come along; the bytes follow. Only the one who gave the lock is obeyed,
 * nothing that cannot be understood leaves the connection open, and no descriptor is left.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "enforcer/session/ask/asleep.h"
#include "tests/fuzz/fuzz.h"

#define PIECE 63U
#define FDS_MAX 3

struct told {
	struct ward_asleep *asleep;
	bool gave; /* the bus sent a descriptor, which can be the lock */
};

static char dir[] = "/tmp/wardfs-fuzz-asleep.XXXXXX";
static struct sockaddr_un address = {.sun_family = AF_UNIX};

static void on_sleep(void *arg, bool soon)
{
	struct told *t = arg;
	fuzz_insist(t->gave && ward_asleep_is_heard(t->asleep));
	if (soon)
		ward_asleep_done(t->asleep);
}

static void leave(void)
{
	(void)unlink(address.sun_path);
	(void)rmdir(dir);
}

/* The bus. One for all inputs: what is not accepted is not read. */
static int listening(void)
{
	static int fd = -1;
	char named[sizeof(address.sun_path) + 16];
	if (fd >= 0)
		return fd;
	fuzz_insist(mkdtemp(dir) && atexit(leave) == 0);
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s/bus", dir);
	(void)snprintf(named, sizeof(named), "unix:path=%s", address.sun_path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	fuzz_insist(fd >= 0 && setenv("DBUS_SYSTEM_BUS_ADDRESS", named, 1) == 0);
	fuzz_insist(bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0);
	fuzz_insist(listen(fd, 1) == 0);
	return fd;
}

/* The number that the next descriptor gets: the same before and after. */
static int next_fd(void)
{
	int fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
	fuzz_insist(fd >= 0);
	close(fd);
	return fd;
}

static void say(int bus, const uint8_t *data, size_t n, unsigned n_fds)
{
	int fds[FDS_MAX] = {STDERR_FILENO, STDERR_FILENO, STDERR_FILENO};
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(fds))];
	} control = {0};
	struct iovec io = {(void *)(uintptr_t)data, n};
	struct msghdr m = {.msg_iov = &io, .msg_iovlen = 1};
	if (n_fds) {
		m.msg_control = &control;
		m.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
		control.head = (struct cmsghdr){.cmsg_len = CMSG_LEN(n_fds * sizeof(int)),
			.cmsg_level = SOL_SOCKET,
			.cmsg_type = SCM_RIGHTS};
		memcpy(CMSG_DATA(&control.head), fds, n_fds * sizeof(int));
	}
	fuzz_insist(sendmsg(bus, &m, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)n);
}

/* What was sent to the bus is read, so that the other side can go on. */
static void hear(int bus)
{
	char text[4096];
	while (recv(bus, text, sizeof(text), MSG_DONTWAIT) > 0)
		;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ward_pollset set = {0};
	struct told t = {NULL, false};
	const int listener = listening(), first = next_fd();
	fuzz_insist(ward_asleep_watch(&t.asleep, &set, 1, on_sleep, &t) == 0);
	int bus = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	fuzz_insist(bus >= 0);
	while (size > 1 && ward_asleep_is_heard(t.asleep)) {
		const unsigned n_fds = data[0] >> 6;
		size_t n = data[0] & PIECE;
		/* The longest piece is all that is left. */
		n = n == PIECE || n > size - 1 ? size - 1 : n + !n;
		if (n > 4096)
			n = 4096;
		t.gave = t.gave || n_fds;
		say(bus, data + 1, n, n_fds);
		data += n + 1;
		size -= n + 1;
		fuzz_insist(ward_pollset_round(&set) == 0);
		hear(bus);
	}
	close(bus);
	while (ward_asleep_is_heard(t.asleep))
		fuzz_insist(ward_pollset_round(&set) == 0);
	fuzz_insist(set.n == 0);
	ward_asleep_free(t.asleep);
	fuzz_insist(next_fd() == first);
	return 0;
}
