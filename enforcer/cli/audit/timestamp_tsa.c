/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a request of RFC 3161, has a command ask with it, and looks at the answer. */
#include "enforcer/cli/audit/timestamp_tsa.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sodium.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/out.h"

/* Between two looks whether the command has ended. */
#define LOOK_MS 10

/* The nonce as it stands in request and answer: INTEGER, 8 bytes, positive, none too many. */
#define NONCE 10
#define IMPRINT (3 + 19)
#define REQUEST (IMPRINT + 32 + NONCE + 3 + 2)

/* TimeStampReq (RFC 3161, 2.4.1): version 1, SHA-256 of the data, a nonce, and the certificate. */
static void make_request(const void *data, size_t len, uint8_t ret[REQUEST])
{
	static const uint8_t head[] = {0x30, REQUEST - 2, 0x02, 0x01, 0x01, 0x30, 0x31, 0x30, 0x0d,
		0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01, 0x05, 0x00, 0x04,
		0x20};
	static const uint8_t cert[] = {0x01, 0x01, 0xff};
	uint8_t *p = ret + sizeof(head);
	_Static_assert(sizeof(head) == IMPRINT + 2, "the digest stands behind the head");
	memcpy(ret, head, sizeof(head));
	(void)crypto_hash_sha256(p, data, (unsigned long long)len);
	p += 32;
	p[0] = 0x02;
	p[1] = 8;
	randombytes_buf(p + 2, 8);
	p[2] = (uint8_t)((p[2] & 0x7f) | 0x40);
	memcpy(p + NONCE, cert, sizeof(cert));
}

/* The contents of the DER value of this tag at *p, which moves behind it. False: there is none. */
static bool take(uint8_t tag, const uint8_t **p, const uint8_t *end, const uint8_t **ret_end)
{
	const uint8_t *q = *p;
	size_t len = 0;
	if (end - q < 2 || *q++ != tag)
		return false;
	const uint8_t first = *q++;
	if (first < 0x80)
		len = first;
	else if (first < 0x81 || first > 0x84)
		return false;
	for (unsigned i = first & 0x7f; first >= 0x80 && i > 0; i--) {
		if (q == end)
			return false;
		len = len << 8 | *q++;
	}
	if (len > (size_t)(end - q))
		return false;
	*p = q;
	*ret_end = q + len;
	return true;
}

/* TimeStampResp: what it says of itself, and whether it answers this request. */
static int check(
	const uint8_t *request, const struct ward_buf *b, const char *command, struct ward_err *err)
{
	const uint8_t *p = (const uint8_t *)b->data, *end = p + b->len;
	const uint8_t *all = NULL, *info = NULL, *status = NULL;
	if (!take(0x30, &p, end, &all) || all != end || !take(0x30, &p, all, &info) ||
		!take(0x02, &p, info, &status) || status - p != 1)
		return ward_err_set(err, -EBADMSG,
			"%s wrote no answer of a time stamp authority (%zu bytes)", command,
			b->len);
	/* granted, grantedWithMods */
	if (*p > 1)
		return ward_err_set(err, -EACCES,
			"%s: the authority refused (status %u); openssl ts -reply -text -in tells "
			"why",
			command, *p);
	if (!memmem(info, (size_t)(end - info), request + IMPRINT + 2, 32) ||
		!memmem(info, (size_t)(end - info), request + IMPRINT + 2 + 32, NONCE))
		return ward_err_set(
			err, -EBADMSG, "%s answered another request than this one", command);
	return 0;
}

static _Noreturn void child(const char *command, int in, int out)
{
	if (dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0)
		execl(command, command, (char *)NULL);
	ward_tellf("wardfs: %s cannot be started: %s\n", command, strerror(errno));
	_exit(126);
}

static int read_answer(int fd, uint64_t start, struct ward_buf *ret)
{
	for (;;) {
		char buf[4096];
		struct pollfd p = {.fd = fd, .events = POLLIN};
		const uint64_t left = ward_clock_left_ns(start, WARD_TSA_SECONDS * WARD_NS_PER_SEC);
		if (left == 0)
			return -ETIMEDOUT;
		if (poll(&p, 1, (int)(left / 1000000) + 1) <= 0)
			continue;
		ssize_t n = read(fd, buf, sizeof(buf));
		if (n == 0)
			return ward_buf_error(ret);
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0)
			ward_buf_add(ret, buf, (size_t)n);
		if (ward_buf_error(ret) < 0)
			return -EFBIG;
	}
}

/* A command that has closed its output can go on without end. */
static int await_end(pid_t pid, uint64_t start, int *ret_status)
{
	for (;;) {
		const pid_t ended = waitpid(pid, ret_status, WNOHANG);
		if (ended == pid)
			return 0;
		if (ended < 0 && errno != EINTR)
			return -errno;
		if (ward_clock_left_ns(start, WARD_TSA_SECONDS * WARD_NS_PER_SEC) == 0)
			return -ETIMEDOUT;
		(void)poll(NULL, 0, LOOK_MS);
	}
}

static int run(const char *command, const uint8_t request[REQUEST], struct ward_buf *ret,
	struct ward_err *err)
{
	ward_cleanup_fd int in = -1, to = -1, from = -1, out = -1;
	int ends[2], status = 0;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return ward_err_sys(err, -errno, "pipe");
	in = ends[0];
	to = ends[1];
	if (pipe2(ends, O_CLOEXEC) < 0)
		return ward_err_sys(err, -errno, "pipe");
	from = ends[0];
	out = ends[1];
	/* It fits into the pipe: nobody waits, and nobody can be gone. */
	int r = ward_fd_write_all(to, request, REQUEST);
	if (r < 0)
		return ward_err_sys(err, r, "pipe");
	close(ward_steal_fd(&to));
	const uint64_t start = ward_clock_mono_ns();
	(void)!ward_out_flush(); /* the child would print it once more */
	pid_t pid = fork();
	if (pid == 0)
		child(command, in, out);
	close(ward_steal_fd(&out));
	if (pid < 0)
		return ward_err_sys(err, -errno, "%s", command);
	r = read_answer(from, start, ret);
	if (r == 0)
		r = await_end(pid, start, &status);
	if (r < 0) {
		(void)kill(pid, SIGKILL);
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			continue;
		return ward_err_sys(err, r, "%s", command);
	}
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return ward_err_set(err, -ECANCELED, "%s ended with an error (status %d)", command,
			WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	return 0;
}

int ward_tsa_ask(const char *command, const void *data, size_t len, struct ward_buf *ret,
	struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = {.max = WARD_TSA_ANSWER_MAX};
	uint8_t request[REQUEST];
	if (command[0] != '/')
		return ward_err_set(err, -EINVAL,
			"%s: the command that asks the authority is named by its absolute path",
			command);
	make_request(data, len, request);
	int r = run(command, request, &b, err);
	if (r == 0)
		r = check(request, &b, command, err);
	if (r < 0)
		return r;
	ward_buf_add(ret, b.data, b.len);
	r = ward_buf_error(ret);
	return r < 0 ? ward_err_sys(err, r, "%s", command) : 0;
}
