/* SPDX-License-Identifier: Apache-2.0 */
/* Refuses a [lift] of a directory. */
#include "enforcer/session/plan/lifts.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "enforcer/policy/explain.h"
#include "enforcer/session/owner/as_owner.h"
#include "enforcer/session/owner/project.h"

struct lifts {
	const struct ward_run_plan *p;
	const struct ward_rule *wrong; /* names a directory; NULL: none does */
};

static void look_at_lift(void *user, const struct ward_rule *lift, uint32_t want)
{
	struct lifts *l = user;
	(void)want;
	for (size_t i = l->p->n_trees; i-- > 0;) {
		const char *rel = ward_path_beneath(lift->pattern, l->p->trees[i].path);
		struct stat st;
		if (!rel)
			continue;
		if (!*rel || (fstatat(l->p->trees[i].backing, rel, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
				     S_ISDIR(st.st_mode)))
			l->wrong = lift;
		return;
	}
}

/* What lies beneath a directory nobody has named. */
int ward_lifts_check(const struct ward_run_plan *p, struct ward_err *err)
{
	struct lifts l = {.p = p};
	struct ward_as_owner as;
	int r = ward_as_owner_begin(&p->id, &as, err);
	if (r == 0)
		ward_policy_each_lift(p->policy, look_at_lift, &l);
	ward_as_owner_end(&as);
	return l.wrong ? ward_err_set(err, -EINVAL,
				 WARD_PLACE_FMT ": [lift] %s is a directory: name one file",
				 WARD_PLACE(l.wrong->file, l.wrong->line), l.wrong->pattern)
		       : r;
}
