/* SPDX-License-Identifier: Apache-2.0 */
/* Looks up sessions, keys and times in what the ledger says. */
#include "audit/verify/ledger_view.h"

#include <stdlib.h>
#include <string.h>

#include "enforcer/base/timestamp.h"

void ward_ledger_view_free(struct ward_ledger_view *v)
{
	for (size_t i = 0; i < v->n; i++) {
		free(v->v[i].cause);
		free(v->v[i].held_reason);
	}
	free(v->v);
	free(v->host_keys);
	free(v->enrolled);
	free(v->rotations);
	*v = (struct ward_ledger_view){0};
}

const struct ward_ledger_session *ward_ledger_view_find(
	const struct ward_ledger_view *v, const char *session)
{
	for (size_t i = 0; i < v->n; i++)
		if (strcmp(v->v[i].name, session) == 0)
			return &v->v[i];
	return NULL;
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
