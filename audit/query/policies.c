/* SPDX-License-Identifier: Apache-2.0 */
/* Puts the policies of a session together from the pieces in its trail. */
#include "audit/query/policies.h"

#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "audit/log/chain.h"
#include "audit/query/parse.h"
#include "audit/query/query.h"
#include "audit/terms.h"
#include "enforcer/base/escape.h"

/* Larger ones are not loaded. */
#define TEXT_MAX ((size_t)64 << 20)
/* Records of others that can come between the first policy's; wardfs 0.1 wrote no meaning. */
#define BETWEEN_MAX 1000U

struct reading {
	struct ward_policy_texts *to;
	bool first;
	unsigned others; /* records behind the first piece */
	/* Of the record that is about to put the first one in force. */
	char *since;
	uint64_t seq;
};

void ward_policy_texts_clear(struct ward_policy_texts *t)
{
	for (size_t i = 0; i < t->n; i++) {
		free(t->v[i].digest);
		free(t->v[i].since);
		free(t->v[i].by);
		ward_buf_clear(&t->v[i].sources);
		ward_buf_clear(&t->v[i].meaning);
	}
	free(t->v);
	*t = (struct ward_policy_texts){0};
}

static int copy(char **to, const char *text)
{
	free(*to);
	*to = text ? strdup(text) : NULL;
	return text && !*to ? -ENOMEM : 0;
}

static struct ward_policy_text *last_of(const struct ward_policy_texts *t)
{
	return t->n ? &t->v[t->n - 1] : NULL;
}

static struct ward_policy_text *add(struct ward_policy_texts *t)
{
	struct ward_policy_text *v = reallocarray(t->v, t->n + 1, sizeof(*v));
	if (!v)
		return NULL;
	t->v = v;
	v[t->n] = (struct ward_policy_text){.sources.max = TEXT_MAX, .meaning.max = TEXT_MAX};
	return &v[t->n++];
}

/* A set is the sources, then the meaning; the next set begins with sources again. */
static int take_piece(struct reading *r, const json_t *rec)
{
	const char *text = ward_query_text(rec, "text");
	const char *name = ward_query_text(rec, "name");
	struct ward_policy_text *t = last_of(r->to);
	const bool meaning = name && strcmp(name, WARD_POLICY_MEANING) == 0;
	if (!text || (meaning && !t))
		return 0;
	if (!t || (!meaning && t->meaning.len)) {
		const bool start = !t;
		t = add(r->to);
		if (!t || copy(&t->digest, ward_query_text(rec, "policy")) < 0)
			return -ENOMEM;
		if (start) {
			t->loaded = true;
			t->seq = r->seq;
			if (copy(&t->since, r->since) < 0)
				return -ENOMEM;
		}
	}
	struct ward_buf *to = meaning ? &t->meaning : &t->sources;
	const int e = ward_unescape(to, text, strlen(text));
	return e < 0 ? e : ward_buf_error(to);
}

static int take_reload(struct reading *r, const json_t *rec)
{
	const char *result = ward_query_text(rec, "result");
	struct ward_policy_text *t = last_of(r->to);
	if (!t || t->loaded || t->seq)
		return 0;
	t->seq = (uint64_t)json_integer_value(json_object_get(rec, "seq"));
	t->loaded = result && strcmp(result, "loaded") == 0;
	const int e = copy(&t->since, ward_query_text(rec, "time"));
	return e < 0 ? e : copy(&t->by, ward_query_text(rec, "by"));
}

static int take(void *ctx, const char *line, size_t len, const json_t *none)
{
	struct reading *r = ctx;
	struct ward_line l;
	(void)none;
	if (ward_line_parse(line, len, &l) < 0)
		return 0;
	const bool piece = ward_line_is(&l, "policy");
	r->others += !piece && r->to->n;
	if (r->first && !piece && r->to->n && (r->to->v[0].meaning.len || r->others > BETWEEN_MAX))
		return 1;
	if (!piece && !ward_line_is(&l, "reload") && !ward_line_is(&l, "session.start"))
		return 0;
	json_t *rec = ward_parse_record(line, len);
	int e = 0;
	if (piece) {
		e = take_piece(r, rec);
	} else if (ward_line_is(&l, "reload")) {
		e = take_reload(r, rec);
	} else if (!r->since) {
		r->seq = l.seq;
		e = copy(&r->since, ward_query_text(rec, "time"));
	}
	json_decref(rec);
	return e;
}

int ward_policy_texts_read(
	struct ward_log *log, bool first, struct ward_policy_texts *ret, struct ward_err *err)
{
	struct reading r = {.to = ret, .first = first};
	const int e = ward_query_walk(log, false, take, &r, err);
	free(r.since);
	return e < 0 ? ward_err_sys(err, e, "the policies of the trail") : 0;
}

bool ward_policy_text_good(const struct ward_policy_text *t)
{
	unsigned char hash[crypto_hash_sha256_BYTES];
	char hex[2 * sizeof(hash) + 1];
	crypto_hash_sha256(hash, (const unsigned char *)ward_buf_str(&t->meaning), t->meaning.len);
	sodium_bin2hex(hex, sizeof(hex), hash, sizeof(hash));
	return t->meaning.len && t->digest && strcmp(hex, t->digest) == 0;
}
