/* SPDX-License-Identifier: Apache-2.0 */
/* Says how each change ended, and that it is begun. */
#include "enforcer/cli/review/review_told.h"

#include "enforcer/base/out.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/cli/review/review_record.h"

void review_tell(struct review_told *t, const char *path, enum ward_apply_end end, const char *why)
{
	switch (end) {
	case WARD_APPLY_NONE:
		break;
	case WARD_APPLY_DONE:
	case WARD_APPLY_ALREADY:
		t->n_done++;
		if (t->dry)
			ward_outf("%s: %s\n", path, why);
		break;
	case WARD_APPLY_CONFLICT:
	case WARD_APPLY_REFUSED:
	case WARD_APPLY_FAILED:
		t->n_left++;
		ward_sayf("%s: not %s: %s", path, t->done, why);
		break;
	}
}

int review_told_end(const struct review_told *t)
{
	const size_t left = t->n_left + t->n_deep;
	ward_outf(t->dry ? "%zu would be %s, %zu would not\n" : "%zu %s, %zu not\n", t->n_done,
		t->done, left);
	return left || t->n_unnamed ? 1 : 0;
}

int review_told_begin(const struct ward_review_meant *m, const char *verb, const bool *wanted,
	size_t n, struct ward_err *err)
{
	struct review_record w = {.verb = verb};
	for (size_t i = 0; i < n; i++)
		w.changes += wanted[i];
	return review_record(m, &w, err);
}
