/* SPDX-License-Identifier: Apache-2.0 */
/* Connects to hosts by name. */
#include "enforcer/cli/audit/dial.h"

#include <errno.h>
#include <netdb.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"

int ward_dial_split(const char *text, size_t len, const char *port,
	char ret_host[WARD_DIAL_HOST_MAX], char ret_port[WARD_DIAL_PORT_MAX])
{
	const bool six = len > 0 && text[0] == '[';
	const char *end = six ? memchr(text, ']', len) : memchr(text, ':', len);
	const size_t host = end ? (size_t)(end - text) + six : len;
	if (host <= 2 * (size_t)six || host >= WARD_DIAL_HOST_MAX || (six && !end))
		return -EINVAL;
	const char *after = text + host;
	size_t n = len - host;
	if (n > 0 && (after[0] != ':' || n < 2 || n > 6 || strspn(after + 1, "0123456789") < n - 1))
		return -EINVAL;
	if (n == 0 && !port)
		return -EINVAL;
	if (n > 0) {
		unsigned long number = 0;
		for (size_t i = 1; i < n; i++)
			number = number * 10 + (unsigned long)(after[i] - '0');
		if (number == 0 || number > UINT16_MAX)
			return -EINVAL;
	}
	snprintf(ret_host, WARD_DIAL_HOST_MAX, "%.*s", (int)(host - 2 * (size_t)six), text + six);
	snprintf(ret_port, WARD_DIAL_PORT_MAX, "%.*s", n ? (int)n - 1 : WARD_DIAL_PORT_MAX - 1,
		n ? after + 1 : port);
	return 0;
}

/* What a head of HTTP cannot hold is in no part of a URL. */
static bool plain(const char *p)
{
	for (; *p; p++)
		if ((unsigned char)*p <= ' ' || (unsigned char)*p >= 0x7f || strchr("#?", *p))
			return false;
	return true;
}

int ward_dial_url(const char *text, struct ward_dial_url *ret)
{
	struct ward_dial_url u = {.tls = strncmp(text, "https://", 8) == 0};
	if (!plain(text) || (!u.tls && strncmp(text, "http://", 7) != 0))
		return -EINVAL;
	const char *host = text + (u.tls ? 8 : 7);
	const size_t all = strcspn(host, "/");
	if (memchr(host, '@', all) ||
		ward_dial_split(host, all, u.tls ? "443" : "80", u.host, u.port) < 0)
		return -EINVAL;
	u.path = host + all;
	u.path_len = strlen(u.path);
	if (u.path_len > 0 && u.path[u.path_len - 1] == '/')
		u.path_len--;
	*ret = u;
	return 0;
}

int ward_dial(
	const char *host, const char *port, unsigned seconds, int *ret_fd, struct ward_err *err)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	const struct timeval wait = {.tv_sec = seconds};
	struct addrinfo *all = NULL;
	int g = getaddrinfo(host, port, &hints, &all);
	if (g != 0)
		return ward_err_set(err, -EHOSTUNREACH, "%s: %s", host, gai_strerror(g));
	int r = -EHOSTUNREACH;
	for (const struct addrinfo *a = all; a && r < 0; a = a->ai_next) {
		ward_cleanup_fd int fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
		/* connect(2) waits no longer either; it says that it is in progress then. */
		r = fd < 0 || setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait)) < 0 ||
				    connect(fd, a->ai_addr, a->ai_addrlen) < 0
			    ? (errno == EINPROGRESS ? -ETIMEDOUT : -errno)
			    : 0;
		if (r == 0)
			*ret_fd = ward_steal_fd(&fd);
	}
	freeaddrinfo(all);
	return r < 0 ? ward_err_sys(err, r, "%s:%s", host, port) : 0;
}
