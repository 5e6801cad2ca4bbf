/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for the front, finds the container, waits for its end or the keeper's. */
#include "enforcer/oci/watcher.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/oci/groups.h"
#include "enforcer/oci/oci.h"
#include "enforcer/oci/runtime.h"

/* Between two looks at a runtime that is still at work. */
#define LOOK_MS 100
#define LOOK_MAX_MS 2000
/* From SIGKILL to the end of a container's processes. */
#define END_MS 20000

static bool over(int pidfd, int ms)
{
	struct pollfd p = {.fd = pidfd, .events = POLLIN};
	int n = 0;
	do {
		n = poll(&p, 1, ms);
	} while (n < 0 && errno == EINTR);
	return n > 0;
}

/* The first process of the container; -1: there is none. */
static int find(const char *runtime, const struct ward_oci_args *a)
{
	pid_t pid = 0;
	pid_t again = 0;
	if (ward_oci_runtime_pid(runtime, a, &pid, NULL) < 0 || pid <= 0)
		return -1;
	ward_cleanup_fd int fd = pidfd_open(pid, 0);
	/* The number may have been another's by the time that we opened it. */
	if (fd < 0 || ward_oci_runtime_pid(runtime, a, &again, NULL) < 0 || again != pid)
		return -1;
	return ward_steal_fd(&fd);
}

void ward_oci_kill(const char *runtime, const struct ward_oci_args *a, int front, int container)
{
	ward_cleanup_fd int found = -1;
	int left = WARD_OCI_RUNTIME_MS;
	while (container < 0) {
		found = find(runtime, a);
		container = found;
		if (container >= 0 || over(front, LOOK_MS))
			break;
		left -= LOOK_MS;
		if (left <= 0)
			pidfd_send_signal(front, SIGKILL, NULL, 0);
	}
	/* It may have come with the front's last step. */
	if (container < 0)
		container = found = find(runtime, a);
	if (container < 0)
		return;
	pidfd_send_signal(container, SIGKILL, NULL, 0);
	(void)over(container, END_MS);
}

static void tell(int keeper, enum ward_oci_word word, int fd)
{
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(sizeof(int))];
	} control;
	char byte = (char)word;
	struct iovec iov = {&byte, 1};
	struct msghdr mh = {.msg_iov = &iov, .msg_iovlen = 1};
	if (fd >= 0) {
		mh.msg_control = control.space;
		mh.msg_controllen = sizeof(control.space);
		struct cmsghdr *c = CMSG_FIRSTHDR(&mh);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &fd, sizeof(int));
	}
	(void)!sendmsg(keeper, &mh, MSG_NOSIGNAL);
}

enum wait { WAIT_KEEPER = 0, WAIT_FD, WAIT_TIME };

/* What ended: the keeper, fd, or the time (-1: none). */
static enum wait wait_for(int fd, int keeper, int ms)
{
	struct pollfd p[] = {{.fd = fd, .events = POLLIN}, {.fd = keeper, .events = POLLIN}};
	for (;;) {
		const int n = poll(p, 2, ms);
		if ((n < 0 && errno != EINTR) || (n > 0 && p[1].revents))
			return WAIT_KEEPER;
		if (n > 0)
			return WAIT_FD;
		if (n == 0)
			return WAIT_TIME;
	}
}

/* False: the keeper ended. *ret: pidfd of the container, -1: there is none. */
static bool wait_made(const char *runtime, const struct ward_oci_args *a, bool early, int front,
	int keeper, int *ret)
{
	int ms = early ? LOOK_MS : -1;
	for (;;) {
		const enum wait w = wait_for(front, keeper, ms);
		if (w == WAIT_KEEPER)
			return false;
		*ret = find(runtime, a);
		if (*ret >= 0 || w == WAIT_FD)
			return true;
		/* A look starts the runtime. */
		ms = ms < LOOK_MAX_MS ? ms * 2 : LOOK_MAX_MS;
	}
}

void ward_oci_watch(const char *runtime, const struct ward_oci_args *a, const char *group,
	bool early, int front, int keeper)
{
	int container = -1;
	bool fine = wait_made(runtime, a, early, front, keeper, &container);
	if (fine)
		tell(keeper, container >= 0 ? WARD_OCI_WORD_MADE : WARD_OCI_WORD_NONE, container);
	if (fine && container >= 0) {
		fine = wait_for(container, keeper, -1) == WAIT_FD;
		if (fine)
			tell(keeper, WARD_OCI_WORD_ENDED, -1);
	}
	if (!fine) {
		ward_oci_kill(runtime, a, front, container);
		ward_oci_group_remove(runtime, a, group);
	}
	_exit(0);
}
