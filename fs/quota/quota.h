/* SPDX-License-Identifier: Apache-2.0 */
/*
 * [quota P]: what a session may add beneath sandbox paths. Memory work alone: no I/O, no FUSE, no
 * node (those are quota_io.h and quota_name.h), so that it can be tested against a model.
 *
 * Domains. Each [quota P] is a domain; a domain lies in the next one above it, and what is charged
 * to one is charged to all above. A file belongs to one domain, the innermost one above its name:
 * the file system lets nothing be moved or linked from one to another (EXDEV, as project quotas of
 * ext4 and xfs do), so mv copies, and the copy is charged where it is.
 *
 * What is counted is what the session added and what is still there:
 *   growth  of each file the bytes of its apparent size beyond its baseline. The baseline is what
 *           the file had when the session first touched it, without the holes of a sparse file that
 *           is opened for writing (a mapping fills them unseen); 0 for a file that the session
 *           made. What others change moves the baseline. A file that shrinks, or goes, gives back
 *           what it was charged and no more: removing what was there before makes no room. Beside
 *           the size count space that fallocate(2) keeps beyond the end, values of extended
 *           attributes with their names, inherited ACLs as well, and targets of symbolic links.
 *   files   names that the session made and that are still there; a file whose last name went
 *           counts until its last handle and mapping are gone.
 *   file    the size that one file may reach by growing.
 *   rate    bytes written in a time; what is too fast waits before it is written
 *           (answer_later.h).
 *   churn   files that the session did not make, removed, replaced, cut or opened for writing in a
 *           time.
 *
 * All amounts are exact: an amount is taken before it is used, given back if it was not.
 *
 * Locking: everything takes q->lock itself, which is innermost. What must not change while the
 * size of a file does is kept out by ward_quota_lock() of that file, taken after renames_lock and
 * before nodes->lock, one at a time.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/err.h"
#include "enforcer/policy/settings.h"

struct ward_quotas;
struct ward_quota_domain; /* lives as long as the quotas */
struct ward_quota_file;

/* What tells files of all trees apart (backing.h: ward_file_id, and the device). */
struct ward_quota_id {
	uint64_t dev, ino, btime_ns;
};

/* Which limit refused, in words that live with the caller. */
#define WARD_QUOTA_TEXT_MAX 512
struct ward_quota_hit {
	int error;			 /* EDQUOT, EFBIG, EXDEV; 0: none */
	char path[PATH_MAX];		 /* of the quota; "": of none */
	char rule[WARD_QUOTA_TEXT_MAX];	 /* "[quota /workspace] growth = 10G" */
	char place[WARD_QUOTA_TEXT_MAX]; /* "FILE:LINE" */
	const char *name;		 /* of the key; static */
	const char *unit;		 /* static */
	uint64_t limit, used;
	const char *text; /* what does not show in the numbers; static, or NULL */
};

/* What has to be seen of files in a domain. */
enum ward_quota_want {
	WARD_QUOTA_WANT_FILES = 1U << 0,  /* which are there and who made them: always */
	WARD_QUOTA_WANT_WRITES = 1U << 1, /* every write: growth, file or rate */
	WARD_QUOTA_WANT_RATE = 1U << 2,
	WARD_QUOTA_WANT_CHURN = 1U << 3,
};

/* -ENOMEM. */
int ward_quotas_new(const struct ward_settings *s, struct ward_quotas **ret) ward_must_check;
void ward_quotas_free(struct ward_quotas *q);
/*
 * Other limits from now on. What is in use stays so; a path that had no quota counts from now on,
 * one that has none any more goes on counting without a limit. -ENOMEM: nothing has changed.
 */
int ward_quotas_reload(struct ward_quotas *q, const struct ward_settings *s) ward_must_check;
/* Is there any? */
bool ward_quotas_any(const struct ward_quotas *q);

/*
 * The innermost domain of the path that is made of n names below "/"; NULL: no quota is above it.
 * *ret_splits (may be NULL): further quotas lie beneath the path, so that not all of it is in
 * there.
 */
struct ward_name_bytes {
	const char *p;
	size_t len;
};
struct ward_quota_domain *ward_quotas_find(
	struct ward_quotas *q, const struct ward_name_bytes *names, size_t n, bool *ret_splits);
