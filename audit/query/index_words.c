/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers for texts: a table of the database, and what of it is remembered. */
#include "audit/query/index_words.h"

#include <stdlib.h>
#include <string.h>

/* Texts that are remembered, and their bytes; more begin from nothing. */
#define WORDS_MAX ((size_t)1 << 19)
#define BYTES_MAX ((size_t)64 << 20)
/* A power of two; half of the slots are in use at most. */
#define SLOTS_FIRST 1024U

struct slot {
	char *text; /* owned; NULL: free */
	size_t len;
	int64_t number;
};

struct ward_index_words {
	sqlite3 *db;
	sqlite3_stmt *find;
	sqlite3_stmt *add;
	size_t n;
	size_t bytes;
	size_t slots;
	struct slot *v;
};

static void forget(struct ward_index_words *w)
{
	for (size_t i = 0; i < w->slots; i++)
		free(w->v[i].text);
	free(w->v);
	w->v = NULL;
	w->n = w->bytes = w->slots = 0;
}

struct ward_index_words *ward_index_words_new(sqlite3 *db)
{
	struct ward_index_words *w = calloc(1, sizeof(*w));
	if (w)
		w->db = db;
	return w;
}

void ward_index_words_free(struct ward_index_words *w)
{
	if (!w)
		return;
	forget(w);
	(void)sqlite3_finalize(w->find);
	(void)sqlite3_finalize(w->add);
	free(w);
}

/* FNV-1a, 64 bits. Who chooses names can make them collide: then it is slow, no more. */
static struct slot *look(const struct ward_index_words *w, const char *text, size_t len)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);
	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
	for (size_t i = (size_t)(h ^ h >> 32);; i++) {
		struct slot *s = &w->v[i & (w->slots - 1)];
		if (!s->text || (s->len == len && memcmp(s->text, text, len) == 0))
			return s;
	}
}

/* Room for one more. */
static int grow(struct ward_index_words *w)
{
	struct ward_index_words before = *w;
	if (w->n >= WORDS_MAX || w->bytes > BYTES_MAX) {
		forget(w);
		before = *w;
	}
	if (w->slots && w->n < w->slots / 2)
		return 0;
	w->slots = w->slots ? 2 * w->slots : SLOTS_FIRST;
	w->v = calloc(w->slots, sizeof(*w->v));
	if (!w->v) {
		*w = before;
		return SQLITE_NOMEM;
	}
	for (size_t i = 0; i < before.slots; i++)
		if (before.v[i].text)
			*look(w, before.v[i].text, before.v[i].len) = before.v[i];
	free(before.v);
	return SQLITE_OK;
}

/* One row of the answer, its first column; SQLITE_DONE: none. */
static int ask(struct ward_index_words *w, sqlite3_stmt **s, const char *sql, const char *text,
	size_t len, int64_t *ret)
{
	int rc = *s ? SQLITE_OK
		    : sqlite3_prepare_v3(w->db, sql, -1, SQLITE_PREPARE_PERSISTENT, s, NULL);
	if (rc != SQLITE_OK)
		return rc;
	(void)sqlite3_bind_text(*s, 1, text, (int)len, SQLITE_STATIC);
	rc = sqlite3_step(*s);
	if (rc == SQLITE_ROW)
		*ret = sqlite3_column_int64(*s, 0);
	(void)sqlite3_reset(*s);
	return rc;
}

int ward_index_words_number(struct ward_index_words *w, const char *text, size_t len, int64_t *ret)
{
	int rc = grow(w);
	if (rc != SQLITE_OK)
		return rc;
	struct slot *s = look(w, text, len);
	int64_t number = s->number;
	if (s->text) {
		*ret = number;
		return SQLITE_OK;
	}
	rc = ask(w, &w->find, "SELECT id FROM word WHERE text = ?", text, len, &number);
	if (rc == SQLITE_DONE) {
		rc = ask(w, &w->add, "INSERT INTO word(text) VALUES(?)", text, len, &number);
		number = sqlite3_last_insert_rowid(w->db);
	}
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		return rc;
	char *copy = malloc(len + 1);
	if (!copy)
		return SQLITE_NOMEM;
	memcpy(copy, text, len);
	*s = (struct slot){.text = copy, .len = len, .number = number};
	w->n++;
	w->bytes += len;
	*ret = number;
	return SQLITE_OK;
}
