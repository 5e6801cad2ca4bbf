/* SPDX-License-Identifier: Apache-2.0 */
/* Checks values that are no quantities: words, destinations, ports, variables, paths. */
#include "enforcer/policy/value.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/quantity.h"

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool letter(char c)
{
	return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

int ward_value_word(const char *text, const char *const *words, uint64_t *ret, struct ward_err *err)
{
	char all[160] = "";
	for (size_t i = 0; words[i]; i++) {
		if (strcmp(text, words[i]) == 0) {
			*ret = i;
			return 0;
		}
		size_t n = strlen(all);
		snprintf(all + n, sizeof(all) - n, "%s%s", i ? ", " : "", words[i]);
	}
	return ward_err_set(err, -EINVAL, "'%s' is not one of: %s", text, all);
}

/* A list "1,2,3" of ports, at least one. They are compared as text: no zero may stand in front. */
static bool ports(const char *s)
{
	for (;;) {
		uint64_t v;
		if (*s == '0' || !ward_quantity_digits(&s, &v) || v > 65535)
			return false;
		if (!*s)
			return true;
		if (*s++ != ',')
			return false;
	}
}

static bool host_name(const char *s)
{
	if (strncmp(s, "*.", 2) == 0)
		s += 2;
	size_t label = 0, len = strlen(s);
	if (len == 0 || len > 253)
		return false;
	for (; *s; s++) {
		if (*s == '.') {
			if (label == 0 || s[-1] == '-' || !s[1])
				return false;
			label = 0;
			continue;
		}
		if (!letter(*s) && !digit(*s) && *s != '_' && !(*s == '-' && label > 0))
			return false;
		if (++label > 63)
			return false;
	}
	return s[-1] != '-';
}

/* ADDRESS[/BITS] of IPv4 or IPv6. */
static bool address(const char *s)
{
	char text[INET6_ADDRSTRLEN];
	unsigned char bytes[16];
	size_t n = strcspn(s, "/");
	if (n >= sizeof(text))
		return false;
	memcpy(text, s, n);
	text[n] = 0;
	uint64_t max = inet_pton(AF_INET, text, bytes) == 1    ? 32
		       : inet_pton(AF_INET6, text, bytes) == 1 ? 128
							       : 0;
	if (!max)
		return false;
	if (!s[n])
		return true;
	const char *b = s + n + 1;
	uint64_t bits;
	return ward_quantity_digits(&b, &bits) && !*b && bits <= max;
}

int ward_value_host(const char *text, struct ward_err *err)
{
	char buf[320];
	size_t n = strlen(text);
	bool ok = n < sizeof(buf);
	if (ok) {
		memcpy(buf, text, n + 1);
		if (n > 4 && strcmp(buf + n - 4, "/udp") == 0)
			buf[n - 4] = 0;
		char *host = buf, *port = NULL;
		if (buf[0] == '[') { /* [v6]:port */
			char *close = strchr(buf, ']');
			ok = close && (!close[1] || close[1] == ':');
			if (ok) {
				host = buf + 1;
				port = close[1] ? close + 2 : NULL;
				*close = 0;
			}
		} else {
			port = strchr(buf, ':');
			if (port && strchr(port + 1, ':'))
				port = NULL; /* an IPv6 address */
			else if (port)
				*port++ = 0;
		}
		ok = ok && (host_name(host) || address(host) || strcmp(host, "*") == 0) &&
		     (!port || ports(port));
	}
	if (!ok)
		return ward_err_set(err, -EINVAL,
			"'%s' is not a destination: write example.org:443, *.example.org or "
			"10.1.0.0/16:80,443",
			text);
	return 0;
}

int ward_value_ports(const char *text, struct ward_err *err)
{
	const char *s = text;
	uint64_t a, b = 1;
	bool ok = ward_quantity_digits(&s, &a) && a > 0 && a <= 65535;
	if (ok && *s == ':') {
		s++;
		ok = ward_quantity_digits(&s, &b) && b > 0 && b <= 65535;
	}
	if (!ok || *s)
		return ward_err_set(err, -EINVAL, "'%s': write 8080 or 8080:80", text);
	return 0;
}

int ward_value_env(const char *text, bool set, struct ward_err *err)
{
	const char *s = text;
	while (letter(*s) || *s == '_' || (s > text && digit(*s)) ||
		(!set && (*s == '*' || *s == '?')))
		s++;
	if (s == text || (set ? *s != '=' : *s != 0))
		return ward_err_set(err, -EINVAL,
			set ? "'%s': write NAME=VALUE"
			    : "'%s': write the name of a variable, or LC_* (values: set = "
			      "NAME=VALUE)",
			text);
	return 0;
}

int ward_value_sandbox_path(const char *text, bool root_too, struct ward_err *err)
{
	bool ok = text[0] == '/' && (text[1] || root_too) && strlen(text) < 4096;
	for (const char *s = text; ok && *s && text[1];) {
		size_t n = strcspn(s + 1, "/");
		ok = n > 0 && n <= 255 && !(n == 1 && s[1] == '.') &&
		     !(n == 2 && s[1] == '.' && s[2] == '.');
		s += n + 1;
	}
	if (!ok)
		return ward_err_set(err, -EINVAL,
			"'%s' is not an absolute path (without '.', '..', '//' and a '/' at the "
			"end)",
			text);
	return 0;
}

unsigned ward_value_distance(const char *a, const char *b, unsigned max)
{
	enum { N = 48 };
	size_t la = strlen(a), lb = strlen(b);
	unsigned d[N + 1][N + 1];
	if (la > N || lb > N)
		return max + 1;
	for (unsigned i = 0; i <= la; i++) {
		for (unsigned k = 0; k <= lb; k++) {
			if (i == 0 || k == 0) {
				d[i][k] = i + k;
				continue;
			}
			unsigned best = d[i - 1][k - 1] + (a[i - 1] != b[k - 1]);
			if (d[i - 1][k] + 1 < best)
				best = d[i - 1][k] + 1;
			if (d[i][k - 1] + 1 < best)
				best = d[i][k - 1] + 1;
			if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1] &&
				d[i - 2][k - 2] + 1 < best)
				best = d[i - 2][k - 2] + 1;
			d[i][k] = best;
		}
	}
	return d[la][lb] <= max ? d[la][lb] : max + 1;
}
