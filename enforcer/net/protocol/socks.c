/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes SOCKS5 requests, and encodes the replies. */
#include "enforcer/net/protocol/socks.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

enum { VERSION = 5, NO_AUTHENTICATION = 0, CONNECT = 1, IPV4 = 1, NAME = 3, IPV6 = 4 };

void ward_socks_reply(enum ward_socks_reply code, uint8_t ret[WARD_SOCKS_REPLY_LEN])
{
	memset(ret, 0, WARD_SOCKS_REPLY_LEN);
	ret[0] = VERSION;
	ret[1] = (uint8_t)code;
	ret[3] = IPV4;
}

ssize_t ward_socks_greeting(const uint8_t *data, size_t len)
{
	if (len && data[0] != VERSION)
		return -EBADMSG;
	if (len < 2 || len < 2U + data[1])
		return 0;
	return memchr(data + 2, NO_AUTHENTICATION, data[1]) ? 2 + data[1] : -EACCES;
}

ssize_t ward_socks_request(const uint8_t *data, size_t len, struct ward_socks_request *ret)
{
	size_t at = 4, n = 0;
	*ret = (struct ward_socks_request){0};
	if (len && data[0] != VERSION)
		return -EBADMSG;
	if (len < 5)
		return 0;
	if (data[2] != 0)
		return -EBADMSG;
	if (data[1] != CONNECT)
		return -EOPNOTSUPP;
	if (data[3] == NAME)
		n = data[at++];
	else if (data[3] == IPV4 || data[3] == IPV6)
		n = data[3] == IPV4 ? 4 : 16;
	else
		return -EAFNOSUPPORT;
	if (len < at + n + 2)
		return 0;
	if (data[3] != NAME)
		(void)inet_ntop(data[3] == IPV4 ? AF_INET : AF_INET6, data + at, ret->host,
			sizeof(ret->host));
	else if (n == 0 || memchr(data + at, 0, n))
		return -EAFNOSUPPORT;
	else
		memcpy(ret->host, data + at, n);
	at += n;
	ret->port = (uint16_t)(data[at] << 8 | data[at + 1]);
	return (ssize_t)at + 2;
}
