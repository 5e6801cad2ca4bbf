/* SPDX-License-Identifier: Apache-2.0 */
/* Tells certificates from files that hold more. */
#include "enforcer/session/plan/ca_text.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* 32 bytes, the smallest key, in base64. */
#define RUN_MAX 43U

static const char begin[] = "-----BEGIN ", end[] = "-----END ";

static bool is_base64(char c)
{
	return isalnum((unsigned char)c) || c == '+' || c == '/' || c == '=';
}

/* So many characters of base64 without a break; a serial number has digits alone. */
static bool has_key(const char *s, size_t n)
{
	size_t run = 0, digits = 0;
	for (size_t i = 0; i < n; i++) {
		const bool is = is_base64(s[i]) && s[i] != '=';
		run = is ? run + 1 : 0;
		digits = is ? digits + (isdigit((unsigned char)s[i]) != 0) : 0;
		if (run > RUN_MAX - 1 && digits < run)
			return true;
	}
	return false;
}

static bool has_word(const char *s, size_t n)
{
	/* "prime1" is what openssl prints of a private RSA key. */
	static const char *const words[] = {"private", "privkey", "prime1", "password",
		"passphrase", "passwd", "secret", "token", "BEGIN "};
	for (size_t w = 0; w < COUNT(words); w++)
		for (size_t i = 0, len = strlen(words[w]); i + len <= n; i++)
			if (strncasecmp(s + i, words[w], len) == 0)
				return true;
	return false;
}

/* Each block is a certificate or a list of revoked ones. */
static bool begins_good(const char *line)
{
	static const char *const good[] = {"CERTIFICATE-----", "TRUSTED CERTIFICATE-----",
		"X509 CERTIFICATE-----", "X509 CRL-----"};
	for (size_t i = 0; i < COUNT(good); i++)
		if (strncmp(line + sizeof(begin) - 1, good[i], strlen(good[i])) == 0)
			return true;
	return false;
}

/* In a block: base64 and white space. */
static bool is_body(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!is_base64(s[i]) && !isspace((unsigned char)s[i]))
			return false;
	return true;
}

const char *ward_ca_text_wrong(const char *text, size_t len)
{
	bool any = false, within = false;
	if (memchr(text, '\0', len) || !strstr(text, begin))
		return "it is no file of certificates in PEM";
	for (const char *s = text; *s; s += strspn(s, "\n")) {
		const size_t n = strcspn(s, "\n");
		const bool begins = strncmp(s, begin, sizeof(begin) - 1) == 0;
		if (begins && (within || !begins_good(s)))
			return "it holds more than certificates, such as a private key";
		if (begins)
			any = within = true;
		else if (within && strncmp(s, end, sizeof(end) - 1) == 0)
			within = false;
		else if (within && !is_body(s, n))
			return "it holds more than certificates: a block with something else in it";
		else if (!within && (has_word(s, n) || has_key(s, n)))
			return "it holds more than certificates: text that may be a key or a "
			       "password";
		s += n;
	}
	return any && !within ? NULL : "it is no file of certificates in PEM";
}
