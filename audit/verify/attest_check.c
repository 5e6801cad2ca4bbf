/* SPDX-License-Identifier: Apache-2.0 */
/* Checks an attestation: its form, its key and its signature. */
#include "audit/verify/attest.h"

#include <errno.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "audit/log/chain.h"
#include "audit/query/query.h"
#include "audit/verify/attest_form.h"
#include "enforcer/base/cleanup.h"

/* An envelope taken apart. */
struct envelope {
	struct ward_buf payload;
	char key_name[WARD_KEY_NAME_MAX];
	uint8_t signature[WARD_SIGN_BYTES];
	json_t *statement;
	const char *session; /* in it */
	struct ward_checkpoint note[2];
	const char *note_text[2];
	size_t n_notes; /* two, or none */
};

static void drop(struct envelope *e)
{
	ward_buf_clear(&e->payload);
	json_decref(e->statement);
}

/* Steps over exactly this. */
static bool skip(const char **p, const char *end, const char *what)
{
	size_t n = strlen(what);
	if ((size_t)(end - *p) < n || memcmp(*p, what, n) != 0)
		return false;
	*p += n;
	return true;
}

/* Up to the next quote, which is not stepped over. */
static bool until_quote(const char **p, const char *end, const char **ret, size_t *ret_len)
{
	const char *q = memchr(*p, '"', (size_t)(end - *p));
	if (!q)
		return false;
	*ret = *p;
	*ret_len = (size_t)(q - *p);
	*p = q;
	return true;
}

static bool take_payload(struct envelope *e, const char *text, size_t len)
{
	size_t got = 0;
	ward_cleanup_free uint8_t *out = malloc(len + 1);
	if (!out || sodium_base642bin(out, len + 1, text, len, NULL, &got, NULL,
			    sodium_base64_VARIANT_ORIGINAL) != 0)
		return false;
	/* The one spelling only. */
	ward_cleanup(ward_buf_clear) struct ward_buf again = WARD_BUF_INIT;
	ward_put_base64(&again, out, got);
	if (again.len != len || memcmp(ward_buf_str(&again), text, len) != 0)
		return false;
	ward_buf_add(&e->payload, out, got);
	return ward_buf_error(&e->payload) == 0;
}

static bool take_note(struct envelope *e, const json_t *notes, const char *which)
{
	const json_t *v = json_object_get(notes, which);
	struct ward_checkpoint *c = &e->note[e->n_notes];
	if (!json_is_string(v) ||
		ward_checkpoint_parse(json_string_value(v), json_string_length(v), c) < 0 ||
		c->len != json_string_length(v) || strcmp(c->session, e->session) != 0)
		return false;
	e->note_text[e->n_notes++] = json_string_value(v);
	return true;
}

static bool parse_statement(struct envelope *e, const char *predicate)
{
	e->statement =
		json_loadb(ward_buf_str(&e->payload), e->payload.len, JSON_REJECT_DUPLICATES, NULL);
	const char *type = ward_query_text(e->statement, "_type");
	const char *about = ward_query_text(e->statement, "predicateType");
	return type && strcmp(type, WARD_ATTEST_STATEMENT) == 0 && about &&
	       strcmp(about, predicate) == 0;
}

static bool take_statement(struct envelope *e)
{
	if (!parse_statement(e, WARD_ATTEST_PREDICATE))
		return false;
	const json_t *p = json_object_get(e->statement, "predicate");
	const json_t *notes = json_object_get(p, "checkpoints");
	e->session = ward_query_text(p, "session");
	if (!e->session || !ward_session_name_valid(e->session, strlen(e->session)))
		return false;
	if (json_is_null(json_object_get(notes, "first")) &&
		json_is_null(json_object_get(notes, "last")))
		return true;
	return take_note(e, notes, "first") && take_note(e, notes, "last");
}