/* Set of ward_quota_want; 0 for NULL. */
uint32_t ward_quota_wants(const struct ward_quota_domain *d);

/* --- names --- */

/*
 * A name is about to be made, with so many bytes (the target of a link): taken from d and all
 * above. -EDQUOT. Undone by _unmake(), or bound to the file by ward_quota_made().
 */
int ward_quota_make(struct ward_quotas *q, struct ward_quota_domain *d, uint64_t bytes,
	struct ward_quota_hit *hit) ward_must_check;
void ward_quota_unmake(struct ward_quotas *q, struct ward_quota_domain *d, uint64_t bytes);

/*
 * What is in use of all domains now, the caller's (free(3)), NULL: no memory; and: at least that is
 * in use from now on. For a step back: what was given back as files went is taken again as they
 * come, by whatever name.
 */
struct ward_quota_used;
struct ward_quota_used *ward_quotas_used(struct ward_quotas *q);
void ward_quotas_use(struct ward_quotas *q, const struct ward_quota_used *used);

/* --- files; a file is in memory while somebody uses it, and while it is charged or the session's
 */

/*
 * The file with that id, in use until ward_quota_put(); d: where it lies. Charges of a file that
 * came from elsewhere come along. -ENOMEM.
 */
int ward_quota_get(struct ward_quotas *q, struct ward_quota_domain *d,
	const struct ward_quota_id *id, struct ward_quota_file **ret) ward_must_check;
void ward_quota_put(struct ward_quotas *q, struct ward_quota_file *f);
/* It was just made; takes over what ward_quota_make() took. named: false for O_TMPFILE. */
void ward_quota_made(struct ward_quotas *q, struct ward_quota_file *f, uint64_t bytes, bool named);
/* Did the session make it? */
bool ward_quota_is_made(struct ward_quotas *q, const struct ward_quota_file *f);
struct ward_quota_domain *ward_quota_domain_of(
	struct ward_quotas *q, const struct ward_quota_file *f);

/* Its size is that now: what others did to it is theirs. Locked for writing, or nobody writes. */
void ward_quota_seen(struct ward_quotas *q, struct ward_quota_file *f, uint64_t size);
/*
 * The file, of `size` now, is to become up to `want` bytes: as many as there is room for are taken,
 * *ret_got; at least `least`, or nothing is and the answer is -EDQUOT or -EFBIG. Then
 * ward_quota_settle() with what it has become. Locked for writing.
 */
int ward_quota_grow(struct ward_quotas *q, struct ward_quota_file *f, uint64_t size, uint64_t want,
	uint64_t least, uint64_t *ret_got, struct ward_quota_hit *hit) ward_must_check;
void ward_quota_settle(struct ward_quotas *q, struct ward_quota_file *f, uint64_t size);
/*
 * The same for space that is kept up to `end`, beyond the size; *ret_before is where it was. Locked
 * for writing.
 */
int ward_quota_keep(struct ward_quotas *q, struct ward_quota_file *f, uint64_t size, uint64_t end,
	uint64_t *ret_before, struct ward_quota_hit *hit) ward_must_check;
/* It is kept up to there alone: what was before where that failed, 0 where the file was cut. */
void ward_quota_kept(struct ward_quotas *q, struct ward_quota_file *f, uint64_t end);
/* So many bytes of a file that was there before are holes, which may be filled from now on. */
int ward_quota_holes(struct ward_quotas *q, struct ward_quota_file *f, uint64_t size,
	uint64_t holes, struct ward_quota_hit *hit) ward_must_check;
/* Were its holes looked at? */
bool ward_quota_knows_holes(struct ward_quotas *q, const struct ward_quota_file *f);
/* Extended attributes become so much larger, or smaller (never refused). */
int ward_quota_extra(struct ward_quotas *q, struct ward_quota_file *f, int64_t delta,
	struct ward_quota_hit *hit) ward_must_check;

/* A further name. -EDQUOT. */
int ward_quota_link(struct ward_quotas *q, struct ward_quota_file *f,
	struct ward_quota_hit *hit) ward_must_check;
