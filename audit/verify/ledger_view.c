/* SPDX-License-Identifier: Apache-2.0 */
/* Looks up sessions, keys and times in what the ledger says. */
#include "audit/verify/ledger_view.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/timestamp.h"

void ward_ledger_view_free(struct ward_ledger_view *v)
{
	for (size_t i = 0; i < v->n; i++) {
		free(v->v[i].cause);
		free(v->v[i].held_reason);
		free(v->v[i].removed_reason);
		free(v->v[i].reviews);
		json_decref(v->v[i].review_entries);
	}
	free(v->v);
	free(v->slots);
	free(v->host_keys);
	free(v->enrolled);
	free(v->rotations);
	*v = (struct ward_ledger_view){0};
}

/* The slot of the name, or the free one where it belongs. FNV-1a, 64 bits. */
static size_t *slot_of(const struct ward_ledger_view *v, const char *name, size_t len)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);
	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)name[i]) * UINT64_C(0x100000001b3);
	for (size_t i = (size_t)(h ^ h >> 32);; i++) {
		size_t *slot = &v->slots[i & (v->n_slots - 1)];
		const char *have = *slot ? v->v[*slot - 1].name : NULL;
		if (!have || (strncmp(have, name, len) == 0 && !have[len]))
			return slot;
	}
}

const struct ward_ledger_session *ward_ledger_view_find(
	const struct ward_ledger_view *v, const char *session)
{
	const size_t *slot = v->n_slots ? slot_of(v, session, strlen(session)) : NULL;
	return slot && *slot ? &v->v[*slot - 1] : NULL;
}

size_t ward_ledger_view_has(const struct ward_ledger_view *v, const char *name, size_t len)
{
	return v->n_slots && len <= WARD_SESSION_NAME_MAX ? *slot_of(v, name, len) : 0;
}

/* n is a power of two. */
static int grow_to(struct ward_ledger_view *v, size_t n)
{
	size_t *fresh = calloc(n, sizeof(*fresh));
	struct ward_ledger_session *more = reallocarray(v->v, n / 2, sizeof(*more));
	v->v = more ? more : v->v;
	if (!fresh || !more) {
		free(fresh);
		return -ENOMEM;
	}
	free(v->slots);
	v->slots = fresh;
	v->n_slots = n;
	for (size_t i = 0; i < v->n; i++)
		*slot_of(v, v->v[i].name, strlen(v->v[i].name)) = i + 1;
	return 0;
}

/* Half of the slots are in use at most. */
static int grow(struct ward_ledger_view *v)
{
	if (v->n_slots && v->n < v->n_slots / 2)
		return 0;
	return grow_to(v, v->n_slots ? 2 * v->n_slots : 64);
}

int ward_ledger_view_reserve(struct ward_ledger_view *v, size_t n)
{
	size_t slots = v->n_slots ? v->n_slots : 64;
	while (slots / 2 <= n)
		slots *= 2;
	return slots == v->n_slots ? 0 : grow_to(v, slots);
}

struct ward_ledger_session *ward_ledger_view_take(
	struct ward_ledger_view *v, const char *name, size_t len)
{
	if (len > WARD_SESSION_NAME_MAX || grow(v) < 0)
		return NULL;
	size_t *slot = slot_of(v, name, len);
	if (*slot)
		return &v->v[*slot - 1];
	struct ward_ledger_session *s = &v->v[v->n++];
	*slot = v->n;
	*s = (struct ward_ledger_session){0};
	memcpy(s->name, name, len);
	return s;
}

uint64_t ward_ledger_kept_until(const struct ward_ledger_session *s)
{
	const uint64_t end = ward_timestamp_ns(s->end_time) / WARD_NS_PER_SEC;
	const uint64_t keep = s->keep_s ? s->keep_s : WARD_KEEP_UNSAID_SECONDS;
	if (!s->started || !s->ended || end == 0)
		return 0;
	return keep > UINT64_MAX - end ? UINT64_MAX : end + keep;
}

size_t ward_ledger_view_enrolled(
	const struct ward_ledger_view *v, struct ward_public_key *ret, size_t max)
{
	size_t n = 0;
	for (size_t i = 0; i < v->n_host_keys && n < max; i++)
		if (v->enrolled[i])
			ret[n++] = v->host_keys[i];
	return n;
}

void ward_ledger_say_before(struct ward_ledger_view *v)
{
	char more[sizeof(v->result.text)];
	if (v->result.state != WARD_VERIFY_INTACT || v->before == 0)
		return;
	memcpy(more, v->result.text, sizeof(more));
	snprintf(v->result.text, sizeof(v->result.text),
		"the first %" PRIu64
		" entries as they were verified before, not read again%s%.120s",
		v->before, *more ? "; " : "", more);
}
