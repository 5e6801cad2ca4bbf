/* SPDX-License-Identifier: Apache-2.0 */
/* Gets the trail of a session from wardfs-auditd. */
#include "enforcer/session/guard/system_writer.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"

/* wardfs-auditd makes files and waits for the disk. */
#define ANSWER_MS 30000

static int connect_to(int *ret, struct ward_err *err)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX, .sun_path = WARD_SYSTEM_SOCKET};
	struct ucred peer;
	socklen_t len = sizeof(peer);
	ward_cleanup_fd int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return ward_err_sys(err, -errno, "the system's writer");
	if (connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0)
		return ward_err_sys(err, -errno,
			"[audit] writer = system: %s (is wardfs-audit.socket enabled?)",
			WARD_SYSTEM_SOCKET);
	/* Of whom listen(2) was called by: root, who made the socket for the service. */
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
		return ward_err_sys(err, -errno, "%s", WARD_SYSTEM_SOCKET);
	if (peer.uid != 0)
		return ward_err_set(err, -EPERM, "%s: user %u listens there, not root",
			WARD_SYSTEM_SOCKET, (unsigned)peer.uid);
	*ret = ward_steal_fd(&fd);
	return 0;
}

/*
 * Waits for the message of this type, with one descriptor where ret_fd is not NULL; *ret_text is
 * its str, *ret_number its u32, where wanted. What the writer that died had said before is passed
 * over.
 */
static int wait_for(int sock, uint32_t type, int *ret_fd, char **ret_text, uint32_t *ret_number,
	struct ward_err *err)
{
	ward_cleanup_free char *buf = malloc(WARD_MSG_MAX);
	if (!buf)
		return ward_err_sys(err, -ENOMEM, "the system's writer");
	for (;;) {
		struct pollfd p = {.fd = sock, .events = POLLIN};
		ward_cleanup_fd int fd = -1;
		size_t n_fds = 1;
		int n = poll(&p, 1, ANSWER_MS);
		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			return ward_err_set(err, -ETIMEDOUT, "the system's writer does not answer");
		ssize_t len = ward_msg_recv(sock, buf, WARD_MSG_MAX, &fd, &n_fds);
		if (len <= 0)
			return ward_err_sys(
				err, len < 0 ? (int)len : -EPIPE, "the system's writer");
		struct ward_msg_reader m;
		ward_msg_reader_init(&m, buf, (size_t)len);
		if (m.type == WARD_MSG_FAILED) {
			ward_cleanup_free char *why = ward_msg_get_str(&m);
			return ward_err_set(
				err, -EIO, "the system's writer: %s", why ? why : "refused");
		}
		if (m.type == WARD_MSG_SYSTEM_DIED || m.type == WARD_MSG_AUDIT_BROKEN ||
			m.type == WARD_MSG_AUDIT_BURST)
			continue;
		ward_cleanup_free char *text = ret_text ? ward_msg_get_str(&m) : NULL;
		uint32_t number = ret_number ? ward_msg_get_u32(&m) : 0;
		if (m.type != type || ward_msg_done(&m) < 0 || (ret_fd && n_fds != 1))
			return ward_err_set(
				err, -EBADMSG, "the system's writer: its answer is not valid");
		if (ret_text)
			*ret_text = ward_steal_ptr(&text);
		if (ret_number)
			*ret_number = number;
		if (ret_fd)
			*ret_fd = ward_steal_fd(&fd);
		return 0;
	}
}

/* The writer takes descriptors from when it has a process for us (auditd/main.c). */
static int say(int sock, const struct ward_msg *m, const int *fds, size_t n, struct ward_err *err)
{
	int r = ward_buf_error(&m->buf);
	for (int ms = 0; r == 0; ms++) {
		r = ward_msg_send(sock, m, fds, n);
		if (r != -EPERM || ms == ANSWER_MS)
			break;
		(void)poll(NULL, 0, 1);
		r = 0;
	}
	return r < 0 ? ward_err_sys(err, r, "the system's writer") : 0;
}

