/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What need not be read again (docs/adr/0046): trails that were intact at their last verification,
 * if the ledger says the same as then and their files look from outside as they did then; and the
 * ledger itself up to the entry where its verification ended.
 *
 * A file of lines in ASCII. The first is WARD_VERIFIED_HEAD (that of an earlier wardfs: without the
 * ledger). Lines that begin with '@' are of the ledger (audit/verify/ledger_resume.h). Each other
 * one is of a session: NAME RECORDS MAC STAMP, with the records and the last mac that the ledger
 * has of it, and a digest of the names, inodes, sizes and times of the files in its directory.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "audit/store/store.h"
#include "audit/verify/ledger_resume.h"
#include "audit/verify/verify.h"
#include "enforcer/base/buf.h"
#include "enforcer/base/err.h"
#include "enforcer/cli/audit/audit_cmd.h"

#define WARD_VERIFIED_HEAD "wardfs verified 2"
#define WARD_VERIFIED_HEAD_1 "wardfs verified 1"
/* Some 200 bytes a session: of half a million. */
#define WARD_VERIFIED_BYTES_MAX ((size_t)128 << 20)
/* SHA-256, as 64 hexadecimal digits, and NUL. */
#define WARD_VERIFIED_DIGEST_MAX 65

/* Zero, or of audit_verified_read(); audit_verified_free(). */
struct audit_verified_set {
	struct ward_buf text; /* as it was read */
	char **lines;	      /* in text, sorted, each ended by a NUL */
	size_t n;
	struct ward_ledger_resume ledger; /* n 0: nothing of it is known */
};

/*
 * Reads the file, if it is there. digest: what it must have, NULL: any. -EBADMSG: it is no such
 * file, or has another digest. ret is the caller's to free in any case.
 */
int audit_verified_read(const char *path, const char *digest, struct audit_verified_set *ret,
	struct ward_err *err) ward_must_check;
void audit_verified_free(struct audit_verified_set *s);
/* The line of a session that has ended, without its newline; nothing of any other. */
void audit_verified_line(
	struct ward_store *st, const struct ward_ledger_session *s, struct ward_buf *ret);
bool audit_verified_has(const struct audit_verified_set *s, const char *line);
/* Is there a line of this session? */
bool audit_verified_names(const struct audit_verified_set *s, const char *session);
/*
 * Reads the ledger: from where `before` ended, if each of its sessions is as it was and the ledger
 * has nothing new of them, so that their lines go into now and *ret_resumed becomes true; else all
 * of it. *ret_next: where it ended.
 */
int audit_verified_ledger(struct audit_cmd *c, const uint8_t root[WARD_KEY_BYTES],
	const struct audit_verified_set *before, struct ward_buf *now, struct ward_ledger_view *ret,
	struct ward_ledger_resume *ret_next, bool *ret_resumed,
	struct ward_err *err) ward_must_check;
/* Fills next with what later entries may rest on: of every session that has no line in now. */
int audit_verified_rest(struct ward_store *st, const struct ward_ledger_resume *from,
	const struct ward_buf *now, struct ward_ledger_resume *next,
	struct ward_err *err) ward_must_check;
/* The name of the session of line i. */
void audit_verified_name(
	const struct audit_verified_set *s, size_t i, char ret[WARD_SESSION_NAME_MAX + 1]);
/* Writes head and lines in the place of the file, and tells its digest. */
int audit_verified_write(const char *path, const struct ward_ledger_resume *ledger,
	const struct ward_buf *lines, char ret_digest[WARD_VERIFIED_DIGEST_MAX],
	struct ward_err *err) ward_must_check;
