/* SPDX-License-Identifier: Apache-2.0 */
/* The filter applied to one trail, with the index where there is one. */
#include "enforcer/cli/audit/audit_select.h"

#include <errno.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/cli/audit/audit_cmd.h"
#include "enforcer/cli/audit/audit_filter.h"
#include "enforcer/cli/audit/audit_trail.h"
#include "enforcer/cli/base/say.h"

int audit_select_prepare(
	struct audit_cmd *c, const char *session, struct ward_log *log, struct ward_err *err)
{
	struct ward_filter *f = &c->filter.f;
	ward_cleanup(ward_query_lines_clear) struct ward_query_lines lines = {0};
	ward_filter_clear(f);
	if (!ward_filter_asks_actors(f))
		return 0;
	int r = c->no_index ? -ENODATA
			    : ward_index_find(c->store, session, log, f, NULL, WARD_INDEX_ACTORS,
				      &lines, err);
	if (r < 0 && r != -ENODATA)
		return r;
	return ward_filter_prepare(f, log, &lines, err);
}

int audit_select(struct audit_cmd *c, const char *session, struct ward_log *log,
	struct audit_selected *ret, struct ward_err *err)
{
	const struct ward_filter *f = &c->filter.f;
	*ret = (struct audit_selected){0};
	if (ward_filter_empty(f))
		return 0;
	int r = audit_select_prepare(c, session, log, err);
	if (r < 0)
		return r;
	r = c->no_index ? -ENODATA
			: ward_index_find(c->store, session, log, f, NULL, WARD_INDEX_MATCHES,
				  &ret->lines, err);
	if (r < 0 && r != -ENODATA)
		return r;
	ret->indexed = r == 0;
	ret->select = (struct ward_select){.filter = f, .lines = &ret->lines};
	ret->sel = &ret->select;
	return 0;
}

void audit_selected_clear(struct audit_selected *s)
{
	ward_query_lines_clear(&s->lines);
	*s = (struct audit_selected){0};
}

int audit_select_warn(struct audit_cmd *c, const char *session, struct ward_log *log, bool indexed)
{
	uint64_t size = 0;
	/* Verifying looks at every line, which the index is there to spare where they are many. */
	if (!indexed || c->verify ||
		(ward_log_size(log, &size) == 0 && size <= AUDIT_SELECT_VERIFIED_MAX))
		return audit_trail_warn(c, session, log);
	ward_sayf("found by the index, which proves nothing: --verify verifies the trail, "
		  "and --no-index reads every record");
	return 0;
}
