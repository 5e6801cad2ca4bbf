/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tells an upstream proxy which session a connection belongs to ([network] identify).
 *
 * A token is one word of fields between '~'; letters, digits, '-', '_' and '.' elsewhere, so that
 * it fits into any header (token68 of RFC 9110, 11.2):
 *
 *   wardfs1~SESSION~KEY~FROM~UNTIL~SIGNATURE~POLICY~DESTINATION~NUMBER~EXPIRES~SIGNATURE
 *   |----------- the grant ---------------|  |------------- the claim -----------------|
 *
 *   SESSION      the session's name (at most 80 bytes)
 *   KEY          the public half of a key that this session alone has
 *   FROM, UNTIL  when that key may be used, in seconds since the epoch
 *   SIGNATURE    of the host's key (`wardfs audit key show`), over "wardfs-net-grant/1" LF and the
 *                five fields before it with the '~' between them
 *   POLICY       the digest of the policy in force, 32 bytes
 *   DESTINATION  HOST:PORT, an IPv6 address in brackets
 *   NUMBER       1, 2, 3 … of the session's connections
 *   EXPIRES      seconds since the epoch
 *   SIGNATURE    of KEY, over "wardfs-net-token/1" LF and all ten fields before it
 *
 * KEY, POLICY, DESTINATION and the signatures are base64url without padding (RFC 4648, 5), numbers
 * are decimal without leading zeros, signatures Ed25519 (RFC 8032). The broker, which reads what
 * the agent sends, so never has the host's key: who takes the broker over can speak for this
 * session, until UNTIL, and for no other. Grant and claim each fit into 255 bytes, the user and the
 * password of SOCKS5 (RFC 1929), unless the destination has more than 70.
 *
 * Pure, but for the clock that the caller brings. ward_chain_setup() first.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/format.h"
#include "audit/log/note.h"
#include "enforcer/base/err.h"

/* A name of DNS or an address in brackets, ':' and a port. */
#define WARD_TOKEN_DESTINATION_MAX 264U
#define WARD_TOKEN_GRANT_MAX 256U /* with its NUL */
#define WARD_TOKEN_MAX 1024U	  /* the same */
#define WARD_TOKEN_SEED_BYTES 32U
/* A token is for the request that it stands in: seconds from then to its end. */
#define WARD_TOKEN_LIFE_S 60U
/* A grant is for as long: a session that lasts longer than 30 days is refused its connections. */
#define WARD_TOKEN_GRANT_LIFE_S (30ULL * 24U * 3600U)

/*
 * A grant for session, signed by the host's key, from now on. ret_seed is the secret half of its
 * key, for the broker; wipe it after use.
 */
int ward_token_grant(const struct ward_signing_key *host, const char *session, uint64_t now_s,
	char ret_grant[WARD_TOKEN_GRANT_MAX],
	uint8_t ret_seed[WARD_TOKEN_SEED_BYTES]) ward_must_check;

/* What the broker signs with. */
struct ward_token_signer {
	char grant[WARD_TOKEN_GRANT_MAX];
	uint8_t secret[WARD_SIGN_SECRET_BYTES];
	uint64_t until_s;
	uint64_t number; /* of the last token */
};
/* -EBADMSG: no grant, or not one of this seed. */
int ward_token_signer_open(const char *grant, const uint8_t seed[WARD_TOKEN_SEED_BYTES],
	struct ward_token_signer *ret) ward_must_check;
/*
 * The next token. policy: the digest, 64 hexadecimal digits; destination: HOST:PORT. *ret_claim is
 * where in ret the claim begins, behind the '~'. -EKEYEXPIRED: the grant has ended.
 */
int ward_token_sign(struct ward_token_signer *s, const char *policy, const char *destination,
	uint64_t now_s, char ret[WARD_TOKEN_MAX], size_t *ret_claim) ward_must_check;

struct ward_token {
	char session[WARD_SESSION_NAME_MAX + 1];
	uint8_t key[WARD_SIGN_PUBLIC_BYTES];
	uint64_t from_s, until_s;
	uint8_t grant_signature[WARD_SIGN_BYTES];
	char policy[65]; /* hexadecimal */
	char destination[WARD_TOKEN_DESTINATION_MAX];
	uint64_t number, expires_s;
	uint8_t signature[WARD_SIGN_BYTES];
	size_t granted, claimed; /* bytes that either signature covers */
};
/* Takes text apart; checks no signature. -EBADMSG: not a token, or not in its only spelling. */
int ward_token_parse(const char *text, size_t len, struct ward_token *ret) ward_must_check;

enum ward_token_fault {
	WARD_TOKEN_FORGED =
		0,	  /* no key of these has signed the grant, or the grant's not the claim */
	WARD_TOKEN_EARLY, /* from the future: clocks differ */
	WARD_TOKEN_EXPIRED,
	WARD_TOKEN_GOOD,
};
/*
 * t was taken from text. slack_s: by how much the clock that now_s is from may be behind the
 * signer's; a token that has expired by now_s stays so. *ret_key, NULL: not wanted: which
 * of the keys signed the grant, unless FORGED. A session's name alone is no identity: the holder of
 * another key may give the same name.
 */
enum ward_token_fault ward_token_check(const struct ward_token *t, const char *text,
	const struct ward_public_key *keys, size_t n_keys, uint64_t now_s, uint64_t slack_s,
	size_t *ret_key);
