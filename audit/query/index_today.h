/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Part of the index: what of it is of today, without a look at each trail.
 *
 * Whatever wardfs does to a trail begins or ends with an entry in the ledger: a session starts,
 * ends, is removed or expires. The index keeps up to which entry it followed the ledger, and what
 * the directory "sessions" looked like. A session whose end it followed ("settled") is as it was
 * indexed if the ledger goes on from that entry, no later entry names the session, and no directory
 * came or went. This says what wardfs did. Of a trail that somebody else changes in its place it
 * says nothing: for that a trail is read, or verified.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/query/index_db.h"
#include "audit/store/store.h"
#include "enforcer/base/buf.h"

/* Column settled of a session. */
enum ward_index_settled {
	WARD_INDEX_OPEN = 0, /* it runs, or the ledger does not know it */
	WARD_INDEX_ENDED,    /* it has ended; its trail may not be the one in the index */
	WARD_INDEX_SETTLED,  /* it has ended, and its trail was indexed after that */
};

/* The last start, end or removal of a session among the entries that the index did not follow. */
struct ward_index_news {
	const char *name; /* in text */
	uint64_t order;
	bool ended;
};

struct ward_index_today {
	bool followed;		   /* the ledger goes on from where the index left it */
	bool same_names;	   /* "sessions" has the directories that it had */
	uint64_t behind;	   /* bytes of the ledger that the index did not follow */
	struct ward_index_news *v; /* by name, each once */
	size_t n;
	struct ward_buf text;
	/* What to keep: empty where it cannot be relied on later. */
	char ledger[160];
	char names[128];
};

/*
 * Looks at the ledger and at "sessions", in this order before anything else of the store: what
 * changes meanwhile is news the next time. The caller's in any case (ward_index_today_clear()). A
 * ledger that cannot be read is not followed.
 */
int ward_index_today_look(struct ward_store *st, const struct ward_index_db *x,
	struct ward_index_today *ret, struct ward_err *err) ward_must_check;
void ward_index_today_clear(struct ward_index_today *t);
/* Which sessions are as they were indexed, for one question. */
struct ward_index_current {
	struct ward_store *st;
	struct ward_index_today today;
	struct ward_store_names names; /* only where directories came or went */
	bool few;		       /* sessions: WARD_INDEX_FEW */
};
/*
 * Up to so many sessions a look at the files of each trail (inode, size, times) costs some
 * milliseconds in all. So a trail that somebody else changed or took away is noticed, too.
 */
#define WARD_INDEX_FEW 4096
int ward_index_current_look(struct ward_store *st, const struct ward_index_db *x,
	struct ward_index_current *ret, struct ward_err *err) ward_must_check;
/* All that is settled is current, and there are no other directories than those of the index. Not
 * where there are few: each is looked at. */
bool ward_index_is_of_today(const struct ward_index_current *c);
void ward_index_current_clear(struct ward_index_current *c);
/* stamp, settled: what the index has of the session. */
bool ward_index_is_current(const struct ward_index_current *c, const char *session,
	const char *stamp, int64_t settled);

/* The index has followed up to here. */
int ward_index_today_keep(const struct ward_index_db *x, const struct ward_index_today *t,
	struct ward_err *err) ward_must_check;
