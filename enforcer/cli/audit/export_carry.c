/* SPDX-License-Identifier: Apache-2.0 */
/* Starts wardfs-send for a batch, and hears what came of it. */
#include "enforcer/cli/audit/export_carry.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/fd.h"
#include "enforcer/session/guard/helper.h"

struct hearing {
	struct ward_buf told; /* behind WARD_SEND_END */
	bool ended;
};

/* Between fork and exec. */
static _Noreturn void child(
	const struct ward_carrier *c, char *program, int batch, int out, int sock)
{
	char *const argv[] = {(char *)(uintptr_t) "wardfs-send",
		(char *)(uintptr_t)(c->http ? "http" : "syslog"),
		(char *)(uintptr_t)(c->tls ? c->host : ""), NULL};
	/* The caller's environment chooses neither proxies nor settings of OpenSSL. */
	char *const envp[] = {NULL};
	const int from[] = {
		batch, out, sock, c->tls ? c->ca : -1, c->tls ? c->cert : -1, c->tls ? c->key : -1};
	const int to[] = {WARD_SEND_BATCH, WARD_SEND_TOLD, WARD_SEND_SOCKET, WARD_SEND_CA,
		WARD_SEND_CERT, WARD_SEND_KEY};
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (chdir("/") < 0 || ward_fd_inherit(from, to, sizeof(to) / sizeof(*to)) < 0)
		_exit(125);
	execve(program, argv, envp);
	_exit(127);
}

/* A piece of the answer. True: it was progress. */
static bool take_piece(struct hearing *h, const char *p, size_t n)
{
	bool progress = false;
	for (; n > 0 && !h->ended; p++, n--) {
		h->ended = *p == WARD_SEND_END;
		progress = true;
	}
	ward_buf_add(&h->told, p, n);
	return progress;
}

/* Until it has told all. -ETIMEDOUT: there was no progress for too long. */
static int hear(int fd, unsigned seconds, struct hearing *h)
{
	uint64_t since = ward_clock_mono_ns();
	char piece[4096];
	for (;;) {
		const uint64_t left = ward_clock_left_ns(since, seconds * WARD_NS_PER_SEC);
		struct pollfd p = {.fd = fd, .events = POLLIN};
		int n = left ? poll(&p, 1, (int)(left / 1000000) + 1) : 0;
		if (n < 0 && errno != EINTR)
			return -errno;
		if (left == 0)
			return -ETIMEDOUT;
		if (n <= 0)
			continue;
		ssize_t got = read(fd, piece, sizeof(piece));
		if (got == 0)
			return ward_buf_error(&h->told);
		if (got < 0)
			return -errno;
		if (take_piece(h, piece, (size_t)got))
			since = ward_clock_mono_ns();
	}
}

static int start(const struct ward_carrier *c, const struct ward_buf *batch, int sock,
	pid_t *ret_pid, int *ret_fd, struct ward_err *err)
{
	ward_cleanup_free char *program = NULL;
	ward_cleanup_fd int data = -1, in = -1, out = -1;
	int ends[2];
	int r = ward_helper_program("wardfs-send", &program, err);
	if (r == 0 && access(program, X_OK) < 0)
		r = ward_err_sys(err, -errno, "%s", program);
	if (r == 0)
		r = ward_fd_sealed("batch", batch->data, batch->len, &data, err);
	if (r < 0)
		return r;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return ward_err_sys(err, -errno, "pipe");
	in = ends[0];
	out = ends[1];
	pid_t pid = fork();
	if (pid == 0)
		child(c, program, data, out, sock);
	if (pid < 0)
		return ward_err_sys(err, -errno, "start wardfs-send");
	*ret_pid = pid;
	*ret_fd = ward_steal_fd(&in);
	return 0;
}

static void cut(const char *text, struct ward_send_told *ret, struct ward_buf *ret_text)
{
	*ret = (struct ward_send_told){.result = WARD_SEND_CUT, .retry_after = -1};
	ward_buf_puts(ret_text, text);
}

static int take_told(const struct ward_buf *b, int status, struct ward_send_told *ret,
	struct ward_buf *ret_text, struct ward_err *err)
{
	struct ward_send_told t = {0};
	if (WIFSIGNALED(status))
		return ward_err_set(
			err, -EIO, "wardfs-send was ended by signal %d", WTERMSIG(status));
	if (b->len >= sizeof(t))
		memcpy(&t, b->data, sizeof(t));
	if (WEXITSTATUS(status) != 0 || t.result == WARD_SEND_NOTHING ||
		t.len > WARD_SEND_TEXT_MAX || b->len != sizeof(t) + t.len)
		return ward_err_set(
			err, -EIO, "wardfs-send failed (exit status %d)", WEXITSTATUS(status));
	ward_buf_add(ret_text, b->data + sizeof(t), t.len);
	*ret = t;
	return ward_buf_error(ret_text) < 0 ? ward_err_sys(err, -ENOMEM, "export") : 0;
}

int ward_carry(const struct ward_carrier *c, const struct ward_buf *batch,
	struct ward_send_told *ret, struct ward_buf *ret_text, struct ward_err *err)
{
	struct ward_err why = WARD_ERR_INIT;
	ward_cleanup_fd int sock = -1, fd = -1;
	ward_cleanup(ward_buf_clear) struct ward_buf told = WARD_BUF_INIT;
	struct hearing h = {.told = {.max = sizeof(struct ward_send_told) + WARD_SEND_TEXT_MAX}};
	pid_t pid = -1;
	int status = 0;
	if (ward_dial(c->host, c->port, c->seconds, &sock, &why) < 0) {
		cut(why.text, ret, ret_text);
		return 0;
	}
	if (fcntl(sock, F_SETFL, O_NONBLOCK) < 0)
		return ward_err_sys(err, -errno, "%s", c->host);
	int r = start(c, batch, sock, &pid, &fd, err);
	if (r < 0)
		return r;
	/* The connection ends with wardfs-send. */
	close(ward_steal_fd(&sock));
	r = hear(fd, c->seconds, &h);
	told = h.told;
	/* Ours, and not waited for yet: the number is its own still. */
	if (r < 0)
		(void)kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	if (r == -ETIMEDOUT) {
		(void)ward_err_set(&why, r, "%s took nothing and said nothing for %u seconds",
			c->host, c->seconds);
		cut(why.text, ret, ret_text);
		return 0;
	}
	return r < 0 ? ward_err_sys(err, r, "wardfs-send")
		     : take_told(&told, status, ret, ret_text, err);
}
