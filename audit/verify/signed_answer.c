/* SPDX-License-Identifier: Apache-2.0 */
/* Makes, reads and checks signed answers. */
#include "audit/verify/signed_answer.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>

#include "audit/verify/signed_text.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"

#define HEAD "wardfs-answer 1\n"
#define HEAD_LEN (sizeof(HEAD) - 1)
/* The longest time of an answer `for`, in seconds. */
#define FOR_MAX 86400
/* Seconds that fit into nanoseconds of 64 bits: until the year 2500. */
#define SECONDS_MAX INT64_C(16725225600)

void ward_signed_answer_clear(struct ward_signed_answer *a)
{
	json_decref(a->says);
	*a = (struct ward_signed_answer){.says = NULL};
}

int ward_shown_digest(const json_t *shown, char ret[65])
{
	uint8_t sum[crypto_hash_sha256_BYTES];
	ward_cleanup_free char *text = json_dumps(shown, JSON_COMPACT | JSON_ENSURE_ASCII);
	if (!text)
		return -ENOMEM;
	(void)crypto_hash_sha256(sum, (const uint8_t *)text, strlen(text));
	(void)sodium_bin2hex(ret, 65, sum, sizeof(sum));
	return 0;
}

/* --- the second line --- */

static const char *text_of(const json_t *o, const char *name)
{
	return json_string_value(json_object_get(o, name));
}

static bool is(const char *a, const char *b)
{
	return a && strcmp(a, b) == 0;
}

static bool number_within(const json_t *o, const char *name, json_int_t max)
{
	const json_t *v = json_object_get(o, name);
	return json_is_integer(v) && json_integer_value(v) >= 1 && json_integer_value(v) <= max;
}

/* All that it has to have, and nothing else. */
static bool complete(const json_t *o)
{
	static const char *const must[] = {"session", "question", "digest", "rights", "what"};
	const char *answer = text_of(o, "answer");
	const bool timed = is(answer, "for"), covers = is(answer, "pattern");
	const char *pattern = text_of(o, "pattern");
	/* An empty one would be none, and the answer then for what was asked. */
	const bool with = pattern != NULL;
	size_t n = sizeof(must) / sizeof(*must) + 2 + with + timed;
	for (size_t i = 0; i < sizeof(must) / sizeof(*must); i++)
		if (!text_of(o, must[i]))
			return false;
	n += text_of(o, "what2") != NULL;
	return (!pattern || *pattern) &&
	       (timed || covers || is(answer, "once") || is(answer, "path")) &&
	       (with ? timed || covers : !covers) &&
	       timed == number_within(o, "seconds", FOR_MAX) &&
	       number_within(o, "until", SECONDS_MAX) && json_object_size(o) == n;
}

/* What the question is about: a path, or HOST:PORT. */
static const char *what_of(const json_t *shown)
{
	const char *host = text_of(shown, "host");
	return host ? host : text_of(shown, "path");
}

static void put(json_t *o, const char *name, const char *text)
{
	if (text)
		json_object_set_new(o, name, json_string(text));
}

int ward_signed_answer_text(const json_t *shown, const char *digest,
	const struct ward_signed_words *w, struct ward_buf *ret, struct ward_err *err)
{
	json_t *o = json_object();
	put(o, "session", text_of(shown, "session"));
	put(o, "question", text_of(shown, "question"));
	put(o, "digest", digest);
	put(o, "rights", text_of(shown, "rights"));
	put(o, "what", what_of(shown));
	put(o, "what2", text_of(shown, "path2"));
	put(o, "answer", w->answer);
	put(o, "pattern", w->pattern);
	if (w->seconds)
		json_object_set_new(o, "seconds", json_integer((json_int_t)w->seconds));
	json_object_set_new(o, "until", json_integer((json_int_t)w->until_s));
	const bool whole = complete(o);
	ward_cleanup_free char *line = json_dumps(o, JSON_COMPACT | JSON_ENSURE_ASCII);
	json_decref(o);
	if (!whole)
		return ward_err_set(
			err, -EINVAL, "answer once, path, pattern or for; a time is a day at most");
	if (!line)
		return ward_err_sys(err, -ENOMEM, "answer");
	/* With room for a signature, also an armored one of a token. */
	if (HEAD_LEN + strlen(line) > WARD_SIGNED_ANSWER_MAX - 768)
		return ward_err_set(err, -E2BIG, "the answer is too long to be signed");
	ward_buf_printf(ret, HEAD "%s\n", line);
	return ward_buf_error(ret) < 0 ? ward_err_sys(err, -ENOMEM, "answer") : 0;
}

