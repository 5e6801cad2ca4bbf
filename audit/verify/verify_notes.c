/* SPDX-License-Identifier: Apache-2.0 */
/* Verifies the checkpoints of a trail: signatures, order, and the tree. */
#include "audit/verify/verify_notes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/cleanup.h"

/* True if one of the keys signed it; *ret_known: it says that one of them did. */
static bool signed_by(const struct ward_checkpoint *c, const char *text,
	const struct ward_public_key *keys, size_t n_keys, bool *ret_known)
{
	*ret_known = false;
	for (size_t i = 0; i < n_keys; i++) {
		/* From then on it is somebody else's. */
		if (ward_public_key_over(&keys[i], c->time))
			continue;
		/* One of the two was changed: still not another's. */
		*ret_known |= strcmp(c->key_name, keys[i].name) == 0 ||
			      memcmp(c->key_id, keys[i].id, sizeof(keys[i].id)) == 0;
		if (ward_checkpoint_verify(c, text, &keys[i]))
			return true;
	}
	return false;
}

/* True if the numbers are 1 to n, in whatever order. */
static bool all_there(const struct ward_checkpoint_list *l)
{
	ward_cleanup_free bool *seen = calloc(l->n + 1, sizeof(*seen));
	bool all = seen != NULL;
	for (size_t i = 0; all && i < l->n; i++) {
		uint64_t k = l->v[i].number;
		all = k >= 1 && k <= l->n && !seen[k];
		if (all)
			seen[k] = true;
	}
	return all;
}

/* Numbers 1, 2, 3 … */
static void judge_order(const struct ward_checkpoint_list *l, struct ward_verify_result *ret)
{
	bool rising = true;
	size_t wrong = l->n;
	for (size_t i = l->n; i-- > 0;)
		if (l->v[i].number != i + 1)
			wrong = i;
	if (wrong == l->n)
		return;
	for (size_t i = 1; i < l->n; i++)
		rising &= l->v[i].number > l->v[i - 1].number;
	if (rising)
		ward_verify_say(
			ret, WARD_VERIFY_DELETED, 0, "checkpoint %zu is missing", wrong + 1);
	else if (all_there(l))
		ward_verify_say(ret, WARD_VERIFY_REORDERED, 0,
			"in the place of checkpoint %zu stands %" PRIu64, wrong + 1,
			l->v[wrong].number);
	else
		ward_verify_say(ret, WARD_VERIFY_EDITED, 0,
			"in the place of checkpoint %zu stands %" PRIu64, wrong + 1,
			l->v[wrong].number);
}

void ward_verify_notes(const struct ward_checkpoint_list *l, const char *session,
	const struct ward_public_key *keys, size_t n_keys, struct ward_verify_result *ret)
{
	ret->state = WARD_VERIFY_INTACT;
	if (l->text.len == 0) {
		ward_verify_say(ret, WARD_VERIFY_DELETED, 0, "the checkpoints are gone");
		return;
	}
	if (l->rest > 0 &&
		(!l->torn || l->n == 0 || l->v[l->n - 1].state != WARD_CHECKPOINT_OPEN)) {
		ward_verify_say(ret, WARD_VERIFY_EDITED, 0,
			"the text after checkpoint %zu is not a checkpoint", l->n);
		return;
	}
	for (size_t i = 0; i < l->n; i++) {
		const struct ward_checkpoint *c = &l->v[i];
		bool known = false;
		bool good = signed_by(c, l->text.data + l->offset[i], keys, n_keys, &known);
		if (!good && !known)
			ward_verify_say(ret, WARD_VERIFY_FOREIGN, 0,
				"checkpoint %zu is signed by another key: %s", i + 1, c->key_name);
		else if (!good)
			ward_verify_say(
				ret, WARD_VERIFY_EDITED, 0, "checkpoint %zu was changed", i + 1);
		else if (strcmp(c->session, session ? session : l->v[0].session) != 0)
			ward_verify_say(ret, WARD_VERIFY_EDITED, 0,
				"checkpoint %zu is of session %s", i + 1, c->session);
		if (ret->state != WARD_VERIFY_INTACT)
			return;
	}
	judge_order(l, ret);
	for (size_t i = 1; ret->state == WARD_VERIFY_INTACT && i < l->n; i++)
		if (l->v[i].size < l->v[i - 1].size)
			ward_verify_say(ret, WARD_VERIFY_EDITED, 0,
				"checkpoint %zu covers less than the one before it", i + 1);
}
