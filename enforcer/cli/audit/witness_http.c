/* SPDX-License-Identifier: Apache-2.0 */
/* One HTTP request to a witness, by a caged process. */
#include "enforcer/cli/audit/witness_http.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/fd.h"
#include "enforcer/cli/audit/dial.h"

/* Head and body; servers send some hundred bytes of head. */
#define ANSWER_MAX (WARD_WITNESS_BODY_MAX + 16384U)

static int put_request(
	const struct ward_dial_url *u, const struct ward_buf *body, struct ward_buf *b)
{
	const bool six = strchr(u->host, ':') != NULL;
	/* Version 1.0: the answer ends with the connection, and comes in no chunks. */
	ward_buf_printf(b,
		"POST %.*s/add-checkpoint HTTP/1.0\r\nHost: %s%s%s:%s\r\nUser-Agent: wardfs\r\n"
		"Content-Type: text/plain; charset=utf-8\r\nContent-Length: %zu\r\n"
		"Connection: close\r\n\r\n",
		(int)u->path_len, u->path, six ? "[" : "", u->host, six ? "]" : "", u->port,
		body->len);
	ward_buf_add(b, body->data, body->len);
	return ward_buf_error(b);
}

/* "HTTP/1.x NNN …", a head, an empty line, the body. The status, or -EBADMSG. */
static int take_answer(const char *p, size_t len, const char **ret_body, size_t *ret_len)
{
	if (len < 13 || memcmp(p, "HTTP/1.", 7) != 0 || p[8] != ' ')
		return -EBADMSG;
	int status = 0;
	for (size_t i = 9; i < 12; i++) {
		if (p[i] < '0' || p[i] > '9')
			return -EBADMSG;
		status = 10 * status + (p[i] - '0');
	}
	const char *end = memmem(p, len, "\r\n\r\n", 4);
	if (!end || status < 100)
		return -EBADMSG;
	*ret_body = end + 4;
	*ret_len = len - (size_t)(end + 4 - p);
	return *ret_len > WARD_WITNESS_BODY_MAX ? -EBADMSG : status;
}

/* The caged process has two descriptors and the memory that it starts with. */
enum { CAGE_SOCK = 0, CAGE_OUT = 1 };
struct cage {
	char text[ANSWER_MAX];
	int32_t status; /* of the answer; the body follows */
	char body[WARD_WITNESS_BODY_MAX];
};

/* Reads until the other side closes. Bytes, or a negative errno. */
static ssize_t read_answer(int fd, char *text, size_t size)
{
	size_t n = 0;
	for (;;) {
		ssize_t got = n < size ? read(fd, text + n, size - n) : -1;
		if (got < 0)
			return n < size ? -errno : -EFBIG;
		if (got == 0)
			return (ssize_t)n;
		n += (size_t)got;
	}
}

/* In the cage: sends, reads, takes apart, tells. Makes no system call but read(2) and write(2). */
static int exchange(struct cage *c, const struct ward_buf *request)
{
	const char *body = NULL;
	size_t len = 0;
	int r = ward_fd_write_all(CAGE_SOCK, request->data, request->len);
	ssize_t n = r < 0 ? r : read_answer(CAGE_SOCK, c->text, sizeof(c->text));
	c->status = n < 0 ? (int)n : take_answer(c->text, (size_t)n, &body, &len);
	if (c->status > 0)
		memcpy(c->body, body, len);
	else
		len = 0;
	return ward_fd_write_all(CAGE_OUT, &c->status, sizeof(c->status) + len);
}

static _Noreturn void child(int sock, int out, const struct ward_buf *request)
{
	struct cage *c = calloc(1, sizeof(*c));
	/* A connection that was closed answers with an error, not with an end. */
	(void)signal(SIGPIPE, SIG_IGN);
	/* The two alone, in place of what the command has there; then strict mode (seccomp(2)):
	 * read, write, exit. */
	if (!c || dup2(sock, CAGE_SOCK) < 0 || dup2(out, CAGE_OUT) < 0 ||
		close_range(CAGE_OUT + 1, UINT_MAX, 0) < 0 ||
		prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 ||
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0) < 0)
		_exit(1);
	int r = exchange(c, request);
	/* exit_group(2), which _exit(3) is, would be one too many. */
	for (;;)
		(void)syscall(SYS_exit, r < 0);
}

/* All that the child tells, for so long as it may take. */
static int hear(int fd, struct ward_buf *b)
{
	const uint64_t end = ward_clock_mono_ns() + WARD_WITNESS_SECONDS * WARD_NS_PER_SEC;
	char piece[4096];
	for (;;) {
		uint64_t now = ward_clock_mono_ns();
		struct pollfd p = {.fd = fd, .events = POLLIN};
		int n = now < end ? poll(&p, 1, (int)((end - now) / 1000000) + 1) : 0;
		if (n == 0)
			return -ETIMEDOUT;
		if (n < 0 && errno == EINTR)
			continue;
		ssize_t got = n < 0 ? -1 : read(fd, piece, sizeof(piece));
		if (got < 0)
			return -errno;
		if (got == 0)
			return ward_buf_error(b);
		ward_buf_add(b, piece, (size_t)got);
	}
}

static int ask(int sock, const struct ward_buf *request, struct ward_buf *heard)
{
	int pipes[2];
	if (pipe2(pipes, O_CLOEXEC) < 0)
		return -errno;
	ward_cleanup_fd int in = pipes[0];
	ward_cleanup_fd int out = pipes[1];
	pid_t pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0)
		child(sock, out, request);
	close(ward_steal_fd(&out));
	int r = hear(in, heard);
	/* Ours, and not waited for yet: the number is its own still. */
	if (r < 0)
		(void)kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return r;
}

int ward_witness_post(
	const char *url, const struct ward_buf *request, struct ward_buf *ret, struct ward_err *err)
{
	struct ward_dial_url u;
	ward_cleanup_fd int sock = -1;
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf heard = {.max = sizeof(struct cage)};
	int32_t status = 0;
	if (ward_dial_url(url, &u) < 0 || u.tls)
		return ward_err_set(err, -EINVAL, "%s: give http://HOST[:PORT][/PREFIX]", url);
	int r = ward_dial(u.host, u.port, WARD_WITNESS_SECONDS, &sock, err);
	if (r < 0)
		return r;
	r = put_request(&u, request, &text);
	if (r == 0)
		r = ask(sock, &text, &heard);
	if (r < 0)
		return ward_err_sys(err, r, "%s", url);
	if (heard.len >= sizeof(status))
		memcpy(&status, heard.data, sizeof(status));
	/* It was closed or reset in between: the errno, as the child has it. */
	if (status < 0 && status > -4096 && status != -EBADMSG)
		return ward_err_sys(err, status, "%s", url);
	if (status < 100 || status > 999)
		return ward_err_set(
			err, -EBADMSG, "%s: the answer is not HTTP, or is too long", url);
	ward_buf_add(ret, heard.data + sizeof(status), heard.len - sizeof(status));
	return ward_buf_error(ret) < 0 ? ward_err_sys(err, -ENOMEM, "witness") : status;
}
