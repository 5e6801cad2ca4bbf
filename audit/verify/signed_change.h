/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an approver signs of a staged change (docs/review.md): this change, tested so.
 *
 *   wardfs-change 1
 *   {"session":S,"manifest":D,"checks":[{"command":[C,…],"result":N,"session":S,"trail":D},…]}
 *   signature KEY BASE64          or an armored signature of ssh-keygen -Y sign (sshsig.h)
 *
 * trail: the root of the tree over the records of the check's session, which its last checkpoint
 * signs. Texts are in the escaped form. Pure. ward_chain_setup() first.
 */
#pragma once

#include "audit/verify/signed_text.h"

/* Bytes of one: the commands of its checks stand in it. */
#define WARD_SIGNED_CHANGE_MAX 65536U
/* The namespace of SSH signatures. */
#define WARD_SIGNED_CHANGE_SPACE "wardfs-change"

struct ward_signed_change {
	json_t *says; /* the second line, owned */
	struct ward_approver_key key;
};
void ward_signed_change_clear(struct ward_signed_change *c);

/* The two lines that are signed. checks: an array, borrowed. -E2BIG: too long. */
int ward_signed_change_text(const char *session, const char *manifest, const json_t *checks,
	struct ward_buf *ret, struct ward_err *err) ward_must_check;
/* Takes one apart and checks its signature. *ret is filled afresh. As ward_signed_text_read(). */
int ward_signed_change_read(const char *text, size_t len, struct ward_signed_change *ret,
	struct ward_err *err) ward_must_check;
/*
 * Is it of this session and manifest, and by a key that `[approvals] approver` names? -EPERM, and
 * err says what differs.
 */
int ward_signed_change_fits(const struct ward_signed_change *c, const char *session,
	const char *manifest, const struct ward_settings *s, struct ward_err *err) ward_must_check;
