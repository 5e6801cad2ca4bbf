/* SPDX-License-Identifier: Apache-2.0 */
/* Parses [network] proxy and identify. */
#include "enforcer/policy/proxy.h"
#include "enforcer/base/quantity.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

/* Of a header that identifies; longer ones nobody has. */
#define HEADER_MAX 64

static int parse_port(const char *s, uint16_t *ret)
{
	uint64_t port = 0;
	int r = ward_quantity_whole(s, 1, UINT16_MAX, &port, NULL);
	if (r < 0)
		return r;
	*ret = (uint16_t)port;
	return 0;
}

static bool host_char(char c, bool brackets)
{
	if (brackets)
		return isxdigit((unsigned char)c) || c == ':' || c == '.';
	return isalnum((unsigned char)c) || c == '-' || c == '_' || c == '.';
}

int ward_proxy_parse(const char *url, struct ward_proxy *ret, struct ward_err *err)
{
	struct ward_proxy p = {0};
	const char *s = url;
	if (strncmp(url, "https://", 8) == 0)
		return ward_err_set(err, -EINVAL,
			"'%s': wardfs does not use TLS to the proxy itself; write http:// "
			"(connections through it keep their own TLS)",
			url);
	if (strncmp(url, "http://", 7) == 0) {
		s += 7;
	} else if (strncmp(url, "socks5://", 9) == 0) {
		p.socks = true;
		s += 9;
	} else {
		return ward_err_set(err, -EINVAL, "'%s' is not an http:// or socks5:// URL", url);
	}
	if (strchr(s, '@'))
		return ward_err_set(err, -EINVAL,
			"a policy cannot contain a user and password, because its text is in the "
			"trail: 'identify' tells the proxy which session asks");
	bool brackets = *s == '[';
	s += brackets;
	size_t n = 0;
	while (n < sizeof(p.host) - 1 && host_char(s[n], brackets)) {
		p.host[n] = (char)tolower((unsigned char)s[n]);
		n++;
	}
	s += n;
	if (n == 0 || (brackets && *s++ != ']'))
		return ward_err_set(err, -EINVAL, "'%s' names no host", url);
	if (*s != ':')
		return ward_err_set(err, -EINVAL, "'%s': name the port: %s://%s:3128", url,
			p.socks ? "socks5" : "http", p.host);
	char port[8] = "";
	size_t len = strcspn(s + 1, "/");
	if (len < sizeof(port))
		memcpy(port, s + 1, len);
	if (parse_port(port, &p.port) < 0 || (s[1 + len] && s[2 + len]))
		return ward_err_set(err, -EINVAL, "'%s': only a port may follow the host", url);
	*ret = p;
	return 0;
}

int ward_proxy_header(const char *name, struct ward_err *err)
{
	/* What a proxy or its parser acts upon. */
	static const char *const meant[] = {"Host", "Connection", "Content-Length",
		"Transfer-Encoding", "Proxy-Connection", "Keep-Alive", "Upgrade", "TE", "Trailer",
		"Via", "Expect", "Forwarded", "X-Forwarded-For"};
	size_t n = strlen(name);
	/* tchar of RFC 9110, 5.6.2 */
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)name[i]) && !strchr("!#$%&'*+-.^_`|~", name[i]))
			return ward_err_set(err, -EINVAL, "'%s' is not the name of a header", name);
	if (n == 0 || n > HEADER_MAX)
		return ward_err_set(
			err, -EINVAL, "the name of a header has 1 to %d characters", HEADER_MAX);
	for (size_t i = 0; i < sizeof(meant) / sizeof(meant[0]); i++)
		if (strcasecmp(name, meant[i]) == 0)
			return ward_err_set(err, -EINVAL,
				"'%s' has another meaning for a proxy: choose a header of your "
				"own, or proxy-authorization",
				name);
	return 0;
}

bool ward_proxy_is_authorization(const char *name)
{
	return strcasecmp(name, "proxy-authorization") == 0;
}
