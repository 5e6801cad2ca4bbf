/* SPDX-License-Identifier: Apache-2.0 */
/*
 * .wardfs.propose: what a repository asks its owner to grant. Nothing of it is in force by itself.
 * `wardfs init` shows it; what the owner accepts is copied into the owner's file for the project,
 * between two comments. The first comment has the SHA-256 of the file that was shown:
 *
 *   ; .wardfs.propose accepted sha256:HEX
 *   …
 *   ; .wardfs.propose ends
 *
 * "declined" in place of "accepted" means that the owner does not want to be asked again. The
 * file is the repository's: hostile input, read as the owner, bounded, regular, through no link.
 */
#pragma once

#include "enforcer/base/buf.h"
#include "enforcer/session/owner/identity.h"

#define WARD_PROPOSAL_FILE ".wardfs.propose"
#define WARD_PROPOSAL_MAX ((size_t)64 << 10)
/* 64 hexadecimal digits and NUL. */
#define WARD_PROPOSAL_DIGEST_SIZE 65

enum ward_proposal_state {
	WARD_PROPOSAL_NONE = 0, /* the repository asks for nothing */
	WARD_PROPOSAL_NEW,	/* never accepted nor declined */
	WARD_PROPOSAL_CHANGED,	/* another text was */
	WARD_PROPOSAL_ACCEPTED,
	WARD_PROPOSAL_DECLINED,
};

/* Where the block of an accepted or declined proposal stands in the owner's text. */
struct ward_proposal_block {
	size_t from, to; /* bytes of both comments and what is between; equal: there is none */
	bool declined;
	char digest[WARD_PROPOSAL_DIGEST_SIZE];
};
void ward_proposal_find_block(const struct ward_buf *owners, struct ward_proposal_block *ret);
/* Appends a block to text. */
void ward_proposal_put_block(
	struct ward_buf *text, const char *digest, bool declined, const struct ward_buf *lines);

/* Reads the file in the directory open as `project`. 1: got it, 0: there is none. -EFBIG, -ELOOP,
 * -EINVAL: it is no file that a proposal may be. */
int ward_proposal_read(const struct ward_identity *id, int project, struct ward_buf *ret,
	char digest[WARD_PROPOSAL_DIGEST_SIZE], struct ward_err *err) ward_must_check;

enum ward_proposal_state ward_proposal_compare(const struct ward_buf *owners, const char *digest);

/* Says on stderr that there is a proposal which was not accepted, or has changed, and what to type.
 * owner_file may be missing. */
void ward_proposal_say(const struct ward_identity *id, int project, const char *owner_file);
