/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as what an upstream proxy answers: as a whole and byte by byte the same is taken and
 * sent, and nothing behind the answer is. The first byte chooses the protocol. And any bytes as a
 * token: what parses is in its one spelling, so that it parses to the same again.
 */
#include <string.h>

#include "enforcer/net/protocol/token.h"
#include "enforcer/net/protocol/upstream.h"
#include "tests/fuzz/fuzz.h"

#define SIZE_MAX_HERE 4096

struct result {
	ssize_t taken; /* or the error */
	enum ward_upstream_state state;
	size_t sent;
};

static struct result talk(uint8_t kind, const uint8_t *data, size_t size, size_t step)
{
	static const char token[] = "user~password";
	const struct ward_proxy proxy = {.socks = kind & 1, .host = "p", .port = 1};
	const char *header = kind & 2 ? "proxy-authorization" : NULL;
	const char *host = kind & 4 ? "2001:db8::1" : "a.example";
	struct ward_upstream u;
	struct ward_buf out = WARD_BUF_INIT;
	struct result r = {0};
	fuzz_insist(ward_upstream_begin(&u, &proxy, host, 443, header, token, 5, &out) == 0);
	while ((size_t)r.taken < size && u.state != WARD_UPSTREAM_STREAM) {
		size_t left = size - (size_t)r.taken, n = left < step ? left : step;
		ssize_t got = ward_upstream_take(&u, data + r.taken, n, &out);
		if (got < 0) {
			fuzz_insist(u.state == WARD_UPSTREAM_FAILED && u.why[0]);
			r.taken = got;
			break;
		}
		fuzz_insist(got > 0 && (size_t)got <= n);
		r.taken += got;
	}
	r.state = u.state;
	r.sent = out.len;
	ward_upstream_clear(&u);
	ward_buf_clear(&out);
	return r;
}

static bool same_token(const struct ward_token *a, const struct ward_token *b)
{
	return strcmp(a->session, b->session) == 0 && strcmp(a->policy, b->policy) == 0 &&
	       strcmp(a->destination, b->destination) == 0 &&
	       memcmp(a->key, b->key, sizeof(a->key)) == 0 &&
	       memcmp(a->grant_signature, b->grant_signature, sizeof(a->grant_signature)) == 0 &&
	       memcmp(a->signature, b->signature, sizeof(a->signature)) == 0 &&
	       a->from_s == b->from_s && a->until_s == b->until_s && a->number == b->number &&
	       a->expires_s == b->expires_s && a->granted == b->granted && a->claimed == b->claimed;
}

static void check_token(const uint8_t *data, size_t size)
{
	struct ward_token t, again;
	if (ward_token_parse((const char *)data, size, &t) < 0)
		return;
	fuzz_insist(t.granted < t.claimed && t.claimed < size);
	fuzz_insist(strlen(t.destination) < sizeof(t.destination) && *t.session);
	/* A cut token, or one with a tail, is invalid. */
	fuzz_insist(ward_token_parse((const char *)data, size - 1, &again) < 0);
	fuzz_insist(ward_token_parse((const char *)data, size, &again) == 0);
	fuzz_insist(same_token(&t, &again));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check_token(data, size);
	if (size < 1 || size > SIZE_MAX_HERE)
		return 0;
	struct result whole = talk(data[0], data + 1, size - 1, size);
	struct result slowly = talk(data[0], data + 1, size - 1, 1);
	fuzz_insist(whole.taken == slowly.taken && whole.state == slowly.state);
	fuzz_insist(whole.sent == slowly.sent);
	return 0;
}
