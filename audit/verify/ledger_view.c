/* SPDX-License-Identifier: Apache-2.0 */
/* Looks up sessions, keys and times in what the ledger says. */
#include "audit/verify/ledger_view.h"

#include <stdlib.h>
#include <string.h>

void ward_ledger_view_free(struct ward_ledger_view *v)
{
	for (size_t i = 0; i < v->n; i++)
		free(v->v[i].cause);
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

size_t ward_ledger_view_enrolled(
	const struct ward_ledger_view *v, struct ward_public_key *ret, size_t max)
{
	size_t n = 0;
	for (size_t i = 0; i < v->n_host_keys && n < max; i++)
		if (v->enrolled[i])
			ret[n++] = v->host_keys[i];
	return n;
}
