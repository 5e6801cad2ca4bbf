/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a request at the control socket. The first byte says who asks, the second one how
 * many descriptors come along. A handler is called at most once, with what its row promises; else
 * the client gets a refusal that is an object; no descriptor is left open.
 */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/session/control/control.h"
#include "enforcer/session/control/control_verbs.h"
#include "tests/fuzz/fuzz.h"

struct seen {
	unsigned calls, who;
};

static void see(void *arg, struct ward_control_request *q)
{
	struct seen *s = arg;
	const struct ward_control_verb *v =
		ward_control_verb(json_string_value(json_object_get(q->body, "verb")));
	fuzz_insist(v && v->who & s->who && v->fds == q->n_fds && v->what == q->what);
	for (size_t i = 0; i < q->n_fds; i++)
		fuzz_insist(fcntl(q->fds[i], F_GETFD) == FD_CLOEXEC);
	s->calls++;
}

static const struct ward_control_handlers handlers = {.status = see,
	.kill = see,
	.exec = see,
	.attach = see,
	.reload = see,
	.umount = see,
	.join = see,
	.questions = see,
	.answer = see,
	.ask_fs = see,
	.grants = see};

/* The number that the next descriptor gets: the same before and after. */
static int next_fd(void)
{
	int fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
	fuzz_insist(fd >= 0);
	close(fd);
	return fd;
}

static void send_request(int to, const uint8_t *data, size_t size, unsigned n)
{
	int fds[WARD_CONTROL_FDS_MAX + 2];
	char space[CMSG_SPACE(sizeof(fds))] = {0};
	struct iovec iov = {(void *)(uintptr_t)data, size};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
	for (unsigned i = 0; i < n; i++)
		fds[i] = STDERR_FILENO;
	if (n) {
		m.msg_control = space;
		m.msg_controllen = CMSG_SPACE(n * sizeof(int));
		struct cmsghdr *c = CMSG_FIRSTHDR(&m);
		*c = (struct cmsghdr){.cmsg_len = CMSG_LEN(n * sizeof(int)),
			.cmsg_level = SOL_SOCKET,
			.cmsg_type = SCM_RIGHTS};
		memcpy(CMSG_DATA(c), fds, n * sizeof(int));
	}
	fuzz_insist(sendmsg(to, &m, MSG_NOSIGNAL) == (ssize_t)size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int ends[2];
	if (size < 3 || size > WARD_CONTROL_MAX)
		return 0;
	struct seen s = {.who = data[0] & 15};
	const int first = next_fd();
	fuzz_insist(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
	send_request(ends[1], data + 2, size - 2, data[1] % (WARD_CONTROL_FDS_MAX + 3));
	struct ward_control_request q = {.client = ends[0], .n_fds = WARD_CONTROL_FDS_MAX};
	char *text = NULL;
	int r = ward_control_hear(q.client, &text, q.fds, &q.n_fds);
	json_t *body = r == 0 ? json_loads(text, 0, NULL) : NULL;
	q.body = body;
	ward_control_hand_over(&q, s.who, &handlers, &s);
	json_decref(body);
	free(text);
	json_t *answer = NULL;
	int with = -1;
	r = ward_control_answer(ends[1], &answer, &with);
	fuzz_insist(s.calls <= 1 && with == -1);
	fuzz_insist(s.calls ? r == -EPIPE : r == 0 && json_is_false(json_object_get(answer, "ok")));
	json_decref(answer);
	close(ends[1]);
	fuzz_insist(next_fd() == first);
	return 0;
}
