/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the place for staged changes, and looks into it when the session has ended. */
#include "enforcer/session/run/run_staged.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/ipc/helper.h"
#include "enforcer/review/review.h"
#include "enforcer/session/owner/as_owner.h"

/* Nobody waits for what a session staged to be compared: a file may have terabytes. */
#define LOOK_NS (2 * WARD_NS_PER_SEC)

int ward_run_stage(struct ward_running *r, struct ward_err *err)
{
	const struct ward_identity *id = &r->plan->id;
	if (r->plan->changes == WARD_CHANGES_DIRECT)
		return 0;
	if (r->guard.system)
		return ward_err_set(err, -EINVAL,
			"changes cannot be staged yet where wardfs-auditd keeps the trail (fix: "
			"[audit] writer = own)");
	return ward_reviews_make(ward_store_dir(r->guard.state), r->guard.store.name,
		id->root ? id->owner_uid : geteuid(), id->root ? id->owner_gid : getegid(),
		&r->guard.review, err);
}

bool ward_run_stages(const struct ward_run_plan *p, size_t i)
{
	return p->changes != WARD_CHANGES_DIRECT && p->trees[i].source &&
	       strcmp(p->trees[i].path, WARD_HOME_PATH) != 0;
}

static char *describe(struct ward_running *r, int dir)
{
	ward_cleanup(ward_changes_clear) struct ward_review_changes c = {.v = NULL};
	struct ward_err why = WARD_ERR_INIT;
	struct ward_as_owner as;
	char *text = NULL;
	int said;
	/* The owner may have put anything there, and into the project. */
	int e = ward_as_owner_begin(&r->plan->id, &as, &why);
	if (e == 0) {
		e = ward_changes_read(dir, ward_clock_mono_ns() + LOOK_NS, &c, &why);
		ward_as_owner_end(&as);
	}
	if (e < 0) {
		said = asprintf(&text, "what was staged cannot be read: %s", why.text);
	} else {
		ward_cleanup_free char *line = ward_changes_line(&c);
		said = line ? asprintf(&text,
				      c.n ? "%s; nothing is in the project yet: wardfs review %s"
					  : "%s",
				      line, r->guard.store.name)
			    : -1;
	}
	return said < 0 ? NULL : text;
}

char *ward_run_staged(struct ward_running *r)
{
	struct ward_err why = WARD_ERR_INIT;
	char *text = NULL;
	ward_cleanup_fd int dir = -1;
	if (r->guard.review < 0)
		return NULL;
	int state = ward_store_dir(r->guard.state);
	if (r->plan->changes == WARD_CHANGES_DISCARD) {
		if (ward_reviews_remove(state, r->guard.store.name, &why) < 0 &&
			asprintf(&text, "what was staged could not be removed: %s", why.text) < 0)
			return NULL;
		return text;
	}
	if (ward_reviews_open(state, r->guard.store.name, &dir) < 0)
		return NULL;
	return describe(r, dir);
}