static bool take_signed(struct envelope *e, const char *text, size_t len)
{
	const char *p = text;
	const char *end = text + len;
	const char *payload = NULL;
	const char *key = NULL;
	const char *sig = NULL;
	size_t payload_len = 0;
	size_t key_len = 0;
	size_t sig_len = 0;
	if (len > WARD_ATTEST_MAX || !skip(&p, end, WARD_ATTEST_BEGIN) ||
		!until_quote(&p, end, &payload, &payload_len) || !skip(&p, end, WARD_ATTEST_KEY) ||
		!until_quote(&p, end, &key, &key_len) || !skip(&p, end, WARD_ATTEST_SIG) ||
		!until_quote(&p, end, &sig, &sig_len) || !skip(&p, end, WARD_ATTEST_END) ||
		p != end || key_len >= sizeof(e->key_name) || memchr(key, '\0', key_len) ||
		!ward_take_base64(sig, sig_len, e->signature, sizeof(e->signature)))
		return false;
	memcpy(e->key_name, key, key_len);
	return take_payload(e, payload, payload_len);
}

static bool take_envelope(struct envelope *e, const char *text, size_t len)
{
	return take_signed(e, text, len) && take_statement(e);
}

bool ward_attest_is(const char *text, size_t len)
{
	const char *p = text;
	return skip(&p, text + len, WARD_ATTEST_BEGIN);
}

bool ward_attest_session(const char *text, size_t len, char ret[WARD_SESSION_NAME_MAX + 1])
{
	ward_cleanup(drop) struct envelope e = {0};
	if (!take_envelope(&e, text, len))
		return false;
	memcpy(ret, e.session, strlen(e.session) + 1);
	return true;
}

static enum ward_verify_state check_signature(
	const struct envelope *e, const struct ward_public_key *keys, size_t n_keys)
{
	ward_cleanup(ward_buf_clear) struct ward_buf pae = WARD_BUF_INIT;
	bool known = false;
	const char *when = ward_query_text(json_object_get(e->statement, "predicate"), "attested");
	ward_attest_pae(&pae, ward_buf_str(&e->payload), e->payload.len);
	if (ward_buf_error(&pae) < 0)
		return WARD_VERIFY_UNREAD;
	for (size_t i = 0; i < n_keys; i++) {
		if (strcmp(e->key_name, keys[i].name) != 0 ||
			(keys[i].until[0] && (!when || ward_public_key_over(&keys[i], when))))
			continue;
		known = true;
		if (crypto_sign_verify_detached(
			    e->signature, (const uint8_t *)pae.data, pae.len, keys[i].key) == 0)
			return WARD_VERIFY_INTACT;
	}
	return known ? WARD_VERIFY_EDITED : WARD_VERIFY_FOREIGN;
}

enum ward_verify_state ward_attest_open(const char *text, size_t len, const char *predicate,
	const struct ward_public_key *keys, size_t n_keys, json_t **ret)
{
	ward_cleanup(drop) struct envelope e = {0};
	*ret = NULL;
	if (!take_signed(&e, text, len) || !parse_statement(&e, predicate))
		return WARD_VERIFY_EDITED;
	const enum ward_verify_state s = check_signature(&e, keys, n_keys);
	if (s == WARD_VERIFY_INTACT)
		*ret = json_incref(e.statement);
	return s;
}

static enum ward_verify_state check_notes(
	const struct envelope *e, const struct ward_public_key *keys, size_t n_keys)
{
	for (size_t i = 0; i < e->n_notes; i++) {
		bool good = false;
		bool known = false;
		for (size_t k = 0; k < n_keys && !good; k++) {
			if (ward_public_key_over(&keys[k], e->note[i].time))
				continue;
			known |= strcmp(e->note[i].key_name, keys[k].name) == 0;
			good = ward_checkpoint_verify(&e->note[i], e->note_text[i], &keys[k]);
		}
		if (!good)
			return known ? WARD_VERIFY_EDITED : WARD_VERIFY_FOREIGN;
	}
	return WARD_VERIFY_INTACT;
}

