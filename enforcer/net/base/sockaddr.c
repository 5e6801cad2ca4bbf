/* SPDX-License-Identifier: Apache-2.0 */
/* Converts, compares and prints addresses of both families. */
#include "enforcer/net/base/net.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

void ward_sockaddr_text(const union ward_sockaddr *a, char ret[WARD_ADDRESS_TEXT_MAX])
{
	const void *bytes = a->sa.sa_family == AF_INET ? (const void *)&a->v4.sin_addr
						       : (const void *)&a->v6.sin6_addr;
	if (!inet_ntop(a->sa.sa_family, bytes, ret, WARD_ADDRESS_TEXT_MAX))
		memcpy(ret, "?", 2);
}

void ward_sockaddr_text_port(const union ward_sockaddr *a, char ret[WARD_ADDRESS_TEXT_MAX])
{
	char text[WARD_ADDRESS_TEXT_MAX];
	ward_sockaddr_text(a, text);
	snprintf(ret, WARD_ADDRESS_TEXT_MAX, a->sa.sa_family == AF_INET ? "%.46s:%u" : "[%.46s]:%u",
		text, ward_sockaddr_port(a));
}

bool ward_sockaddr_parse(const char *text, uint16_t port, union ward_sockaddr *ret)
{
	union ward_sockaddr a = {.v4 = {.sin_family = AF_INET}};
	if (inet_pton(AF_INET, text, &a.v4.sin_addr) != 1) {
		a.v6 = (struct sockaddr_in6){.sin6_family = AF_INET6};
		if (inet_pton(AF_INET6, text, &a.v6.sin6_addr) != 1)
			return false;
	}
	ward_sockaddr_set_port(&a, port);
	ward_sockaddr_unmap(&a);
	*ret = a;
	return true;
}

uint16_t ward_sockaddr_port(const union ward_sockaddr *a)
{
	return ntohs(a->sa.sa_family == AF_INET ? a->v4.sin_port : a->v6.sin6_port);
}

void ward_sockaddr_set_port(union ward_sockaddr *a, uint16_t port)
{
	if (a->sa.sa_family == AF_INET)
		a->v4.sin_port = htons(port);
	else
		a->v6.sin6_port = htons(port);
}

socklen_t ward_sockaddr_len(const union ward_sockaddr *a)
{
	return a->sa.sa_family == AF_INET ? sizeof(a->v4) : sizeof(a->v6);
}

void ward_sockaddr_unmap(union ward_sockaddr *a)
{
	if (a->sa.sa_family != AF_INET6 || !IN6_IS_ADDR_V4MAPPED(&a->v6.sin6_addr))
		return;
	struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = a->v6.sin6_port};
	memcpy(&v4.sin_addr, a->v6.sin6_addr.s6_addr + 12, 4);
	a->v4 = v4;
}

int ward_sockaddr_connected(int fd, bool timed_out)
{
	union ward_sockaddr peer;
	int error = 0;
	socklen_t len = sizeof(error), peer_len = sizeof(peer);
	if (timed_out)
		return getpeername(fd, &peer.sa, &peer_len) < 0 ? ETIMEDOUT : 0;
	return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0 ? errno : error;
}

bool ward_sockaddr_same_host(const union ward_sockaddr *a, const union ward_sockaddr *b)
{
	if (a->sa.sa_family != b->sa.sa_family)
		return false;
	return a->sa.sa_family == AF_INET ? a->v4.sin_addr.s_addr == b->v4.sin_addr.s_addr
					  : memcmp(&a->v6.sin6_addr, &b->v6.sin6_addr, 16) == 0;
}
