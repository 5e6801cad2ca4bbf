/* SPDX-License-Identifier: Apache-2.0 */
/* Verifies what the ledger says about public keys. */
#include "audit/verify/verify_keys.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/write/ledger.h"
#include "enforcer/base/cleanup.h"

/* Before every time there is. */
#define NEVER "0"

static bool same(const struct ward_public_key *a, const struct ward_public_key *b)
{
	return memcmp(a->key, b->key, sizeof(a->key)) == 0;
}

static struct ward_public_key *look_up(
	const struct ward_ledger_view *v, const struct ward_public_key *k)
{
	for (size_t i = 0; i < v->n_host_keys; i++)
		if (same(&v->host_keys[i], k))
			return &v->host_keys[i];
	return NULL;
}

static struct ward_public_key *find(struct ward_ledger_view *v, const struct ward_public_key *k)
{
	struct ward_public_key *have = look_up(v, k);
	if (have)
		return have;
	struct ward_public_key *keys =
		reallocarray(v->host_keys, v->n_host_keys + 1, sizeof(*keys));
	if (keys)
		v->host_keys = keys;
	bool *enrolled = reallocarray(v->enrolled, v->n_host_keys + 1, sizeof(*enrolled));
	if (enrolled)
		v->enrolled = enrolled;
	if (!keys || !enrolled)
		return NULL;
	v->enrolled[v->n_host_keys] = false;
	v->host_keys[v->n_host_keys] = *k;
	return &v->host_keys[v->n_host_keys++];
}

static int take_rotation(struct ward_ledger_view *v, const json_t *entry)
{
	const char *from = json_string_value(json_object_get(entry, "from"));
	const char *to = json_string_value(json_object_get(entry, "to"));
	const char *signature = json_string_value(json_object_get(entry, "signature"));
	struct ward_public_key k;
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	/* Without a signature that holds it leads nowhere. */
	if (!from || !to || !signature || ward_public_key_parse(from, strlen(from), &k) < 0)
		return 0;
	ward_ledger_rotate_text(&text, from, to);
	if (!ward_public_key_check(&k, text.data, text.len, signature))
		return 0;
	char(*r)[WARD_ROTATION_MAX] =
		reallocarray(v->rotations, v->n_rotations + 1, sizeof(*v->rotations));
	if (!r)
		return -ENOMEM;
	v->rotations = r;
	snprintf(r[v->n_rotations++], WARD_ROTATION_MAX, "%s %s %s", from, to, signature);
	return 0;
}

int ward_verify_take_key(struct ward_ledger_view *v, const struct ward_line *l, const json_t *entry)
{
	const char *text = json_string_value(json_object_get(entry, "key"));
	const char *time = json_string_value(json_object_get(entry, "time"));
	struct ward_public_key k = {0};
	if (ward_line_is(l, "rotate"))
		return take_rotation(v, entry);
	if (!text || !time || ward_public_key_parse(text, strlen(text), &k) < 0)
		return 0;
	struct ward_public_key *have = find(v, &k);
	if (!have)
		return -ENOMEM;
	if (ward_line_is(l, "enroll")) {
		v->enrolled[have - v->host_keys] = true;
		have->until[0] = '\0';
		return 0;
	}
	snprintf(have->until, sizeof(have->until), "%s", time);
	/* What sessions had it sign before is as good as it was. */
	for (size_t i = 0; i < v->n; i++)
		for (size_t n = 0; n < v->v[i].n_keys; n++)
			if (same(&v->v[i].keys[n], have) && !v->v[i].keys[n].until[0])
				snprintf(v->v[i].keys[n].until, sizeof(have->until), "%s", time);
	return 0;
}

void ward_verify_bound_key(const struct ward_ledger_view *v, struct ward_public_key *k)
{
	const struct ward_public_key *have = look_up(v, k);
	/* It was revoked, and used nevertheless: whatever time such checkpoints claim. */
	snprintf(k->until, sizeof(k->until), "%s", have && have->until[0] ? NEVER : "");
}

/* The key that took the place of `from` and those that took its place: is k one of them? */
static bool leads_to(const struct ward_ledger_view *v, const struct ward_public_key *from,
	const struct ward_public_key *k)
{
	struct ward_public_key now = *from;
	/* In their order: what gave way once does not come again. */
	for (size_t i = 0; i < v->n_rotations && !same(&now, k); i++) {
		const char *text = v->rotations[i];
		const char *to = strchr(text, ' ') + 1;
		struct ward_public_key first;
		struct ward_public_key next;
		if (ward_public_key_parse(text, (size_t)(to - text) - 1, &first) == 0 &&
			ward_public_key_parse(to, strcspn(to, " "), &next) == 0 &&
			same(&first, &now))
			now = next;
	}
	return same(&now, k);
}

bool ward_verify_key_of(const struct ward_ledger_view *v, const struct ward_ledger_session *s,
	const struct ward_public_key *k)
{
	struct ward_public_key bound = *k;
	ward_verify_bound_key(v, &bound);
	for (size_t i = 0; i < s->n_keys && !bound.until[0]; i++)
		if (leads_to(v, &s->keys[i], k))
			return true;
	return false;
}