/* It has a name now, made without one. */
void ward_quota_named(struct ward_quotas *q, struct ward_quota_file *f);
/* A name of it went; it has others. */
void ward_quota_unlink(struct ward_quotas *q, struct ward_quota_file *f);
/*
 * Its last name went: given back when nobody uses it any more; held: and not before
 * ward_quota_unhold() (somebody may have it mapped).
 */
void ward_quota_gone(struct ward_quotas *q, struct ward_quota_file *f, bool held);
/* Others removed it, as far as can be seen: as _gone() and held, of a file that is in memory. */
void ward_quota_lost(struct ward_quotas *q, const struct ward_quota_id *id);
void ward_quota_unhold(struct ward_quotas *q, const struct ward_quota_id *id);
/* A mapping may outlive the handles that are being made. */
void ward_quota_mappable(struct ward_quotas *q, struct ward_quota_file *f);
/* May somebody have it mapped, or open beside the caller? */
bool ward_quota_maybe_mapped(struct ward_quotas *q, const struct ward_quota_file *f);

/*
 * Nobody makes a file (write), or nobody changes a default ACL that files inherit (read). Taken
 * before renames_lock and the lock of a file.
 */
void ward_quota_inherit_lock(struct ward_quotas *q, bool write);
void ward_quota_inherit_unlock(struct ward_quotas *q);

/* Nobody else changes its size (write), or nobody at all does (read). */
void ward_quota_lock(struct ward_quotas *q, const struct ward_quota_file *f, bool write);
void ward_quota_unlock(struct ward_quotas *q, const struct ward_quota_file *f);

/* --- time; now: of CLOCK_MONOTONIC --- */

/* One more file that the session did not make is about to be changed. -EDQUOT. */
int ward_quota_churn(struct ward_quotas *q, struct ward_quota_domain *d, uint64_t now_ns,
	struct ward_quota_hit *hit) ward_must_check;
/*
 * Rate. Takes so many bytes, which are about to be written, and returns how long their writer waits
 * before, in ns; 0: all that was taken earlier has been paid for by time. So bytes that are written
 * by any moment are no more than the rate gives since the first, and one write. What is then not
 * written goes back.
 */
uint64_t ward_quota_delay(
	struct ward_quotas *q, struct ward_quota_domain *d, uint64_t bytes, uint64_t now_ns);
void ward_quota_undelay(
	struct ward_quotas *q, struct ward_quota_domain *d, uint64_t bytes, uint64_t now_ns);

/* --- [review] size: what is staged (review_size.h) --- */

/* Is it limited? */
bool ward_quotas_staged(const struct ward_quotas *q);
/*
 * At least so many bytes, and up to `want`, *ret, are about to be staged. -EDQUOT. What is not used
 * goes back.
 */
int ward_quota_stage(
	struct ward_quotas *q, uint64_t least, uint64_t want, uint64_t *ret) ward_must_check;
void ward_quota_unstage(struct ward_quotas *q, uint64_t bytes);
/* So many more are, or so many are all in all, whatever the limit says. */
void ward_quota_stage_more(struct ward_quotas *q, uint64_t bytes);
void ward_quota_stage_all(struct ward_quotas *q, uint64_t bytes);
/* Why ward_quota_stage() said no; path: of the tree. */
void ward_quota_stage_hit(struct ward_quotas *q, const char *path, struct ward_quota_hit *ret);

/* --- what is left --- */

/* For statfs(2): WARD_UNLIMITED where nothing is said. */
struct ward_quota_room {
	uint64_t bytes, bytes_free; /* of the innermost domain that has a limit; free: of all */
	uint64_t files, files_free;
};
void ward_quota_room(
	struct ward_quotas *q, struct ward_quota_domain *d, struct ward_quota_room *ret);

/*
 * Appends {"quotas":[{"path","growth":{"used","limit","refused"},"files":{…},"file":{"limit",
 * "refused"},"rate":{"limit","per","delayed"},"churn":{"used","limit","per","refused"}}…],
 * "more":N} of at most max bytes; keys that are not limited are left out, but for "used" of growth
 * and files. What is staged is {"path":"review","size":{"limit","used","refused"}}, the last.
 */
int ward_quotas_show(
	struct ward_quotas *q, uint64_t now_ns, size_t max, struct ward_buf *ret) ward_must_check;
