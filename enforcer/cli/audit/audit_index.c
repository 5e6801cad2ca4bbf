/* SPDX-License-Identifier: Apache-2.0 */
/* Brings the index up to date. */
#include "enforcer/cli/audit/audit_index.h"

#include "enforcer/cli/base/progress.h"

int audit_index_update(
	struct audit_cmd *c, bool rebuild, struct ward_index_result *ret, struct ward_err *err)
{
	struct ward_progress p;
	ward_progress_begin(&p, "indexing trails", "records");
	ret->tell = ward_progress_tell;
	ret->user = &p;
	int r = ward_index_update(c->store, rebuild, ret, err);
	ward_progress_end(&p);
	return r;
}
