/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the mounts beneath the trees of a session, one by one. */
#include "enforcer/session/run/silent_mount.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/mounts.h"
#include "enforcer/base/patient.h"
#include "enforcer/session/owner/as_owner.h"

/* A host has many mounts; those beneath a project are few. */
#define ASKED_MAX 64

static bool lies_in(const char *point, const char *source)
{
	const size_t n = source ? strlen(source) : 0;
	return n && strncmp(point, source, n) == 0 && (point[n] == '/' || !point[n]);
}

static bool is_in_tree(const struct ward_run_plan *p, const char *point)
{
	for (size_t i = 0; i < p->n_trees; i++)
		if (lies_in(point, p->trees[i].source))
			return true;
	return lies_in(point, p->project.path);
}

char *ward_silent_mount(const struct ward_run_plan *p)
{
	ward_cleanup(ward_mounts_clear) struct ward_mounts m = {0};
	struct ward_as_owner as;
	char *silent = NULL;
	unsigned asked = 0;
	if (ward_mounts_read(&m, NULL) < 0 || ward_as_owner_begin(&p->id, &as, NULL) < 0)
		return NULL;
	for (size_t i = 0; i < m.n && !silent && asked < ASKED_MAX; i++) {
		if (!is_in_tree(p, m.v[i].point))
			continue;
		asked++;
		if (ward_patient_reach(m.v[i].point, NULL) == -ETIMEDOUT)
			silent = strdup(m.v[i].point);
	}
	ward_as_owner_end(&as);
	return silent;
}