int ward_system_open(
	struct ward_guard *g, const char *state, const char *name, struct ward_err *err)
{
	ward_cleanup_free char *given = NULL;
	g->system = true;
	/* Tokens are signed with the key of whom the session belongs to, as they are without. */
	int r = ward_store_open(state, true, &g->state, err);
	/* Its lifeline is made here; the socket is another one. */
	ward_helper_close(&g->audit);
	if (r == 0)
		r = ward_helper_prepare("wardfs-audit", &g->audit, err);
	if (r < 0)
		return r;
	close(g->audit.control);
	close(g->audit.child_control);
	g->audit.control = g->audit.child_control = -1;
	g->audit.foreign = true;
	r = connect_to(&g->audit.control, err);
	if (r < 0)
		return r;
	struct ward_msg m;
	ward_msg_init(&m, WARD_MSG_SYSTEM_OPEN);
	ward_msg_put_str(&m, name);
	ward_msg_put_u32(&m, g->sync);
	ward_msg_put_u64(&m, g->checkpoint_records);
	ward_msg_put_u64(&m, g->checkpoint_ms);
	ward_msg_put_u64(&m, g->rotate);
	ward_msg_put_u64(&m, g->keep_s);
	r = say(g->audit.control, &m, &g->policy_fd, 1, err);
	ward_msg_clear(&m);
	/* Refused before we had said anything: it says why. */
	if (r == 0 || r == -EPIPE || r == -ECONNRESET)
		r = wait_for(g->audit.control, WARD_MSG_SYSTEM_OPENED, &g->store.checkpoints_fd,
			&given, NULL, err);
	if (r == 0 && (size_t)snprintf(g->store.name, sizeof(g->store.name), "%s", given) >=
			      sizeof(g->store.name))
		r = ward_err_set(
			err, -EBADMSG, "the system's writer: its answer has an invalid name");
	return r;
}

static int wait_started(struct ward_guard *g, struct ward_err *err)
{
	uint32_t pid = 0;
	int r = wait_for(
		g->audit.control, WARD_MSG_SYSTEM_STARTED, &g->audit.pidfd, NULL, &pid, err);
	if (r == 0)
		g->audit.pid = (pid_t)pid;
	return r;
}

int ward_system_start(struct ward_guard *g, struct ward_err *err)
{
	int fds[WARD_SYSTEM_START_FDS];
	struct ward_msg m;
	for (int i = 0; i < WARD_GUARD_RINGS; i++)
		fds[i] = g->ring_fd[i];
	fds[WARD_GUARD_RINGS] = g->wake;
	fds[WARD_GUARD_RINGS + 1] = g->audit.child_lifeline;
	ward_msg_init(&m, WARD_MSG_SYSTEM_START);
	int r = say(g->audit.control, &m, fds, WARD_SYSTEM_START_FDS, err);
	ward_msg_clear(&m);
	/* The other end says when the writer is gone: this one may not be ours. */
	close(g->audit.child_lifeline);
	g->audit.child_lifeline = -1;
	return r < 0 ? r : wait_started(g, err);
}

int ward_system_recover(struct ward_guard *g, struct ward_err *err)
{
	struct ward_msg m;
	ward_helper_reap(&g->audit, 0, true);
	if (g->audit.pidfd >= 0)
		close(g->audit.pidfd);
	g->audit.pidfd = -1;
	ward_msg_init(&m, WARD_MSG_SYSTEM_RECOVER);
	int r = say(g->audit.control, &m, NULL, 0, err);
	ward_msg_clear(&m);
	if (r == 0)
		r = wait_started(g, err);
	if (r == 0)
		r = ward_helper_wait_ready(&g->audit, NULL, err);
	return r < 0 ? ward_err_wrap(err, "recovering the trail") : 0;
}

int ward_system_policy(
	struct ward_guard *g, unsigned n, const void *policy, size_t len, struct ward_err *err)
{
	struct ward_msg m;
	ward_cleanup_fd int fd = -1;
	int r = policy ? ward_fd_sealed("wardfs-policy", policy, len, &fd, err) : 0;
	if (r < 0)
		return r;
	ward_msg_init(&m, WARD_MSG_SYSTEM_POLICY);
	ward_msg_put_u32(&m, n);
	r = say(g->audit.control, &m, &fd, policy ? 1 : 0, err);
	ward_msg_clear(&m);
	return r;
}

int ward_system_note_read(
	const char *session, const char *verb, const char *question, struct ward_err *err)
{
	struct ward_msg m;
	ward_cleanup_fd int fd = -1;
	int r = connect_to(&fd, err);
	if (r < 0)
		return r;
	ward_msg_init(&m, WARD_MSG_SYSTEM_READ);
	ward_msg_put_str(&m, session);
	ward_msg_put_str(&m, verb);
	ward_msg_put_str(&m, question ? question : "");
	r = say(fd, &m, NULL, 0, err);
	ward_msg_clear(&m);
	return r < 0 ? r : wait_for(fd, WARD_MSG_READY, NULL, NULL, NULL, err);
}

int ward_system_reach(struct ward_err *err)
{
	ward_cleanup_fd int fd = -1;
	return connect_to(&fd, err);
}
