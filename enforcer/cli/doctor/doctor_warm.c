/* SPDX-License-Identifier: Apache-2.0 */
/* How many sessions wait, prepared ([session] warm). */
#include "enforcer/base/cleanup.h"
#include "enforcer/base/plural.h"
#include "enforcer/cli/doctor/doctor.h"
#include "enforcer/policy/settings.h"
#include "enforcer/session/owner/session_place.h"
#include "enforcer/session/warm/listed.h"

static int add(void *user, const struct ward_warm_entry *e)
{
	size_t *n = user;
	(void)e;
	++*n;
	return 0;
}

void ward_check_warm(struct ward_check *c)
{
	ward_cleanup_free char *runtime = NULL;
	size_t n = 0;
	if (ward_control_runtime(&runtime, NULL) == 0)
		(void)ward_warm_each(runtime, NULL, add, &n);
	ward_check_say(c, WARD_CHECK_OK, NULL, "%zu session%s of this user wait%s, at most %u", n,
		ward_s(n), n == 1 ? "s" : "", WARD_WARM_MAX);
}