/* --- signatures --- */

static const struct ward_signed_kind kind = {.head = HEAD,
	.space = WARD_SIGNED_ANSWER_SPACE,
	.what = "answer",
	.max = WARD_SIGNED_ANSWER_MAX,
	.complete = complete};

int ward_signed_answer_sign(struct ward_buf *b, const struct ward_signing_key *key)
{
	return ward_signed_text_sign(b, key);
}

int ward_signed_answer_read(
	const char *text, size_t len, struct ward_signed_answer *ret, struct ward_err *err)
{
	struct ward_approver_key key;
	json_t *o = NULL;
	int r = ward_signed_text_read(&kind, text, len, &o, &key, err);
	if (r == 0)
		*ret = (struct ward_signed_answer){.says = o, .key = key};
	return r;
}

/* --- what it counts for --- */

int ward_signed_answer_known(
	const struct ward_signed_answer *a, const struct ward_settings *s, struct ward_err *err)
{
	return ward_signed_text_known(&kind, &a->key, s, err);
}

static int differs(const char *what, struct ward_err *err)
{
	return ward_err_set(err, -EPERM, "the signed answer is to another %s", what);
}

int ward_signed_answer_fits(const struct ward_signed_answer *a, const json_t *shown,
	const char *digest, uint64_t now_s, struct ward_err *err)
{
	static const char *const same[] = {"session", "question", "rights"};
	const char *what2 = text_of(shown, "path2"), *signed2 = text_of(a->says, "what2");
	const char *what = what_of(shown);
	char until[WARD_CLOCK_TEXT_MAX];
	for (size_t i = 0; i < sizeof(same) / sizeof(*same); i++) {
		const char *want = text_of(shown, same[i]);
		if (!want || !is(text_of(a->says, same[i]), want))
			return i < 2 ? differs(same[i], err)
				     : ward_err_set(err, -EPERM,
					       "the signed answer is for other rights");
	}
	if (!what || !is(text_of(a->says, "what"), what) || !what2 != !signed2 ||
		(what2 && !is(signed2, what2)))
		return differs("path or host", err);
	if (!is(text_of(a->says, "digest"), digest))
		return ward_err_set(
			err, -EPERM, "the signed answer is to a question that was shown otherwise");
	const uint64_t until_s = (uint64_t)json_integer_value(json_object_get(a->says, "until"));
	ward_clock_format(until_s * WARD_NS_PER_SEC, until);
	if (now_s >= until_s)
		return ward_err_set(err, -EPERM, "the signed answer was good until %s", until);
	return 0;
}

/* What it says, without its own time. */
static json_t *without_until(const json_t *says)
{
	json_t *o = json_deep_copy(says);
	json_object_del(o, "until");
	return o;
}

bool ward_signed_answer_replaces(
	const struct ward_signed_answer *a, const struct ward_signed_answer *older)
{
	json_t *x = without_until(a->says), *y = without_until(older->says);
	const bool same = x && y && json_equal(x, y);
	json_decref(x);
	json_decref(y);
	return !same && memcmp(a->key.key, older->key.key, sizeof(a->key.key)) == 0;
}

int ward_signed_answer_join(const struct ward_signed_answer *a, const struct ward_signed_answer *b,
	struct ward_err *err)
{
	/* One key under two names is one signer. */
	if (memcmp(a->key.key, b->key.key, sizeof(a->key.key)) == 0)
		return ward_err_set(
			err, -EPERM, "the key %s has signed this answer already", b->key.name);
	json_t *x = without_until(a->says), *y = without_until(b->says);
	const bool same = x && y && json_equal(x, y);
	json_decref(x);
	json_decref(y);
	return same ? 0
		    : ward_err_set(err, -EPERM,
			      "the keys %s and %s signed different answers: all have to sign the "
			      "same one",
			      a->key.name, b->key.name);
}