/* What the statement says of the trail becomes the result. */
static void say_verify(const struct envelope *e, struct ward_verify_result *ret)
{
	const json_t *p = json_object_get(e->statement, "predicate");
	const json_t *v = json_object_get(p, "verify");
	const char *state = ward_query_text(v, "state");
	const char *text = ward_query_text(v, "text");
	const char *when = ward_query_text(p, "attested");
	enum ward_verify_state s = WARD_VERIFY_UNREAD;
	for (unsigned i = WARD_VERIFY_FOREIGN; state && i <= WARD_VERIFY_INTACT; i++)
		if (strcmp(state, ward_verify_state_name((enum ward_verify_state)i)) == 0)
			s = (enum ward_verify_state)i;
	json_int_t records = json_integer_value(json_object_get(v, "records"));
	json_int_t first_bad = json_integer_value(json_object_get(v, "first_bad"));
	const struct ward_checkpoint *last = e->n_notes == 2 ? &e->note[1] : NULL;
	if (s == WARD_VERIFY_UNREAD || s == WARD_VERIFY_UNSTARTED || s == WARD_VERIFY_REMOVED ||
		s == WARD_VERIFY_EXPIRED || !text || !when || records < 1 || first_bad < 0) {
		ward_verify_say(ret, WARD_VERIFY_EDITED, 0, "it does not say what was verified");
		return;
	}
	const char *ledger = ward_query_text(v, "ledger");
	if (!ledger) {
		ward_verify_say(ret, WARD_VERIFY_EDITED, 0, "it does not say what was verified");
		return;
	}
	if (s == WARD_VERIFY_INTACT &&
		(!last || last->size != (uint64_t)records || e->note[0].size != 0 ||
			last->state != WARD_CHECKPOINT_COMPLETE)) {
		ward_verify_say(ret, WARD_VERIFY_EDITED, 0,
			"it says intact, and its checkpoints do not say so");
		return;
	}
	ret->records = (uint64_t)records;
	/* The verdict rests on the ledger. */
	if (s == WARD_VERIFY_INTACT && strcmp(ledger, ward_verify_state_name(s)) != 0) {
		ward_verify_say(ret, WARD_VERIFY_INCOMPLETE, 0,
			"attested %.19sZ: the trail is intact, the ledger is not", when);
		return;
	}
	ward_verify_say(ret, s, (uint64_t)first_bad, "attested %.19sZ%s%s", when,
		text[0] ? ": " : "", text);
}

void ward_attest_check(const char *text, size_t len, const struct ward_public_key *keys,
	size_t n_keys, struct ward_verify_result *ret, char ret_session[WARD_SESSION_NAME_MAX + 1],
	json_t **ret_statement)
{
	ward_cleanup(drop) struct envelope e = {0};
	*ret = (struct ward_verify_result){0};
	ret_session[0] = '\0';
	if (ret_statement)
		*ret_statement = NULL;
	if (!take_envelope(&e, text, len)) {
		ward_verify_say(
			ret, WARD_VERIFY_EDITED, 0, "it has not the form of an attestation");
		return;
	}
	memcpy(ret_session, e.session, strlen(e.session) + 1);
	enum ward_verify_state s = check_signature(&e, keys, n_keys);
	if (s == WARD_VERIFY_FOREIGN)
		ward_verify_say(ret, s, 0, "it is signed by another key");
	else if (s != WARD_VERIFY_INTACT)
		ward_verify_say(ret, s, 0, "it was changed");
	if (s != WARD_VERIFY_INTACT)
		return;
	if (ret_statement)
		*ret_statement = json_incref(e.statement);
	s = check_notes(&e, keys, n_keys);
	if (s == WARD_VERIFY_FOREIGN)
		ward_verify_say(ret, s, 0, "a checkpoint in it is signed by another key");
	else if (s != WARD_VERIFY_INTACT)
		ward_verify_say(ret, s, 0, "a checkpoint in it was changed");
	else
		say_verify(&e, ret);
}
