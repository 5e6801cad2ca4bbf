/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys, macs and the outer form of a line, as audit/format.h says. Pure but for the wiping of keys.
 * ward_chain_setup() first.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/format.h"
#include "enforcer/base/buf.h"
#include "enforcer/base/err.h"

/* Sets libsodium up (it chooses its fastest BLAKE2b). Once a process; -ENOSYS if it cannot. */
int ward_chain_setup(void) ward_must_check;

/* H(root, label || 0x00 || session). */
void ward_chain_derive(const uint8_t root[WARD_KEY_BYTES], const char *label, const char *session,
	uint8_t ret_key[WARD_KEY_BYTES]);
/* key_1 of a session's trail. */
void ward_chain_first_key(
	const uint8_t root[WARD_KEY_BYTES], const char *session, uint8_t ret_key[WARD_KEY_BYTES]);
/* Replaces key_i by key_{i+1}. */
void ward_chain_ratchet(uint8_t key[WARD_KEY_BYTES]);
/* The mac of a line whose bytes before the mac member are body. */
void ward_chain_mac(const uint8_t key[WARD_KEY_BYTES], const uint8_t prev[WARD_MAC_BYTES],
	const void *body, size_t len, uint8_t ret_mac[WARD_MAC_BYTES]);
void ward_chain_wipe(void *p, size_t len);

/*
 * Ends the line that begins at b->data[start] (an object without its closing brace): adds the mac
 * member, the brace and the newline. prev becomes the mac of this line.
 */
void ward_chain_seal(const uint8_t key[WARD_KEY_BYTES], uint8_t prev[WARD_MAC_BYTES],
	struct ward_buf *b, size_t start);

/* What every line has. Borrowed from the line. */
struct ward_line {
	uint64_t seq;
	const char *session; /* session_len bytes, a valid name */
	size_t session_len;
	const char *kind; /* kind_len bytes of a-z and '.' */
	size_t kind_len;
	const char *rest; /* behind the kind, up to the mac member */
	size_t rest_len;
	size_t body_len; /* bytes that the mac covers, from the beginning of the line */
	uint8_t mac[WARD_MAC_BYTES];
};

/*
 * Takes a line (without its newline) apart, exactly as writers write it. -EBADMSG otherwise. Says
 * nothing about the content between kind and mac.
 */
int ward_line_parse(const char *line, size_t len, struct ward_line *ret) ward_must_check;
bool ward_line_is(const struct ward_line *l, const char *kind);
bool ward_line_of(const struct ward_line *l, const char *session);
/* ring and pos of a record; -EBADMSG if they are not where they stand in every record. */
int ward_line_source(
	const struct ward_line *l, int64_t *ret_ring, uint64_t *ret_pos) ward_must_check;

/* True for the name of a session (format.h). */
bool ward_session_name_valid(const char *s, size_t len);

/* Appends v in decimal. Much faster than printf. */
void ward_put_u64(struct ward_buf *b, uint64_t v);
/* Appends `"2026-01-02T03:04:05.123456789Z"` with its quotes. */
void ward_put_time(struct ward_buf *b, uint64_t real_ns);
/* Appends n bytes in lower-case hexadecimal. */
void ward_put_hex(struct ward_buf *b, const uint8_t *p, size_t n);

/*
 * A number below 2^40 for a session with so many records. Two lists of different sessions are the
 * same ones if they are as long and the sums of these numbers are equal, chance aside. It is no
 * protection against somebody who chooses the names.
 */
uint64_t ward_chain_session_sum(const char *name, size_t len, uint64_t records) ward_must_check;
