/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tokens: grants that were signed before there was a session. docs/grants.md has the format.
 *
 *   wardfs-token 1
 *   block PAYLOAD SIGNATURE      one line for each block, base64
 *   key SEED
 *
 * A payload is a JSON object. The first block is signed with the issuer's key, each other one with
 * the key that the block before it names (`next`). The last line is the secret half of the last
 * block's `next`: with it the holder of the token signs a further, narrower block. A token without
 * it is invalid, so nobody can take a block off the end of a token.
 *
 * A signature is over "wardfs-token 1\n", the signature of the block before (64 zero bytes for the
 * first), and the payload. Reading checks the whole chain: signatures, and that no block gives more
 * than the block before it. Pure; the time is an argument. ward_chain_setup() first.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/log/note.h"
#include "enforcer/base/buf.h"
#include "enforcer/base/err.h"
#include "enforcer/policy/grants.h"

/* Bytes of a token's text: two patterns of full length fit. */
#define WARD_GRANT_TOKEN_MAX 16384U
#define WARD_GRANT_TOKEN_BLOCKS 8U
/* Seconds from the beginning to the end of one that lifts guards. */
#define WARD_BREAK_GLASS_S 3600U
/* "t", 32 hexadecimal digits and NUL. */
#define WARD_GRANT_TOKEN_ID_SIZE 34

enum ward_token_right {
	WARD_TOKEN_NOTHING = 0,
	WARD_TOKEN_READ,
	WARD_TOKEN_APPEND,
	WARD_TOKEN_WRITE,
	WARD_TOKEN_CONNECT,
};
const char *ward_token_right_name(enum ward_token_right r);
/* WARD_TOKEN_NOTHING: no such word. */
enum ward_token_right ward_token_right_of(const char *word);
/* Set of ward_right; 0 of `connect`. */
uint32_t ward_token_right_set(enum ward_token_right r);

/* The content of one block. In a further block, 0 or NULL means: as in the block before. */
struct ward_token_block {
	char id[WARD_GRANT_TOKEN_ID_SIZE];
	char *session; /* owned; NULL: any of the project */
	char *project; /* owned; first block alone; absolute path; NULL: any */
	enum ward_token_right right;
	char *what;		  /* owned; a pattern, or a host */
	uint64_t from_s, until_s; /* seconds since 1970 */
	uint32_t uses;		  /* 0: any number */
	char *reason;		  /* owned, or NULL */
	/* owned; NULL: none. Lines of [guard] that a break-glass token lifts, "VERB = PATTERN", one
	 * a line. First block alone, and then the only one. */
	char *lifts;
	uint8_t next[WARD_SIGN_PUBLIC_BYTES];
};

struct ward_grant_token {
	struct ward_public_key issuer;
	struct ward_token_block blocks[WARD_GRANT_TOKEN_BLOCKS]; /* as written */
	size_t n;
	/* Of one that lifts guards, owned: what the issuer signed behind the head, and base64 of
	 * the signature. */
	char *payload, *signature;
	/* What all of them together give; its texts are those of blocks, its id the last one's. */
	struct ward_token_block gives;
};
void ward_grant_token_clear(struct ward_grant_token *t);

/*
 * Takes a token apart and checks its chain. *ret is filled afresh. Whether the issuer may give
 * anything is not asked. -EBADMSG (not a token), -EKEYREJECTED (a signature, or the key), -EPERM (a
 * block would widen), -ENOMEM. err says which block.
 */
int ward_grant_token_read(const char *text, size_t len, struct ward_grant_token *ret,
	struct ward_err *err) ward_must_check;

/* A new token of one block (id and next are made). -EINVAL: b is not complete. */
int ward_grant_token_make(const struct ward_signing_key *issuer, const struct ward_token_block *b,
	struct ward_buf *ret, struct ward_err *err) ward_must_check;
/*
 * The token with one more block. As ward_grant_token_read(), for both; -E2BIG: too many blocks.
 */
int ward_grant_token_narrow(const char *text, size_t len, const struct ward_token_block *b,
	struct ward_buf *ret, struct ward_err *err) ward_must_check;

/* Does it give something to this session, now? -EPERM: it does not, and err says why. */
int ward_grant_token_meant(const struct ward_grant_token *t, const char *session,
	const char *project, uint64_t now_s, struct ward_err *err) ward_must_check;

/* Does `in` cover all that `what` covers? False also where that is unknown. */
bool ward_token_pattern_beneath(const char *in, const char *what);

/* "t" and 32 hexadecimal digits. */
bool ward_token_id_valid(const char *id);
